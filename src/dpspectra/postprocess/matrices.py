"""Correlations, precisions and standard errors from a released covariance. Public, pure functions.

Standard errors speak of the noise added for privacy, given the table; sampling error is not in them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ParameterError
from .eigen import eigh_descending, rounding
from .project import compose, psd
from .symmetric import checked, checked_noise, symmetrise
from .uncertainty import noise_edge, normal_quantile

Matrix = NDArray[np.float64]

STABLE_VARIANCE = 5.0
"""A correlation has a standard error only if both variances are this many of their sds above zero."""


def correlation(covariance: Matrix, *, semidefinite: bool = False) -> Matrix:
    """The correlation matrix of a covariance: |r| <= 1, unit diagonal, positive semidefinite. Public.

    A column without variance (zero, or negative after noise) has correlation 0 with all others and 1 with
    itself. Entries beyond 1, which noise can make, are cut to 1; if the result is indefinite it is
    projected onto the positive semidefinite matrices and scaled to a unit diagonal again.

    Parameters
    ----------
    covariance : (d, d) array, symmetric, data units; denoised or raw
    semidefinite : True if the covariance is known to be positive semidefinite, as a product of a factor with
        its transpose is, entry by entry, to within rounding; then so is the result and is not checked

    Returns
    -------
    (d, d) array, symmetric

    Raises
    ------
    ParameterError
        If the matrix is not square and finite.
    """
    exact = checked(covariance, "covariance")
    inverse = _inverse_scales(exact)
    ratio = _unit(symmetrise(exact * inverse * inverse[:, None]))
    if semidefinite or _is_psd(ratio):
        return ratio
    projected = psd(ratio)
    # The projection adds a semidefinite matrix, so its diagonal is at least 1 and can be divided by.
    inverse = _inverse_scales(projected)
    return _unit(symmetrise(projected * inverse * inverse[:, None]))


def precision(covariance: Matrix, cutoff: float) -> Matrix:
    """The pseudo-inverse of a covariance that leaves out eigenvalues at or below a cutoff. Public.

    Parameters
    ----------
    covariance : (d, d) array, symmetric, data units
    cutoff : smallest eigenvalue that is trusted, data units. Tie it to the noise: eigenvalues below
        ``noise_edge(noise_sd, d)`` are not distinguishable from it. Whatever is given, eigenvalues within
        rounding of zero are left out, so the result is finite.

    Returns
    -------
    (d, d) array, symmetric, positive semidefinite, inverse data units; 0 if nothing is above the cutoff

    Raises
    ------
    ParameterError
        If the matrix is not square and finite, or the cutoff is negative or not a number.
    """
    if not cutoff >= 0:
        raise ParameterError("cutoff must be a number that is not negative")
    return invert(*eigh_descending(checked(covariance, "covariance")), cutoff)


def invert(values: NDArray[np.float64], vectors: Matrix, cutoff: float) -> Matrix:
    """``precision`` of a matrix whose eigenvalues (d,) and eigenvectors (d, d), as columns, are known."""
    trusted = values > max(float(cutoff), rounding(values), float(np.finfo(np.float64).tiny))
    return compose(vectors, np.divide(1.0, values, out=np.zeros_like(values), where=trusted))


def floored(eigenvalues: NDArray[np.float64], noise_sd: float) -> NDArray[np.float64]:
    """Eigenvalues that are safe to divide by, as whitening does. Public.

    The floor is half the noise edge, noise_sd sqrt(d): the root mean square eigenvalue of pure noise. In a
    run without noise it is the rounding error of the largest eigenvalue, and 1 for an all-zero spectrum.

    Parameters
    ----------
    eigenvalues : (d,) array, the whole denoised spectrum, data units
    noise_sd : sd of the noise off the diagonal, data units

    Returns
    -------
    (d,) array, positive, data units
    """
    floor = max(noise_edge(noise_sd, len(eigenvalues)) / 2, rounding(eigenvalues))
    return np.maximum(eigenvalues, floor if floor > 0 else 1.0)


def effective_noise_sd(noise_sd: float, scales: NDArray[np.float64]) -> float:
    """Off-diagonal noise sd of a matrix whose rows and columns were divided by released scales. Public.

    Entry (i, j) of D^-1/2 S D^-1/2 carries noise of sd noise_sd / (s_i s_j), which is no longer isotropic:
    the root mean square over i != j is returned, so edge, denoising and intervals made with it are
    approximate, good when the scales are alike. The noise in the scales themselves is not in it.

    Parameters
    ----------
    noise_sd : sd of the noise off the diagonal before rescaling, data units
    scales : (d,) array of what columns were divided by; entries that are not positive belong to columns
        without variance, which ``correlation`` sets to 0, and are left out

    Returns
    -------
    float, in rescaled units; ``noise_sd`` itself if no scale is positive

    Raises
    ------
    ParameterError
        If ``noise_sd`` is negative or not finite.
    """
    noise = checked_noise(noise_sd)
    used = np.asarray(scales, dtype=np.float64)
    weights = used[used > 0] ** -2.0
    count = len(weights)
    if count < 2:
        return float(noise * weights[0]) if count else noise
    pairs = max(float(weights.sum() ** 2 - np.sum(weights**2)), 0.0)
    return float(noise * np.sqrt(pairs / (count * (count - 1))))


def standard_errors(noise_sd: float, d: int, scales: NDArray[np.float64] | None = None) -> Matrix:
    """Standard error of each entry of a released symmetric matrix. Public.

    Parameters
    ----------
    noise_sd : sd of the noise off the diagonal; it is sqrt(2) times that on the diagonal
    d : order of the matrix
    scales : (d,) positive numbers by which rows and columns were divided after the release, if any

    Returns
    -------
    (d, d) array, units of the matrix
    """
    errors = np.full((d, d), checked_noise(noise_sd))
    np.fill_diagonal(errors, np.sqrt(2.0) * noise_sd)
    if scales is not None:
        errors /= np.multiply.outer(scales, scales)
    return errors


def correlation_standard_errors(covariance: Matrix, noise_sd: float) -> Matrix:
    """Standard errors of correlations by the delta method. Public.

    var r_ij = tau^2 [1/(c_ii c_jj) + r_ij^2/2 (1/c_ii^2 + 1/c_jj^2)] off the diagonal, 0 on it; the three
    noises are independent and those of variances have twice the variance. NaN in rows and columns whose
    variance is less than 5 sds (of sqrt(2) tau) above zero, where no first-order formula holds.

    Parameters
    ----------
    covariance : (d, d) array, the released covariance, data units
    noise_sd : tau, sd of the noise off the diagonal, data units

    Returns
    -------
    (d, d) array
    """
    exact = checked(covariance, "covariance")
    tau = checked_noise(noise_sd)
    variances = np.diagonal(exact)
    known = variances > STABLE_VARIANCE * np.sqrt(2.0) * tau
    inverse = np.divide(1.0, variances, out=np.full_like(variances, np.nan), where=known)
    squares = _unit(exact * np.sqrt(np.multiply.outer(inverse, inverse))) ** 2
    own = squares / 2 * np.add.outer(inverse**2, inverse**2)
    errors: Matrix = tau * np.sqrt(np.multiply.outer(inverse, inverse) + own)
    np.fill_diagonal(errors, np.where(known, 0.0, np.nan))
    return errors


def entry_intervals(matrix: Matrix, errors: Matrix, level: float = 0.9) -> NDArray[np.float64]:
    """Normal intervals matrix +- z errors for each entry, around the *released* (not denoised) matrix.

    Parameters
    ----------
    matrix, errors : (d, d) arrays, of ``standard_errors`` or ``correlation_standard_errors``
    level : nominal level, in (0, 1); exact for covariances, about right for correlations

    Returns
    -------
    (d, d, 2) array, lower and upper ends, units of the matrix
    """
    half = normal_quantile(level) * errors
    return np.stack((matrix - half, matrix + half), axis=-1)


def _inverse_scales(matrix: Matrix) -> NDArray[np.float64]:
    """1/sqrt of the diagonal, 0 where the diagonal is not positive."""
    variances = np.diagonal(matrix)
    roots = np.sqrt(np.maximum(variances, 0.0))
    return np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0)


def _unit(matrix: Matrix) -> Matrix:
    """The matrix cut to [-1, 1] with a diagonal of ones, in place."""
    cut = np.clip(matrix, -1.0, 1.0, out=matrix)
    np.fill_diagonal(cut, 1.0)
    return cut


def _is_psd(matrix: Matrix) -> bool:
    """True if the matrix (unit diagonal) is positive semidefinite to within rounding; one Cholesky."""
    slack = len(matrix) * np.finfo(np.float64).eps * len(matrix)
    try:
        np.linalg.cholesky(matrix + slack * np.eye(len(matrix)))
    except np.linalg.LinAlgError:
        return False
    return True
