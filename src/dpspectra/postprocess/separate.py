"""What releases of eigenvectors and eigenvalues apart decode to. Public."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

from ..core.released import Released
from .decode import Estimate, decode
from .eigen import eigh_descending
from .symmetric import symmetrise

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Separated:
    """Decoded, encoded units.

    Attributes
    ----------
    estimate : the scatter alone, whose eigenvectors are used
    eigenvalues : (d,) as released, noisy, in the order of the exact ones
    eigenvalue_sd : of their noise
    tidy : (d,) those shown in their place
    """

    estimate: Estimate
    eigenvalues: FloatArray
    eigenvalue_sd: float
    tidy: FloatArray

    @property
    def covariance(self) -> FloatArray:
        """(d, d) the scatter's vectors with the tidy eigenvalues."""
        vectors = eigh_descending(self.estimate.covariance)[1]
        return symmetrise((vectors * self.tidy) @ vectors.T)


def decode_separate(released: Released, ddof: int = 1) -> Separated:
    """Read a release of ``separate`` or ``separate_laplace``.

    Preset "published" cuts eigenvalues to [0, B^2], as the source does; "tight" takes the nearest decreasing
    vector that is not negative.
    """
    estimate, step = decode(released, ddof), released.step("spectrum")
    divisor = estimate.rows - ddof if released.has("mean") and estimate.rows > ddof else estimate.rows
    unit = math.ldexp(released.facts.grid.step**2, -step.plan.shift) / divisor
    values = step.values.astype(np.float64) * unit - estimate.mean_sd**2 * estimate.rows / divisor
    sd = step.plan.sigma[0] * unit * (math.sqrt(2) if step.plan.law == "laplace" else 1)
    tidy: FloatArray
    if released.parameters["preset"] == "published":
        tidy = np.clip(values, 0.0, released.facts.grid.radius**2)
    else:
        tidy = np.maximum(isotonic_regression(values, increasing=False), 0.0)
    return Separated(estimate, values, sd, tidy)
