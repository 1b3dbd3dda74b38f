"""Every mechanism for covariances is read by its own law, and lands near the exact second moments."""

import numpy as np
import pytest

from dpspectra.core.privacy import Adjacency, Budget
from dpspectra.core.released import Released
from dpspectra.mechanisms.registry import mechanism, mechanisms
from dpspectra.postprocess import denoise, denoise_wishart
from dpspectra.postprocess.eigen import eigh_descending
from dpspectra.postprocess.second_moments import eigenvalues_of, estimate_of
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
