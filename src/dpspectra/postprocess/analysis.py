"""Everything that estimators show, as one pure function of a release. Public."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.released import Released
from .decode import Estimate, decode
from .uncertainty import Spectrum, effective_noise_sd, spectrum

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Analysis:
    """Estimates in data units and the spectrum of the scaled matrix.

    Attributes
    ----------
    estimate : decoded moments in encoded units
    location : (d,) released mean, or the public centre
    scale : (d,) what a column is divided by before the spectrum (1, half-ranges, or released sds)
    spectrum : eigenvalues, vectors, intervals of the covariance of the scaled columns
    covariance_raw, covariance : (d, d) data units, before and after clean-up
    covariance_sd : (d, d) noise sd of the entries of ``covariance_raw``
    noise_sd, noise_edge : off-diagonal noise sd of the scaled matrix, and the height below which one of its
        eigenvalues cannot be told from noise
    total_variance : trace against which shares are taken, released
    """

    estimate: Estimate
    location: FloatArray
    scale: FloatArray
    spectrum: Spectrum
    covariance_raw: FloatArray
    covariance: FloatArray
    covariance_sd: FloatArray
    noise_sd: float
    noise_edge: float
    total_variance: float


def analyse(released: Released, *, level: float = 0.9) -> Analysis:
    """Post-process a moments release as its card's settings (scaling, denoise, ddof) say."""
    settings, grid = released.parameters, released.facts.grid
    estimate = decode(released, settings["ddof"])
    units = grid.scale_array
    encoded = _spectrum(estimate, estimate.covariance, estimate.noise_sd, settings["denoise"], level)
    shown, scale, noise_sd = encoded, units, estimate.noise_sd
    cleaned = encoded.matrix()
    if settings["scaling"] == "private":
        deviation = released_deviations(np.diag(cleaned), estimate.noise_sd)
        noise_sd = effective_noise_sd(estimate.noise_sd, deviation)
        standardised = estimate.covariance / np.outer(deviation, deviation)
        shown = _spectrum(estimate, standardised, noise_sd, settings["denoise"], level)
        scale = units * deviation
    noise = np.full(estimate.covariance.shape, estimate.noise_sd)
    noise[np.diag_indices(len(units))] *= np.sqrt(2.0)
    area = np.outer(units, units)
    return Analysis(
        estimate=estimate,
        location=grid.centre_array + units * estimate.mean,
        scale=scale,
        spectrum=shown,
        covariance_raw=estimate.covariance * area,
        covariance=cleaned * area,
        covariance_sd=noise * area,
        noise_sd=noise_sd,
        noise_edge=shown.edge,
        total_variance=shown.total,
    )


def released_deviations(variances: FloatArray, noise_sd: float) -> FloatArray:
    """Standard deviations from released variances, floored at the noise of a variance (1 if both are 0)."""
    floored = np.maximum(variances, np.sqrt(2.0) * noise_sd)
    return np.sqrt(np.where(floored > 0, floored, 1.0))


def _spectrum(estimate: Estimate, matrix: FloatArray, noise_sd: float, denoise: bool, level: float) -> Spectrum:
    return spectrum(
        matrix, noise_sd, level=level, denoise=denoise, false_edge=estimate.false_edge, trace=estimate.trace
    )
