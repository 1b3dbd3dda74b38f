"""Winsorized means against a plain computation, their allocation, and the accuracy they are for."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpspectra.accounting.compose import epsilon_at
from dpspectra.accounting.gaussian import calibrate
from dpspectra.core.errors import ParameterError
from dpspectra.core.privacy import Adjacency, Budget
from dpspectra.core.released import Released
from dpspectra.core.schema import Schema
from dpspectra.engines import open_table
from dpspectra.instances.clusters import five_clusters
from dpspectra.mechanisms.winsorized_mean import LEAST, MOST, WinsorizedMean, between
from dpspectra.postprocess.clipped_mean import BITS
from dpspectra.postprocess.directions import directions, on_grid
from dpspectra.postprocess.quantile import geometric, reached, shifted
from dpspectra.postprocess.winsorized_mean import Settings, chi_square, decode, level_of, unstopped
from dpspectra.release import release
from dpspectra.rows.encode import Encoder
from dpspectra.rows.squares import VECTOR_BITS
from dpspectra.summaries.table import Table
from dpspectra.testing.sources import exact_noise, recording, seeded_noise
from dpspectra.testing.subject import open_cells

BUDGET = Budget.of(epsilon=1, delta="1e-6")
REPLACE = Adjacency.REPLACE_ONE


def cells(n: int = 2000, d: int = 4, seed: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d)) * 0.1


def free(rows: np.ndarray) -> Table:
    """A table without a bound on its rows."""
    encoder = Encoder.build(Schema.from_bounds(None, rows.shape[1]), origin="zero", open_ended=True)
    return open_table(rows, encoder, REPLACE)


def squares_of(released: Released, rows: np.ndarray) -> np.ndarray:
    """W of the pairs (0, 1), (2, 3), ..., encoded units."""
    k = released.parameters["n_components"]
    vectors = on_grid(directions(released, "gaussian_moments", k), VECTOR_BITS) / 2**VECTOR_BITS
    return ((rows[0::2] - rows[1::2]) @ vectors) ** 2 / 2


def test_tight_equals_a_plain_computation() -> None:
    rows = cells()
    with exact_noise():
        released = release(open_cells(rows, REPLACE), WinsorizedMean(BUDGET, stretch=2.0))
    w, rungs = squares_of(released, rows), geometric(2.0)
    m = len(w)
    found = decode(Released.from_json(released.to_json()))
    for i in range(2):
        level = level_of(released.step(f"upper {i + 1}").plan, m)
        goal = math.ceil(Fraction(level) * m)
        place = next(j for j, t in enumerate(rungs) if np.sum(w[:, i] <= t) >= goal)
        upper = 2.0 * rungs[place] * chi_square(0.9) / chi_square(level)
        assert found.upper[i] == pytest.approx(upper, rel=1e-4)
        assert found.values[i] == pytest.approx(np.minimum(w[:, i], upper).mean(), rel=1e-4)
    assert found.noise_sd.tolist() == [0, 0]


def test_published_equals_a_plain_computation() -> None:
    rows = cells()
    with exact_noise():
        released = release(open_cells(rows, REPLACE), WinsorizedMean(BUDGET, preset="published"))
    w, rungs, trim = squares_of(released, rows), shifted(), Fraction(16, 1000)
    found = decode(Released.from_json(released.to_json()))
    for i in range(2):
        ends = []
        for level in (trim, 1 - trim):
            goal = math.ceil(level * len(w))
            ends.append(next(t for t in rungs if np.sum(w[:, i] <= t) >= goal))
        assert found.upper[i] == pytest.approx(ends[1], rel=1e-4)
        assert found.values[i] == pytest.approx(np.clip(w[:, i], *ends).mean(), rel=1e-4)


def test_disjoint_halves_share_no_pair() -> None:
    """A pair of the first half moves quantiles and not the means, given the cutoffs; the other way round."""
    rows = cells(400)
    mechanism = WinsorizedMean(BUDGET, rows="disjoint")
    with recording() as one:
        released = release(open_cells(rows, REPLACE), mechanism)
    w = squares_of(released, rows)
    laws = one.laws[-3:]
    assert laws == ["first", "first", "gaussian"]
    assert [int(values[-1]) for values, _ in one.calls[-3:-1]] == [100, 100]
    upper = decode(released).upper
    means = np.minimum(w[100:], upper).mean(axis=0)
    np.testing.assert_allclose(decode(released).values, means, rtol=1e-4)


def test_cutoffs_that_cross_are_reset_and_places_past_the_ladder_are_its_end() -> None:
    rows = cells(40)
    mechanism = WinsorizedMean(BUDGET, preset="published", limits=(0.01, 0.5))
    with exact_noise():
        released = release(open_cells(rows, REPLACE), mechanism)
    settings, facts = Settings.of(released.parameters), released.facts
    for name, place in (("lower 1", 300), ("upper 1", 20), ("lower 2", 0), ("upper 2", 5000)):
        released.step(name).values[0] = place
    assert unstopped(released) == ("upper 2",)
    lower, upper = settings.cutoffs(released, released.step("means").plan, facts)
    square = facts.grid.step**2
    np.testing.assert_allclose(lower * square, [0.01, 0.01])
    np.testing.assert_allclose(upper * square, [0.5, 0.5])
    assert reached(shifted(), 5000) == shifted()[-1]


def test_a_constant_table_has_no_noise_between_equal_cutoffs() -> None:
    found = between(np.array([[1.0, 3.0], [9.0, 2.0]]), np.array([2.0, 1.0]), np.array([2.0, 5.0]), 10)
    assert found.tolist() == [[0, 512], [0, 256]]
    with seeded_noise(1):
        released = release(open_cells(np.zeros((400, 3)), REPLACE), WinsorizedMean(BUDGET))
    assert np.abs(decode(released).values).max() < 1e-9  # cut at the ladder's first step


def test_integers_between_cutoffs_never_leave_their_range() -> None:
    rng = np.random.default_rng(5)
    w = rng.exponential(1.0, (5000, 3)) * 10.0 ** rng.integers(-300, 300, (5000, 3))
    upper = np.array([1e-300, 1.0 / 3.0, 7e299])
    found = between(w, upper / 3, upper, BITS)
    assert (found.min(), found.max()) == (0, 2**BITS)
    assert (found[w >= upper] == 2**BITS).all()
    assert not found[w <= upper / 3].any()


@pytest.mark.parametrize(
    "budget", [BUDGET, Budget.of(rho="0.05"), Budget.of(epsilon=3, delta="1e-8")], ids=str
)
@pytest.mark.parametrize("k", [1, 4])
def test_the_best_composition_is_used_up(budget: Budget, k: int) -> None:
    facts = open_cells(cells(), REPLACE).facts
    mechanism = WinsorizedMean(budget, n_components=k)
    plans = mechanism.calibrate(facts)
    charges = [plan.charge for plan in plans]
    if budget.rho is not None:
        assert Fraction(999, 1000) * budget.rho <= sum(c.rho for c in charges) <= budget.rho
    else:
        proven = epsilon_at(charges, budget.delta, mechanism.slack(facts)).epsilon
        assert Fraction(99, 100) * budget.epsilon <= proven <= budget.epsilon
    quantiles = sum(plan.share for plan in plans if plan.law == "first")
    assert LEAST / 2 <= quantiles <= MOST / 2


def test_published_quantiles_get_a_4kth_of_epsilon_and_the_means_half() -> None:
    facts, k = open_cells(cells(), REPLACE).facts, 3
    plans = WinsorizedMean(BUDGET, n_components=k, preset="published").calibrate(facts)
    scree = Fraction(1, 2)
    quantiles = [plan for plan in plans if plan.law == "first"]
    assert len(quantiles) == 2 * k
    for plan in quantiles:
        assert float(plan.charge.epsilon) == pytest.approx(float(scree / (4 * k)), rel=1e-12)
        assert plan.charge.epsilon <= scree / (4 * k)
    means = calibrate(Budget.of(epsilon="0.25", delta="5e-7"), k).mu_squared
    assert float(plans[-1].mu_squared) == pytest.approx(float(means), rel=1e-6)
    assert sum(plan.share for plan in plans) == 1


def test_disjoint_halves_cost_the_larger_one() -> None:
    facts = open_cells(cells(), REPLACE).facts
    budget = Budget.of(rho="0.02")
    mechanism = WinsorizedMean(budget, rows="disjoint")
    plans = mechanism.calibrate(facts)
    *found, first, second, means = [plan.charge.rho for plan in plans]
    assert sum(found) + max(first + second, means) == mechanism.cost(plans).rho
    assert Fraction(999, 1000) * budget.rho <= mechanism.cost(plans).rho <= budget.rho
    assert sum(found) + first + second + means > Fraction(14, 10) * budget.rho
    reused = WinsorizedMean(budget).calibrate(facts)[-1].mu_squared
    assert reused < plans[-1].mu_squared < 4 * reused  # half the pairs ask for four times: it never pays


def test_levels_fall_where_searches_are_noisy() -> None:
    facts = [open_cells(cells(n), REPLACE).facts for n in (40_000, 1000, 20)]
    plans = [WinsorizedMean(BUDGET, n_components=4).calibrate(fact)[-2] for fact in facts]
    levels = [level_of(plan, fact.rows // 2) for plan, fact in zip(plans, facts, strict=True)]
    assert 0.95 < levels[0] <= 0.99
    assert 0.5 <= levels[2] < levels[1] < levels[0]


def test_what_is_refused() -> None:
    facts = open_cells(cells(), REPLACE).facts
    for limits in ((1.0, 0.5), (-1.0, 1.0), (0.0, math.inf), (0.2, 0.2)):
        with pytest.raises(ParameterError, match="limits"):
            WinsorizedMean(BUDGET, limits=limits).calibrate(facts)
    with pytest.raises(ParameterError, match="mu"):
        WinsorizedMean(Budget.of(mu=1)).calibrate(facts)
    with pytest.raises(ParameterError, match="delta"):
        WinsorizedMean(Budget.of(epsilon=1, delta=0), rows="disjoint").calibrate(facts)
    with pytest.raises(ParameterError, match="four rows"):
        WinsorizedMean(BUDGET, rows="disjoint").calibrate(open_cells(cells(3), REPLACE).facts)
    with pytest.raises(ParameterError, match="stretch"):
        WinsorizedMean(BUDGET, stretch=0.0).calibrate(facts)


def test_the_ladder_is_wide_without_a_bound() -> None:
    rungs = Settings(False, False, None, None).ladder(free(cells(10)).facts)
    assert (rungs[0], rungs[-1], len(rungs)) == (2.0**-60, 2.0**60, 400)


def test_tight_constants_beat_the_published_ones() -> None:
    """Five clusters, k = 5, epsilon = 1: mean relative error along the directions, 12 seeded runs."""
    rows = five_clusters()[0]
    encoder = Encoder.build(Schema.from_bounds(None, 20), origin="zero", row_norm=25.0)
    covariance, table = np.cov(rows.T), open_table(rows, encoder, REPLACE)
    errors = {}
    for preset in ("tight", "published"):
        found = []
        for seed in range(12):
            with seeded_noise(seed):
                released = release(table, WinsorizedMean(BUDGET, n_components=5, preset=preset))
            vectors = directions(released, "gaussian_moments", 5)
            exact = np.einsum("ij,ik,kj->j", vectors, covariance, vectors)
            found.append(np.mean(np.abs(np.maximum(decode(released).values, 0) - exact) / exact))
        errors[preset] = float(np.mean(found))
    assert errors["tight"] <= 0.09
    assert errors["tight"] <= 0.3 * errors["published"]
