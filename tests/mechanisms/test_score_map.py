"""The score map against plain loops, its private frame against sorting, and faults of another package."""

from fractions import Fraction

import numpy as np
import pytest

from dpspectra.core.errors import InfeasiblePlan, ParameterError
from dpspectra.core.privacy import Adjacency, Budget
from dpspectra.core.released import Released
from dpspectra.core.schema import Column, Schema
from dpspectra.engines import open_table
from dpspectra.mechanisms.score_map import ScoreMap
from dpspectra.noise.secure import SecureNoise
from dpspectra.postprocess.score_map import decode
from dpspectra.release import release
from dpspectra.rows.encode import Encoder
from dpspectra.testing.sources import Replay, exact_noise, in_force, recording
from dpspectra.testing.subject import open_cells, open_free

REPLACE, ADD = Adjacency.REPLACE_ONE, Adjacency.ADD_REMOVE
BUDGET = Budget.of(epsilon=1, delta="1e-6")
SCHEMA = Schema((*Schema.from_bounds((-1, 1), 3).columns, Column("g", "category", categories=("a", "b"))))


def cells(n: int = 300, seed: int = 3) -> np.ndarray:
    """Rows with three variances, an offset, and a group that is 0, 1, not listed or missing."""
    generator = np.random.default_rng(seed)
    rows = generator.normal(size=(n, 3)) * [0.3, 0.2, 0.05] + [0.2, -0.1, 0.0]
    return np.column_stack([rows, generator.choice([0, 1, 5, np.nan], size=n)])


def grouped(rows: np.ndarray, adjacency: Adjacency = REPLACE, **options):
    schema = Schema((*SCHEMA.columns[:3], Column("g", "category", categories=("0", "1"))))
    return open_table(rows, Encoder.build(schema, groups="g"), adjacency, **options)


def loop(rows: np.ndarray, released: Released) -> np.ndarray:
    """Count rows one by one, from the released geometry and data units alone."""
    found = decode(released)
    grid, bins = released.facts.grid, found.raw.shape[1]
    counts = np.zeros((3, bins, bins))
    for row in rows:
        encoded = np.clip(row[:3], -1, 1) - grid.centre_array
        scores = (encoded - found.centre) @ found.vectors
        first, second = (
            min(max(int(np.floor((s - e[0]) / (e[1] - e[0]))), 0), bins - 1)
            for s, e in zip(scores, found.edges, strict=True)
        )
        group = int(row[3]) if row[3] in (0, 1) else 2
        counts[group, first, second] += 1
    return counts


@pytest.mark.parametrize("adjacency", [REPLACE, ADD])
@pytest.mark.parametrize("histogram", ["additive", "sparse"])
@pytest.mark.parametrize("frame", ["public", "private", 0.7])
def test_exact_release_equals_a_loop(adjacency: Adjacency, histogram: str, frame: str | float) -> None:
    if (adjacency, frame) == (ADD, "private"):
        return
    rows = cells()
    with exact_noise():
        released = release(
            grouped(rows, adjacency), ScoreMap(BUDGET, histogram=histogram, frame=frame, bins=7)
        )
    assert np.array_equal(decode(released).raw, loop(rows, released))
    assert decode(Released.from_json(released.to_json())).counts.sum() == pytest.approx(300)


def test_scores_are_measured_from_the_released_mean() -> None:
    rows = cells(2000)
    with exact_noise():
        found = decode(release(grouped(rows), ScoreMap(BUDGET)))
    assert np.allclose(found.centre, np.clip(rows[:, :3], -1, 1).mean(axis=0), atol=1e-5)
    assert found.edges[0, -1] == pytest.approx(np.sqrt(3) + np.linalg.norm(found.centre))


@pytest.mark.parametrize("opened", [open_cells, open_free])
def test_a_private_frame_is_the_quantile_of_sizes(opened) -> None:
    rows = cells()[:, :3] * 0.3
    mechanism = ScoreMap(
        BUDGET, directions="spatial_sign" if opened is open_free else "gaussian_moments", frame="private"
    )
    with exact_noise():
        found = decode(release(opened(rows, REPLACE), mechanism))
    sizes = np.sort(np.abs((rows - found.centre) @ found.vectors), axis=0)[int(0.98 * 300) - 1]
    assert np.all(found.edges[:, -1] >= sizes * (1 - 1e-4))
    assert np.all(found.edges[:, -1] <= sizes * 1.16)  # one step of the ladder


@pytest.mark.parametrize("histogram", ["additive", "sparse"])
def test_a_row_that_changes_its_group_moves_two_cells(histogram: str) -> None:
    left, right = cells(), cells()
    right[7, 3] = 1 - left[7, 3] if left[7, 3] in (0, 1) else 0
    mechanism = ScoreMap(BUDGET, histogram=histogram, bins=5)
    with recording() as first:
        release(grouped(left), mechanism)
    with recording(Replay(first.outputs)) as second:
        release(grouped(right), mechanism)
    for law, (a, _), (b, _) in zip(first.laws, first.calls, second.calls, strict=True):
        change = a - b
        if a.size == 75:
            assert sorted(change[change != 0] // abs(change).max()) == [-1, 1]
            assert law == ("gaussian" if histogram == "additive" else "threshold")
        else:
            assert not change.any()  # the group is in no other statistic


def test_budget_is_met_and_shares_add_up() -> None:
    facts = grouped(cells()).facts
    for histogram in ("additive", "sparse"):
        mechanism = ScoreMap(BUDGET, histogram=histogram, frame="private")
        plans = mechanism.calibrate(facts)
        assert sum(plan.share for plan in plans) == 1
        assert [plan.name for plan in plans] == ["mean", "scatter", "frame_1", "frame_2", "cells"]
        assert mechanism.cost(plans).epsilon == 1
    for adjacency, square in ((REPLACE, 2), (ADD, 1)):
        plan = ScoreMap(BUDGET).calibrate(grouped(cells(), adjacency).facts)[-1]
        assert plan.sensitivity_squared == square * 4**plan.shift


def test_a_sparse_map_leaves_directions_their_share() -> None:
    facts = grouped(cells()).facts
    dense, sparse = (ScoreMap(BUDGET, histogram=h).calibrate(facts) for h in ("additive", "sparse"))
    assert sparse[1].mu_squared == pytest.approx(dense[1].mu_squared, rel=2e-3)
    cost = sparse[-1].charge
    assert cost.delta == Fraction(1, 2 * 10**6)
    assert 0.25 < cost.epsilon < 0.35


def test_only_cells_with_rows_are_shown_and_never_below_the_threshold() -> None:
    rows = np.tile([0.2, 0.1, 0.0, 1.0], (500, 1))
    with in_force(SecureNoise()):
        found = decode(release(grouped(rows), ScoreMap(BUDGET, histogram="sparse", bins=30)))
    shown = found.raw[found.raw != 0]
    assert len(shown) == 1  # all rows are in one cell of one group: 1 of 2,700
    assert shown[0] >= found.least > 28


def test_far_rows_and_odd_cells_cannot_move_the_frame() -> None:
    """Another package drops out-of-range order statistics from a smooth sensitivity: one value moved to 1e8
    moves its median's noise without bound. Here one row moves each count of the search by at most 1."""
    rows = cells()[:, :3] * 0.3
    far = rows.copy()
    far[0] = 1e300
    mechanism = ScoreMap(BUDGET, directions="spatial_sign")
    with recording() as left:
        release(open_free(rows, REPLACE), mechanism)
    with recording(Replay(left.outputs)) as right:
        release(open_free(far, REPLACE), mechanism)
    firsts = [
        (a - b)
        for law, (a, _), (b, _) in zip(left.laws, left.calls, right.calls, strict=True)
        if law == "first"
    ]
    assert len(firsts) == 3  # the radius of the centre, and two half-widths
    for change in firsts:
        assert set(change) <= {0, 1} or set(change) <= {0, -1}


def test_no_exact_group_size_is_in_a_release() -> None:
    """Another package returns the group sizes, and levels that it reads from the data."""
    rows = cells()
    other = rows.copy()
    other[:, 3] = 0  # one group only
    mechanism = ScoreMap(BUDGET, bins=4)
    with recording() as first:
        release(grouped(rows), mechanism)
    answers = [Replay(first.outputs) for _ in range(2)]
    texts = []
    for table, source in zip((rows, other), answers, strict=True):
        with in_force(source):
            texts.append(release(grouped(table), mechanism).to_json())
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"bins": 1}, "bins"),
        ({"bins": True}, "bins"),
        ({"bins": 2.5}, "bins"),
        ({"components": (0, 0)}, "components"),
        ({"components": (0, 2)}, "components"),
        ({"components": "01"}, "components"),
        ({"components": (0, True)}, "components"),
        ({"frame": "wide"}, "frame"),
        ({"frame": 0.0}, "frame"),
        ({"frame": float("inf")}, "frame"),
        ({"frame": True}, "frame"),
        ({"histogram": "dense"}, "histogram"),
        ({"share": Fraction(1)}, "share"),
        ({"directions": "clipped_mean"}, "directions"),
    ],
)
def test_public_faults_are_refused(fields: dict, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        ScoreMap(BUDGET, **fields).calibrate(grouped(cells()).facts)


def test_more_refusals() -> None:
    facts = grouped(cells()).facts
    with pytest.raises(InfeasiblePlan, match="fewer bins"):
        ScoreMap(BUDGET, bins=1000).calibrate(facts)
    with pytest.raises(ParameterError, match="give epsilon and delta"):
        ScoreMap(Budget.of(rho=1), histogram="sparse").calibrate(facts)
    with pytest.raises(ParameterError, match="add-remove"):
        ScoreMap(BUDGET, frame="private").calibrate(grouped(cells(), ADD).facts)
    with pytest.raises(ParameterError, match="does not support"):
        ScoreMap(BUDGET, directions="spatial_sign").calibrate(grouped(cells(), ADD).facts)
    with pytest.raises(ParameterError, match="needs a public bound"):
        ScoreMap(BUDGET, directions="spatial_sign", frame="public").calibrate(
            open_free(cells()[:, :3], REPLACE).facts
        )
    with pytest.raises(ParameterError, match=r"1 feature\(s\)"):
        ScoreMap(BUDGET, n_components=1).calibrate(open_cells(cells()[:, :1], REPLACE).facts)
