"""A second moment, its inverse and a whitening map from one release, right in every direction. Public.

Of a recursion the noise is judged in the frame of its last release, where all directions look alike; of one
release of moments in the frame of the table, where small directions drown first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.released import Released
from .decode import decode as decode_moments
from .denoise import denoise
from .recursion import decode as decode_recursion

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Found:
    """What a release says of second moments about the public centre, data units.

    Attributes
    ----------
    rows : n, or its noisy release
    matrix, precision : (d, d) second moment, positive definite, and its inverse
    whitener : (d, d) W with ``W @ matrix @ W.T`` the identity
    eigenvalues : (d,) of the matrix, falling
    noise_sd : largest sd that the noise of ``W @ matrix @ W.T`` has off the diagonal
    spectral_error : 2 sqrt(d) times that: by what factor noise may change the variance along any direction.
        From about 1 on the smallest direction is noise.
    """

    rows: float
    matrix: FloatArray
    precision: FloatArray
    whitener: FloatArray
    eigenvalues: FloatArray
    noise_sd: float
    spectral_error: float


def second_moment(released: Released) -> Found:
    """Decode a release of ``recursive``, or of ``gaussian_moments`` about a public centre."""
    grid = released.facts.grid
    if released.mechanism == "recursive":
        found = decode_recursion(released)
        rows, frame, seen, noise_sd = found.rows, found.whitener, found.seen, found.noise_sd
    else:
        estimate, unit = decode_moments(released), grid.radius**2
        rows, frame = estimate.rows, np.eye(released.facts.d) / grid.radius
        seen, noise_sd = denoise(estimate.covariance, estimate.noise_sd) / unit, estimate.noise_sd / unit
    values, vectors = np.linalg.eigh(seen)
    least = max(noise_sd, 4.0**-grid.bits / 12)  # of the noise, and of rows that were rounded to the grid
    values = np.maximum(values, least)
    whitener = (vectors / np.sqrt(values)) @ vectors.T @ frame / grid.scale_array
    back = np.linalg.inv(whitener)
    relative = noise_sd / float(values[0])
    return Found(
        rows=rows,
        matrix=back @ back.T,
        precision=whitener.T @ whitener,
        whitener=whitener,
        eigenvalues=np.linalg.svd(back, compute_uv=False) ** 2,
        noise_sd=relative,
        spectral_error=2 * relative * math.sqrt(len(values)),
    )
