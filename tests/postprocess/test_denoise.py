"""Denoised eigenvalues against the oracle of the same release, and the promises of the function."""

from __future__ import annotations

import numpy as np
import pytest

from dpspectra.core.errors import ParameterError
from dpspectra.postprocess.denoise import _coupling, _general, _spiked, denoise, shrink
from dpspectra.postprocess.project import psd

EDGES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)


def noise(d: int, rng: np.random.Generator) -> np.ndarray:
    draw = rng.standard_normal((d, d))
    return (draw + draw.T) / np.sqrt(2)


def spectra(d: int) -> dict[str, np.ndarray]:
    i = np.arange(d)
    lag = np.abs(np.subtract.outer(i, i))
    blocks = np.where(np.equal.outer(i * 5 // d, i * 5 // d), 0.7, 0.0) + 0.3 * np.eye(d)
    loadings = np.random.default_rng(5).standard_normal((d, 3)) * [1.0, 0.6, 0.3]
    found = {
        "toeplitz": np.linalg.eigvalsh(0.6**lag)[::-1],
        "blocks": np.linalg.eigvalsh(blocks)[::-1],
        "factors": np.linalg.eigvalsh(loadings @ loadings.T + np.eye(d))[::-1],
        "power 1/2": (i + 1.0) ** -0.5,
        "power 2": (i + 1.0) ** -2.0,
        "rank one": (i == 0).astype(float),
    }
    return {name: values / values[0] for name, values in found.items()}


def errors(exact: np.ndarray, tau: float, seeds: range, case: int = 0) -> tuple[float, float]:
    """Mean squared Frobenius errors of the denoised matrix and of the oracle, same releases.

    Isotropic noise has no preferred basis, so a diagonal exact matrix is the general case.
    """
    d, ours, oracle = len(exact), 0.0, 0.0
    for seed in seeds:
        values, vectors = np.linalg.eigh(
            np.diag(exact) + tau * noise(d, np.random.default_rng([seed, d, case]))
        )
        best = (vectors[:, ::-1] ** 2).T @ exact
        least = float(np.sum(exact**2) - np.sum(best**2))
        oracle += least
        ours += least + float(np.sum((shrink(values[::-1], tau) - best) ** 2))
    return ours / len(seeds), oracle / len(seeds)


@pytest.mark.parametrize(
    ("d", "seeds", "mean", "most"), [(20, 8, 1.06, 1.20), (50, 3, 1.03, 1.10), (200, 3, 1.02, 1.08)]
)
def test_near_the_oracle_on_many_spectra(d: int, seeds: int, mean: float, most: float) -> None:
    """Error over sqrt(oracle^2 + 2 tau^2), 42 cases each; fixed seeds, four times
    as many where the noise passes the signal and single errors scatter; full study in benchmarks/."""
    ratios = []
    for exact in spectra(d).values():
        for edge in EDGES:
            tau = edge / (2 * np.sqrt(d))
            ours, oracle = errors(exact, tau, range(seeds * (4 if edge >= 1 else 1)), len(ratios))
            ratios.append(np.sqrt(ours / (oracle + 2 * tau**2)))
    assert np.mean(ratios) <= mean
    assert np.max(ratios) <= most


def zipf_spectrum(d: int, rows: int, buckets: int) -> np.ndarray:
    """A synthetic table of Covariance Revisited: X = N(0, I) U, centred, then radii by Zipf buckets."""
    rng = np.random.default_rng([d, buckets])
    table = rng.standard_normal((rows, d)) @ rng.random((d, d))
    table -= table.mean(axis=0)
    shares = (np.arange(max(buckets, 1)) + 1.0) ** -3
    radii = 2.0 ** (np.arange(max(buckets, 1)) + 1 - max(buckets, 1))
    table *= (rng.choice(radii, rows, p=shares / shares.sum()) / np.linalg.norm(table, axis=1))[:, None]
    return np.linalg.eigvalsh(table.T @ table / rows)[::-1]


def test_near_the_oracle_on_the_published_tables() -> None:
    """Four of the eleven rows of the page (tables of 20,000 rows, the noise of the stated n); the rest
    is in the benchmark."""
    ratios = []
    for d, n, buckets, rho in ((50, 5e4, 0, 0.1), (50, 5e4, 4, 0.1), (200, 5e4, 4, 1.0), (200, 5e4, 8, 0.1)):
        exact = zipf_spectrum(d, 20_000, buckets)
        ours, oracle = errors(exact, 1 / (n * np.sqrt(2 * rho)), range(2))
        ratios.append(np.sqrt(ours / oracle))
    assert np.mean(ratios) <= 1.02
    assert np.max(ratios) <= 1.05


def test_candidates_divergence_is_that_of_finite_differences() -> None:
    """Stein's risk needs sum_i dx_i/dw_i and the coupling; here both are checked by small steps."""
    rng = np.random.default_rng(8)
    w = np.linalg.eigvalsh(np.diag(np.r_[60.0, 30.0, 20.0, np.linspace(0, 8, 27)]) + noise(30, rng))[::-1]
    step = 1e-6
    for candidate in (_general, _spiked):
        x, slope = candidate(w)
        total = 0.0
        for i in range(30):
            moved = w.copy()
            moved[i] += step
            total += (candidate(moved)[0][i] - x[i]) / step
        # Floors on poles and the shift of a spiked bulk with its spikes are left out of the formula.
        assert slope == pytest.approx(total, rel=0.05)
        pairs = sum((x[i] - x[j]) / (w[i] - w[j]) for i in range(30) for j in range(i))
        assert _coupling(w, x)[0] == pytest.approx(pairs)


@pytest.mark.parametrize("d", [1, 2, 20, 101])
@pytest.mark.parametrize("scale", [1e-150, 3e-7, 1e9, 1e150])
def test_scale_equivariant(d: int, scale: float) -> None:
    w = np.linalg.eigvalsh(np.diag(np.arange(d) * 3.0) + noise(d, np.random.default_rng(1)))[::-1]
    assert np.allclose(shrink(scale * w, scale) / scale, shrink(w, 1.0), rtol=1e-9, atol=1e-12)


def test_deterministic_and_rotation_equivariant() -> None:
    rng = np.random.default_rng(2)
    matrix = np.diag(np.linspace(9, 0, 12) ** 2) + noise(12, rng)
    assert np.array_equal(denoise(matrix, 1.0), denoise(matrix, 1.0))
    turn, _ = np.linalg.qr(rng.standard_normal((12, 12)))
    assert np.allclose(denoise(turn @ matrix @ turn.T, 1.0), turn @ denoise(matrix, 1.0) @ turn.T, atol=1e-9)


@pytest.mark.parametrize("d", [1, 2, 3, 30, 120])
@pytest.mark.parametrize("tau", [0.0, 1e-200, 1e-9, 1.0, 1e200])
def test_degenerate_spectra_stay_finite(d: int, tau: float) -> None:
    for matrix in (np.zeros((d, d)), np.ones((d, d)), np.eye(d), -np.eye(d)):
        found = denoise(matrix, tau)
        assert np.isfinite(found).all()
        assert np.array_equal(found, found.T)
        assert np.linalg.eigvalsh(found)[0] >= -1e-12


def test_without_noise_it_is_the_projection() -> None:
    matrix = noise(9, np.random.default_rng(3))
    assert np.allclose(denoise(matrix, 0.0), psd(matrix), atol=1e-13)


def test_pure_noise_is_removed() -> None:
    """The released error is about tau sqrt(d (d + 1)) = 51; a few noise sds are left."""
    left = [np.linalg.norm(denoise(noise(50, np.random.default_rng(seed)), 1.0)) for seed in range(10)]
    assert np.mean(left) < 4


def test_a_released_trace_replaces_the_noisy_one() -> None:
    exact = np.diag(np.full(20, 30.0))
    plain, helped = [], []
    for seed in range(20):
        matrix = exact + noise(20, np.random.default_rng(seed))
        plain.append(np.sum((denoise(matrix, 1.0) - exact) ** 2))
        helped.append(np.sum((denoise(matrix, 1.0, trace=600.0) - exact) ** 2))
    # What it can remove is the trace part of the noise, 2 tau^2 of squared error.
    assert 1.0 < np.mean(plain) - np.mean(helped) < 3.0


def test_parameters_are_checked() -> None:
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(ParameterError, match="noise_sd"):
            denoise(np.eye(2), bad)
    with pytest.raises(ParameterError, match="matrix"):
        denoise(np.zeros((2, 3)), 1.0)
    with pytest.raises(ParameterError, match="descending"):
        shrink(np.array([1.0, 2.0]), 1.0)
