"""zCDP bounds against mpmath and against direct maximisation over orders and worst cases."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from dpspectra.accounting.gaussian import mu_for
from dpspectra.accounting.zcdp import epsilon_for, rho_for, rho_of_pure, rho_of_range
from dpspectra.core.errors import ParameterError

EPSILONS = ["1e-6", "0.0009", "0.0011", "0.1", "1", "3", "10", "50", "1e4"]
ORDERS = [1.0001, 1.01, 1.3, 2.0, 5.0, 30.0, 1000.0]


def real(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_formulas_rounded_up(epsilon: str) -> None:
    with mpmath.workdps(60):
        e = real(Fraction(epsilon))
        r = e / mpmath.expm1(e)
        for found, exact in (
            (rho_of_pure(Fraction(epsilon)), e * mpmath.tanh(e / 2)),
            (rho_of_range(Fraction(epsilon)), r - 1 - mpmath.log(r)),
        ):
            assert 1 <= real(found) / exact < 1 + 1e-7


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3", "10"])
def test_pure_bound_is_the_worst_of_randomised_response(epsilon: str) -> None:
    with mpmath.workdps(40):
        e = real(Fraction(epsilon))
        ratios = [
            mpmath.log(mpmath.cosh((a - mpmath.mpf(1) / 2) * e) / mpmath.cosh(e / 2)) / (a - 1) / a
            for a in map(mpmath.mpf, ORDERS)
        ]
    bound = float(rho_of_pure(Fraction(epsilon)))
    assert max(ratios) <= bound < float(max(ratios)) * 1.001
    assert bound <= min(float(Fraction(epsilon)), float(Fraction(epsilon)) ** 2 / 2)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 10.0])
def test_range_bound_is_the_worst_of_two_valued_losses(epsilon: float) -> None:
    """Losses t and t - epsilon with E_Q e^L = 1; every t, every order."""
    t = np.linspace(1e-4, epsilon - 1e-4, 4001)
    chance = np.expm1(epsilon - t) / np.expm1(epsilon)
    worst = max(
        float(np.max(np.log(chance * np.exp(a * t) + (1 - chance) * np.exp(a * (t - epsilon))) / (a - 1) / a))
        for a in ORDERS
        if a * epsilon < 700
    )
    bound = float(rho_of_range(Fraction(str(epsilon))))
    assert worst <= bound < worst * 1.001
    assert bound < epsilon**2 / 8


@pytest.mark.parametrize("rho", ["1e-10", "1e-4", "0.05", "1", "40", "1e6"])
@pytest.mark.parametrize("delta", ["1e-12", "1e-6", "0.1"])
def test_conversion_is_one_of_the_valid_orders_and_near_the_best(rho: str, delta: str) -> None:
    found = epsilon_for(Fraction(rho), Fraction(delta))
    with mpmath.workdps(40):
        p, d = real(Fraction(rho)), real(Fraction(delta))

        def at(t: float) -> mpmath.mpf:
            a1 = mpmath.exp(t)
            return (1 + a1) * p + (mpmath.log(1 / d) - mpmath.log1p(a1)) / a1 - mpmath.log1p(1 / a1)

        best = max(mpmath.mpf(0), min(at(t / 8) for t in range(-240, 320)))
    assert real(found) <= best * (1 + mpmath.mpf(10) ** -9)
    assert real(found) >= best * (1 - mpmath.mpf(10) ** -2)


@pytest.mark.parametrize("epsilon", ["1e-6", "0.01", "1", "10", "1e6"])
@pytest.mark.parametrize("delta", ["1e-12", "1e-6", "0.1"])
def test_inverse_is_safe_tight_and_never_beats_the_gaussian(epsilon: str, delta: str) -> None:
    rho = rho_for(Fraction(epsilon), Fraction(delta))
    back = float(epsilon_for(rho, Fraction(delta)) / Fraction(epsilon))
    assert back == pytest.approx(1, abs=1e-9)
    assert rho < mu_for(Fraction(epsilon), Fraction(delta)) ** 2 / 2


def test_approximate_zcdp_spends_its_delta_first() -> None:
    rho, delta = Fraction(1, 10), Fraction("1e-6")
    assert epsilon_for(rho, 2 * delta, rho_delta=delta) == epsilon_for(rho, delta)
    with pytest.raises(ParameterError, match="delta"):
        epsilon_for(rho, delta, rho_delta=delta)


def test_domain() -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        rho_for(Fraction(0), Fraction("1e-6"))
    with pytest.raises(ParameterError, match="delta"):
        rho_for(Fraction(1), Fraction(1))
    with pytest.raises(ParameterError, match="rho"):
        epsilon_for(Fraction(-1), Fraction("1e-6"))


def test_no_rho_is_left_of_almost_nothing() -> None:
    with pytest.raises(ParameterError, match="larger"):
        rho_for(Fraction(1, 10**100), Fraction(1, 10**299))
