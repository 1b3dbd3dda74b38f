"""Denoising of Wishart differences against the oracle, on spectra of other kinds; fixed seeds."""

import numpy as np
import pytest

from dpspectra.core.errors import ParameterError
from dpspectra.postprocess.denoise import shrink as shrink_gaussian
from dpspectra.postprocess.denoise_wishart import EDGE, denoise, entry_sd, shrink


def spectra(d: int) -> dict[str, np.ndarray]:
    i = np.arange(d)
    lag = np.abs(np.subtract.outer(i, i))
    return {
        "power": (i + 1.0) ** -1,
        "toeplitz": np.linalg.eigvalsh(0.6**lag)[::-1] / 4,
        "spikes": np.where(i < 3, 1.0, 0.05),
        "levels": np.repeat([1.0, 0.8, 0.6, 0.4, 0.2], d // 5),
    }


def ratio(exact: np.ndarray, scale: float, seeds: int, gaussian: bool = False) -> float:
    """Root mean squared error over that of the oracle and the noise of the trace."""
    d, ours, best = len(exact), 0.0, 0.0
    for seed in range(seeds):
        g, h = np.random.default_rng([d, seed]).standard_normal((2, d, d + 1))
        w, v = np.linalg.eigh(np.diag(exact) + scale * (g @ g.T - h @ h.T))
        w, oracle = w[::-1], ((v[:, ::-1]) ** 2).T @ exact
        least = float(np.sum(exact**2) - np.sum(oracle**2))
        found = shrink_gaussian(w, entry_sd(d, scale)) if gaussian else shrink(w, scale)
        best += max(least, 0.0) + 2 * entry_sd(d, scale) ** 2
        ours += least + float(np.sum((found - oracle) ** 2))
    return float(np.sqrt(ours / best))


@pytest.mark.parametrize(
    ("d", "seeds", "most"),
    [(20, 20, 1.15), (50, 8, 1.11), (200, 2, 1.05), pytest.param(800, 1, 1.03, marks=pytest.mark.slow)],
)
def test_near_the_oracle(d: int, seeds: int, most: float) -> None:
    found = [
        ratio(exact, edge / (EDGE * (d + 1)), seeds) for exact in spectra(d).values() for edge in (0.03, 0.3)
    ]
    assert float(np.mean(found)) <= most


def test_noise_alone_is_shown_as_next_to_nothing() -> None:
    """At d = 200: below the noise of the trace, where the general formula alone shows five times it."""
    zeros, scale = np.zeros(200), 1 / (EDGE * 201)
    found = []
    for seed in range(6):
        g, h = np.random.default_rng(seed).standard_normal((2, 200, 201))
        w = np.linalg.eigvalsh(scale * (g @ g.T - h @ h.T))[::-1]
        found.append(float(np.linalg.norm(shrink(w, scale) - zeros)))
    assert np.median(found) < 1.5 * np.sqrt(2) * entry_sd(200, scale)


@pytest.mark.parametrize("level", [0.0, 0.4])
def test_a_spike_over_a_flat_bulk_is_found_with_its_angle(level: float) -> None:
    exact, scale = np.full(200, level), 1 / (EDGE * 201)
    exact[0] += 3.0
    assert ratio(exact, scale, 3) < 1.2


def test_the_law_matters() -> None:
    """Where the noise fills more than the Gaussian law says, the Gaussian formula takes noise for signal."""
    exact, scale = np.zeros(200), 1 / (EDGE * 201)
    exact[0] = 0.5
    assert ratio(exact, scale, 2) < 0.6 * ratio(exact, scale, 2, gaussian=True)


def test_the_edge_is_the_least_of_the_inverse_transform() -> None:
    g = np.linspace(0.05, 0.95, 100_001)
    assert pytest.approx(float(np.min(1 / g + 2 * g / (1 - g**2))), rel=1e-9) == EDGE


def test_without_noise_the_positive_part() -> None:
    matrix = np.array([[2.0, 1.0], [1.0, -3.0]])
    values, vectors = np.linalg.eigh(matrix)
    np.testing.assert_allclose(
        denoise(matrix, 0.0), (vectors * np.maximum(values, 0)) @ vectors.T, atol=1e-12
    )
    assert denoise(np.array([[-1.0]]), 0.3) == 0


def test_scale_equivariance_order_and_sign() -> None:
    w = np.sort(np.random.default_rng(3).normal(size=30))[::-1]
    found = shrink(w, 0.05)
    assert (np.diff(found) <= 0).all() and (found >= 0).all()
    np.testing.assert_allclose(shrink(1e9 * w, 5e7), 1e9 * found, rtol=1e-9)


def test_arguments_are_checked() -> None:
    with pytest.raises(ParameterError, match="noise_sd"):
        shrink(np.array([1.0, 0.0]), -1.0)
    with pytest.raises(ParameterError, match="descending"):
        shrink(np.array([0.0, 1.0]), 1.0)
