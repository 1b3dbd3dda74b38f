"""Exact laws of noise calls with few outcomes, at given exact inputs: what an attacker learns at the most.

Probabilities are natural logarithms. No draw is made, so what is found here holds with certainty, up to
rounding (about 1e-12 of a logarithm).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from ..noise.base import IntArray

Logs = NDArray[np.float64]

_FAR = 60.0
"""Scales beyond which a tail is left out: exp(-60) of what is kept."""
_PIECE = 1 << 18
PARTS = 16


def first(counts: IntArray, target: int, scales: tuple[float, float]) -> Logs:
    """Law of ``Noise.first``, (m + 1,): the place at which the search stops; the last entry: at none.

    Given the noise v of the target the places are independent, so each place has the sum over v of
    P(v) P(V_i >= target + v - counts_i) times the product over earlier j of P(V_j < target + v - counts_j).
    """
    own, each = scales
    gap = target - np.asarray(counts, dtype=np.float64)
    top = math.ceil(max(0.0, -float(gap.min())) + _FAR * (own + each) + each * math.log(gap.size)) + 1
    law = np.full(gap.size + 1, -np.inf)
    step = max(1, _PIECE // gap.size)
    for start in range(0, top, step):
        noise = np.arange(start, min(start + step, top), dtype=np.float64)[:, None]
        stops = -np.maximum(gap + noise, 0.0) / each
        with np.errstate(divide="ignore"):
            passed = np.cumsum(np.log(-np.expm1(stops)), axis=1)
        before = np.hstack([np.zeros((len(noise), 1)), passed[:, :-1]])
        chances = np.hstack([before + stops, passed[:, -1:]]) - noise / own
        law = np.logaddexp(law, logsumexp(chances, axis=0))
    return law + math.log(-math.expm1(-1 / own))


def largest(scores: IntArray, scale: float) -> Logs:
    """Law of ``Noise.largest``, (m,): the exponential mechanism."""
    weight = np.asarray(scores, dtype=np.float64) / scale
    law: Logs = weight - logsumexp(weight)
    return law


def threshold(left: IntArray, right: IntArray, scale: float, least: int) -> list[tuple[Logs, Logs]]:
    """Laws of the cells of ``Noise.threshold`` that differ, on both tables; ``least`` >= 1.

    Cells are independent, and those that are equal say nothing. Noisy counts are lumped where the ratio of
    the two laws is constant.
    """
    laws = []
    for a, b in zip(left.tolist(), right.tolist(), strict=True):
        if a != b:
            starts = sorted({least, *range(max(least, min(a, b)) + 1, max(a, b) + 1)})
            laws.append((cell(a, starts, scale), cell(b, starts, scale)))
    return laws


def laplace(left: IntArray, right: IntArray, scales: NDArray[np.float64]) -> list[tuple[Logs, Logs]]:
    """Laws of the entries of ``Noise.laplace`` that differ, lumped between the two inputs in ``PARTS``: what
    an attacker sees then is no more, and the largest loss is the same."""
    laws = []
    for a, b, scale in zip(left.tolist(), right.tolist(), scales.tolist(), strict=True):
        if a != b:
            low, wide = min(a, b), abs(a - b)
            starts = sorted({1, *(1 + wide * part // PARTS for part in range(PARTS)), wide})
            laws.append((_entry(a - low, starts, scale), _entry(b - low, starts, scale)))
    return laws


def together(laws: Iterable[tuple[Logs, Logs]]) -> tuple[Logs, Logs]:
    """The joint laws of independent parts, an entry for each combination of their outcomes."""
    p, q = np.zeros(1), np.zeros(1)
    for left, right in laws:
        p, q = np.add.outer(p, left).ravel(), np.add.outer(q, right).ravel()
    return p, q


def loss(p: Logs, q: Logs) -> float:
    """max ln p/q: what an outcome may tell at the most (infinite if q lacks an outcome of p)."""
    with np.errstate(invalid="ignore"):
        return float(np.max(np.where(p > -np.inf, p - q, -np.inf)))


def delta(p: Logs, q: Logs, epsilon: float) -> float:
    """sum max(0, p - exp(epsilon) q): the least delta that goes with epsilon for these two laws."""
    with np.errstate(invalid="ignore", divide="ignore"):
        excess = np.where(p > -np.inf, -np.expm1(np.minimum(q + epsilon - p, 0.0)), 0.0)
    return float(math.fsum(np.exp(p) * excess))


def cell(count: int, starts: list[int], scale: float) -> Logs:
    """ln P of a hidden cell, then of noisy counts in [starts[0], starts[1]), ..., [starts[-1], infinity)."""
    if count == 0:  # an empty cell stays hidden for sure
        return np.array([0.0, *[-np.inf] * len(starts)])
    return _entry(count, starts, scale)


def _entry(count: int, starts: list[int], scale: float) -> Logs:
    """ln P of count + noise below starts[0], then in each interval."""
    tails = [tail(start - count, scale) for start in starts] + [0.0]
    with np.errstate(divide="ignore"):
        return np.log([tail(1 - starts[0] + count, scale), *np.subtract(tails[:-1], tails[1:])])


def tail(k: int, scale: float) -> float:
    """P(L >= k) of the discrete Laplace, which is P(L <= -k)."""
    if k > 0:
        return math.exp(-k / scale) / (1 + math.exp(-1 / scale))
    return 1 - math.exp(-(1 - k) / scale) / (1 + math.exp(-1 / scale))
