"""Laws of rows whose second moment a small sample shows, up to a factor, in every direction (source 003).

Each is reproducible from its seed and has a known second moment; ``with_outliers`` mixes in rows that break
promises of boundedness but not of subsamplability. ``subsamplable`` measures the property on a table at hand:
it reads rows, so it is for simulated tables only.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def axes(d: int, condition: float, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues (d,), from 1 to ``condition`` in even ratios, and random orthonormal columns (d, d)."""
    generator = np.random.default_rng(seed)
    vectors = np.linalg.qr(generator.normal(size=(d, d)))[0]
    return np.logspace(0.0, math.log10(condition), d), vectors


def conditioned_gaussian(n: int, d: int, condition: float, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Centred Gaussian rows (n, d) and their true second moment (d, d), of that condition number."""
    values, vectors = axes(d, condition, seed)
    rows = np.random.default_rng(seed + 1).normal(size=(n, d)) * np.sqrt(values)
    return rows @ vectors.T, (vectors * values) @ vectors.T


def ellipsoid(n: int, d: int, condition: float, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Rows on the surface x'A^-1 x = 1, images of uniform directions, and their second moment A/d."""
    values, vectors = axes(d, condition, seed)
    directions = _directions(np.random.default_rng(seed + 1), n, d)
    return (directions * np.sqrt(values)) @ vectors.T, (vectors * values) @ vectors.T / d


def truncated_pareto(n: int, d: int, bound: float = 100.0, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Rows lambda v, v a uniform direction, lambda of density proportional to x^-6 on [1, bound]; and their
    second moment E lambda^2 I/d."""
    generator = np.random.default_rng(seed)
    lengths = _pareto(generator, n, bound)
    return lengths[:, None] * _directions(generator, n, d), np.eye(d) * _moment(bound, 2) / d


def length_and_direction(
    n: int, d: int, bound: float = 100.0, seed: int = 0
) -> tuple[FloatArray, FloatArray]:
    """Rows (lambda, v) of d columns, v a uniform direction of the other d - 1, and their second moment."""
    generator = np.random.default_rng(seed)
    lengths = _pareto(generator, n, bound)
    rows = np.column_stack([lengths, _directions(generator, n, d - 1)])
    return rows, np.diag([_moment(bound, 2), *[1 / (d - 1)] * (d - 1)])


def with_outliers(rows: FloatArray, share: float, times: float, seed: int = 0) -> FloatArray:
    """A copy in which a random ``share`` of the rows (n, d) is stretched to ``times`` the second moment."""
    generator, mixed = np.random.default_rng(seed), rows.copy()
    chosen = generator.permutation(len(rows))[: round(share * len(rows))]
    mixed[chosen] *= math.sqrt(times)
    return mixed


def subsamplable(rows: FloatArray, size: int, alpha: float, trials: int = 200, seed: int = 0) -> float:
    """Share of ``trials`` samples of ``size`` rows, with replacement, whose second moment is not within
    1 +- alpha of the table's: an estimate of beta. Reads rows: for simulated tables only."""
    generator = np.random.default_rng(seed)
    values, vectors = np.linalg.eigh(rows.T @ rows / len(rows))
    white = rows @ (vectors * values**-0.5)
    far = 0
    for _ in range(trials):
        sample = white[generator.integers(0, len(rows), size)]
        found = np.linalg.eigvalsh(sample.T @ sample / size)
        far += bool(found[0] < 1 - alpha or found[-1] > 1 + alpha)
    return far / trials


def _directions(generator: np.random.Generator, n: int, d: int) -> FloatArray:
    rows = generator.normal(size=(n, d))
    directions: FloatArray = rows / np.linalg.norm(rows, axis=1)[:, None]
    return directions


def _pareto(generator: np.random.Generator, n: int, bound: float) -> FloatArray:
    """Inverse of F(x) = (1 - x^-5)/(1 - bound^-5)."""
    lengths: FloatArray = (1 - generator.uniform(size=n) * (1 - bound**-5)) ** -0.2
    return lengths


def _moment(bound: float, order: int) -> float:
    """E lambda^order."""
    return 5 / (5 - order) * (1 - bound ** (order - 5)) / (1 - bound**-5)
