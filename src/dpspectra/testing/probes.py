"""Does a noise source draw the law of a step, at about the scale of its plan? One probe a law and scale."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from ..noise.base import Noise
from ..noise.floats import smoothing
from . import enumerate as exact
from .statistics import LawViolation, check_counts, check_independent, check_moments

ODD = 1.37
"""Scales are ``ODD`` times powers of two, so that mechanisms share probes and no scale is a round number."""
_DRAWS = 4_000
_CHOICES = 200
"""A choice draws all its noise anew; so few show noise too small by half."""


@cache
def probe(make: Callable[[], Noise], law: str, power: int, rate: float) -> None:
    """Raise LawViolation unless draws of the source fit the law at the scale ``ODD`` times 2**power.

    A right source fails with probability at most ``2 * rate``; it is asked once.
    """
    _PROBES[law](make(), ODD * 2.0**power, rate)


def nearest_power(scale: float) -> int:
    """The power at which a scale is probed: within a factor of sqrt(2)."""
    return round(math.log2(scale / ODD))


def _gaussian(source: Noise, scale: float, rate: float) -> None:
    zeros = np.zeros(_DRAWS, dtype=np.int64)
    first, second = (source.gaussian(zeros, np.full(_DRAWS, scale)) for _ in range(2))
    check_moments(second, scale, rate)
    check_independent(first, second, rate)


def _laplace(source: Noise, scale: float, rate: float) -> None:
    draws = source.laplace(np.zeros(_DRAWS, dtype=np.int64), np.full(_DRAWS, scale))
    edges = sorted({round(place * scale) for place in np.linspace(-3, 3, 13)})
    tails = np.array([1.0, *(exact.tail(edge, scale) for edge in edges), 0.0])
    counts = np.bincount(np.searchsorted(edges, draws, side="right"), minlength=len(edges) + 1)
    check_counts(counts, tails[:-1] - tails[1:], rate)


def _wishart(source: Noise, scale: float, rate: float) -> None:
    """The trace of order 1: a sum of differences of chi-squares of two degrees of freedom is Laplace noise of
    scale 2 s, and the smoothing adds little."""
    runs, zero = _DRAWS // 4, np.zeros(1, dtype=np.int64)
    draws = np.array([source.wishart(zero, 1, scale)[0] for _ in range(runs)])
    edges = [round(2 * place * scale) for place in (-2, -1, 0, 1, 2)]
    tails = np.array([1.0, *(_smoothed_tail(edge / scale) for edge in edges), 0.0])
    seen = np.bincount(np.searchsorted(edges, draws, side="right"), minlength=len(edges) + 1)
    check_counts(seen, tails[:-1] - tails[1:], rate)


def _smoothed_tail(x: float) -> float:
    """P(L > x) of L = Laplace(2) + Laplace(b), b = ``smoothing(1, 1)``."""
    b, a = smoothing(1, 1.0), 2.0
    if x < 0:
        return 1 - _smoothed_tail(-x)
    return (a * a * math.exp(-x / a) - b * b * math.exp(-x / b)) / (2 * (a * a - b * b))


def _first(source: Noise, scale: float, rate: float) -> None:
    own, each = scale, 2 * scale
    counts = np.rint(np.linspace(-2, 1, 4) * (own + each)).astype(np.int64)
    draws = [source.first(counts, 0, (own, each)) for _ in range(_CHOICES)]
    check_counts(np.bincount(draws, minlength=5), np.exp(exact.first(counts, 0, (own, each))), rate)


def _largest(source: Noise, scale: float, rate: float) -> None:
    scores = np.rint(np.array([0.0, 1.0, 2.0]) * scale).astype(np.int64)
    draws = [source.largest(scores, scale) for _ in range(_CHOICES)]
    check_counts(np.bincount(draws, minlength=3), np.exp(exact.largest(scores, scale)), rate)


def _threshold(source: Noise, scale: float, rate: float) -> None:
    least = 3
    counts = np.repeat(np.array([0, least], dtype=np.int64), [100, _DRAWS])
    shown = source.threshold(counts, scale, least)
    if shown[:100].any():
        raise LawViolation("an empty cell is shown")
    starts = sorted({least + round(place * scale) for place in np.linspace(0, 3, 7)})
    seen = np.bincount(np.searchsorted(starts, shown[100:], side="right"), minlength=len(starts) + 1)
    check_counts(seen, np.exp(exact.cell(least, starts, scale)), rate)


_PROBES: dict[str, Callable[[Noise, float, float], None]] = {
    "gaussian": _gaussian,
    "laplace": _laplace,
    "wishart": _wishart,
    "first": _first,
    "largest": _largest,
    "threshold": _threshold,
}
