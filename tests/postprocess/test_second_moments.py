"""Every mechanism for covariances is read by its own law, and lands near the exact second moments."""

import numpy as np
import pytest

from dpspectra.core.privacy import Adjacency, Budget
from dpspectra.core.released import Released
from dpspectra.mechanisms.gaussian_moments import GaussianMoments
from dpspectra.mechanisms.registry import mechanism, mechanisms
from dpspectra.postprocess import denoise, denoise_wishart
from dpspectra.postprocess.eigen import eigh_descending
from dpspectra.postprocess.second_moments import eigenvalues_of, estimate_of
from dpspectra.postprocess.threshold import halvings, restored
from dpspectra.release import release
from dpspectra.testing.sources import exact_noise, seeded_noise
from dpspectra.testing.subject import open_cells

CELLS = np.random.default_rng(1).normal(size=(3000, 4)) * [0.2, 0.1, 0.05, 0.02] + 0.03
BUDGET = Budget.of(rho=10)
CASES = [
    *((name, {}) for name, kind in mechanisms().items() if "covariance" in kind.serves),
    ("adaptive", {"preset": "published"}),
    ("separate", {"preset": "published"}),
]


@pytest.mark.parametrize(("name", "settings"), CASES, ids=str)
def test_without_noise_the_exact_covariance(name: str, settings: dict[str, str]) -> None:
    table = open_cells(CELLS, Adjacency.REPLACE_ONE)
    with exact_noise():
        released = Released.from_json(release(table, mechanism(name)(BUDGET, **settings)).to_json())
    estimate = estimate_of(released)
    values, vectors = eigh_descending(estimate.covariance)
    shown = eigenvalues_of(released, estimate, values)
    assert (np.diff(shown) <= 0).all()
    np.testing.assert_allclose((vectors * shown) @ vectors.T, np.cov(CELLS.T), atol=2e-4)


def test_the_trace_that_clipping_took_away_is_restored() -> None:
    """Rows of four lengths, in directions that do not depend on them; noise enough to clip the longest."""
    rng = np.random.default_rng(2)
    cells = rng.normal(size=(5000, 100)) @ rng.random((100, 100))
    lengths = rng.choice([0.125, 0.25, 0.5, 1.0], 5000, p=[0.6, 0.25, 0.1, 0.05])
    cells *= (lengths / np.linalg.norm(cells, axis=1))[:, None]
    exact, table = cells.T @ cells / 5000, open_cells(cells, Adjacency.REPLACE_ONE)
    better = 0
    with seeded_noise(5):
        for _ in range(20):
            released = release(table, GaussianMoments(Budget.of(rho="0.003"), "fixed", clip="private"))
            estimate, plan = estimate_of(released), released.step("scatter").plan
            values, vectors = eigh_descending(estimate.covariance)
            shown = eigenvalues_of(released, estimate, values)
            plain = denoise.shrink(values, estimate.noise_sd)
            factor = restored(released, plan)
            np.testing.assert_allclose(shown, plain * factor)
            errors = [np.linalg.norm((vectors * x) @ vectors.T - exact) for x in (shown, plain)]
            better += halvings(released, plan) > 0 and errors[0] < errors[1]
            assert 1 <= factor <= 1.5
    assert better >= 15


def test_nothing_is_restored_where_nothing_was_clipped() -> None:
    with exact_noise():
        released = release(open_cells(CELLS, Adjacency.REPLACE_ONE), GaussianMoments(BUDGET))
    assert restored(released, released.step("scatter").plan) == 1


def test_each_law_has_its_denoiser() -> None:
    table = open_cells(CELLS[:400], Adjacency.REPLACE_ONE)
    for name in ("gaussian_moments", "laplace", "wishart_difference"):
        with seeded_noise(3):
            released = release(table, mechanism(name)(Budget.of(rho="0.5")))
        estimate = estimate_of(released)
        values = eigh_descending(estimate.covariance)[0]
        shown = eigenvalues_of(released, estimate, values)
        if name == "wishart_difference":
            scale = estimate.noise_sd / denoise_wishart.entry_sd(4, 1.0)
            np.testing.assert_array_equal(shown, denoise_wishart.shrink(values, scale))
        else:
            np.testing.assert_array_equal(shown, denoise.shrink(values, estimate.noise_sd))
