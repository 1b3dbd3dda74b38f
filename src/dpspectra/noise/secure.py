"""Exact discrete Gaussian and discrete Laplace noise from the operating system's randomness, by OpenDP.

Noise is drawn for a vector of zeros and added in wrapping int64, so no input of the sampler depends on a
cell and no sum can fail on one. A draw of N(0, sigma^2) on int64 is exact unless it passes 2^63 in size;
sigma is refused above 2^57, where that has probability below exp(-2^11).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import numpy as np

from ..core.errors import InfeasiblePlan
from .base import SIGMA_MAX, FloatArray, IntArray, above, first_at_least
from .floats import smoothing, wishart

_CHUNK = 4096  # draws a task: long enough to hide the call, short enough to share between two cores
_THREADS = 2
_PACKED = 1 << 20
"""Largest permutation whose keys hold their places."""


class SecureNoise:
    """The only source whose releases are private."""

    private = True
    silent = False
    entropy = "operating system randomness, exact samplers of OpenDP"

    def gaussian(self, values: IntArray, sigma: FloatArray) -> IntArray:
        return _add(values, sigma, _gaussian_sampler)

    def laplace(self, values: IntArray, scale: FloatArray) -> IntArray:
        return _add(values, scale, _laplace_sampler)

    def wishart(self, values: IntArray, side: int, scale: float) -> IntArray:
        smooth = np.full(np.shape(values), smoothing(side, scale))
        return self.laplace(values + wishart(side, scale), smooth)

    def first(self, counts: IntArray, target: int, scales: tuple[float, float]) -> int:
        bar = target + int(_geometric(scales[0], 1)[0])
        return first_at_least(counts + _geometric(scales[1], len(counts)), bar)

    def largest(self, scores: IntArray, scale: float) -> int:
        return int(_largest_sampler(scale)(np.asarray(scores, dtype=np.int64).tolist()))

    def threshold(self, counts: IntArray, scale: float, least: int) -> IntArray:
        return above(counts, self.laplace(counts, np.full(np.shape(counts), scale)), least)

    def permutation(self, size: int) -> IntArray:
        if size > _PACKED:
            # Ties of 64-bit keys, at most size^2/2^65 likely, would be the only departure from uniform.
            return np.argsort(np.frombuffer(os.urandom(8 * size), dtype=np.uint64))
        # Keys with the place in their low bits: to sort numbers is faster than to sort places. Of 44 bits or
        # more few are equal, and given that none are all orders are equally likely.
        low = np.uint64((1 << (size - 1).bit_length()) - 1)
        while True:
            keys = np.frombuffer(os.urandom(8 * size), dtype=np.uint64) & ~low
            keys |= np.arange(size, dtype=np.uint64)
            keys.sort()
            if ((keys[1:] ^ keys[:-1]) > low).all():
                return (keys & low).view(np.int64)


Sampler = Callable[[list[int]], list[int]]


def _geometric(scale: float, size: int) -> IntArray:
    """One-sided geometric draws: a discrete Laplace given that it is not negative, so over half are kept."""
    kept = np.empty(0, dtype=np.int64)
    while kept.size < size:
        draws = _draw(_laplace_sampler(scale), 2 * (size - kept.size) + 8)
        kept = np.concatenate([kept, draws[draws >= 0]])
    return kept[:size]


def _add(values: IntArray, scale: FloatArray, sampler: Callable[[float], Sampler]) -> IntArray:
    flat = np.ascontiguousarray(values, dtype=np.int64).ravel()
    scales = np.broadcast_to(np.asarray(scale, dtype=np.float64), np.shape(values)).ravel()
    noisy = flat.copy()
    for level in np.unique(scales):
        if not 0 < level <= SIGMA_MAX:
            raise InfeasiblePlan(
                "the noise scale does not fit 64-bit integers: the budget is too small for this grid; "
                "ask for a larger budget"
            )
        where = np.flatnonzero(scales == level)
        noisy[where] += _draw(sampler(float(level)), where.size)
    return noisy.reshape(np.shape(values))


def _draw(sampler: Sampler, size: int) -> IntArray:
    """``size`` draws; the sampler releases the interpreter lock, so two threads share the work."""
    sizes = [min(_CHUNK, size - start) for start in range(0, size, _CHUNK)]
    if len(sizes) == 1:
        return np.asarray(sampler([0] * size), dtype=np.int64)
    with ThreadPoolExecutor(_THREADS) as pool:
        parts = pool.map(lambda count: np.asarray(sampler([0] * count), dtype=np.int64), sizes)
        return np.concatenate(list(parts))


@lru_cache(maxsize=64)
def _gaussian_sampler(sigma: float) -> Sampler:
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="i64")
    sampler: Sampler = dp.m.make_gaussian(*space, scale=sigma)
    return sampler


@lru_cache(maxsize=64)
def _laplace_sampler(scale: float) -> Sampler:
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    sampler: Sampler = dp.m.make_laplace(*space, scale=scale)
    return sampler


@lru_cache(maxsize=64)
def _largest_sampler(scale: float) -> Callable[[list[int]], int]:
    # Under zCDP the library draws Gumbel noise; its default measure draws exponential noise, which is not
    # the exponential mechanism and costs more zCDP.
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    sampler: Callable[[list[int]], int] = dp.m.make_noisy_max(
        *space, dp.zero_concentrated_divergence(), scale=scale
    )
    return sampler


def _opendp() -> Any:
    # Imported on first use: it takes a third of a second that a command's --help should not pay.
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return dp
