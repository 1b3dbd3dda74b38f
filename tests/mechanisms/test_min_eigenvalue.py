"""The histogram of smallest eigenvalues against a plain computation, and the exact delta of its threshold."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpspectra.core.errors import ParameterError
from dpspectra.core.privacy import Budget
from dpspectra.core.schema import Schema
from dpspectra.engines import BlockTable, open_table
from dpspectra.instances.subsamplable import conditioned_gaussian
from dpspectra.mechanisms.min_eigenvalue import MinEigenvalue
from dpspectra.postprocess.min_eigenvalue import CELLS, decode, floors
from dpspectra.release import release
from dpspectra.rows.encode import Encoder
from dpspectra.testing.sources import recording, seeded_noise

BUDGET = Budget.of(epsilon=1, delta="1e-6")
RADIUS = 600.0


def table(rows: np.ndarray) -> BlockTable:
    encoder = Encoder.build(Schema.from_bounds(None, rows.shape[1]), origin="zero", row_norm=RADIUS)
    return open_table(rows, encoder)


def test_counts_are_those_of_the_groups() -> None:
    """Without noise the permutation is the identity: groups of consecutive rows, each by itself."""
    rows = conditioned_gaussian(1_000, 3, 100.0)[0]
    with recording() as recorder:
        release(table(rows), MinEigenvalue(BUDGET, group=50))
    counts = [0] * CELLS
    ends = floors(Fraction(1, 2))
    for start in range(0, 1_000, 50):
        group = rows[start : start + 50] / RADIUS
        smallest = np.linalg.eigvalsh(group.T @ group / 50)[0]
        counts[next(j for j, end in enumerate(ends) if smallest > end)] += 1
    assert recorder.calls[0][0].tolist() == counts


def test_a_replaced_row_moves_one_group() -> None:
    rows = conditioned_gaussian(400, 3, 10.0)[0]
    found = []
    for cells in (rows, np.vstack([np.zeros((40, 3)), rows[40:]])):
        with recording() as recorder:
            release(table(cells), MinEigenvalue(BUDGET, group=40))
        found.append(recorder.calls[0][0])
    assert np.abs(found[0] - found[1]).sum() == 2
    assert found[1][-1] == 1  # a group of zeros has smallest eigenvalue 0


@pytest.mark.parametrize("seed", range(5))
def test_a_lower_bound_within_a_factor(seed: int) -> None:
    rows, matrix = conditioned_gaussian(20_000, 5, 1e4)
    with seeded_noise(seed):
        bound = decode(release(table(rows), MinEigenvalue(BUDGET)))
    assert bound is not None
    smallest = np.linalg.eigvalsh(matrix)[0]
    assert smallest / 8 <= bound <= smallest


def test_too_few_groups_give_no_answer() -> None:
    """Three groups cannot pass a threshold of 28 (chance below 1e-5 a seed; the seed is fixed)."""
    with seeded_noise(1):
        assert (
            decode(release(table(conditioned_gaussian(120, 3, 10.0)[0]), MinEigenvalue(BUDGET, group=40)))
            is None
        )


def test_delta_of_the_threshold_is_the_claimed_one() -> None:
    """P(1 + noise >= least) by its sum: at most delta, and one less would be above it."""
    (plan,) = MinEigenvalue(BUDGET).calibrate(table(np.zeros((100, 2))).facts)
    scale, least = plan.sigma
    assert scale == 2.0
    q = math.exp(-1 / scale)

    def shown(bar: float) -> float:
        return math.fsum((1 - q) / (1 + q) * q**k for k in range(int(bar) - 1, int(bar) + 400))

    assert shown(least) <= 1e-6 < shown(least - 1)


@pytest.mark.parametrize(("settings", "name"), [({"group": 0}, "group"), ({"ratio": Fraction(1)}, "ratio")])
def test_bad_settings(settings: dict[str, object], name: str) -> None:
    with pytest.raises(ParameterError, match=name):
        MinEigenvalue(BUDGET, **settings).calibrate(table(np.zeros((9, 2))).facts)  # type: ignore[arg-type]


@pytest.mark.parametrize("budget", [Budget.of(rho="0.1"), Budget.of(mu=1), Budget.of(epsilon=1, delta=0)])
def test_a_threshold_needs_a_delta(budget: Budget) -> None:
    with pytest.raises(ParameterError, match="delta"):
        MinEigenvalue(budget).calibrate(table(np.zeros((9, 2))).facts)


def test_odd_tables_are_finite() -> None:
    for rows in (np.zeros((1, 2)), np.full((60, 2), np.nan), np.full((60, 2), 1e308)):
        with seeded_noise(0):
            assert decode(release(table(rows), MinEigenvalue(BUDGET))) in (None, 0.0)
