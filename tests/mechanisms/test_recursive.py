"""Recursive preconditioning against a computation in fractions, and against what it is for."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpspectra.core.errors import InfeasiblePlan, ParameterError
from dpspectra.core.privacy import Budget
from dpspectra.core.released import Released
from dpspectra.core.schema import Schema
from dpspectra.engines import open_table
from dpspectra.mechanisms.recursive import Recursive
from dpspectra.postprocess.recursion import BINS, Recursion, decode, limits, reach, rows_of
from dpspectra.release import release
from dpspectra.rows.encode import Encoder
from dpspectra.rows.precondition import Precondition
from dpspectra.testing.sources import exact_noise, recording, seeded_noise

RHO = Budget.of(rho="0.5")


def encoder(d: int, radius: float) -> Encoder:
    return Encoder.build(Schema.from_bounds(None, d), origin="zero", row_norm=radius)


def gaussian(n: int, d: int, condition: float, seed: int) -> NDArray[np.float64]:
    generator = np.random.default_rng(seed)
    axes = np.linalg.qr(generator.normal(size=(d, d)))[0]
    return generator.normal(size=(n, d)) * np.logspace(0, np.log10(condition) / 2, d) @ axes.T


def spectral_error(X: NDArray[np.float64], matrix: NDArray[np.float64]) -> float:
    values, vectors = np.linalg.eigh(X.T @ X / len(X))
    root = (vectors * values**-0.5) @ vectors.T
    return float(np.abs(np.linalg.eigvalsh(root @ matrix @ root) - 1).max())


class Counted:
    """A table that counts its passes."""

    def __init__(self, table: Any) -> None:
        self.table, self.facts, self.passes = table, table.facts, 0

    def reduce(self, *arguments: Any) -> Any:
        self.passes += 1
        return self.table.reduce(*arguments)


def run(X: NDArray[np.float64], radius: float, seed: int = 0, **rest: Any) -> tuple[Released, int]:
    table = Counted(open_table(X, encoder(X.shape[1], radius), **rest))
    with seeded_noise(seed):
        return release(table, Recursive(RHO)), table.passes  # type: ignore[arg-type]


def test_every_step_is_the_exact_sum_of_mapped_rows() -> None:
    """The row map and the sums against fractions, view by view; rows beyond the radius included."""
    X = gaussian(60, 3, 1e4, 1)
    X[0] *= 1e6
    radius = 150.0
    with recording() as recorder:
        released = release(open_table(X, encoder(3, radius)), Recursive(Budget.of(rho=50), releases=5))
    seen = 0
    facts = released.facts
    recursion = Recursion.start(facts, released.step("last").plan, rows_of(facts, None), released.parameters)
    level = 2**facts.grid.bits
    for step, (exact, _) in zip(released.steps, recorder.calls, strict=True):
        if step.plan.name in ("norms", "last"):
            recursion.settle()
        rows = [mapped(x, recursion.view.matrix.tolist(), recursion.view.shift, radius, level) for x in X]
        if step.plan.name == "norms":
            edges = limits(facts.grid.bits)
            counts = [0] * BINS
            for row in rows:
                counts[max(j for j in range(BINS) if j == 0 or sum(v * v for v in row) <= edges[j])] += 1
            assert exact.tolist() == [count << step.plan.shift for count in counts]
        elif recursion.view.final and step.plan.name != "last":
            assert not exact.any()
        else:
            seen += 1
            sums = [sum(row[i] * row[j] for row in rows) for i in range(3) for j in range(i, 3)]
            assert exact.tolist() == [value << step.plan.shift for value in sums]
        recursion.take(step)
    assert seen >= 3


def mapped(
    x: NDArray[np.float64], matrix: list[list[int]], shift: int, radius: float, level: int
) -> list[int]:
    """One row in fractions; of a row outside the ball only what is promised: inside, and parallel."""
    scaled = [min(max(Fraction(v / (radius / level)), Fraction(-level)), Fraction(level)) for v in x.tolist()]
    whole = [(v + Fraction(1, 2)).__floor__() for v in scaled]
    fine = [round((v - w) * 2**20) for v, w in zip(scaled, whole, strict=True)]
    row = []
    for line in matrix:
        high = sum(m * w for m, w in zip(line, whole, strict=True))
        low = sum(m * f for m, f in zip(line, fine, strict=True))
        near = float(low) * 2.0**-20 + float(high)  # one rounding, as in the map
        row.append((Fraction(near) / Fraction(2) ** shift + Fraction(1, 2)).__floor__())
    if sum(v * v for v in row) <= level**2:
        return row
    block = np.array([[v * radius / level for v in scaled]], dtype=np.float64)
    row_map = Precondition(np.array(matrix), shift, level.bit_length() - 1, radius / level)
    clipped = [int(v) for v in row_map(block)[0]]
    assert sum(v * v for v in clipped) <= level**2
    far = np.array(row, dtype=np.float64)
    assert np.dot(clipped, far) >= (1 - 1e-4) * np.linalg.norm(far) * level
    return clipped


@pytest.mark.parametrize("block_rows", [1, 7, 500])
def test_chunks_give_equal_integers(block_rows: int) -> None:
    X = gaussian(500, 4, 1e5, 2)
    plain, _ = run(X, 1e3)
    chunked, _ = run(X, 1e3, block_rows=block_rows)
    for a, b in zip(plain.steps, chunked.steps, strict=True):
        assert np.array_equal(a.values, b.values)


def test_products_are_exact_whatever_the_row() -> None:
    """The longest rows against the longest matrix rows stay below 2^53."""
    for bits, d in [(20, 1), (20, 1000), (12, 40)]:
        facts = open_table(np.zeros((2, d)), encoder(d, 1.0), bits=bits).facts
        assert 2.0 ** (reach(facts) + bits) * np.sqrt(d) <= 2.0**51


@pytest.mark.parametrize(("wide", "passes"), [(1.0, 6), (100.0, 8)])
def test_condition_number_of_a_million(wide: float, passes: int) -> None:
    """d = 10, n = 10^5, rho = 0.5: error at most 0.01, also when the radius is 100 times too large."""
    X = gaussian(100_000, 10, 1e6, 3)
    released, used = run(X, wide * float(np.linalg.norm(X, axis=1).max()))
    assert spectral_error(X, decode(released).matrix) <= 0.01
    assert used <= passes


def test_one_release_is_useless_there() -> None:
    """The same table by one Gaussian release: what the recursion is for."""
    X = gaussian(100_000, 10, 1e6, 3)
    radius = float(np.linalg.norm(X, axis=1).max())
    noise = radius**2 / (len(X) * np.sqrt(2 * 0.5))  # sd off the diagonal at the whole budget
    generator = np.random.default_rng(0)
    upper = np.triu(generator.normal(size=(10, 10)) * noise)
    assert spectral_error(X, X.T @ X / len(X) + upper + np.triu(upper, 1).T) > 50


@pytest.mark.slow
def test_forty_columns_of_condition_number_1e8() -> None:
    X = gaussian(100_000, 40, 1e8, 4)
    released, _ = run(X, float(np.linalg.norm(X, axis=1).max()))
    assert spectral_error(X, decode(released).matrix) <= 0.03


def test_without_noise_only_clipping_is_left() -> None:
    X = gaussian(20_000, 5, 1e4, 5)
    with exact_noise():
        released = release(open_table(X, encoder(5, 1e3)), Recursive(RHO))
    assert spectral_error(X, decode(released).matrix) <= 0.01


def test_tables_that_say_nothing_are_finite() -> None:
    """Zero rows, one row, a constant column, fewer rows than columns."""
    for X in (np.zeros((10, 3)), np.ones((1, 2)), np.eye(6)[:3], np.full((50, 2), np.nan)):
        released, _ = run(X, 1.0)
        assert np.isfinite(decode(released).matrix).all()


@pytest.mark.parametrize(("preset", "error"), [("practical", 0.05), ("theory", 0.5)])
def test_directions_without_variance_end_the_recursion(preset: Any, error: float) -> None:
    """A zero column and a copied one are stretched by every step: integers keep their inverse."""
    X = gaussian(2_000, 5, 1e3, 8)
    X[:, 1], X[:, 3] = 0.0, X[:, 2]
    floor = {} if preset == "practical" else {"floor": 1e-6, "subsample": 1}
    mechanism = Recursive(Budget.of(rho=1e7), preset=preset, **floor)  # type: ignore[arg-type]
    with seeded_noise(1):
        released = release(open_table(X, encoder(5, 500.0)), mechanism)
    found = decode(released)
    kept = [0, 2, 4]
    assert spectral_error(X[:, kept], found.matrix[np.ix_(kept, kept)]) < error
    assert np.linalg.cond(found.whitener) < 2.0**40


def test_release_survives_its_file() -> None:
    X = gaussian(2_000, 3, 1e3, 6)
    released, _ = run(X, 500.0)
    again = Released.from_json(released.to_json())
    assert np.array_equal(decode(again).matrix, decode(released).matrix)


@pytest.mark.parametrize("releases", [0, 26])
def test_releases_out_of_range(releases: int) -> None:
    with pytest.raises(ParameterError, match="releases"):
        Recursive(RHO, releases=releases).drafts(open_table(np.zeros((9, 2)), encoder(2, 1.0)).facts)


def test_needs_a_bound() -> None:
    free = Encoder.build(Schema.from_bounds(None, 2), origin="zero", open_ended=True)
    with pytest.raises(ParameterError, match="row_norm"):
        Recursive(RHO).drafts(open_table(np.zeros((9, 2)), free).facts)


def test_theory_counts_and_pays_every_release() -> None:
    """ceil(log_{7/3}(B^2/(floor (1 - alpha) 640 m))) early releases, one more, and all of rho in the plan."""
    facts = open_table(np.zeros((50, 2)), encoder(2, 1.0)).facts
    for floor, early in [(1.0, 0), (1 / 700, 1), (1 / 6400, 3), (1e-8, 15)]:
        mechanism = Recursive(RHO, preset="theory", floor=floor, subsample=1, alpha=0.0)
        plans = mechanism.calibrate(facts)
        assert [plan.name for plan in plans] == [*(f"early_{i}" for i in range(1, early + 1)), "last"]
        assert sum(plan.mu_squared for plan in plans) == pytest.approx(1.0, rel=1e-9)
        assert early == 0 or plans[-1].share == Fraction(1, 2)


def test_published_noise_is_the_source_s() -> None:
    """sd 4 R^2 sqrt(N)/(n sqrt(2 rho)) on the diagonal, here of sums in units of R^2."""
    facts = open_table(np.zeros((50, 2)), encoder(2, 1.0)).facts
    plans = Recursive(RHO, preset="published", floor=1e-6, subsample=1).calibrate(facts)
    for plan in plans:
        sd = plan.sigma[0] / 2**plan.shift / 4**facts.grid.bits
        assert sd == pytest.approx(4 * np.sqrt(len(plans)) / np.sqrt(2 * 0.5), rel=1e-9)


def test_theory_runs_where_it_is_feasible() -> None:
    """Condition number 10^7, m = 10: six early releases, and a spectral error below 1 with a large budget."""
    X = gaussian(100_000, 3, 1e7, 7)
    radius = float(np.linalg.norm(X, axis=1).max())
    mechanism = Recursive(Budget.of(rho=20), preset="theory", floor=1.0, subsample=10)
    with seeded_noise(0):
        released = release(open_table(X, encoder(3, radius)), mechanism)
    assert len(released.steps) >= 7
    assert spectral_error(X, decode(released).matrix) < 1


@pytest.mark.parametrize(
    ("settings", "error", "name"),
    [
        ({"preset": "theory"}, ParameterError, "floor"),
        ({"preset": "theory", "floor": 1e-30}, InfeasiblePlan, "floor"),
        ({"preset": "theory", "floor": 5e-324}, InfeasiblePlan, "floor"),
        ({"preset": "published", "floor": 1.0, "subsample": 0}, ParameterError, "subsample"),
        ({"preset": "theory", "floor": 1.0, "alpha": 1.0}, ParameterError, "alpha"),
    ],
)
def test_theory_needs_its_promises(settings: dict[str, Any], error: type[Exception], name: str) -> None:
    with pytest.raises(error, match=name):
        Recursive(RHO, **settings).drafts(open_table(np.zeros((9, 2)), encoder(2, 1.0)).facts)


@pytest.mark.parametrize("bits", [11, 16, 20])
def test_digits_below_the_grid_keep_products_exact(bits: int) -> None:
    """The fine part times the longest matrix row is exact on coarse grids too: copies of one row have
    one image wherever they stand."""
    facts = open_table(np.zeros((2, 10)), encoder(10, 1.0), bits=bits).facts
    assert 2.0 ** (reach(facts) + min(20, bits) - 1) * np.sqrt(10) <= 2.0**52
    matrix = np.rint(np.random.default_rng(bits).normal(size=(10, 10)) * 2.0 ** (reach(facts) - 4)).astype(
        np.int64
    )
    row = np.random.default_rng(1).uniform(-0.3, 0.3, size=10)
    for copies in (1024, 1025, 1026):
        mapped = Precondition(matrix, reach(facts) - 1, bits, facts.grid.step)(np.tile(row, (copies, 1)))
        assert (mapped == mapped[0]).all()
