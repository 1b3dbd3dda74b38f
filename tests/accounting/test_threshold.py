"""The threshold of a stability histogram: delta by enumeration on small neighbours, to many digits."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import mpmath
import pytest

from dpspectra.accounting.threshold import least_shown

mpmath.mp.dps = 40


def shown(count: int, scale: float, least: int) -> dict[int, mpmath.mpf]:
    """Law of the released number of a cell with that exact count; 0 is "not shown"; tails to 1e-12."""
    if count == 0:
        return {0: mpmath.mpf(1)}
    q = mpmath.exp(-1 / mpmath.mpf(scale))
    reach = int(scale * 28) + least
    law = {value: (1 - q) / (1 + q) * q ** abs(value - count) for value in range(least, count + reach)}
    law[0] = 1 - sum(law.values())
    return law


def delta(
    left: tuple[int, ...], right: tuple[int, ...], scale: float, least: int, epsilon: float
) -> mpmath.mpf:
    """The hockey-stick divergence of the released cells that differ, by enumeration."""
    laws = [
        (shown(a, scale, least), shown(b, scale, least)) for a, b in zip(left, right, strict=True) if a != b
    ]
    total = mpmath.mpf(0)
    for outcome in product(*[sorted(set(p) | set(q)) for p, q in laws]):
        p, q = (
            mpmath.fprod(law[side].get(value, 0) for law, value in zip(laws, outcome, strict=True))
            for side in (0, 1)
        )
        total += max(mpmath.mpf(0), p - mpmath.exp(epsilon) * q)
    return total


NEIGHBOURS = [  # two cells; the row moves from the first to the second
    ((1, 0), (0, 1)),
    ((2, 0), (1, 1)),
    ((1, 1), (0, 2)),
    ((2, 1), (1, 2)),
    ((3, 0), (2, 1)),
    ((5, 5), (4, 6)),
]


@pytest.mark.parametrize(("epsilon", "bound"), [(2, "1/100"), (3, "1/100"), (2, "1/10"), (3, "1/1000")])
def test_delta_of_replacing_is_what_is_claimed(epsilon: int, bound: str) -> None:
    claimed, scale = Fraction(bound), 2 / epsilon
    least = least_shown(scale, claimed)
    q = mpmath.exp(-1 / mpmath.mpf(scale))
    exact = q ** (least - 1) / (1 + q)
    worst = max(delta(*pair[::step], scale, least, epsilon) for pair in NEIGHBOURS for step in (1, -1))
    assert worst <= exact + mpmath.mpf(10) ** -11
    assert exact <= mpmath.mpf(claimed.numerator) / claimed.denominator
    assert worst >= exact - mpmath.mpf(10) ** -11  # attained
    # One lower would be too low.
    assert q ** (least - 2) / (1 + q) > mpmath.mpf(claimed.numerator) / claimed.denominator


@pytest.mark.parametrize("epsilon", [0.5, 1, 3])
def test_delta_of_adding_is_what_is_claimed(epsilon: float) -> None:
    claimed = Fraction(1, 50)
    scale = 1 / epsilon
    least = least_shown(scale, claimed)
    pairs = [((1,), (0,)), ((2,), (1,)), ((4,), (3,))]
    worst = max(delta(*pair[::step], scale, least, epsilon) for pair in pairs for step in (1, -1))
    assert worst <= mpmath.mpf(1) / 50
    assert max(delta(*pairs[0], scale, least - 1, epsilon), 0) > mpmath.mpf(1) / 50


def test_the_continuous_threshold_is_too_low_on_integers() -> None:
    """1 + (2/eps) ln(1/(2 delta)), rounded to an integer: its delta is over the claim."""
    epsilon, claimed = 1.0, Fraction(1, 10**6)
    q = math.exp(-epsilon / 2)
    continuous = math.floor(1 + 2 / epsilon * math.log(1 / (2 * float(claimed))))
    assert least_shown(2 / epsilon, claimed) == 28
    assert q ** (continuous - 1) / (1 + q) > float(claimed)


def test_extremes() -> None:
    assert least_shown(1e-3, Fraction(1, 2)) == 2
    assert least_shown(1.0, Fraction(99, 100)) == 1
    assert least_shown(1e6, Fraction(1, 10**300)) > 6e8
