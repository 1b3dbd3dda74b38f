"""What the noise leaves known of a spectrum: edge, resolved components, intervals, alignment.

All numbers speak of the noise added for privacy, given the table; the sampling error of the rows is not in
them. ``docs/mechanisms/denoise.md`` has the formulas and the measured coverage.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, ndtri

from ..core.errors import ParameterError
from .denoise import shrink
from .eigen import eigh_descending, rounding
from .project import compose
from .symmetric import checked_noise

Vector = NDArray[np.float64]

ABOVE_EDGE = 1.05
"""An eigenvalue must pass the noise edge by 5 % at least."""
FLUCTUATION = 2.0
"""The largest eigenvalue of pure noise is 2 sqrt(d) + T/d^(1/6) noise sds, T about Tracy-Widom: its 99 %
quantile."""
GAP = 4.0
"""Smallest gap to a neighbour, in noise sds, for first-order formulas to hold."""
LONE = 6.0
"""Smallest gap to a neighbour, in noise sds, for an eigenvalue inside a spread-out spectrum to stand out."""
CROWD = 1.14
"""Largest sum of (noise/(w_i - w_j))^2 there: its value 5 % above the edge of a flat bulk."""
STABLE_TRACE = 5.0
"""A ratio has an interval only if the released trace is this many of its sds above zero."""


@dataclass(frozen=True)
class Spectrum:
    """A released spectrum and what is known of the exact one. Everything in it is public.

    Attributes
    ----------
    values : (d,) eigenvalues w of the released matrix, descending, data units
    denoised : (d,) denoised eigenvalues, estimates of v_i' Sigma v_i; descending, not negative
    vectors : (d, d) eigenvectors as columns, in the order and with the signs of ``eigh_descending``
    noise_sd, level : off-diagonal noise sd (data units), nominal level of the intervals
    edge : 2 noise_sd sqrt(d): noise alone makes eigenvalues up to about this
    trace : trace of the released matrix, data units (may be negative)
    resolved : (d,) True where an eigenvalue is distinguishable from noise and from its neighbours
    debiased : (d,) estimates l of the exact eigenvalues; NaN where not resolved
    standard_errors : (d,) of ``debiased``; NaN where not resolved
    intervals : (d, 2) for the exact eigenvalues; NaN where not resolved
    ratios : (d,) share of each denoised eigenvalue in the full trace, never above 1 in sum
    debiased_ratios : (d,) ``debiased / trace``; NaN where not resolved or where the trace drowns in noise
    ratio_intervals : (d, 2) about ``debiased_ratios`` for exact eigenvalue over exact trace, else NaN
    alignment : (d,) expected squared cosine between released and exact component; 0 at or below the edge
    alignment_intervals : (d, 2) for the squared cosine; NaN where not resolved
    """

    values: Vector
    denoised: Vector
    vectors: NDArray[np.float64]
    noise_sd: float
    level: float
    edge: float
    trace: float
    resolved: NDArray[np.bool_]
    debiased: Vector
    standard_errors: Vector
    intervals: NDArray[np.float64]
    ratios: Vector
    debiased_ratios: Vector
    ratio_intervals: NDArray[np.float64]
    alignment: Vector
    alignment_intervals: NDArray[np.float64]

    @property
    def effective_rank(self) -> int:
        """Number of eigenvalues that noise alone would hardly make."""
        return int(np.count_nonzero(self.values > detection_edge(self.noise_sd, len(self.values))))

    def matrix(self) -> NDArray[np.float64]:
        """The matrix with the denoised eigenvalues; (d, d), symmetric, positive semidefinite."""
        return compose(self.vectors, self.denoised)


def noise_edge(noise_sd: float, d: int) -> float:
    """2 noise_sd sqrt(d): the largest eigenvalue that isotropic noise of order d alone makes."""
    return float(2 * checked_noise(noise_sd) * np.sqrt(d))


def detection_edge(noise_sd: float, d: int) -> float:
    """What an eigenvalue must pass, above the bulk, to count as more than noise.

    It leaves room for the fluctuation of the noise edge: of releases of pure noise at most one in a hundred
    has an eigenvalue above it, for every d (measured; a test repeats it).
    """
    root = float(np.sqrt(d))
    return float(
        checked_noise(noise_sd) * max(2 * ABOVE_EDGE * root, 2 * root + FLUCTUATION / root ** (1 / 3))
    )


def spectrum(
    matrix: NDArray[np.float64], noise_sd: float, *, level: float = 0.9, denoise: bool = True
) -> Spectrum:
    """Eigendecomposition, denoised eigenvalues and uncertainty of a released matrix. Public.

    Parameters
    ----------
    matrix : (d, d) array, the released symmetric matrix, data units
    noise_sd : sd of the isotropic noise off the diagonal, data units; for a rescaled matrix the value of
        ``effective_noise_sd``; 0 for a run without noise
    level : nominal level of the intervals, in (0, 1)
    denoise : False keeps the released eigenvalues, cut at 0

    Returns
    -------
    Spectrum

    Raises
    ------
    ParameterError
        If the matrix is not square and finite, ``noise_sd`` negative or the level outside (0, 1).

    Notes
    -----
    Post-processing: no privacy cost; one eigendecomposition.

    Examples
    --------
    >>> import numpy as np
    >>> from dpspectra.postprocess.uncertainty import spectrum
    >>> found = spectrum(np.diag([9.0, 1.0, 0.0]), noise_sd=0.5)
    >>> found.resolved
    array([ True, False, False])
    >>> found.alignment.round(3)
    array([0.993, 0.   , 0.   ])
    """
    noise = checked_noise(noise_sd)
    z = normal_quantile(level)
    values, vectors = eigh_descending(matrix)
    denoised = shrink(values, noise) if denoise else np.maximum(values, 0.0)
    first, second, fourth = _inverse_gaps(values, noise)
    spread = 1 + second
    above = _distinct(values, second, noise)
    debiased = values - noise * first
    resolved = above & _isolated(values, debiased, above, noise)
    errors = noise * np.sqrt(2 * spread)

    trace = float(values.sum())
    total = max(trace, float(denoised.sum()))
    ratios = denoised / total if total > 0 else np.zeros_like(denoised)
    known = resolved & (trace > STABLE_TRACE * np.sqrt(2 * len(values)) * noise)
    share = np.divide(debiased, trace, out=np.zeros_like(values), where=known)
    share_errors = np.divide(noise, trace, out=np.zeros_like(values), where=known) * np.sqrt(
        np.maximum(2 * (spread + len(values) * share**2 - 2 * share), 0.0)
    )
    return Spectrum(
        values=values,
        denoised=denoised,
        vectors=vectors,
        noise_sd=noise,
        level=level,
        edge=noise_edge(noise, len(values)),
        trace=trace,
        resolved=resolved,
        debiased=np.where(resolved, debiased, np.nan),
        standard_errors=np.where(resolved, errors, np.nan),
        intervals=_around(debiased, z * errors, resolved),
        ratios=ratios,
        debiased_ratios=np.where(known, share, np.nan),
        ratio_intervals=_around(share, z * share_errors, known),
        alignment=np.where(above, 1 / spread, 0.0),
        alignment_intervals=_alignment_intervals(second, fourth, level, resolved),
    )


def normal_quantile(level: float) -> float:
    """The z for which a standard normal lies in [-z, z] with probability ``level``."""
    if not 0 < level < 1:
        raise ParameterError("level must be between 0 and 1 (0.9 for 90 % intervals)")
    return float(ndtri((1 + level) / 2))


def _inverse_gaps(values: Vector, noise: float) -> tuple[Vector, Vector, Vector]:
    """For each i the sums over j != i of (noise/(w_i - w_j))^k, k = 1, 2, 4; equal values are left out."""
    sums = np.zeros((3, len(values)))
    if noise == 0:
        return sums[0], sums[1], sums[2]
    tiny = rounding(values)
    for start in range(0, len(values), 64):  # a few rows at a time: no second matrix is made
        rows = slice(start, start + 64)
        gap = values[rows, None] - values
        gap[np.abs(gap) <= tiny] = np.inf
        inverse = noise / gap
        square = np.square(inverse)
        sums[:, rows] = inverse.sum(axis=1), square.sum(axis=1), np.square(square).sum(axis=1)
    return sums[0], sums[1], sums[2]


def _distinct(values: Vector, second: Vector, noise: float) -> NDArray[np.bool_]:
    """True where an eigenvalue is more than noise.

    Either it passes the edge about the bulk (the median), as a spike does; or it passes the edge of pure
    noise and has no crowd about it, as every eigenvalue of a well measured spectrum does.
    """
    if noise == 0:
        return np.ones(len(values), dtype=np.bool_)
    bulk = float(np.median(values)) if len(values) > 1 else 0.0
    edge = detection_edge(noise, len(values))
    spike: NDArray[np.bool_] = values > bulk + edge
    return spike | ((values > edge) & (second <= CROWD) & _apart(values, LONE * noise))


def _isolated(values: Vector, debiased: Vector, above: NDArray[np.bool_], noise: float) -> NDArray[np.bool_]:
    """True where first-order formulas hold: both neighbouring gaps of debiased eigenvalues are wide."""
    return _apart(np.where(above, debiased, values), max(GAP * noise, rounding(values)))


def _apart(levels: Vector, needed: float) -> NDArray[np.bool_]:
    """True where both neighbouring gaps of a descending vector exceed ``needed``."""
    wide = np.concatenate(([True], -np.diff(levels) > needed, [True]))
    both: NDArray[np.bool_] = wide[:-1] & wide[1:]
    return both


def _around(centre: Vector, half_width: Vector, shown: NDArray[np.bool_]) -> NDArray[np.float64]:
    ends = np.column_stack((centre - half_width, centre + half_width))
    return np.where(shown[:, None], ends, np.nan)


def _alignment_intervals(
    second: Vector, fourth: Vector, level: float, shown: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Quantiles of 1/(1 + T), T = sum_j (noise z_j/(w_i - w_j))^2 with z_j standard normal.

    T is the squared tangent of the angle; a scaled chi-square of the same mean and variance stands in.
    """
    some = shown & (second > 0)
    mean = np.where(some, second, 1.0)
    scale = np.where(some, fourth, 1.0) / mean
    freedom = mean / scale
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    tangent = scale[:, None] * chdtri(freedom[:, None], tails)
    return np.where(shown[:, None], np.where(some[:, None], 1 / (1 + tangent), 1.0), np.nan)
