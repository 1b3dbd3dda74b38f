"""Short reference code of other methods, from their formulas: floats and NumPy noise, for comparison only.

All get the same rows, B and total budget: mu of the analytic calibration, which for the two mechanisms of
"Covariance Revisited" (published in zCDP) means rho = mu^2/2, the most that any conversion allows them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import log_ndtr

FloatArray = NDArray[np.float64]
Answer = tuple[FloatArray, FloatArray]
"""A matrix (d, d) and its directions (d, d) as columns, the most important first."""
Method = Callable[[FloatArray, float, float, np.random.Generator], Answer]
"""(rows, B, mu, generator) -> Answer"""

MEAN_SHARE = 0.1
"""Part of mu^2 for the mean where a covariance is wanted, as in ours."""


def analytic_mu(epsilon: float, delta: float) -> float:
    """The mu at which Gaussian noise is exactly (epsilon, delta)-DP."""

    def excess(mu: float) -> float:
        first, second = log_ndtr(mu / 2 - epsilon / mu), epsilon + log_ndtr(-mu / 2 - epsilon / mu)
        return float(first + np.log1p(-np.exp(second - first)) - np.log(delta))

    return float(brentq(excess, 1e-3 * epsilon, 10 + 2 * np.sqrt(epsilon) + epsilon, xtol=1e-12))


def clip(rows: FloatArray, radius: float) -> FloatArray:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows * np.minimum(1.0, radius / np.maximum(norms, radius * 1e-300)))


def centred(
    rows: FloatArray, middle: FloatArray, radius: float, mu: float, rng: np.random.Generator
) -> tuple[FloatArray, float]:
    """Rows about a noisy mean, clipped again, and the mu that is left."""
    near = clip(rows - middle, radius)
    noise = rng.standard_normal(near.shape[1]) * 2 * radius / (len(rows) * mu * np.sqrt(MEAN_SHARE))
    return clip(near - near.mean(axis=0) - noise, radius), mu * float(np.sqrt(1 - MEAN_SHARE))


def symmetric(d: int, diagonal: float, off: float, rng: np.random.Generator) -> FloatArray:
    upper = np.triu(rng.standard_normal((d, d)), 1) * off
    return upper + upper.T + np.diag(rng.standard_normal(d) * diagonal)


def falling(matrix: FloatArray) -> FloatArray:
    """Eigenvectors as columns, by falling eigenvalue."""
    return np.linalg.eigh(matrix)[1][:, ::-1]


def plain_gaussian(rows: FloatArray, radius: float, mu: float, rng: np.random.Generator) -> Answer:
    """Second moments with isometric noise: sd sigma on the diagonal, sigma/sqrt(2) off it."""
    n, d = rows.shape
    sigma = np.sqrt(2) * radius**2 / (n * mu)
    matrix = rows.T @ rows / n + symmetric(d, sigma, sigma / np.sqrt(2), rng)
    return matrix, falling(matrix)


def gauss_cov(rows: FloatArray, radius: float, mu: float, rng: np.random.Generator) -> Answer:
    """GaussCov as published: independent noise of sd r^2/(n sqrt(rho)) on the upper triangle."""
    n, d = rows.shape
    sigma = radius**2 / (n * np.sqrt(mu**2 / 2))
    matrix = rows.T @ rows / n + symmetric(d, sigma, sigma, rng)
    return matrix, falling(matrix)


def separate_cov(rows: FloatArray, radius: float, mu: float, rng: np.random.Generator) -> Answer:
    """SeparateCov: vectors of GaussCov(rho/2), sorted eigenvalues with noise for the other half of rho.

    Eigenvalues are cut to [0, r^2]. Two kind repairs: ``eigh`` in place of the published ``svd``, which
    pairs vectors of an indefinite matrix wrongly, and noisy eigenvalues are sorted again.
    """
    half = mu / np.sqrt(2)
    vectors = gauss_cov(rows, radius, half, rng)[1]
    values = np.linalg.eigvalsh(rows.T @ rows / len(rows))
    noisy = values + rng.standard_normal(len(values)) * np.sqrt(2) * radius**2 / (len(rows) * half)
    return (vectors * np.sort(np.clip(noisy, 0, radius**2))[::-1]) @ vectors.T, vectors


METHODS: dict[str, Method] = {
    "plain Gaussian": plain_gaussian,
    "GaussCov": gauss_cov,
    "SeparateCov": separate_cov,
}
