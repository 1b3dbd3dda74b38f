"""The Gaussian curve and its inverses against mpmath, and lemma DG against exact enumeration."""

import math
import time
from fractions import Fraction

import mpmath
import pytest

from dpspectra.accounting.gaussian import (
    Calibration,
    calibrate,
    discrete_slack,
    epsilon_for,
    gaussian_delta,
    mu_for,
    sigma_floor_for,
)
from dpspectra.core.errors import ParameterError
from dpspectra.core.privacy import Budget

EPSILONS = ["1e-6", "1e-5", "1e-4", "1e-3", "1e-2", "0.1", "1", "3", "10", "1e2", "1e3", "1e4", "1e5", "1e6"]
DELTAS = ["1e-12", "1e-9", "1e-6", "1e-5", "1e-3", "0.1"]


def real(value: Fraction | float) -> mpmath.mpf:
    exact = Fraction(value)
    return mpmath.mpf(exact.numerator) / exact.denominator


def true_delta(mu: Fraction | float, epsilon: Fraction | float) -> mpmath.mpf:
    """Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu) with sixty digits."""
    with mpmath.workdps(60):
        m, e = real(mu), real(epsilon)

        def upper(x: mpmath.mpf) -> mpmath.mpf:
            return mpmath.erfc(x / mpmath.sqrt(2)) / 2

        return upper(e / m - m / 2) - mpmath.exp(e) * upper(e / m + m / 2)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", [*DELTAS, "1e-300", "0.9"])
def test_calibration_is_safe_and_tight(epsilon: str, delta: str) -> None:
    mu = mu_for(Fraction(epsilon), Fraction(delta))
    ratio = true_delta(mu, Fraction(epsilon)) / real(Fraction(delta))
    assert 1 - 1e-6 <= ratio <= 1


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", DELTAS)
def test_epsilon_of_a_calibrated_mu_is_safe_and_tight(epsilon: str, delta: str) -> None:
    mu = mu_for(Fraction(epsilon), Fraction(delta))
    found = epsilon_for(mu**2, Fraction(delta))
    assert 1 - 1e-6 <= true_delta(mu, found) / real(Fraction(delta)) <= 1


@pytest.mark.parametrize("mu", [1e-6, 1e-3, 0.3, 0.999, 1.001, 5.0, 60.0, 1400.0])
@pytest.mark.parametrize("x", [-0.4, 0.0, 0.2, 3.0, 10.0, 29.9, 30.1, 37.0])
def test_curve_against_mpmath(mu: float, x: float) -> None:
    epsilon = mu * (max(x, -mu / 2) + mu / 2)
    assert gaussian_delta(mu, epsilon) == pytest.approx(float(true_delta(mu, epsilon)), rel=2e-11)


def test_curve_far_out_and_at_zero() -> None:
    assert gaussian_delta(2.0, 1e12) == 0
    assert gaussian_delta(1.0, 0.0) == pytest.approx(math.erf(0.5 / math.sqrt(2)), rel=1e-13)


def test_no_noise_needed_below_delta() -> None:
    assert epsilon_for(Fraction(1, 10**16), Fraction(1, 10)) == 0
    assert epsilon_for(Fraction(0), Fraction(1, 10)) == 0


def test_c18_classical_formula_fails_and_ours_holds() -> None:
    sigma = math.sqrt(2 * math.log(1.25 / 1e-5)) / 10
    assert sigma == pytest.approx(0.4845, abs=1e-4)
    assert gaussian_delta(1 / sigma, 10) == pytest.approx(2.27e-5, rel=3e-3)
    assert true_delta(mu_for(Fraction(10), Fraction("1e-5")), Fraction(10)) <= real(Fraction("1e-5"))


def test_calibration_takes_about_a_millisecond() -> None:
    def seconds() -> float:
        start = time.perf_counter()
        mu_for(Fraction(1), Fraction("1e-6"))
        return time.perf_counter() - start

    assert min(seconds() for _ in range(20)) < 0.005


@pytest.mark.parametrize("epsilon", ["0", "-1"])
def test_epsilon_out_of_domain(epsilon: str) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        mu_for(Fraction(epsilon), Fraction("1e-6"))


@pytest.mark.parametrize("delta", ["0", "1", "-0.1"])
def test_delta_out_of_domain(delta: str) -> None:
    with pytest.raises(ParameterError, match="delta"):
        mu_for(Fraction(1), Fraction(delta))
    with pytest.raises(ParameterError, match="delta"):
        epsilon_for(Fraction(1), Fraction(delta))


# ------------------------------------------------------------------------------------------- lemma DG


@pytest.mark.parametrize("sigma", [1, 1.5, 3, 10])
def test_lemma_dg_interval_holds_and_its_sides_are_nearly_reached(sigma: float) -> None:
    with mpmath.workdps(40):
        s, reach = mpmath.mpf(sigma), 14
        total = mpmath.nsum(lambda k: mpmath.exp(-(k**2) / (2 * s**2)), [-mpmath.inf, mpmath.inf])
        excess = []
        for z in range(int(reach * sigma) + 1):
            cell = mpmath.ncdf((z + 0.5) / s) - mpmath.ncdf((z - 0.5) / s)
            if z > 8 * sigma:  # the difference of two values near 1 needs the other tail
                cell = (
                    mpmath.erfc((z - 0.5) / s / mpmath.sqrt(2)) - mpmath.erfc((z + 0.5) / s / mpmath.sqrt(2))
                ) / 2
            ratio = mpmath.log(cell * total) + mpmath.mpf(z) ** 2 / (2 * s**2)
            low, high = -1 / (24 * s**2), (z / s) ** 2 / (24 * s**2)
            assert low <= ratio
            assert ratio <= high or (z == 0 and ratio <= 0)
            excess.append((ratio - low) / (high - low) if z > 0 else None)
        assert max(value for value in excess if value is not None) > 0.75


def discrete_delta(sigma: mpmath.mpf, shift: int, epsilon: int) -> mpmath.mpf:
    """Exact delta of a discrete Gaussian statistic of integer sensitivity ``shift``, by enumeration."""
    span = int(30 * sigma) + shift
    weight = {k: mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * sigma**2)) for k in range(-span - shift, span + 1)}
    total = mpmath.fsum(weight.values())
    factor = mpmath.exp(epsilon)
    gains = (weight[k] - factor * weight[k - shift] for k in range(-span, span + 1))
    return mpmath.fsum(gain for gain in gains if gain > 0) / total


@pytest.mark.parametrize(("epsilon", "excess"), [(1, 1.02), (3, 1.38)])
def test_an_unscaled_count_breaks_its_claim_and_scaling_mends_it(epsilon: int, excess: float) -> None:
    delta = Fraction("1e-6")
    mu = real(mu_for(Fraction(epsilon), delta))
    with mpmath.workdps(40):
        raw = discrete_delta(1 / mu, 1, epsilon) / real(delta)
        scaled = discrete_delta(64 / mu, 64, epsilon) / real(delta)
    assert float(raw) == pytest.approx(excess, abs=5e-3)
    assert abs(float(scaled) - 1) < 1e-4


def test_discrete_delta_is_within_the_lemma() -> None:
    """(epsilon', delta') of the continuous noise gives (epsilon' + eta, ...) of the discrete noise."""
    mu, shift = 0.25, 4
    sigma = shift / mu
    eta = discrete_slack(1, sigma, mu)
    shrunk = math.exp(1 / (24 * sigma**2))
    for epsilon in (1, 2):
        with mpmath.workdps(40):
            found = discrete_delta(mpmath.mpf(sigma), shift, epsilon)
        assert found <= shrunk * true_delta(mu, epsilon - eta) + 4 * math.exp(-72)


def test_slack_of_a_million_numbers() -> None:
    assert discrete_slack(10**6, 2.0**27, 17.0) < 2e-9
    assert discrete_slack(10**6, 2.0**27, 18.0) > 2e-9


@pytest.mark.parametrize(
    ("coordinates", "sigma", "mu"), [(0, 2.0**27, 1.0), (1, 0.5, 1.0), (1, 2.0**27, -1.0)]
)
def test_slack_refuses_what_the_lemma_does_not_cover(coordinates: int, sigma: float, mu: float) -> None:
    with pytest.raises(ParameterError, match="slack"):
        discrete_slack(coordinates, sigma, mu)


@pytest.mark.parametrize("coordinates", [1, 10**3, 10**6, 10**9])
@pytest.mark.parametrize("mu", [1e-7, 1e-3, 0.2, 1.0, 17.0, 1e3])
def test_floor_keeps_the_slack_below_its_share(coordinates: int, mu: float) -> None:
    floor = sigma_floor_for(coordinates, mu)
    assert math.frexp(floor)[0] == 0.5 and floor >= 2.0**27
    assert 2 * discrete_slack(coordinates, floor, mu) <= 1e-8 * mu**2 / 2 * (1 + 1e-12)
    assert coordinates / (24 * floor**2) <= 5e-10


def test_calibrate_epsilon_delta() -> None:
    budget = Budget.of(epsilon=1, delta="1e-6")
    made = calibrate(budget, coordinates=10**6)
    assert 0 < made.slack < 2e-9
    mu = mpmath.sqrt(real(made.mu_squared))
    within = true_delta(Fraction(float(mu)), Fraction(1) - 2 * Fraction(made.slack)) / real(Fraction("1e-6"))
    assert 1 - 1e-6 < within <= 1 - 9e-10


def test_calibrate_rho_and_mu_are_exact() -> None:
    assert calibrate(Budget.of(rho="0.1"), 10**6) == Calibration(Fraction(1, 5), 0.0)
    made = calibrate(Budget.of(mu="0.1"), 10**6)
    assert made.mu_squared == Fraction(1, 100)
    assert made.slack == discrete_slack(10**6, 2.0**27, 0.1)


def test_calibrate_names_the_way_out() -> None:
    with pytest.raises(ParameterError, match=r"delta > 0.*pure DP"):
        calibrate(Budget.of(epsilon=1, delta=0), 1)
    with pytest.raises(ParameterError, match="power of two"):
        calibrate(Budget.of(epsilon="1e-6", delta="1e-6"), 10**6, sigma_floor=2.0**20)
    with pytest.raises(ParameterError, match="power of two"):
        calibrate(Budget.of(epsilon=10, delta="1e-6"), 10**9)


def test_a_tiny_delta_widens_the_tail() -> None:
    usual = calibrate(Budget.of(epsilon=1, delta="1e-12"), 10**6)
    tiny = calibrate(Budget.of(epsilon=1, delta="1e-100"), 10**6)
    assert tiny.slack > 2 * usual.slack
