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


SOURCE: ContextVar[Noise | None] = ContextVar("dpspectra_noise", default=None)


def current() -> Noise:
    """The noise source in force: the operating system's unless ``testing`` put another in its place."""
    source = SOURCE.get()
    if source is None:
        from .secure import SecureNoise

        return SecureNoise()
    return source
