"""The noise protocol, and which source is in force.

A mechanism hands exact integers to the source and gets them back with noise added, so a recorder put in
its place sees exactly what privacy rests on. The source is a context variable; only ``testing`` sets it.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


SIGMA_MAX = 2.0**57
"""Largest noise scale: int64 holds 64 of it, and a draw beyond has probability below exp(-2^11)."""


class Noise(Protocol):
    """A source of integer noise. ``private`` is True only for exact samplers on secure randomness."""

    @property
    def private(self) -> bool: ...

    @property
    def silent(self) -> bool:
        """True if nothing is added (tests): the release then states a noise sd of 0."""
        ...

    @property
    def entropy(self) -> str:
        """Where the randomness comes from, in words, for the release card."""
        ...

    def gaussian(self, values: IntArray, sigma: FloatArray) -> IntArray:
        """values + independent discrete Gaussian noise, sd parameter ``sigma`` per entry (same shape).

        The sum wraps in int64, so it never fails on a cell; sigma is public.
        """
        ...

    def laplace(self, values: IntArray, scale: FloatArray) -> IntArray:
        """values + independent discrete Laplace noise, P(k) proportional to exp(-|k|/scale)."""
        ...

    def wishart(self, values: IntArray, side: int, scale: float) -> IntArray:
        """values, the packed upper triangle of a symmetric matrix, + rounded scale (G G' - H H') + discrete
        Laplace noise of scale ``floats.smoothing(side, scale)``; G and H are (side, side + 1) normals."""
        ...

    def first(self, counts: IntArray, target: int, scales: tuple[float, float]) -> int:
        """The first i with counts[i] + V_i >= target + V, or ``len(counts)`` if there is none.

        V and V_i are one-sided geometric, P(v) proportional to exp(-v/scale) for v >= 0: V of scale
        ``scales[0]``, each V_i of ``scales[1]``. Only the place is let out.
        """
        ...

    def largest(self, scores: IntArray, scale: float) -> int:
        """Place of the largest of scores + Gumbel noise: the exponential mechanism, P(i) proportional to
        exp(scores[i]/scale). Only the place is let out."""
        ...

    def threshold(self, counts: IntArray, scale: float, least: int) -> IntArray:
        """counts + discrete Laplace noise where the count is not 0 and the sum is at least ``least``;
        0 elsewhere."""
        ...

    def permutation(self, size: int) -> IntArray:
        """A secret uniform permutation of 0..size-1: which rows are grouped. Never released."""
        ...


def first_at_least(noisy: IntArray, bar: int) -> int:
    """The first place at or above the bar; the length if there is none."""
    reached = noisy >= bar
    return int(np.argmax(reached)) if reached.any() else len(noisy)


def above(counts: IntArray, noisy: IntArray, least: int) -> IntArray:
    """``noisy`` where the exact count is not 0 and the noisy one is at least ``least``, else 0."""
    return np.where((counts != 0) & (noisy >= least), noisy, 0)


SOURCE: ContextVar[Noise | None] = ContextVar("dpspectra_noise", default=None)


def current() -> Noise:
    """The noise source in force: the operating system's unless ``testing`` put another in its place."""
    source = SOURCE.get()
    if source is None:
        from .secure import SecureNoise

        return SecureNoise()
    return source
