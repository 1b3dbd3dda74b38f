"""Laplace noise on a scatter: exact integers, the L1 sensitivities reached, decoding."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpspectra.core.errors import ParameterError
from dpspectra.core.privacy import Adjacency, Budget
from dpspectra.core.released import Released
from dpspectra.mechanisms.laplace import Laplace
from dpspectra.postprocess.decode import decode
from dpspectra.release import release
from dpspectra.testing.sources import exact_noise, seeded_noise
from dpspectra.testing.subject import open_cells

REPLACE, ADD = Adjacency.REPLACE_ONE, Adjacency.ADD_REMOVE
PURE = Budget.of(epsilon=1, delta=0)
R = 2**20


def rows(n: int = 30, d: int = 3) -> np.ndarray:
    generator = np.random.default_rng(5)
    return generator.integers(-R // 8, R // 8, size=(n, d)) + np.array([R // 8, 0, -R // 16])


def l1(change: np.ndarray, root: float) -> float:
    """Of the upper triangle, off-diagonal entries counted ``root`` times."""
    return float(np.abs(np.diag(change)).sum() + root * np.abs(np.triu(change, 1)).sum())


def reached(d: int, root: float) -> float:
    """The largest L1 of xx' - yy' over unit x, y: lambda_max - lambda_min of weighted sign matrices."""
    places = [(i, j) for i in range(d) for j in range(i, d)]
    best = 0.0
    for signs in itertools.product((1.0, -1.0), repeat=len(places)):
        weighted = np.zeros((d, d))
        for sign, (i, j) in zip(signs, places, strict=True):
            weighted[i, j] = weighted[j, i] = sign * (1.0 if i == j else root / 2)
        values = np.linalg.eigvalsh(weighted)
        best = max(best, float(values[-1] - values[0]))
    return best


@pytest.mark.parametrize("d", [2, 3, 4])
def test_no_change_passes_the_isometric_bound(d: int) -> None:
    """sqrt(d (d + 1)), off-diagonal entries counted sqrt(2) times: reached at d = 2, and nearly at 3, 4."""
    bound = math.sqrt(d * (d + 1))
    found = reached(d, math.sqrt(2))
    assert found <= bound * (1 + 1e-12)
    assert found >= (1 if d == 2 else 0.95) * bound * (1 - 1e-12)


@pytest.mark.parametrize(("d", "value"), [(2, 2.2361), (3, 2.8723), (4, 3.6056)])
def test_the_published_bound_is_loose_on_the_upper_triangle(d: int, value: float) -> None:
    """The audit's table: at most 4.2721 at d = 5 and so on, against sqrt(2) d of the whole matrix."""
    found = reached(d, 1.0)
    assert found == pytest.approx(value, abs=1e-4)
    assert found == pytest.approx(math.sqrt((d + 2) ** 2 + 4 * (d // 2) * ((d + 1) // 2)) / 2)
    assert found <= math.sqrt((d * d + 3 * d) / 2) < math.sqrt(2) * d


@pytest.mark.parametrize("adjacency", [REPLACE, ADD])
@pytest.mark.parametrize("preset", ["tight", "published"])
def test_scales_follow_from_the_bound(preset: str, adjacency: Adjacency) -> None:
    d, mechanism = 7, Laplace(PURE, "fixed", preset)
    plans = {p.name: p for p in mechanism.calibrate(open_cells(np.zeros((4, d)), adjacency).facts)}
    share = 1 if adjacency is REPLACE else 0.95
    changes = 2 if adjacency is REPLACE else 1
    scatter = plans["scatter"]
    if preset == "tight":
        off = math.sqrt(changes * d * (d + 1)) / 2 * R**2 / share
        assert scatter.sigma == pytest.approx((math.sqrt(2) * off, off))
    else:
        assert scatter.sigma == pytest.approx((math.sqrt(changes) * d * R**2 / share,))
    assert sum((plan.charge.epsilon or Fraction(0)) for plan in plans.values()) <= 1
    assert sum((plan.charge.epsilon or Fraction(0)) for plan in plans.values()) > Fraction(999_999, 1_000_000)


def test_laplace_of_one_column_is_that_of_a_number() -> None:
    plan = Laplace(PURE, "fixed").calibrate(open_cells(np.zeros((4, 1)), REPLACE).facts)[0]
    assert plan.sigma[0] == pytest.approx(R**2)  # one entry, which is on the diagonal
    assert plan.charge.epsilon <= 1


@pytest.mark.parametrize("adjacency", [REPLACE, ADD])
@pytest.mark.parametrize("center", ["private", "fixed"])
def test_exact_release_equals_plain_integers(center: str, adjacency: Adjacency) -> None:
    exact = rows()
    with exact_noise():
        released = release(open_cells(exact / R, adjacency), Laplace(PURE, center))
    about = exact
    if center == "private":
        about = exact - np.floor(exact.sum(axis=0) / len(exact) + 0.5).astype(np.int64)
    gram = about.T @ about
    assert released.step("scatter").values.tolist() == gram[np.triu_indices(3)].tolist()
    found = decode(released, 0)
    centred = exact / R - (exact / R).mean(axis=0) * (center == "private")
    np.testing.assert_allclose(found.covariance, centred.T @ centred / len(exact), atol=1e-11)
    assert found.rows == len(exact)
    assert found.law == "laplace"


@pytest.mark.parametrize("preset", ["tight", "published"])
def test_decoded_noise_is_what_is_stated(preset: str) -> None:
    table = open_cells(np.zeros((1000, 40)), REPLACE)
    with seeded_noise(2):
        released = release(table, Laplace(PURE, "fixed", preset))
    found = decode(Released.from_json(released.to_json()))
    off = found.covariance[np.triu_indices(40, 1)]
    assert off.std() == pytest.approx(found.noise_sd, rel=0.2)


def test_rho_buys_epsilon_and_mu_nothing() -> None:
    facts = open_cells(np.zeros((10, 3)), REPLACE).facts
    plan = Laplace(Budget.of(rho="0.5"), "fixed").calibrate(facts)[0]
    assert plan.charge.epsilon == pytest.approx(1)
    assert plan.charge.rho <= Fraction(1, 2)
    with pytest.raises(ParameterError, match="mu"):
        Laplace(Budget.of(mu=1)).calibrate(facts)
