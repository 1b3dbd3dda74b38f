"""Clipped means against plain fractions, and against the bounds that the page proves."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpspectra.accounting.gaussian import calibrate
from dpspectra.core.errors import ParameterError
from dpspectra.core.privacy import Adjacency, Budget
from dpspectra.core.released import Released
from dpspectra.core.schema import Schema
from dpspectra.engines import open_table
from dpspectra.instances.clusters import five_clusters
from dpspectra.mechanisms.clipped_mean import REACH, ClippedMean, check_orthonormal, cut_to_grid
from dpspectra.postprocess.clipped_mean import BITS, cut_of, decode
from dpspectra.postprocess.directions import directions, on_grid
from dpspectra.release import release
from dpspectra.rows.encode import Encoder
from dpspectra.rows.squares import VECTOR_BITS
from dpspectra.summaries.dyadic import counts
from dpspectra.summaries.table import Table
from dpspectra.testing.sources import exact_noise, seeded_noise
from dpspectra.testing.subject import open_cells

BUDGET = Budget.of(epsilon=1, delta="1e-6")
REPLACE = Adjacency.REPLACE_ONE
R = 2**20


def cells(n: int = 60, d: int = 5, seed: int = 3) -> np.ndarray:
    """Rows of integers over R, well inside the unit ball."""
    return np.random.default_rng(seed).integers(-R // 8, R // 8, size=(n, d)) / R


def squares_of(released: Released, rows: np.ndarray) -> list[list[Fraction]]:
    """W of the pairs (0, 1), (2, 3), ..., in encoded units, by fractions."""
    k = released.parameters["n_components"]
    vectors = on_grid(directions(released, "gaussian_moments", k), VECTOR_BITS)
    differences = [[Fraction(float(x)) for x in row] for row in rows[0::2] - rows[1::2]]
    return [
        [
            sum(x * int(v) for x, v in zip(row, vector, strict=True)) ** 2 / 2 / 4**VECTOR_BITS
            for vector in vectors.T
        ]
        for row in differences
    ]


@pytest.mark.parametrize("clip", [None, 0.05, 0.01])
@pytest.mark.parametrize("preset", ["tight", "published"])
def test_columns_equal_plain_fractions(clip: float | None, preset: str) -> None:
    rows = cells()
    mechanism = ClippedMean(BUDGET, n_components=2, clip=clip, preset=preset)
    with exact_noise():
        released = release(open_cells(rows, REPLACE), mechanism)
    top = Fraction(2) if clip is None else Fraction(clip)
    exact = [
        sum(math.floor(2**BITS * min(w, top) / top) for w in column)
        for column in zip(*squares_of(released, rows), strict=True)
    ]
    step = released.step("means")
    assert np.abs((step.values >> step.plan.shift) - exact).max() <= 30  # a floor of each pair, in doubles
    found = decode(Released.from_json(released.to_json()))
    means = [float(sum(min(w, top) for w in c) / 30) for c in zip(*squares_of(released, rows), strict=True)]
    np.testing.assert_allclose(found.values, means, rtol=1e-6, atol=2e-9)
    assert found.noise_sd.tolist() == [0, 0]
    assert found.upper.tolist() == [float(top)] * 2


def test_rows_are_cut_after_columns() -> None:
    squares = np.array([[10.0, 0.2, 0.1, 0.0, 0.0], [3.0, 3.0, 3.0, 3.0, 0.0], [1.0, 0.5, 0, 0, 0]])
    found = cut_to_grid(squares.copy(), 2.0, 20, REACH) / 2**20
    np.testing.assert_allclose(found[0], [1, 0.1, 0.05, 0, 0], atol=2e-6)
    np.testing.assert_allclose(found[1], [0.625, 0.625, 0.625, 0.625, 0], atol=2e-6)
    np.testing.assert_allclose(found[2], [0.5, 0.25, 0, 0, 0], atol=2e-6)


def test_no_row_passes_its_cut_and_none_changes_by_more_than_the_bound() -> None:
    rng, k, level = np.random.default_rng(1), 6, 2**BITS
    rows = rng.exponential(1.0, (4000, k)) ** 3 * rng.choice([0.0, 1.0, 1e-3], (4000, k))
    rows = np.vstack([rows, 1e300 * np.eye(k), np.full((1, k), 1e300), np.full((1, k), 5e-324)])
    found = cut_to_grid(rows, 1.0, BITS, REACH)
    assert found.min() >= 0
    assert found.max() <= level
    lengths = [sum(int(x) ** 2 for x in row) for row in found]
    assert max(lengths) <= REACH**2 * level**2
    full = cut_to_grid(np.vstack([np.repeat([1e9, 0.0], 3), np.repeat([0.0, 1e9], 3)]), 1.0, BITS, REACH)
    change = sum(int(x) ** 2 for x in full[0] - full[1])
    declared = math.ceil(2 * REACH**2 * level**2)
    assert 0.98 * declared <= change <= declared  # attained


def test_chords_of_differences_within_a_ball() -> None:
    """L-chord: ||uu' - vv'|| <= 4 for u = a - b, v = c - b and a, b, c in the unit ball."""
    rng = np.random.default_rng(2)
    points = rng.normal(size=(3, 100_000, 3))
    points /= np.linalg.norm(points, axis=2, keepdims=True)
    points[:, ::3] *= rng.random((3, len(points[0, ::3]), 1))
    u, v = points[0] - points[1], points[2] - points[1]
    lengths = [np.sum(x**2, axis=1) for x in (u, v)]
    norms = np.sqrt(lengths[0] ** 2 + lengths[1] ** 2 - 2 * np.sum(u * v, axis=1) ** 2)
    assert 3.9 < norms.max() <= 4


@pytest.mark.parametrize("k", [1, 3])
def test_the_chord_is_attained(k: int) -> None:
    """A row at e1 becomes -e1 where its partner is at -e1: w falls from 2 B^2 to 0."""
    mechanism = ClippedMean(BUDGET, n_components=k)
    sums = []
    for last in (1.0, -1.0):
        rows = np.zeros((40, 3))
        rows[::2, 0], rows[1::2, 0] = 0.9, -1.0  # the top direction is e1 whatever the last row is
        rows[-2, 0] = last
        with exact_noise():
            released = release(open_cells(rows, REPLACE), mechanism)
        step = released.step("means")
        sums.append([int(x) for x in step.values >> step.plan.shift])
    change = sum((a - b) ** 2 for a, b in zip(*sums, strict=True))
    declared = step.plan.sensitivity_squared / 4**step.plan.shift
    assert Fraction(98, 100) * declared <= change <= declared


@pytest.mark.parametrize(
    ("k", "clip", "preset", "joint", "square"),
    [
        (2, 0.5, "tight", True, 2.0),
        (5, 0.5, "tight", True, 2 * 1.25**2),
        (5, 0.5, "tight", False, 5.0),
        (5, 0.5, "published", True, 5.0),
        (5, None, "published", True, 5.0),
        (5, None, "tight", True, 1.0),
        (5, 2.0, "tight", True, 1.0),
        (5, 20.0, "tight", True, 0.01),
    ],
)
def test_sensitivity_is_the_least_of_three(
    k: int, clip: float | None, preset: str, joint: bool, square: float
) -> None:
    facts = open_cells(cells(), REPLACE).facts
    mechanism = ClippedMean(BUDGET, n_components=k, clip=clip, preset=preset, joint=joint)
    plan = mechanism.calibrate(facts)[-1]
    found = plan.sensitivity_squared / 4 ** (BITS + plan.shift)
    assert float(found) == pytest.approx(square, rel=1e-4)


def test_rows_are_cut_only_where_noise_matters() -> None:
    """Many rows: bias may weigh more than noise, and columns alone are cut."""
    mechanism = ClippedMean(BUDGET, n_components=5, clip=0.5)
    lemmas = [
        mechanism.calibrate(open_cells(cells(n), REPLACE).facts)[-1].lemma for n in (60, 520, 560, 20_000)
    ]
    assert lemmas == ["L-orthant", "L-orthant", "L-column", "L-column"]


@pytest.mark.parametrize("budget", [BUDGET, Budget.of(rho="0.5"), Budget.of(mu=2)], ids=str)
def test_the_budget_is_used_up_and_not_exceeded(budget: Budget) -> None:
    facts = open_cells(cells(), REPLACE).facts
    mechanism = ClippedMean(budget, share=Fraction(1, 3))
    plans = mechanism.calibrate(facts)
    total, spent = calibrate(budget, 11).mu_squared, mechanism.cost(plans).mu_squared
    assert spent is not None
    assert Fraction(999, 1000) * total <= spent <= total * (1 + Fraction(1, 10**6))
    assert plans[-1].share == Fraction(1, 3)


def test_published_parts_are_calibrated_apart() -> None:
    facts = open_cells(cells(), REPLACE).facts
    *found, means = ClippedMean(BUDGET, preset="published").calibrate(facts)
    half = Budget.of(epsilon="0.5", delta="5e-7")
    for spent in (sum(plan.mu_squared for plan in found), means.mu_squared):
        assert float(spent) == pytest.approx(float(calibrate(half, 10).mu_squared), rel=1e-6)


def test_tables_without_a_bound() -> None:
    rows = cells() * 1e3
    encoder = Encoder.build(Schema.from_bounds(None, 5), origin="zero", open_ended=True)
    facts = open_table(rows, encoder, REPLACE).facts
    with pytest.raises(ParameterError, match="clip is missing"):
        cut_of(None, facts)
    assert cut_of(3.0, facts) == 3.0


@pytest.mark.parametrize("clip", [0.0, -1.0, float("nan"), float("inf"), 1e308])
def test_a_clip_out_of_range_is_refused(clip: float) -> None:
    with pytest.raises(ParameterError, match="clip must be positive"):
        ClippedMean(BUDGET, clip=clip).calibrate(open_cells(cells(), REPLACE).facts)


def test_one_row_is_refused() -> None:
    with pytest.raises(ParameterError, match="two at least"):
        ClippedMean(BUDGET).calibrate(open_cells(cells(n=1), REPLACE).facts)


def test_directions_that_are_not_orthonormal_are_refused() -> None:
    vectors = on_grid(np.linalg.qr(np.random.default_rng(1).normal(size=(6, 3)))[0], VECTOR_BITS)
    check_orthonormal(vectors)
    doubled = vectors.copy()
    doubled[:, 1] = doubled[:, 0]
    for wrong in (2 * vectors, doubled, vectors + 20):
        with pytest.raises(ArithmeticError, match="orthonormal"):
            check_orthonormal(wrong)


@pytest.mark.parametrize(("times", "most"), [(2, 1.0), (10, 0.8), (20, 0.8)])
def test_tight_constants_beat_the_published_ones(times: int, most: float) -> None:
    """Five clusters, k = 5, epsilon = 1: mean relative error along the directions, 12 seeded runs."""
    rows = five_clusters()[0] / 25
    covariance = np.cov(rows.T)
    clip = times * float(np.linalg.eigvalsh(covariance)[-1])

    def error(preset: str) -> float:
        table, found = open_cells(rows, REPLACE), []
        for seed in range(12):
            with seeded_noise(seed):
                released = release(table, ClippedMean(BUDGET, n_components=5, clip=clip, preset=preset))
            vectors = directions(released, "gaussian_moments", 5)
            exact = np.einsum("ij,ik,kj->j", vectors, covariance, vectors)
            found.append(np.mean(np.abs(np.maximum(decode(released).values, 0) - exact) / exact))
        return float(np.mean(found))

    assert error("tight") <= most * error("published")


# ------------------------------------------------------------------------------------------ clip="dyadic"


def free(rows: np.ndarray) -> Table:
    schema = Schema.from_bounds(None, rows.shape[1])
    return open_table(rows, Encoder.build(schema, origin="zero", open_ended=True), REPLACE)


def test_bins_equal_plain_fractions() -> None:
    rows = cells()
    mechanism = ClippedMean(BUDGET, n_components=2, clip="dyadic")
    with exact_noise():
        released = release(open_cells(rows, REPLACE), mechanism)
    squares = squares_of(released, rows)
    expected = np.zeros((2, 41), dtype=int)  # 2^-39 .. 2^1, the bin of 2 B^2
    for row in squares:
        for column, w in enumerate(row):
            expected[column, sum(w >= Fraction(2) ** r for r in range(-38, 2))] += 1
    step = released.step("bins")
    assert (step.values >> step.plan.shift).tolist() == expected.ravel().tolist()
    found = decode(Released.from_json(released.to_json()))
    assert set(np.log2(found.upper) % 1) == {0.0}
    means = [
        float(sum(min(row[j], Fraction(float(found.upper[j]))) for row in squares) / 30) for j in range(2)
    ]
    np.testing.assert_allclose(found.values, means, rtol=1e-6)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_one_row_of_squares_moves_two_counts_a_column(k: int) -> None:
    generator = np.random.default_rng(4)
    w = generator.exponential(size=(30, k)) ** 4
    before, worst = counts(w, -20, 20), 0
    for other in (np.zeros(k), np.full(k, 1e9), generator.exponential(size=k)):
        changed = w.copy()
        changed[7] = other
        worst = max(worst, int(((counts(changed, -20, 20) - before) ** 2).sum()))
    plans = ClippedMean(BUDGET, n_components=k, clip="dyadic").calibrate(open_cells(cells(), REPLACE).facts)
    plan = next(plan for plan in plans if plan.name == "bins")
    assert worst == 2 * k == plan.sensitivity_squared / 4**plan.shift
    assert plan.size == 41 * k


@pytest.mark.parametrize("unit", [1e-4, 1.0, 1e4])
def test_private_cuts_find_the_units(unit: float) -> None:
    """No bound, lengths far from 1: the mean relative error along the directions is below a fifth."""
    rows = np.random.default_rng(6).normal(size=(8000, 3)) * [3.0, 1.0, 0.5] * unit
    mechanism = ClippedMean(BUDGET, directions="spherical_kendall", clip="dyadic")
    with seeded_noise(5):
        released = release(free(rows), mechanism)
    vectors = directions(released, "spherical_kendall", 2)
    exact = np.einsum("ij,ik,kj->j", vectors, np.cov(rows.T), vectors)
    found = decode(released)
    assert np.mean(np.abs(found.values - exact) / exact) < 0.2
    assert (found.noise_sd < 0.2 * exact).all()


def test_private_cuts_need_no_credible_bound() -> None:
    """Five clusters whose bound is ten times too wide: a fifth of the error of cutting at 2 B^2."""
    rows = five_clusters()[0] / 250
    covariance = np.cov(rows.T)

    def error(clip: str | None) -> float:
        table, found = open_cells(rows, REPLACE), []
        for seed in range(6):
            with seeded_noise(seed):
                released = release(table, ClippedMean(BUDGET, n_components=5, clip=clip))
            vectors = directions(released, "gaussian_moments", 5)
            exact = np.einsum("ij,ik,kj->j", vectors, covariance, vectors)
            found.append(np.mean(np.abs(np.maximum(decode(released).values, 0) - exact) / exact))
        return float(np.mean(found))

    assert error("dyadic") <= 0.2 * error(None)


def test_dyadic_is_the_librarys_own() -> None:
    facts = open_cells(cells(), REPLACE).facts
    with pytest.raises(ParameterError, match="preset='tight'"):
        ClippedMean(BUDGET, clip="dyadic", preset="published").calibrate(facts)
    with pytest.raises(ParameterError, match="'dyadic'"):
        ClippedMean(BUDGET, clip="binary").calibrate(facts)  # type: ignore[arg-type]
    assert ClippedMean(Budget.of(mu=1), clip="dyadic").calibrate(facts)[-2].name == "bins"


def test_counts_get_what_they_need() -> None:
    """More of the part for the means where pairs are few, within a tenth and a half."""
    shares = []
    for n in (60, 4000, 40_000):
        plans = ClippedMean(BUDGET, clip="dyadic").calibrate(open_cells(cells(n), REPLACE).facts)
        shares.append(next(plan.share for plan in plans if plan.name == "bins") / Fraction(1, 2))
    assert shares[0] == Fraction(1, 2)
    assert shares[0] > shares[1] >= shares[2] == Fraction(1, 10)
