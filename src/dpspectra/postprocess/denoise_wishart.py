"""Spectral denoising of a matrix that carries the difference of two Wisharts. Public.

Noise W = scale (G G' - H H'), G and H d x (d + 1), is rotation-invariant, so the released eigenvectors stay
and eigenvalues are chosen, but its law is not that of Gaussian noise: with theta = scale (d + 1) it fills
[-3.33 theta, 3.33 theta], where Gaussian noise of equal variance would fill 2.83 theta. In free probability
its R-transform is theta/(1 - theta g) - theta/(1 + theta g) = 2 theta^2 g/(1 - theta^2 g^2), and the mean of
the exact matrix along a released vector of eigenvalue w is w - Im[g R(g)]/Im g, g the Stieltjes transform of
the released spectrum at w (docs/mechanisms/wishart_difference.md). A semicircle smooths the spectrum.
Where the bulk of the spectrum is no wider than noise makes it, it is taken for flat, and only what stands out
of it for more: that formula alone would show the fluctuations of noise at its edge.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

from ..core.errors import ParameterError
from .eigen import eigh_descending
from .project import compose
from .symmetric import checked_noise

Vector = NDArray[np.float64]

WIDTH = 3.0
"""Half-width of the semicircle that smooths the spectrum, in sds of an off-diagonal entry."""
EDGE = math.sqrt((11 + 5 * math.sqrt(5)) / 2)
"""Edge of the noise in units of theta, 3.330: where 1/g + R(g) is least."""
SPIKE = 1.03
"""An eigenvalue stands out of a flat bulk from this far past the edge."""
FLAT, WIDE = 2.0, 10.0
"""d times the excess of the bulk's mean square over that of noise (0 +- 3 if it is noise alone): up to the
first the bulk is flat, from the second on it is not, and between them the two answers are mixed."""
SMOOTHING = 1 / 16
"""Laplace scale that goes with the noise, in units of scale sqrt(d + 1) (``noise.floats``)."""
NEGLIGIBLE = 1e-14
BLOCK = 1 << 17
"""Pairs of eigenvalues looked at in one go."""


def entry_sd(d: int, scale: float) -> float:
    """Sd of an off-diagonal entry of the noise, sqrt(2 (d + 1)) scale and 0.2 %; the diagonal has sqrt(2)
    times that."""
    return math.sqrt(2 * (d + 1) * (1 + SMOOTHING**2)) * scale


def denoise(matrix: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """The released matrix with denoised eigenvalues: positive semidefinite, same eigenvectors. Public.

    Parameters
    ----------
    matrix : (d, d) array, the released symmetric matrix, data units
    scale : of the Wishart difference, data units; 0 gives the positive semidefinite part

    Returns
    -------
    (d, d) array, symmetric, data units

    Raises
    ------
    ParameterError
        If the matrix is not square and finite, or ``scale`` is negative or not finite.
    """
    checked_noise(scale)
    values, vectors = eigh_descending(matrix)
    return compose(vectors, shrink(values, scale))


def shrink(eigenvalues: Vector, scale: float) -> Vector:
    """Denoised eigenvalues, descending and not negative, from those of the release (d,), descending. Public.

    Raises
    ------
    ParameterError
        If ``scale`` is negative or not finite, or the eigenvalues are not a descending vector.
    """
    noise = checked_noise(scale)
    values = np.asarray(eigenvalues, dtype=np.float64)
    if values.ndim != 1 or not len(values) or (np.diff(values) > 0).any():
        raise ParameterError("eigenvalues must be a vector in descending order")
    if len(values) == 1 or noise <= NEGLIGIBLE * np.abs(values).max():
        return np.maximum(values, 0.0)
    d = len(values)
    theta = noise * (d + 1)
    scaled = values / theta
    sd = entry_sd(d, noise) / theta
    g = _stieltjes(scaled, WIDTH * sd)
    pull = np.imag(2 * g**2 / (1 - g**2)) / np.imag(g)
    fitted: Vector = isotonic_regression(scaled - pull, increasing=False)
    general = np.maximum(fitted, 0.0)
    spiked, bulk = _spiked(scaled)
    if 2 * len(bulk) < d:
        return general * theta
    excess = d * (np.var(bulk) / (sd**2 * (d + 1 - 2 / d)) - 1)
    weight = float(np.clip((excess - FLAT) / (WIDE - FLAT), 0.0, 1.0))
    return theta * (weight * general + (1 - weight) * spiked)


def _spiked(w: Vector) -> tuple[Vector, Vector]:
    """Eigenvalues of spikes over a flat bulk, and the bulk, in units of theta.

    A spike l above the bulk's level m is seen at w = m + l + R(1/l); along its vector the exact matrix has
    m + l dw/dl. The level is what is left of the trace.
    """
    level = max(0.0, float(np.median(w)))
    for _ in range(10):
        count = int(np.sum(w > level + SPIKE * EDGE))
        spike = seen = w[:count] - level
        for _ in range(30):  # Newton, from the right of a convex increasing function
            spike = spike - (spike + 2 * spike / (spike**2 - 1) - seen) / _slope(spike)
        level = max(0.0, float(w.sum() - spike.sum()) / len(w))
    return np.concatenate([level + spike * _slope(spike), np.full(len(w) - count, level)]), w[count:]


def _slope(spike: Vector) -> Vector:
    """dw/dl of l + R(1/l): the squared cosine of a spike's vector with the exact one."""
    slope: Vector = 1 - 2 * (spike**2 + 1) / (spike**2 - 1) ** 2
    return slope


def _stieltjes(w: Vector, h: float) -> NDArray[np.complex128]:
    """Mean over j of 1/(z - w_j) at z = w_i, each w_j spread over a semicircle of half-width h."""
    g = np.empty(len(w), dtype=np.complex128)
    step = max(1, BLOCK // len(w))
    for start in range(0, len(w), step):
        rows = slice(start, start + step)
        gap = np.subtract.outer(w[rows], w)
        square = gap**2 - h**2
        far = np.sign(gap) * np.sqrt(np.maximum(square, 0.0))
        near = np.sqrt(np.maximum(-square, 0.0))
        g[rows] = 2 / h**2 * (np.mean(gap - far, axis=1) - 1j * np.mean(near, axis=1))
    return g
