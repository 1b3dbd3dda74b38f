"""The difference of Wisharts: privacy loss by its density, exact integers, decoding; what is not private."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate

from dpspectra.core.errors import InfeasiblePlan, ParameterError
from dpspectra.core.privacy import Adjacency, Budget
from dpspectra.core.released import Released
from dpspectra.mechanisms.wishart_difference import WishartDifference
from dpspectra.noise.floats import wishart_slack
from dpspectra.postprocess.decode import decode
from dpspectra.release import release
from dpspectra.testing.sources import exact_noise, seeded_noise
from dpspectra.testing.subject import open_cells

REPLACE, ADD = Adjacency.REPLACE_ONE, Adjacency.ADD_REMOVE
PURE = Budget.of(epsilon=1, delta=0)
R = 2**20


def density(first: float, second: float) -> float:
    """At diag(first, second), up to a constant, of G G' - H H' with three degrees of freedom each.

    f(W) = int exp(-tr A/2 - tr(A - W)/2) over A >= 0, A >= W; A = [[a, b], [b, c]], the integral over b is
    2 sqrt(min(a c, (a - w1)(c - w2))).
    """

    def inside(c: float, a: float) -> float:
        return 2 * math.sqrt(min(a * c, (a - first) * (c - second))) * math.exp(-(a + c - low_a - low_c))

    low_a, low_c = max(first, 0.0), max(second, 0.0)
    value, _ = integrate.dblquad(inside, low_a, low_a + 40, low_c, low_c + 40, epsabs=1e-10, epsrel=1e-6)
    return math.log(value) + (first + second) / 2 - low_a - low_c


def test_privacy_loss_by_density_ratio_of_the_worst_change() -> None:
    """D = t (e1e1' - e2e2') in units of the scale: no loss passes epsilon = (t + t)/2; far out along D the
    loss comes near it."""
    t = 0.5
    centres = [
        (-3.0, 3.0),
        (-1.0, 0.5),
        (0.0, 0.0),
        (0.3, -0.2),
        (2.0, -2.0),
        (12.0, -12.0),
        (4.0, 4.0),
        (9, 0),
    ]
    losses = [density(*w) - density(w[0] + t, w[1] - t) for w in centres]
    assert max(abs(loss) for loss in losses) <= t * (1 + 1e-4)
    assert losses[5] >= 0.9 * t


def test_one_entry_has_the_law_of_laplace_noise() -> None:
    """d = 1: a difference of chi-squares of two degrees of freedom; the worst change costs epsilon."""
    plan = WishartDifference(PURE, "fixed").calibrate(open_cells(np.zeros((5, 1)), REPLACE).facts)[0]
    scale = 2 * plan.sigma[0]  # density exp(-|w|/(2 s))
    assert R**2 / scale == pytest.approx(1, rel=1e-6)


def test_one_sided_wishart_noise_is_not_private() -> None:
    """Its support moves: Sigma + s G G' is above Sigma, but not above the neighbour's exact matrix."""
    rng = np.random.default_rng(0)
    before, after = np.diag([1.0, 0.0]), np.diag([0.0, 1.0])
    impossible = 0
    for _ in range(500):
        g = rng.standard_normal((2, 3))
        released = before + 0.5 * g @ g.T  # epsilon = 2 by the density alone
        impossible += bool(np.linalg.eigvalsh(released - after)[0] < 0)
    assert impossible > 50  # such outputs have probability 0 under the neighbour


@pytest.mark.parametrize("d", [2, 6])
def test_the_nuclear_norm_is_reached_and_not_passed(d: int) -> None:
    rng = np.random.default_rng(d)
    x = rng.normal(size=(400, d))
    x /= np.linalg.norm(x, axis=1, keepdims=True) * rng.choice([1, 1, 2], (400, 1))
    changes = [np.outer(a, a) - np.outer(b, b) for a, b in zip(x[::2], x[1::2], strict=True)]
    assert max(np.abs(np.linalg.eigvalsh(change)).sum() for change in changes) <= 2 + 1e-12
    worst = np.diag([1.0, -1.0] + [0.0] * (d - 2))
    assert np.abs(np.linalg.eigvalsh(worst)).sum() == 2


@pytest.mark.parametrize("adjacency", [REPLACE, ADD])
@pytest.mark.parametrize("d", [1, 5])
def test_scale(d: int, adjacency: Adjacency) -> None:
    mechanism = WishartDifference(PURE, "fixed")
    facts = open_cells(np.zeros((9, d)), adjacency).facts
    plan = mechanism.calibrate(facts)[-1]
    whole = (1 if adjacency is REPLACE else 0.95) * (1 if adjacency is ADD or d == 1 else 0.5)
    assert plan.sigma[0] == pytest.approx(R**2 / (2 * whole), rel=1e-6)
    assert mechanism.slack(facts) == pytest.approx(wishart_slack(d, plan.sigma[0]))
    spent = sum(p.charge.epsilon for p in mechanism.calibrate(facts))
    assert Fraction(999_999, 1_000_000) < spent <= 1


@pytest.mark.parametrize("adjacency", [REPLACE, ADD])
@pytest.mark.parametrize("clip", ["none", "private"])
@pytest.mark.parametrize("center", ["private", "fixed"])
def test_exact_release_decodes_to_numpy(center: str, clip: str, adjacency: Adjacency) -> None:
    """With clipping too: rows are short of the bound, so they are blown up, and nothing of them is cut."""
    cells = np.random.default_rng(4).uniform(-1, 1, size=(4000, 3)) * [0.11, 0.1, 0.05] + [0.03, 0, 0.01]
    mechanism = WishartDifference(Budget.of(epsilon=20, delta=0), center, clip)
    with exact_noise():
        released = release(open_cells(cells, adjacency), mechanism)
    found = decode(Released.from_json(released.to_json()), ddof=0)
    centred = cells - cells.mean(axis=0) * (center == "private")
    np.testing.assert_allclose(found.covariance, centred.T @ centred / 4000, rtol=2e-3, atol=1e-6)
    assert found.rows == 4000
    assert found.law == "wishart"


def test_noise_is_as_stated_and_clipping_makes_it_smaller() -> None:
    cells = np.full((3000, 20), 0.01 / math.sqrt(20))
    table = open_cells(cells, REPLACE)
    found = {}
    with seeded_noise(5):
        for clip in ("none", "private"):
            estimate = decode(release(table, WishartDifference(PURE, "fixed", clip)))
            exact = cells.T @ cells / 3000
            errors = (estimate.covariance - exact)[np.triu_indices(20, 1)]
            assert errors.std() == pytest.approx(estimate.noise_sd, rel=0.25)
            found[clip] = estimate.noise_sd
    assert found["private"] < found["none"] / 1000


def test_noise_is_smaller_than_laplace_noise() -> None:
    from dpspectra.mechanisms.laplace import Laplace

    table = open_cells(np.zeros((10, 50)), REPLACE)
    with seeded_noise(1):
        ours, laplace = (
            decode(release(table, kind(PURE, "fixed"))).noise_sd for kind in (WishartDifference, Laplace)
        )
    assert ours / laplace == pytest.approx(math.sqrt(2 / 50), rel=0.02)


def test_budgets() -> None:
    facts = open_cells(np.zeros((10, 3)), REPLACE).facts
    assert WishartDifference(Budget.of(rho="0.5"), "fixed").calibrate(facts)[0].charge.epsilon <= 1
    with pytest.raises(ParameterError, match="mu"):
        WishartDifference(Budget.of(mu=1)).calibrate(facts)
    wide = open_cells(np.zeros((10, 300)), REPLACE).facts
    with pytest.raises(InfeasiblePlan, match="float noise"):
        WishartDifference(Budget.of(epsilon="1e-5", delta=0), "fixed").calibrate(wide)


def test_noise_that_does_not_fit_is_refused_by_the_plan() -> None:
    """Before the ledger, not when the noise is drawn."""
    facts = open_cells(np.zeros((50, 2)), Adjacency.REPLACE_ONE).facts
    with pytest.raises(InfeasiblePlan, match="epsilon"):
        WishartDifference(Budget.of(epsilon="1e-4", delta=0), "fixed").calibrate(facts)
