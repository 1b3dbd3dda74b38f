"""Rounding sides of exact.py, against exact comparison of fractions."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpspectra.accounting import exact
from dpspectra.core.privacy import Cost

positive = st.fractions(min_value=Fraction(1, 10**40), max_value=10**40)


@settings(deadline=None)
@given(positive)
def test_floats_enclose_the_fraction_within_one_unit(value: Fraction) -> None:
    down, up = exact.float_down(value), exact.float_up(value)
    assert Fraction(down) <= value <= Fraction(up)
    assert up == down or up == math.nextafter(down, math.inf)
    assert exact.float_up(-value) == -down


def test_floats_of_numbers_beyond_doubles() -> None:
    assert exact.float_down(Fraction(10**400)) < math.inf == exact.float_up(Fraction(10**400))
    assert exact.float_down(Fraction(1, 10**400)) == 0 < exact.float_up(Fraction(1, 10**400))


@settings(deadline=None)
@given(positive)
def test_roots_enclose_and_are_close(value: Fraction) -> None:
    down, up = exact.sqrt_down(value), exact.sqrt_up(value)
    assert down**2 <= value <= up**2
    assert up - down <= down / 2**78
    assert exact.sqrt_down(value**2) == exact.sqrt_up(value**2) or value.denominator & (value.denominator - 1)


def test_root_of_a_dyadic_square_is_exact() -> None:
    assert exact.sqrt_down(Fraction(9, 64)) == exact.sqrt_up(Fraction(9, 64)) == Fraction(3, 8)
    assert exact.sqrt_up(Fraction(0)) == 0


@pytest.mark.parametrize(
    ("value", "expected"),
    [("1e-400", -400 * math.log(10)), ("1/3", -math.log(3)), ("0.999999999999", -1.0000000000005e-12)],
)
def test_log_of_any_size(value: str, expected: float) -> None:
    assert exact.log(Fraction(value)) == pytest.approx(expected, rel=1e-14)


def test_total_keeps_a_currency_only_where_all_know_it() -> None:
    third = Fraction(1, 3)
    costs = [Cost.gaussian(third).claiming(third, Fraction(0)), Cost.pure(third, rho=third)]
    assert exact.total(costs) == Cost(2 * third, Fraction(0), third / 2 + third, Fraction(0), None)
    assert exact.total([]) == Cost(*(Fraction(0),) * 5)
