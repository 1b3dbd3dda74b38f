"""Exact numbers: fractions to floats and square roots, each rounded to a named side; sums of costs.

Claim: every ``*_down`` result is at most, and every ``*_up`` result at least, the exact value.  Proof: the
conversions compare the rounded number with the exact fraction and step one unit outward where needed; the
roots come from ``math.isqrt``, the floor of an integer root, and ``_up`` adds one unit to an inexact floor.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from fractions import Fraction

from dpspectra.core.privacy import Cost, outward

ROOT_BITS = 80
"""Relative precision of rational square roots, in bits."""


def float_down(value: Fraction) -> float:
    """The largest double at most ``value``."""
    try:
        near = float(value)
    except OverflowError:
        return sys.float_info.max if value > 0 else -math.inf
    return near if Fraction(near) <= value else outward(near, up=False)


def float_up(value: Fraction) -> float:
    """The smallest double at least ``value`` (infinite above the largest double)."""
    return -float_down(-value)


def sqrt_down(value: Fraction) -> Fraction:
    """A rational at most sqrt(value), closer than one part in 2^80; exact where 2^k sqrt(value) is whole."""
    return _root(value)[0]


def sqrt_up(value: Fraction) -> Fraction:
    """A rational at least sqrt(value), closer than one part in 2^80; exact where 2^k sqrt(value) is whole."""
    return _root(value)[1]


def log(value: Fraction) -> float:
    """Natural logarithm of a positive fraction of any size; relative error below 2^-48."""
    if Fraction(1, 2) < value < 2:
        return math.log1p(float(value - 1))
    return math.log(value.numerator) - math.log(value.denominator)


def _root(value: Fraction) -> tuple[Fraction, Fraction]:
    """Lower and upper rational root: sqrt(value) = sqrt(value 4^shift) / 2^shift."""
    size = value.numerator.bit_length() - value.denominator.bit_length()
    shift = max(ROOT_BITS, ROOT_BITS - size // 2)
    scaled = value * 4**shift
    floor = math.isqrt(scaled.numerator // scaled.denominator)
    unit = Fraction(1, 2**shift)
    lower = floor * unit
    return lower, lower if lower * lower == value else lower + unit


def _sum(costs: list[Cost], read: Callable[[Cost], Fraction | None]) -> Fraction | None:
    values = [read(cost) for cost in costs]
    known = [value for value in values if value is not None]
    return sum(known, Fraction(0)) if len(known) == len(values) else None


def total(costs: Iterable[Cost]) -> Cost:
    """Exact sum in every currency that all costs know (None where one does not; zeros for no cost).

    Each sum is a valid bound on its own, also when costs are chosen after seeing earlier outputs up to a
    cap fixed beforehand: basic composition for (epsilon, delta), zCDP for (rho, rho_delta), and mu^2 for
    Gaussian steps.
    """
    listed = list(costs)
    rho = _sum(listed, lambda cost: cost.rho)
    return Cost(
        epsilon=_sum(listed, lambda cost: cost.epsilon),
        delta=_sum(listed, lambda cost: cost.delta),
        rho=rho,
        rho_delta=sum((cost.rho_delta for cost in listed), Fraction(0)),
        mu_squared=_sum(listed, lambda cost: cost.mu_squared),
    )
