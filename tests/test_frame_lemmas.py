"""The lemmas of docs/mechanisms/gaussian_moments.md, checked by numbers: never broken, and tight.

Rows are random integer points in the ball of a small radius r and its extreme points; every bound must
hold for all pairs and must be reached (or, for L-augmented on integers, nearly reached) by one.
"""

import itertools
import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from dpspectra.core.facts import Facts, Grid
from dpspectra.core.privacy import Adjacency, Budget

R = 1024
Rows = NDArray[np.int64]


def rows_in_ball(d: int) -> Rows:
    """Signed axis points, points near the sphere and points inside, |k| <= R exactly."""
    rng = np.random.default_rng(3)
    axes = np.vstack(
        [R * np.eye(d, dtype=np.int64), -R * np.eye(d, dtype=np.int64), np.zeros((1, d), np.int64)]
    )
    directions = rng.normal(size=(250, d))
    lengths = R * rng.choice([1.0, 1.0, 0.9, 0.3], size=(250, 1))
    inside = np.trunc(directions / np.linalg.norm(directions, axis=1, keepdims=True) * lengths).astype(
        np.int64
    )
    rows = np.vstack([axes, inside])
    assert (np.sum(rows**2, axis=1) <= R**2).all()
    return rows


def outer(rows: Rows) -> Rows:
    return np.einsum("ni,nj->nij", rows, rows).reshape(len(rows), -1)


def augmented(c: int) -> Callable[[Rows], Rows]:
    return lambda rows: outer(np.hstack([np.full((len(rows), 1), c), rows]))


def led_by_r(rows: Rows) -> Rows:
    return np.hstack([np.full((len(rows), 1), R), rows])


def trace(rows: Rows) -> Rows:
    return np.sum(rows**2, axis=1, keepdims=True)


def count(rows: Rows) -> Rows:
    return np.ones((len(rows), 1), dtype=np.int64)


def largest_change(terms: Rows, adjacency: Adjacency) -> int:
    """The largest squared norm of a row's term, or of a difference of two rows' terms; exact."""
    squares = np.sum(terms**2, axis=1)
    if adjacency is Adjacency.ADD_REMOVE:
        return int(squares.max())
    return int((squares[:, None] + squares[None, :] - 2 * terms @ terms.T).max())


REPLACE, ADD = Adjacency.REPLACE_ONE, Adjacency.ADD_REMOVE
C = 256
LEMMAS = [
    ("L-sum", lambda rows: rows, REPLACE, 4 * R**2),
    ("L-sum", led_by_r, ADD, 2 * R**2),
    ("L-count", count, ADD, 1),
    ("L-gram", outer, REPLACE, 2 * R**4),
    ("L-gram", outer, ADD, R**4),
    ("L-augmented", augmented(C), ADD, (R**2 + C**2) ** 2),
    ("L-trace", trace, REPLACE, R**4),
    ("L-trace", trace, ADD, R**4),
]


@pytest.mark.parametrize("d", [2, 3, 7])
@pytest.mark.parametrize(("name", "term", "adjacency", "bound"), LEMMAS)
def test_sensitivity_holds_and_is_reached(
    name: str, term: Callable[[Rows], Rows], adjacency: Adjacency, bound: int, d: int
) -> None:
    assert largest_change(term(rows_in_ball(d)), adjacency) == bound


@pytest.mark.parametrize("c", [1, 64, 256, 700, R])
def test_augmented_sensitivity_is_reached_at_the_worst_angle(c: int) -> None:
    """Integer points can only come near cos t = -c^2/r^2; the gap is that of the rounding."""
    angle = math.acos(-((c / R) ** 2))
    worst = np.trunc(R * np.array([[1.0, 0.0], [math.cos(angle), math.sin(angle)]])).astype(np.int64)
    bound = 2 * (R**2 + c**2) ** 2
    change = largest_change(augmented(c)(np.vstack([rows_in_ball(2), worst])), REPLACE)
    assert change <= bound
    assert largest_change(augmented(c)(worst), REPLACE) >= (1 - 8 / R) * bound


def test_gram_sensitivity_has_room_in_one_dimension() -> None:
    assert largest_change(outer(rows_in_ball(1)), REPLACE) == R**4


def test_exactly_centred_scatter_is_worse_by_far() -> None:
    """Why the scatter is never centred at its own mean: one row moves it 2.8 times as far."""

    def scatter(rows: NDArray[np.float64]) -> NDArray[np.float64]:
        centred = rows - rows.mean(axis=0)
        return centred.T @ centred

    equal = np.tile([float(R), 0.0], (1000, 1))
    moved = equal.copy()
    moved[-1] = [-R, 0.0]
    change = float(np.linalg.norm(scatter(equal) - scatter(moved)))
    assert 2.8 * math.sqrt(2) * R**2 < change <= 4 * R**2


@pytest.mark.parametrize("ratio", [0.5, 1.0, math.sqrt(2), 3.0])
def test_isometric_noise(ratio: float) -> None:
    """L-iso: the whitened change is at most ||D||^2/min(a^2, 2 b^2), equal for all D when a^2 = 2 b^2."""
    rng = np.random.default_rng(4)
    a, b = ratio, 1.0
    changes = [np.diag([1.0, 0.0]), np.array([[0.0, 1.0], [1.0, 0.0]])]
    changes += [x + x.T for x in rng.normal(size=(50, 2, 2))]
    losses = [
        (np.sum(np.diag(x) ** 2) / a**2 + np.sum(np.triu(x, 1) ** 2) / b**2)
        / (np.sum(x**2) / min(a**2, 2 * b**2))
        for x in changes
    ]
    assert max(losses) == pytest.approx(1, rel=1e-12)
    assert (min(losses) == pytest.approx(1, rel=1e-12)) == (ratio == math.sqrt(2))


@pytest.mark.parametrize("sigma", [1, 2.5, 10, 1000])
def test_discrete_against_rounded_gaussian(sigma: float) -> None:
    """Lemma DG at |x| up to 12 sigma, to 60 digits, and its constants within 2 % where they bind."""
    with mpmath.workdps(60):
        s = mpmath.mpf(sigma)
        reach = 40 if sigma < 20 else 13
        half = range(1, int(reach * sigma) + 1) if sigma < 20 else ()
        # For large sigma Poisson summation gives the normalising sum to 60 digits: sigma sqrt(2 pi).
        total = (
            1 + 2 * mpmath.fsum(mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * s**2)) for x in half)
            if half
            else s * mpmath.sqrt(2 * mpmath.pi)
        )

        def log_ratio(x: int) -> mpmath.mpf:
            # by symmetry at -|x|, in the lower tail, where no digits cancel
            low, high = -abs(x) - mpmath.mpf(1) / 2, -abs(x) + mpmath.mpf(1) / 2
            return mpmath.log(
                (mpmath.ncdf(high / s) - mpmath.ncdf(low / s)) / mpmath.exp(-(x**2) / (2 * s**2)) * total
            )

        lowest = -1 / (24 * s**2)
        points = sorted({round(k * sigma) for k in np.linspace(0, 12, 60)})
        for x in points:
            assert lowest <= log_ratio(x) <= mpmath.mpf(x) ** 2 / (24 * s**4)
        if sigma >= 10:
            assert log_ratio(0) == pytest.approx(float(lowest), rel=0.02)
            assert log_ratio(points[-1]) == pytest.approx(float(points[-1] ** 2 / (24 * sigma**4)), rel=0.02)


@pytest.mark.parametrize(
    ("center", "adjacency", "trace"),
    list(itertools.product(["private", "joint", "fixed"], [REPLACE, ADD], [False, True])),
)
def test_plans_use_the_lemmas(center: str, adjacency: Adjacency, trace: bool) -> None:
    """Every plan's sensitivity is its lemma's bound at r = 2^q, times 4^shift; the parts add up."""
    from dpspectra.mechanisms.gaussian_moments import GaussianMoments
    from dpspectra.postprocess.decode import augmentation

    d, r = 5, 2**20
    facts = Facts(
        rows=1000 if adjacency is REPLACE else None,
        features=tuple("abcde"),
        grid=Grid(20, 2.0, (0.0,) * d, (1.0,) * d),
        adjacency=adjacency,
    )
    c = augmentation(facts)
    bounds = {
        ("L-sum", REPLACE): 4 * r**2,
        ("L-sum", ADD): 2 * r**2,
        ("L-count", ADD): 1,
        ("L-gram", REPLACE): 2 * r**4,
        ("L-gram", ADD): r**4,
        ("L-augmented", REPLACE): 2 * (r**2 + c**2) ** 2,
        ("L-augmented", ADD): (r**2 + c**2) ** 2,
        ("L-trace", REPLACE): r**4,
        ("L-trace", ADD): r**4,
    }
    mechanism = GaussianMoments(Budget.of(rho="0.125"), center=center, trace=trace)
    plans = mechanism.calibrate(facts)
    for plan in plans:
        assert plan.sensitivity_squared == bounds[plan.lemma, adjacency] * 4**plan.shift
        assert min(plan.sigma) >= 2**27
    assert sum(plan.share for plan in plans) == 1
    total = mechanism.cost(plans).mu_squared
    assert total is not None
    assert 0.25 * (1 - 1e-12) <= total <= 0.25
