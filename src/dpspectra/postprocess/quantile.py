"""The public side of the unbounded quantile: the values that a search visits, its target, where it ended.

A search climbs a fixed ladder of values t_1 < t_2 < ... and stops at the first whose noisy count of values
at or below it reaches a noisy target ("first" of the noise protocol). The ladder, and what a place on it
means, are public.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

STEPS = 200
"""Steps of a ladder. Every step may stop a search too early: s steps lose about ln(s) noise scales of
counts, so that 5,000 lose 3 scales more than 200."""
OCTAVES = 40
"""Powers of two that a ladder spans below its upper limit where the scale of the values is not known."""


def geometric(upper: float, steps: int = STEPS, octaves: int = OCTAVES) -> FloatArray:
    """A ladder (steps,) from upper/2**octaves to ``upper``, each value the same factor above the last."""
    rungs = upper * np.exp2(np.linspace(-octaves, 0.0, steps))
    rungs[-1] = upper
    return rungs


def shifted(steps: int = 5000, beta: float = 1.001, lower: float = 0.0) -> FloatArray:
    """The ladder t_i = beta**i - 1 + lower, i = 1..steps, of [Durfee23]; the defaults end at 147.04."""
    rungs: FloatArray = np.expm1(np.arange(1, steps + 1) * math.log(beta)) + lower
    return rungs


def target(level: Fraction, size: int) -> int:
    """Counts that a search for the quantile of ``size`` values is to reach: at least one."""
    return max(1, math.ceil(level * size))


def reached(rungs: FloatArray, place: int) -> float:
    """The value of a place; the last one where no step stopped, which ``stopped`` tells: both are public."""
    return float(rungs[min(place, len(rungs) - 1)])


def stopped(rungs: FloatArray, place: int) -> bool:
    """Whether a search found its target on the ladder."""
    return place < len(rungs)
