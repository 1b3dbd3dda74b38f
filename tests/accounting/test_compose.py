"""Composition of fixed plans: closed form against quadrature by hand and against dp-accounting."""

from fractions import Fraction

import mpmath
import pytest

from dpspectra.accounting import gaussian, pld, zcdp
from dpspectra.accounting.compose import compose, epsilon_at, fill, parallel
from dpspectra.core.errors import ParameterError
from dpspectra.core.privacy import Budget, Cost

DELTA = Fraction("1e-6")
MU2 = gaussian.mu_for(Fraction(1), DELTA) ** 2
PURE = Cost.pure(Fraction("0.1"))


def exact_delta(mu_squared: Fraction, epsilons: list[Fraction], epsilon: Fraction) -> mpmath.mpf:
    """Hockey-stick divergence of a Gaussian pair times randomised responses, one branch at a time."""
    if epsilons:
        first, *rest = epsilons
        up = 1 / (1 + mpmath.exp(-mpmath.mpf(first.numerator) / first.denominator))
        return up * exact_delta(mu_squared, rest, epsilon - first) + (1 - up) * exact_delta(
            mu_squared, rest, epsilon + first
        )
    m = mpmath.sqrt(mpmath.mpf(mu_squared.numerator) / mu_squared.denominator)
    e = mpmath.mpf(epsilon.numerator) / epsilon.denominator
    return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)


@pytest.mark.parametrize("epsilons", [[], ["0.1"], ["0.1", "0.1", "0.3"], ["2"], ["0.5"] * 5])
def test_pld_is_the_exact_divergence_rounded_up(epsilons: list[str]) -> None:
    read = [Fraction(text) for text in epsilons]
    bound = epsilon_at([Cost.gaussian(MU2), *map(Cost.pure, read)], DELTA)
    assert bound.route == "pld"
    with mpmath.workdps(50):
        assert 1 - 1e-6 < exact_delta(MU2, read, bound.epsilon) / mpmath.mpf("1e-6") <= 1


@pytest.mark.parametrize(
    "steps",
    [
        [Cost.gaussian(MU2), PURE],
        [PURE] * 30,
        [Cost.gaussian(Fraction(1, 4)), Cost.approx(Fraction("0.2"), Fraction("1e-7"))],
    ],
    ids=["mixed", "pure", "approx"],
)
def test_grid_of_dp_accounting_agrees_from_above(steps: list[Cost], monkeypatch: pytest.MonkeyPatch) -> None:
    closed = epsilon_at(steps, DELTA)
    monkeypatch.setattr(pld, "ATOMS", 0)
    grid = epsilon_at(steps, DELTA)
    assert closed.route == grid.route == "pld"
    assert closed.epsilon * Fraction("0.999999999") <= grid.epsilon <= closed.epsilon * Fraction("1.001")


def test_many_different_steps_take_the_grid() -> None:
    steps = [Cost.pure(Fraction(100 + i, 1000)) for i in range(12)]
    losses = pld.Losses.of(steps)
    assert losses is not None and not losses.closed
    bound = epsilon_at([*steps, Cost.gaussian(MU2)], DELTA)
    assert bound.route == "pld" and bound.epsilon < 2
    assert losses.epsilon_at(Fraction("1e-13")) is None


def test_gaussians_add_their_mu_squared() -> None:
    parts = [Cost.gaussian(MU2 / 3)] * 3
    assert compose(parts).mu_squared == MU2
    assert epsilon_at(parts, DELTA).epsilon == epsilon_at([Cost.gaussian(MU2)], DELTA).epsilon
    assert epsilon_at(parts, DELTA).epsilon == pytest.approx(1, rel=1e-8)


def test_slack_is_paid_twice_where_mu_is_used() -> None:
    slack = 2.0**-20
    plain, paid = (epsilon_at([Cost.gaussian(MU2)], DELTA, s).epsilon for s in (0.0, slack))
    assert paid - plain == 2 * Fraction(slack)


def test_best_route_wins() -> None:
    assert epsilon_at([PURE], DELTA).epsilon <= Fraction("0.1")
    by_zcdp = epsilon_at([Cost.zcdp(Fraction(1, 100)), PURE], DELTA)
    assert by_zcdp.route == "zcdp"
    rho = Fraction(1, 100) + zcdp.rho_of_pure(Fraction("0.1"))
    assert by_zcdp.epsilon == zcdp.epsilon_for(rho, DELTA)
    assert epsilon_at([Cost.approx(Fraction(1), DELTA)], DELTA).route == "basic"


def test_exponential_steps_use_their_range_bound() -> None:
    """Many bounded-range steps: zCDP with epsilon^2/8 beats randomised response."""
    step = Cost.pure(Fraction("0.1"), rho=zcdp.rho_of_range(Fraction("0.1")))
    assert epsilon_at([step] * 40, DELTA).route == "zcdp"


def test_no_route_is_an_error() -> None:
    with pytest.raises(ParameterError, match="delta"):
        epsilon_at([Cost.approx(Fraction(1), 2 * DELTA)], DELTA)
    with pytest.raises(ParameterError, match="delta"):
        epsilon_at([PURE], Fraction(0))


def test_compose_claims_what_it_proves() -> None:
    cost = compose([Cost.gaussian(MU2), PURE], DELTA)
    assert cost.epsilon == epsilon_at([Cost.gaussian(MU2), PURE], DELTA).epsilon
    assert cost.delta == DELTA and cost.mu_squared is None and cost.rho is None


def test_disjoint_halves_cost_the_maximum() -> None:
    a = Cost.approx(Fraction(1), DELTA)
    b = Cost.approx(Fraction(2), DELTA / 2)
    assert parallel([a, b]) == Cost.approx(Fraction(2), DELTA)
    halves = parallel([Cost.gaussian(Fraction(1)), Cost.zcdp(Fraction(1, 4), DELTA)])
    assert halves == Cost.zcdp(Fraction(1, 2), DELTA)
    assert parallel([a, Cost.zcdp(Fraction(1))]) == Cost()


@pytest.mark.parametrize(
    "fixed",
    [
        [],
        [PURE],
        [Cost.pure(Fraction("0.2"))] * 4,
        [Cost.approx(Fraction("0.2"), DELTA / 10)],
        [Cost.gaussian(MU2 / 3)],
        [Cost.zcdp(Fraction(1, 100))],
    ],
)
def test_fill_meets_the_budget(fixed: list[Cost]) -> None:
    budget = Budget.of(epsilon=1, delta="1e-6")
    made = fill(budget, fixed, coordinates=100)
    whole = epsilon_at([*fixed, Cost.gaussian(made.mu_squared)], DELTA, made.slack)
    assert 1 - 1e-6 < whole.epsilon <= 1 + 1e-15
    if not fixed:
        assert made.mu_squared == pytest.approx(gaussian.calibrate(budget, 100).mu_squared, rel=1e-8)


def test_fill_in_other_units() -> None:
    half = Fraction(1, 2)
    assert fill(Budget.of(rho=1), [Cost.zcdp(half)], 1).mu_squared == 1
    assert fill(Budget.of(rho=1), [], 1).mu_squared == 2
    assert fill(Budget.of(mu=1), [Cost.gaussian(half)], 1).mu_squared == half
    pure = Fraction(1) - zcdp.rho_of_pure(half)
    assert fill(Budget.of(rho=1), [Cost.pure(half)], 1).mu_squared == 2 * pure


@pytest.mark.parametrize(
    ("budget", "fixed", "message"),
    [
        (Budget.of(epsilon=1, delta="1e-6"), Cost.pure(Fraction(3)), "use up the budget"),
        (Budget.of(epsilon=1, delta="1e-6"), Cost.approx(Fraction(1, 2), Fraction("1e-6")), "budget"),
        (Budget.of(rho=1), Cost.zcdp(Fraction(1)), "use up the budget"),
        (Budget.of(rho=1), Cost.approx(Fraction(1, 9), DELTA), "units"),
        (Budget.of(mu=1), Cost.pure(Fraction(1, 9)), "units"),
        (Budget.of(epsilon=1, delta=0), Cost.pure(Fraction(1, 9)), "pure DP"),
    ],
)
def test_fill_refuses(budget: Budget, fixed: Cost, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        fill(budget, [fixed], coordinates=1)
