"""The moments mechanism against a computation in plain integers and fractions, and against its own claims."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dpspectra.core.errors import InfeasiblePlan, ParameterError
from dpspectra.core.facts import Facts, Grid
from dpspectra.core.privacy import Adjacency, Budget
from dpspectra.core.schema import Schema
from dpspectra.engines import open_table
from dpspectra.mechanisms.gaussian_moments import GaussianMoments
from dpspectra.mechanisms.steps import _gaussian_total, filled, spread
from dpspectra.postprocess.decode import augmentation, decode
from dpspectra.release import release
from dpspectra.rows.encode import Encoder
from dpspectra.testing.audit import worst
from dpspectra.testing.contract import losses
from dpspectra.testing.sources import exact_noise, recording, seeded_noise
from dpspectra.testing.subject import REAL, open_cells

REPLACE, ADD = Adjacency.REPLACE_ONE, Adjacency.ADD_REMOVE
BUDGET = Budget.of(epsilon=1, delta="1e-6")
LAYOUTS = list(product(["private", "joint", "fixed"], [REPLACE, ADD], [False, True]))
R = 2**20


def integer_rows(n: int = 40, d: int = 3, seed: int = 5) -> list[list[int]]:
    """Integer rows well inside half the ball, with a mean away from the origin."""
    generator = np.random.default_rng(seed)
    return (generator.integers(-R // 8, R // 8, size=(n, d)) + np.array([R // 8, 0, -R // 16])).tolist()


def gram(rows: list[list[int]]) -> list[list[int]]:
    d = len(rows[0])
    return [[sum(row[i] * row[j] for row in rows) for j in range(d)] for i in range(d)]


def upper(matrix: list[list[int]]) -> list[int]:
    return [matrix[i][j] for i in range(len(matrix)) for j in range(i, len(matrix))]


def oracle(rows: list[list[int]], center: str, adjacency: Adjacency, c: int) -> dict[str, list[int]]:
    """The exact integers of every step, without their power of two."""
    n, total = len(rows), [sum(column) for column in zip(*rows, strict=True)]
    steps: dict[str, list[int]] = {}
    if center == "joint":
        steps["augmented"] = upper(gram([[c, *row] for row in rows]))
    if center == "fixed" and adjacency is ADD:
        steps["count"] = [n]
    if center == "private":
        steps["mean"] = [R * n, *total] if adjacency is ADD else total
        mean = [(2 * value + n) // (2 * n) for value in total]  # half up
        rows = [[k - m for k, m in zip(row, mean, strict=True)] for row in rows]
    if center != "joint":
        steps["scatter"] = upper(gram(rows))
    steps["trace"] = [sum(k * k for row in rows for k in row)]
    return steps


@pytest.mark.parametrize(("center", "adjacency", "trace"), LAYOUTS)
def test_exact_release_equals_plain_integers(center: str, adjacency: Adjacency, trace: bool) -> None:
    rows = integer_rows()
    table = open_cells(np.array(rows) / R, adjacency)
    with exact_noise():
        released = release(table, GaussianMoments(BUDGET, center=center, trace=trace))
    expected = oracle(rows, center, adjacency, augmentation(table.facts))
    if not trace:
        del expected["trace"]
    assert [step.plan.name for step in released.steps] == list(expected)
    for step in released.steps:
        assert step.values.tolist() == [value << step.plan.shift for value in expected[step.plan.name]]
    assert not released.private


@pytest.mark.parametrize(("center", "adjacency", "trace"), LAYOUTS)
@pytest.mark.parametrize("ddof", [0, 1])
def test_decoded_without_noise_equals_fractions(
    center: str, adjacency: Adjacency, trace: bool, ddof: int
) -> None:
    rows = integer_rows()
    n, d = len(rows), len(rows[0])
    with exact_noise():
        released = release(
            open_cells(np.array(rows) / R, adjacency), GaussianMoments(BUDGET, center=center, trace=trace)
        )
    found = decode(released, ddof)
    total = [Fraction(sum(column), n) for column in zip(*rows, strict=True)]
    mean = [Fraction(0)] * d if center == "fixed" else total
    about = [[k - m for k, m in zip(row, mean, strict=True)] for row in rows]
    divisor = n if center == "fixed" else n - ddof
    exact = [[float(value / divisor / R**2) for value in line] for line in gram(about)]
    assert found.rows == n
    np.testing.assert_allclose(found.mean, [float(m / R) for m in mean], rtol=1e-12)
    np.testing.assert_allclose(found.covariance, exact, rtol=1e-9, atol=2.0**-40)
    if trace:
        np.testing.assert_allclose(found.trace, np.trace(exact), rtol=1e-9)
    assert found.noise_sd == found.mean_sd == found.rows_sd == 0


def test_c02_the_statistic_is_about_the_public_centre() -> None:
    """C02: rows within 1 of (10, 0); replacing (9, 0) by (11, 0) changes the scatter by at most its claim."""
    encoder = Encoder.build(Schema.from_bounds(None, 2), origin=(10.0, 0.0), row_norm=1.0)
    sums = []
    for last in (9.0, 11.0):
        table = open_table(np.array([[10.0, 0.0]] * 5 + [[last, 0.0]]), encoder, REPLACE)
        with recording() as recorder:
            released = release(table, GaussianMoments(BUDGET, center="fixed"))
        sums.append(recorder.calls[0][0])
        plan = released.steps[0].plan
    assert [int(values[0]) for values in sums] == [R**2, R**2]  # about (10, 0) both rows are one unit away
    change = sums[1] - sums[0]
    assert float(change @ change) <= plan.sensitivity_squared


def test_c03_rows_are_clipped_before_they_are_added() -> None:
    with recording() as recorder:
        release(open_cells(np.array([[3.0, 4.0], [3.0, 4.0]]), REPLACE), GaussianMoments(BUDGET))
    values, _ = recorder.calls[0]
    shift = GaussianMoments(BUDGET).calibrate(open_cells(np.zeros((2, 2)), REPLACE).facts)[0].shift
    assert np.ldexp(values.astype(float), -shift) / R == pytest.approx([1.2, 1.6], abs=4 / R)


def test_c04_second_moments_of_a_raw_column_are_bounded_by_the_larger_end() -> None:
    """C04: bounds (0, 10) about zero give |x| <= 10, so x^2 up to 100, and noise in every entry."""
    encoder = Encoder.build(Schema.from_bounds((0, 10), 1), origin="zero")
    assert encoder.radius**2 == 100
    table = open_table(np.array([[10.0], [0.0]]), encoder, REPLACE)
    with exact_noise():
        assert decode(release(table, GaussianMoments(BUDGET, center="fixed"))).covariance[0, 0] == 50
    for center, adjacency, trace in LAYOUTS:
        mechanism = GaussianMoments(BUDGET, center=center, trace=trace)
        for plan in mechanism.calibrate(open_table(np.zeros((2, 1)), encoder, adjacency).facts):
            assert plan.sensitivity_squared > 0
            assert min(plan.sigma) > 0


@pytest.mark.parametrize(("center", "adjacency", "trace"), LAYOUTS)
@pytest.mark.parametrize(
    "budget",
    [BUDGET, Budget.of(epsilon="0.01", delta="1e-9"), Budget.of(rho="0.5"), Budget.of(mu=2)],
    ids=str,
)
def test_the_budget_is_used_up_and_not_exceeded(
    center: str, adjacency: Adjacency, trace: bool, budget: Budget
) -> None:
    facts = Facts(None if adjacency is ADD else 1000, ("a", "b"), Grid(20, 1.0, (0, 0), (1, 1)), adjacency)
    mechanism = GaussianMoments(budget, center=center, trace=trace)
    plans = mechanism.calibrate(facts)
    total, spent = (
        _gaussian_total(mechanism.budget, filled(mechanism.drafts(facts)), {})[0].mu_squared,
        mechanism.cost(plans).mu_squared,
    )
    assert spent is not None
    assert Fraction(999, 1000) * total <= spent <= total
    assert sum(plan.share for plan in plans) == 1
    assert all(plan.mu_squared <= plan.share * total for plan in plans)
    assert all(spread(plan).shape == (plan.size,) for plan in plans)


def test_the_worst_angle_of_the_joint_layout_is_attained() -> None:
    declared, measured = losses(REAL, GaussianMoments(BUDGET, center="joint"), REPLACE)["augmented"]
    assert measured[3] == max(measured)  # neighbours.py: the fourth change is the worst angle
    assert float(measured[3] / declared) == pytest.approx(1, abs=1e-5)
    assert worst(GaussianMoments(BUDGET, center="joint"), REPLACE).name == "worst angle"


def test_orthogonal_extremes_attain_the_scatter_exactly() -> None:
    mechanism = GaussianMoments(BUDGET, center="fixed")
    left, right = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    with recording() as recorder:
        for cells in (left, right):
            release(open_cells(cells, REPLACE), mechanism)
    change = [int(value) for value in recorder.calls[0][0] - recorder.calls[1][0]]
    plan = mechanism.calibrate(open_cells(left, REPLACE).facts)[0]
    assert change[0] ** 2 + 2 * change[1] ** 2 + change[2] ** 2 == plan.sensitivity_squared


@pytest.mark.parametrize(("center", "adjacency"), [case[:2] for case in LAYOUTS if not case[2]])
def test_decoded_moments_are_unbiased(center: str, adjacency: Adjacency) -> None:
    """Mean of 200 seeded releases within 6 standard errors of the exact moments, in every entry."""
    cells = np.random.default_rng(1).normal(size=(500, 3)) * 0.15 + [0.2, 0.0, -0.1]
    mechanism, table = (
        GaussianMoments(Budget.of(mu=1), center=center, trace=True),
        open_cells(cells, adjacency),
    )
    with exact_noise():
        exact = decode(release(table, mechanism))
    with seeded_noise(8):
        found = [decode(release(table, mechanism)) for _ in range(200)]
    assert exact.trace is not None
    samples = np.array([np.r_[f.covariance.ravel(), f.mean, f.rows, f.trace or 0.0] for f in found])
    truth = np.r_[exact.covariance.ravel(), exact.mean, exact.rows, exact.trace]
    error = samples.std(axis=0) / 200**0.5
    # Dividing by a noisy number of rows has a relative bias of (sd/n)^2.
    bias = np.abs(truth) * (found[0].rows_sd / 500) ** 2
    assert (np.abs(samples.mean(axis=0) - truth) <= 6 * error + bias + 1e-12).all()
    spread_off = samples[:, 1].std()
    if center != "joint":  # there the sd that is stated is without the error of the mean
        assert spread_off == pytest.approx(found[0].noise_sd, rel=0.25)


def test_few_rows_do_not_bias_the_covariance_by_a_noisy_mean() -> None:
    """With 30 rows the noisy mean leaves the ball; its projection is what rows are centred at."""
    cells = np.random.default_rng(1).normal(size=(30, 6)) * 0.1
    mechanism, table = GaussianMoments(Budget.of(epsilon="0.5", delta="1e-6")), open_cells(cells, REPLACE)
    with seeded_noise(8):
        found = [decode(release(table, mechanism)) for _ in range(100)]
    mean = np.mean([np.trace(f.covariance) for f in found])
    error = np.std([np.trace(f.covariance) for f in found]) / 100**0.5
    # Rows lie about 1 from the projected mean and are clipped there, so tr is within [-1, 1] of the truth.
    assert abs(mean - np.trace(np.cov(cells.T))) < 1 + 6 * error
    assert np.median([f.mean_sd for f in found]) < 0.6  # 1.6 before the projection


@pytest.mark.parametrize("center", ["private", "joint", "fixed"])
def test_an_empty_table_is_released_under_add_remove(center: str) -> None:
    with seeded_noise(3):
        found = decode(release(open_cells(np.empty((0, 3)), ADD), GaussianMoments(BUDGET, center=center)))
    assert found.rows >= 1
    assert np.isfinite(found.covariance).all()


def test_pure_dp_and_a_tiny_budget_are_refused() -> None:
    facts = open_cells(np.zeros((10, 2)), REPLACE).facts
    with pytest.raises(ParameterError, match="delta"):
        GaussianMoments(Budget.of(epsilon=1, delta=0)).calibrate(facts)
    with pytest.raises(InfeasiblePlan, match="larger"):
        GaussianMoments(Budget.of(rho="1e-13")).calibrate(facts)


def test_the_ledger_row_is_the_sum_of_the_steps(tmp_path) -> None:
    """C19: whatever the options, the recorded cost is the claim."""
    from dpspectra.accounting.ledger import Ledger

    for i, (center, adjacency, trace) in enumerate(LAYOUTS):
        ledger = Ledger(tmp_path / f"{i}.db", epsilon=1, delta="1e-6")
        with seeded_noise(1):
            release(
                open_cells(np.zeros((10, 2)), adjacency),
                GaussianMoments(BUDGET, center=center, trace=trace),
                ledger=ledger,
            )
        spent = ledger.spent("table")
        assert (spent.epsilon, spent.delta) == (1, Fraction(1, 10**6))


def test_sums_that_would_wrap_are_refused() -> None:
    """Below 20 bits the grid leaves no room for the power of two that a large budget's slack asks for."""
    grid = Grid(14, 1.0, (0.0,) * 3, (1.0,) * 3)
    facts = Facts(2**34, ("a", "b", "c"), grid, Adjacency.REPLACE_ONE)
    with pytest.raises(InfeasiblePlan, match="64-bit sums"):
        GaussianMoments(Budget.of(mu=8), "fixed").calibrate(facts)
    GaussianMoments(Budget.of(mu="0.2"), "fixed").calibrate(facts)


@pytest.mark.parametrize(("settings", "name"), [({"center": "none"}, "center"), ({"clip": "privat"}, "clip")])
def test_misspelt_settings_of_the_mechanism(settings: dict[str, str], name: str) -> None:
    with pytest.raises(ParameterError, match=name):
        GaussianMoments(BUDGET, **settings).drafts(open_cells(np.zeros((9, 2)), ADD).facts)
