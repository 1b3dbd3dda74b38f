"""Everything that estimators show, as one pure function of a release. Public."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..core.released import Released
from .decode import Estimate, decode
from .matrices import effective_noise_sd, invert
from .uncertainty import Spectrum, detection_edge, normal_quantile, spectrum

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
    precision : (d, d) pseudo-inverse of ``covariance``; eigenvalues below the noise of a variance, in
        encoded units, are cut
    noise_sd : off-diagonal noise sd of the scaled matrix
    noise_edge : height below which one of its eigenvalues cannot be told from noise
    total : trace of the scaled matrix against which shares are taken, released
    """

    estimate: Estimate
    location: FloatArray
    scale: FloatArray
    spectrum: Spectrum
    covariance_raw: FloatArray
    covariance: FloatArray
    covariance_sd: FloatArray
    precision: FloatArray
    noise_sd: float
    noise_edge: float
    total: float


def analyse(released: Released, *, level: float = 0.9) -> Analysis:
    """Post-process a moments release as its card's settings (scaling, denoise, ddof) say."""
    settings, grid = released.parameters, released.facts.grid
    estimate, units = decode(released, settings["ddof"]), grid.scale_array
    noise_sd, scale, edge = estimate.noise_sd, units, 0.0
    shown = encoded = spectrum(estimate.covariance, noise_sd, level=level, denoise=settings["denoise"])
    cleaned = encoded.matrix()
    deviation = np.ones_like(units)
    if settings["scaling"] == "private":
        deviation = released_deviations(np.diag(cleaned), noise_sd)
        noise_sd = effective_noise_sd(noise_sd, deviation)
        standardised = estimate.covariance / np.outer(deviation, deviation)
        shown = spectrum(standardised, noise_sd, level=level, denoise=settings["denoise"])
        scale = units * deviation
    elif estimate.trace is not None:
        shown = _against_trace(shown, estimate.trace, estimate.trace_sd)
    if estimate.rows_sd and settings["scaling"] != "private":
        shown = _with_noisy_rows(shown, estimate.rows_sd / estimate.rows)
    if not estimate.isotropic:
        edge = max(shown.edge, estimate.false_edge / float(deviation.min()) ** 2)
        shown = _without_intervals(shown, edge)
    return Analysis(
        estimate=estimate,
        location=grid.centre_array + units * estimate.mean,
        scale=scale,
        spectrum=shown,
        covariance_raw=_rescaled(estimate.covariance, units),
        covariance=_rescaled(cleaned, units),
        covariance_sd=_rescaled(_entry_sd(estimate), units),
        precision=_rescaled(
            invert(encoded.denoised, encoded.vectors, math.sqrt(2.0) * estimate.noise_sd), 1 / units
        ),
        noise_sd=noise_sd,
        noise_edge=max(shown.edge, edge),
        total=max(shown.trace, float(shown.denoised.sum())),
    )


def released_deviations(variances: FloatArray, noise_sd: float) -> FloatArray:
    """Standard deviations from released variances, floored at the noise of a variance (1 if both are 0)."""
    floored = np.maximum(variances, math.sqrt(2.0) * noise_sd)
    return np.sqrt(np.where(floored > 0, floored, 1.0))


def _rescaled(matrix: FloatArray, units: FloatArray) -> FloatArray:
    """Rows and columns times their units; the matrix itself where all of them are 1."""
    return matrix if (units == 1).all() else matrix * np.outer(units, units)


def _entry_sd(estimate: Estimate) -> FloatArray:
    """Noise sd of each entry of the covariance, to first order; (d, d), encoded units.

    A noisy n has the relative error e = rows_sd/rows and moves C by -e C. In the joint release an entry of
    m m' adds m_i e_j + m_j e_i, and a noisy n moves C + m m' - m m' by -e (C - m m').
    """
    variance = np.full(estimate.covariance.shape, estimate.noise_sd**2)
    moved = estimate.covariance
    if not estimate.isotropic:
        square = estimate.mean**2
        variance += estimate.mean_sd**2 * np.add.outer(square, square)
        moved = moved - np.outer(estimate.mean, estimate.mean)
    variance[np.diag_indices(len(variance))] *= 2.0
    if estimate.rows_sd > 0:
        variance += (estimate.rows_sd / estimate.rows * moved) ** 2
    errors: FloatArray = np.sqrt(variance)
    return errors


def _with_noisy_rows(found: Spectrum, error: float) -> Spectrum:
    """The noisy number of rows, of relative sd ``error``, stretches all eigenvalues; shares keep theirs."""
    errors = np.hypot(found.standard_errors, error * np.abs(found.debiased))
    half = normal_quantile(found.level) * errors
    ends = np.column_stack((found.debiased - half, found.debiased + half))
    return replace(found, standard_errors=errors, intervals=ends)


def _against_trace(found: Spectrum, trace: float, trace_sd: float) -> Spectrum:
    """Shares of a trace that was released by itself: its noise is independent of the matrix's."""
    total = max(trace, float(found.denoised.sum()))
    known = trace > 5 * trace_sd
    share = found.debiased / trace if known else np.full_like(found.debiased, np.nan)
    width = np.hypot(found.standard_errors, np.abs(share) * trace_sd) / (trace if known else 1.0)
    half = normal_quantile(found.level) * width
    return replace(
        found,
        trace=trace,
        ratios=found.denoised / total if total > 0 else np.zeros_like(found.denoised),
        debiased_ratios=share,
        ratio_intervals=np.column_stack((share - half, share + half)),
    )


def _without_intervals(found: Spectrum, edge: float) -> Spectrum:
    """The joint release's noise is not isotropic: formulas for errors do not hold, and the edge is higher."""
    needed = detection_edge(found.noise_sd, len(found.values)) - found.edge + edge
    above = (found.alignment > 0) & (found.values > needed)
    blank = np.full_like(found.values, np.nan)
    pairs = np.column_stack((blank, blank))
    return replace(
        found,
        resolved=np.zeros_like(found.resolved),
        alignment=np.where(above, blank, 0.0),
        debiased=blank,
        debiased_ratios=blank,
        standard_errors=blank,
        intervals=pairs,
        ratio_intervals=pairs,
        alignment_intervals=pairs,
    )
