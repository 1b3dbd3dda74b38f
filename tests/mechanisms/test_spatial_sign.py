"""The spatial sign mechanism against plain integers, its centre, and its own claims."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpspectra import datasets
from dpspectra.core.errors import ParameterError
from dpspectra.core.facts import Facts, Grid
from dpspectra.core.privacy import Adjacency, Budget
from dpspectra.core.released import Released
from dpspectra.mechanisms.spatial_sign import CENTRE_SHARES, SpatialSign
from dpspectra.postprocess.directions import direction_matrix, directions
from dpspectra.postprocess.spatial_sign import RADII, ladder, location, radius
from dpspectra.postprocess.symmetric import unpack
from dpspectra.release import release
from dpspectra.rows.signs import Signs
from dpspectra.testing.contract import losses
from dpspectra.testing.sources import exact_noise, recording, seeded_noise
from dpspectra.testing.subject import FREE, REAL, open_cells, open_free, variants

REPLACE = Adjacency.REPLACE_ONE
BUDGET = Budget.of(epsilon=1, delta="1e-6")
GENERATOR = np.random.default_rng(12)


def signed(rows: np.ndarray, centre: np.ndarray, bits: int, reach: float = 0.0) -> list[list[int]]:
    """Integer vectors of length 2**bits or less, in plain Python."""
    found = []
    for row in rows.tolist():
        u = [value - at for value, at in zip(row, centre.tolist(), strict=True)]
        length = max(math.hypot(*u), reach) or math.inf
        found.append([math.trunc(2.0**bits * value / length) for value in u])
    return found


@pytest.mark.parametrize("opened", [open_cells, open_free])
def test_about_a_public_centre_it_is_a_sum_of_integers(opened) -> None:
    cells = np.vstack([GENERATOR.normal(size=(40, 3)) * 0.3, np.zeros((2, 3))])
    table = opened(cells, REPLACE)
    bits = table.facts.grid.bits
    with recording() as recorder:
        release(table, SpatialSign(BUDGET, "fixed"))
    rows = signed(table.matrix(), np.zeros(3), bits)
    expected = np.array([[sum(k[i] * k[j] for k in rows) for j in range(3)] for i in range(3)])
    # What lies on the edge of an integer may be cut on either side.
    assert np.abs(unpack(recorder.calls[0][0], 3) - expected).max() <= 42 * 2 * 2**bits


@pytest.mark.parametrize("opened", [open_cells, open_free])
def test_the_centre_is_made_of_clipped_means_about_one_another(opened) -> None:
    cells = GENERATOR.normal(size=(400, 3)) * 0.05 + [0.5, -0.3, 0.2]
    table = opened(cells, REPLACE)
    with exact_noise():
        released = release(table, SpatialSign(BUDGET))
    rows, unit = table.matrix(), table.facts.grid.step
    rungs = ladder(table.facts, 2.0**-20, 2.0**40)
    lengths = np.linalg.norm(rows, axis=1)
    reach = radius(released, rungs)
    assert reach == rungs[np.searchsorted(rungs, np.sort(lengths)[199])]
    centre = np.zeros(3)
    for part in RADII:
        moved = rows - centre
        scale = np.minimum(1, part * reach / np.maximum(np.linalg.norm(moved, axis=1), 1e-300))
        centre = centre + (moved * scale[:, None]).mean(axis=0)
    np.testing.assert_allclose(location(released, 2.0**-20, 2.0**40), centre * unit, rtol=0, atol=1e-5)
    assert np.linalg.norm(location(released, 2.0**-20, 2.0**40) - cells.mean(axis=0)) < 0.05
    assert not location(_fixed(table), 2.0**-20, 2.0**40).any()


def _fixed(table) -> Released:
    with exact_noise():
        return release(table, SpatialSign(BUDGET, "fixed"))


def test_directions_are_those_of_elliptical_rows_wherever_they_lie() -> None:
    """Rows of a t distribution with one degree of freedom about a point 30 scales away: no moment exists."""
    turn = np.linalg.qr(GENERATOR.normal(size=(4, 4)))[0]
    heavy = GENERATOR.standard_t(1, size=(20_000, 1))
    cells = GENERATOR.normal(size=(20_000, 4)) * [4, 2, 1, 0.5] * np.abs(heavy) @ turn.T + 120
    with seeded_noise(4):
        released = release(open_free(cells, REPLACE), SpatialSign(BUDGET))
    found = directions(released, "spatial_sign", 2)
    assert (np.abs(np.sum(found * turn[:, :2], axis=0)) > 0.99).all()


@pytest.mark.parametrize("mechanism", list(variants(SpatialSign)), ids=lambda m: m.center)
@pytest.mark.parametrize("subject", [REAL, FREE], ids=["ball", "free"])
def test_no_pair_of_neighbours_costs_more_than_declared(mechanism, subject) -> None:
    for declared, measured in losses(subject, mechanism, REPLACE).values():
        assert Fraction(98, 100) * declared <= max(measured) <= declared


def test_no_cell_makes_it_fail() -> None:
    odd = [np.nan, np.inf, -np.inf, 1e308, 5e-324, -0.0]
    cells = np.array([[a, b] for a in odd for b in odd])
    for opened in (open_cells, open_free):
        for mechanism in variants(SpatialSign):
            with seeded_noise(1):
                matrix = direction_matrix(release(opened(cells, REPLACE), mechanism), "spatial_sign")
            assert np.isfinite(matrix).all()


@pytest.mark.parametrize("bits", [4, 12, 20])
@pytest.mark.parametrize("d", [1, 3, 40])
@pytest.mark.parametrize("radius", [0.0, 1.0, 2.0**300])
def test_signs_lie_in_the_ball_exactly(bits: int, d: int, radius: float) -> None:
    """Lemma L-unit, on rows of every size and on those that rounding might push out."""
    scales = 2.0 ** np.concatenate([GENERATOR.uniform(-1060, 500, 400), np.zeros(400)])
    rows = np.vstack([GENERATOR.normal(size=(800, d)) * scales[:, None], np.eye(d), np.zeros((1, d))])
    kept = rows.copy()
    found = Signs(bits, None, radius)(rows)
    exact = found.astype(np.int64).astype(object)
    assert (found == np.trunc(found)).all()
    assert max(sum(value * value for value in row) for row in exact) <= 4**bits
    if radius == 0:
        lengths = np.sqrt((found**2).sum(axis=1))
        assert (lengths[:-1] >= 2.0**bits - math.sqrt(d) - 1).all()
    assert (found * kept >= 0).all()
    assert not found[-1].any()
    shifted = Signs(bits, np.ones(d), radius)(kept + 0.0)
    np.testing.assert_array_equal(shifted, Signs(bits, None, radius)(kept - 1.0))


def test_breast_cancer_without_bounds_everything_paid() -> None:
    """Columns over their standard deviations, epsilon 1: PC1 keeps over 0.9 of its variance.

    20 seeded runs, so there is no false alarm; benchmarks/directions.py has the numbers to reach.
    """
    rows = datasets.load_breast_cancer().data
    rows = rows / rows.std(axis=0)
    covariance, table, kept = np.cov(rows.T), open_free(rows, REPLACE), []
    with seeded_noise(3):
        for _ in range(20):
            found = directions(release(table, SpatialSign(BUDGET)), "spatial_sign", 1)[:, 0]
            kept.append(found @ covariance @ found / np.linalg.eigvalsh(covariance)[-1])
    assert np.mean(kept) > 0.9


def test_shares_and_refusals() -> None:
    facts = Facts(1000, ("a", "b"), Grid(20, math.inf, (0, 0), (1, 1)), REPLACE)
    plans = SpatialSign(BUDGET).calibrate(facts)
    assert [plan.name for plan in plans] == ["radius", *(f"centre_{i}" for i in (1, 2, 3, 4)), "signs"]
    assert sum(plan.share for plan in plans) == 1
    assert len(RADII) == len(CENTRE_SHARES)
    for wrong in (
        {"center": "joint"},
        {"smallest": 2.0**41},
        {"smallest": 2.0**-101},
        {"largest": 2.0**101},
        {"smallest": math.nan},
    ):
        with pytest.raises(ParameterError):
            SpatialSign(BUDGET, **wrong).calibrate(facts)
    with pytest.raises(ParameterError, match="mu"):
        SpatialSign(Budget.of(mu=1)).calibrate(facts)
    SpatialSign(Budget.of(mu=1), "fixed").calibrate(facts)
    private = Facts(None, ("a", "b"), Grid(20, 1.0, (0, 0), (1, 1)), Adjacency.ADD_REMOVE)
    with pytest.raises(ParameterError, match="replace-one"):
        SpatialSign(BUDGET).calibrate(private)
