"""Private clipping: the search's queries and published faults, both presets without noise, wide bounds."""

import itertools
import math

import numpy as np
import pytest

from dpspectra.core.errors import InfeasiblePlan, ParameterError
from dpspectra.core.facts import Facts, Grid
from dpspectra.core.privacy import Adjacency, Budget
from dpspectra.core.released import Released
from dpspectra.core.schema import Schema
from dpspectra.engines import open_table
from dpspectra.mechanisms.adaptive import Adaptive, _weighted, queries
from dpspectra.mechanisms.gaussian_moments import GaussianMoments
from dpspectra.mechanisms.wishart_difference import WishartDifference
from dpspectra.postprocess.adaptive import choice, decode_adaptive, weights
from dpspectra.postprocess.decode import decode
from dpspectra.postprocess.threshold import halvings
from dpspectra.release import release
from dpspectra.rows.encode import Encoder
from dpspectra.testing.sources import exact_noise, recording, seeded_noise
from dpspectra.testing.subject import open_cells

REPLACE, ADD = Adjacency.REPLACE_ONE, Adjacency.ADD_REMOVE
RHO, PURE = Budget.of(rho="0.1"), Budget.of(epsilon="0.4472", delta=0)
BITS = 20


def wide(cells: np.ndarray, bound: float, adjacency: Adjacency = REPLACE):
    """A table about the origin whose public bound is ``bound``."""
    schema = Schema.from_bounds(None, cells.shape[1])
    return open_table(cells, Encoder.build(schema, origin="zero", row_norm=bound), adjacency)


def test_queries_of_neighbours_differ_by_at_most_one_and_all_one_way() -> None:
    """Every pair of bins that a row may move between, over random other rows and bounds."""
    rng = np.random.default_rng(0)
    reached = 0
    for old, new in itertools.permutations(range(2 * BITS + 1), 2):
        counts = rng.integers(0, 50, 2 * BITS + 1)
        counts[old] += 1
        moved = counts.copy()
        moved[old] -= 1
        moved[new] += 1
        most = rng.integers(0, 10**6, BITS + 1).tolist()
        change = queries(moved, most) - queries(counts, most)
        assert np.abs(change).max() <= 1
        assert (change >= 0).all() or (change <= 0).all()
        reached = max(reached, int(np.abs(change).max()))
    assert reached == 1


def test_queries_equal_plain_fractions() -> None:
    from fractions import Fraction

    counts = np.random.default_rng(1).integers(0, 9, 2 * BITS + 1)
    for j, found in enumerate(queries(counts, [7] * (BITS + 1)).tolist()):
        bias = sum(
            int(counts[2 * (i - 1)] + counts[2 * i - 1]) * (Fraction(4) ** (1 - i) - Fraction(1, 4**j))
            for i in range(1, j + 1)
        )
        assert found == math.floor(bias - Fraction(7, 4**j))


def published_query(norm: float, j: int, r: float) -> float:
    """What one row adds to the j-th query of the published code: its k1 = int(log2 r) truncates toward zero,
    and bins are powers of two whatever r is."""
    k1 = int(math.log2(r))
    place = -math.floor(math.log2(norm))
    if not norm > 2.0**-place:
        place += 1
    place = max(place, 1)
    used = range(j + 1)
    bias = 2.0 ** (2 * (k1 - place) + 2) - 2.0 ** (2 * (k1 - j)) if place in used else 0.0
    return bias / r**2


@pytest.mark.parametrize(("r", "least"), [(1.0, 0.99), (0.75, 1.7), (0.501, 3.9)])
def test_published_code_breaks_its_sensitivity_between_one_half_and_one(r: float, least: float) -> None:
    """The query of one row of norm r reaches 1/r^2, 3.98 at r = 0.501, where 1 is paid for."""
    worst = max(published_query(r, j, r) for j in range(1, 30))
    assert worst >= least
    assert (worst <= 1) == (r == 1)


def test_published_code_fails_on_a_zero_row() -> None:
    with pytest.raises(ValueError, match="math domain"):
        published_query(0.0, 3, 1.0)
    for budget in (RHO, PURE):
        with exact_noise():
            released = release(open_cells(np.zeros((20, 3)), REPLACE), Adaptive(budget, "fixed", "published"))
        assert np.isfinite(decode_adaptive(released).covariance).all()


@pytest.mark.parametrize("bound", [0.501, 0.75, 1.0, 3.0, 1000.0])
@pytest.mark.parametrize("budget", [RHO, PURE], ids=str)
def test_published_preset_at_any_bound_and_far_rows(bound: float, budget: Budget) -> None:
    cells = np.random.default_rng(3).normal(size=(300, 4))
    cells[0] = 1e300
    with seeded_noise(1):
        released = release(wide(cells, bound), Adaptive(budget, "fixed", "published"))
    assert np.isfinite(decode_adaptive(Released.from_json(released.to_json())).covariance).all()


@pytest.mark.parametrize("center", ["private", "fixed"])
@pytest.mark.parametrize("budget", [Budget.of(rho=50), Budget.of(epsilon=40, delta=0)], ids=str)
def test_published_preset_without_noise_is_the_clipped_second_moment(budget: Budget, center: str) -> None:
    """Shares 1/8, 1/8, 3/4 and, with hardly any noise asked for, hardly any clipping."""
    cells = np.random.default_rng(3).uniform(-1, 1, size=(5000, 3)) * [0.2, 0.1, 0.05] + 0.02
    mechanism = Adaptive(budget, center, "published")
    table = open_cells(cells, REPLACE)
    with exact_noise():
        released = release(table, mechanism)
    decoded = decode_adaptive(released, ddof=0)
    estimate = decoded.estimate
    found = choice(released, released.step("moments").plan)
    centred = cells - cells.mean(axis=0) * (center == "private")
    length = 2.0 ** (-found.halvings / 2)
    norms = np.linalg.norm(centred, axis=1, keepdims=True)
    clipped = centred * np.minimum(1, length / norms)
    np.testing.assert_allclose(estimate.covariance, clipped.T @ clipped / 5000, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(decoded.covariance, clipped.T @ clipped / 5000, rtol=1e-3, atol=1e-6)
    shares = {step.plan.name: float(step.plan.share) for step in released.steps}
    left = 0.9 if center == "private" else 1.0
    assert [shares[name] / left for name in ("trace", "threshold", "moments")] == pytest.approx(
        [1 / 8, 1 / 8, 3 / 4]
    )


@pytest.mark.parametrize("law", ["gaussian", "laplace"])
@pytest.mark.parametrize("d", [2, 3, 50, 400])
def test_weights_stay_within_the_declared_sensitivity(law: str, d: int) -> None:
    a, c, whole = weights(law, d, apart=True)
    if law == "gaussian":
        assert math.hypot(a / whole, c / whole) * math.sqrt(2) <= 0.996 * math.sqrt(2)
    else:
        upper = math.sqrt((d * d + 3 * d) / 2)
        assert a / whole * upper + 2 * c / whole <= 0.95 * math.sqrt(2) * d
    assert weights(law, d, apart=False)[1] == 0


def test_so_many_rows_that_rounding_does_not_fit_are_refused() -> None:
    facts = Facts(2**40, tuple(map(str, range(800))), Grid(11, 1.0, (0,) * 800, (1,) * 800), REPLACE)
    with pytest.raises(InfeasiblePlan, match="rounding"):
        Adaptive(RHO, "fixed", "published").calibrate(facts)


def test_a_search_has_no_price_in_mu() -> None:
    facts = open_cells(np.zeros((10, 3)), REPLACE).facts
    with pytest.raises(ParameterError, match="mu"):
        Adaptive(Budget.of(mu=1), "fixed", "published").calibrate(facts)
    Adaptive(Budget.of(mu=1)).calibrate(facts)


@pytest.mark.parametrize("budget", [RHO, PURE], ids=str)
@pytest.mark.parametrize("center", ["private", "fixed"])
def test_the_tight_preset_is_moments_with_private_clipping(center: str, budget: Budget) -> None:
    table = open_cells(np.random.default_rng(2).normal(size=(200, 3)) * 0.02, REPLACE)
    kind = WishartDifference if budget.pure else GaussianMoments
    with recording() as first:
        release(table, Adaptive(budget, center))
    with recording() as second:
        release(table, kind(budget, center, clip="private"))
    assert len(first.calls) == len(second.calls) > 1
    for (a, s), (b, t) in zip(first.calls, second.calls, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(s, t)


@pytest.mark.parametrize("adjacency", [REPLACE, ADD])
@pytest.mark.parametrize("center", ["private", "joint", "fixed"])
def test_every_layout_is_clipped_at_what_the_release_says(center: str, adjacency: Adjacency) -> None:
    """Rows a thirtieth of the bound: the decoded moments are theirs, with far less noise than unclipped."""
    cells = np.random.default_rng(4).uniform(-1, 1, size=(4000, 3)) * [0.03, 0.02, 0.01] + [0.01, 0, 0]
    mechanism = GaussianMoments(Budget.of(rho=1), center, clip="private")
    with exact_noise():
        released = Released.from_json(release(open_cells(cells, adjacency), mechanism).to_json())
    name = "augmented" if center == "joint" else "scatter"
    assert 8 <= halvings(released, released.step(name).plan) <= 10
    found = decode(released, ddof=0)
    centred = cells - cells.mean(axis=0) * (center != "fixed")
    np.testing.assert_allclose(found.covariance, centred.T @ centred / 4000, rtol=3e-3, atol=1e-7)
    if center != "fixed":
        np.testing.assert_allclose(found.mean, cells.mean(axis=0), atol=2e-5)
    with seeded_noise(3):
        noisy, plain = (
            decode(
                release(open_cells(cells, adjacency), GaussianMoments(Budget.of(rho=1), center, clip=clip))
            )
            for clip in ("private", "none")
        )
    assert noisy.noise_sd < plain.noise_sd / 200
    errors = (noisy.covariance - found.covariance)[np.triu_indices(3)]
    assert np.abs(errors).max() < 8 * noisy.noise_sd + 1e-5


@pytest.mark.parametrize("budget", [RHO, Budget.of(epsilon=1, delta=0)], ids=str)
@pytest.mark.parametrize("factor", [16, 64])
def test_an_over_wide_bound_costs_nothing(factor: int, budget: Budget) -> None:
    """At least 19 of 20 releases choose the same radius in data units as at the right bound."""
    rng = np.random.default_rng(5)
    cells = rng.normal(size=(20_000, 20))
    cells *= (rng.choice([1.0, 0.5, 0.25], 20_000, p=[0.1, 0.3, 0.6]) / np.linalg.norm(cells, axis=1))[
        :, None
    ]
    lengths = {}
    for bound in (1, factor):
        table = wide(cells, float(bound))
        with seeded_noise(6):
            releases = [release(table, Adaptive(budget, "fixed")) for _ in range(20)]
        lengths[bound] = [bound * 2.0 ** (-halvings(r, r.step("scatter").plan) / 2) for r in releases]
    assert sum(a == b for a, b in zip(lengths[1], lengths[factor], strict=True)) >= 19


def test_a_spectrum_that_passes_64_bits_wraps() -> None:
    """As published, by Laplace noise, c/2^b is above 1 for wide tables: the largest sums that the grid lets
    rows have would not fit. A table must not be able to make a release fail."""
    d = 200
    a, c, whole = weights("laplace", d, apart=True)
    assert c > whole
    exact = np.zeros((d, d), dtype=np.int64)
    exact[0, 0] = 2**62
    found = _weighted(exact, (a, c, whole))
    assert found.dtype == np.int64
    assert found.shape == (d * (d + 1) // 2 + d,)
