"""The spherical Kendall mechanism against a double loop in extended precision and against its own claims."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpspectra.core.errors import ParameterError
from dpspectra.core.facts import Facts, Grid
from dpspectra.core.privacy import Adjacency, Budget
from dpspectra.mechanisms import spherical_kendall
from dpspectra.mechanisms.spherical_kendall import GRID, SphericalKendall, pairing
from dpspectra.postprocess.directions import direction_matrix
from dpspectra.postprocess.symmetric import pack, unpack
from dpspectra.release import release
from dpspectra.summaries import kendall as summary
from dpspectra.summaries.kendall import error, kendall
from dpspectra.testing.contract import losses
from dpspectra.testing.sources import exact_noise, recording
from dpspectra.testing.subject import FREE, REAL, open_cells, open_free

REPLACE = Adjacency.REPLACE_ONE
BUDGET = Budget.of(epsilon=1, delta="1e-6")
GENERATOR = np.random.default_rng(11)


def double_loop(rows: np.ndarray) -> np.ndarray:
    """Every pair subtracted, normalised by its largest entry and then by its length, in long doubles."""
    n, d = rows.shape
    x = rows.astype(np.longdouble)
    total = np.zeros((d, d), dtype=np.longdouble)
    for i in range(n - 1):
        u = x[i] - x[i + 1 :]
        for length in (lambda v: np.abs(v).max(axis=1), lambda v: np.sqrt((v * v).sum(axis=1))):
            norm = length(u)
            u = u / np.where(norm == 0, 1, norm)[:, None]
        total += u.T @ u
    return (total / (n * (n - 1) / 2)).astype(np.float64)


def scattered(n: int, d: int, octaves: float) -> np.ndarray:
    """Rows whose sizes span many powers of two."""
    return GENERATOR.normal(size=(n, d)) * np.exp2(GENERATOR.uniform(-octaves, octaves, size=(n, 1)))


def twice(rows: np.ndarray, gap: float) -> np.ndarray:
    return np.vstack([rows, rows + gap * GENERATOR.normal(size=rows.shape)])


TABLES = {
    "normal": GENERATOR.normal(size=(700, 10)),
    "one column": GENERATOR.normal(size=(300, 1)),
    "two columns": GENERATOR.normal(size=(600, 2)),
    "far from zero": GENERATOR.normal(size=(300, 4)) + 1e9,
    "near-duplicates": twice(GENERATOR.normal(size=(200, 4)), 1e-10),
    "at the threshold": twice(GENERATOR.normal(size=(200, 4)), 2.0**-5.5),
    "five points": np.repeat(GENERATOR.normal(size=(5, 3)), 60, axis=0),
    "tight clusters": np.repeat(GENERATOR.normal(size=(5, 3)), 60, axis=0) + 1e-7 * scattered(300, 3, 1),
    "one point": np.ones((40, 3)),
    "sizes over 20 octaves": scattered(300, 3, 10),
    "sizes over 900 octaves": scattered(200, 3, 450),
    "a few huge rows": np.vstack(
        [GENERATOR.normal(size=(200, 3)), 1e140 * np.eye(3), -(2.0**500) * np.eye(3)]
    ),
    "a few tiny rows": np.vstack([GENERATOR.normal(size=(200, 3)), 1e-300 * np.eye(3), 5e-324 * np.eye(3)]),
    "mostly one point": np.vstack([np.zeros((150, 3)), scattered(50, 3, 300)]),
    "two rows": GENERATOR.normal(size=(2, 3)),
}


@pytest.mark.parametrize("rows", TABLES.values(), ids=TABLES)
def test_all_pairs_equal_the_double_loop(rows: np.ndarray) -> None:
    """To 1e-12, a hundredth of the stated bound or less."""
    found = float(np.linalg.norm(kendall(rows) - double_loop(rows)))
    assert found < 1e-12
    assert found < error(*rows.shape)


def test_blocks_and_threads_change_nothing_but_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = TABLES["at the threshold"]
    whole = kendall(rows)
    for block, small in ((7, 10**9), (64, 0)):
        monkeypatch.setattr(summary, "BLOCK", block)
        monkeypatch.setattr(summary, "SMALL", small)
        np.testing.assert_allclose(kendall(rows), whole, rtol=0, atol=1e-13)


def test_without_the_guard_near_rows_break_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Why near pairs are subtracted one by one: the products lose all of their digits."""
    rows = TABLES["near-duplicates"]
    monkeypatch.setattr(summary, "NEAR", 2.0**-1000)
    assert np.linalg.norm(kendall(rows) - double_loop(rows)) > 1e-6


def test_equal_rows_and_rows_of_odd_cells_are_harmless() -> None:
    """The R package stops on equal rows: an output that tells of the data. Here they add nothing."""
    cells = np.array([[1.0, 2.0], [1.0, 2.0], [np.nan, np.inf], [-np.inf, 1e308], [5e-324, -0.0], [1.0, 2.0]])
    for opened, pairs in itertools.product((open_cells, open_free), ("all", "disjoint", 2)):
        with exact_noise():
            released = release(opened(cells, REPLACE), SphericalKendall(BUDGET, pairs))
        matrix = direction_matrix(released, "spherical_kendall")
        assert np.isfinite(matrix).all()
        with exact_noise():
            released = release(opened(np.ones((5, 3)), REPLACE), SphericalKendall(BUDGET, pairs))
        assert not direction_matrix(released, "spherical_kendall").any()


def test_a_difference_to_a_rank_one_projector() -> None:
    """Where a pair of equal rows parts, K changes by a projector of norm 1, less than sqrt(2)."""
    changes = []
    for second in ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]):
        matrix = kendall(np.array([[1.0, 0.0, 0.0], second]))
        changes.append(matrix)
    assert np.linalg.norm(changes[1] - changes[0]) == pytest.approx(1)


@pytest.mark.parametrize("n", [2, 3, 50, 301])
def test_far_on_one_axis_to_far_on_another_attains_the_sensitivity(n: int) -> None:
    """Lemma L-pairs: 2 sqrt(2)/n, within 1 % with all that the error bound adds."""
    rows, ends = np.zeros((n, 2)), []
    for axis in range(2):
        rows[0] = 0
        rows[0, axis] = 1e6
        ends.append(kendall(rows))
    change = float(np.linalg.norm(ends[0] - ends[1]))
    assert change == pytest.approx(2 * math.sqrt(2) / n, rel=1e-9)
    facts = open_free(rows, REPLACE).facts
    plan = SphericalKendall(BUDGET).calibrate(facts)[0]
    declared = math.sqrt(plan.sensitivity_squared) / 2.0 ** (GRID + plan.shift)
    assert change <= declared <= 1.01 * change


@pytest.mark.parametrize("mechanism", list(SphericalKendall.audited(BUDGET)), ids=lambda m: str(m.pairs))
@pytest.mark.parametrize("subject", [REAL, FREE], ids=["ball", "free"])
def test_the_suites_pairs_cost_at_most_what_is_declared_and_one_of_them_that(mechanism, subject) -> None:
    declared, measured = losses(subject, mechanism, REPLACE)["kendall"]
    assert Fraction(98, 100) * declared <= max(measured) <= declared


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 9, 20, 21])
def test_pairings_have_no_common_pair(n: int) -> None:
    """All n - 1 (n odd: n) pairings together are all pairs, each once."""
    order = GENERATOR.permutation(n)
    met = []
    for number in range(n - 1 + n % 2):
        turned = pairing(order, number)
        assert np.array_equal(np.sort(turned), np.arange(n))
        met += [tuple(sorted(pair)) for pair in turned[: 2 * (n // 2)].reshape(-1, 2).tolist()]
    assert sorted(met) == list(itertools.combinations(range(n), 2))


@pytest.mark.parametrize("opened", [open_cells, open_free])
def test_disjoint_pairs_are_sums_of_integers(opened) -> None:
    """Equal to plain Python integers, for the order that the noise source gave."""
    cells = GENERATOR.normal(size=(31, 3)) * 0.3
    table = opened(cells, REPLACE)
    bits, rows = table.facts.grid.bits, table.matrix()
    with recording() as recorder:
        release(table, SphericalKendall(BUDGET, "disjoint"))
    order = pairing(recorder.orders[0], 0)
    total = np.zeros((3, 3), dtype=object)
    for i, j in order[:30].reshape(-1, 2):
        u = rows[i] - rows[j]
        length = math.sqrt(sum(value * value for value in u)) or math.inf
        k = [math.trunc(2.0**bits * value / length * (1 - 11 * 2.0**-52)) for value in u]
        assert sum(value * value for value in k) <= 4**bits
        total += np.outer(k, k).astype(object)
    found = unpack(recorder.calls[0][0], 3)
    # A product that lies on the edge of an integer may be cut on either side.
    assert np.abs((found - total.astype(np.float64)).astype(np.float64)).max() <= 4 * 2**bits


def test_all_rounds_of_pairings_are_all_pairs() -> None:
    cells = GENERATOR.normal(size=(20, 3)) * 0.3
    with exact_noise():
        several = direction_matrix(
            release(open_free(cells, REPLACE), SphericalKendall(BUDGET, 99)), "spherical_kendall"
        )
    np.testing.assert_allclose(several / several.trace(), double_loop(cells), rtol=0, atol=1e-5)


def test_the_noise_is_the_same_for_all_designs_and_refusals_are_public() -> None:
    facts = Facts(1000, ("a", "b"), Grid(20, 1.0, (0, 0), (1, 1)), REPLACE)
    relative = []
    for pairs, unit in (("all", 2.0**GRID), ("disjoint", 4.0**20 * 500), (4, 4.0**20 * 2000)):
        plan = SphericalKendall(BUDGET, pairs).calibrate(facts)[0]
        relative.append(plan.sigma[0] / 2.0**plan.shift / unit)
    assert relative == pytest.approx([relative[0]] * 3, rel=1e-5)
    for pairs in ("some", 0, True, 1.5):
        with pytest.raises(ParameterError, match="pairs must be"):
            SphericalKendall(BUDGET, pairs).calibrate(facts)
    with pytest.raises(ParameterError, match="two rows"):
        SphericalKendall(BUDGET).calibrate(Facts(1, ("a",), Grid(20, 1.0, (0,), (1,)), REPLACE))


def test_the_bound_on_the_error_is_small_beside_the_sensitivity() -> None:
    for n, d in ((2, 2), (1000, 10), (10_000, 50), (100_000, 1000)):
        assert 2 * error(n, d) < 0.01 * 2 * math.sqrt(2) / n
    assert spherical_kendall.GRID <= 52  # entries of size 1 are exact on the grid


def test_the_matrix_is_packed_as_it_is_unpacked() -> None:
    matrix = kendall(TABLES["normal"])
    np.testing.assert_array_equal(unpack(pack(matrix), 10), np.triu(matrix) + np.triu(matrix, 1).T)
