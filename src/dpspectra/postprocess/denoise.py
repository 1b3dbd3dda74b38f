"""Spectral denoising: better eigenvalues for a released symmetric matrix with isotropic noise.

With isotropic noise the released eigenvectors are the best that a rotation-invariant method can use, so
only the eigenvalues are to be chosen. The target is the oracle v_i' Sigma v_i of the released vectors.
Two candidates estimate it, (A) for any spectrum and (B) for spikes over one flat bulk; the mixture of
them with the least estimated risk (Stein) is taken, and for small matrices a fixed-seed simulation
corrects what is left. All inside works in units of the noise sd. ``docs/mechanisms/denoise.md`` has the
formulas, the reasons and the measured errors.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

from ..core.errors import ParameterError
from .eigen import eigh_descending
from .project import compose
from .simulate import mean_response, noise_matrices
from .symmetric import checked_noise

Vector = NDArray[np.float64]

WIDTH = 3.0
"""Half-width h, in noise sds, of the semicircle that smooths the spectrum in candidate A."""
SMALL = 100
"""Largest d for which the simulation refines."""
SIMULATED_VALUES = 600
"""Eigenvalues simulated per pass of the refinement: about 600 / d spectra, in pairs."""
TRUSTED = 25
"""Up to this d the simulated answer replaces the mixture; its weight falls as 25 / d beyond, as the
formulas of the mixture become exact."""
SPIKE = 1.03
"""Candidate B takes an eigenvalue for a spike this far past the edge: noise alone often reaches 1.02."""
MARGIN = 12.0
"""Handicap of candidate A in squared noise sds, about one sd of the estimated difference of risks. It is
nothing beside the oracle's error of a rich spectrum and much beside that of a flat one."""
EDGE_SLOPE = 5.0
"""Cap on the slope of candidate B, which is infinite at the noise edge."""
NEGLIGIBLE = 1e-14
"""Noise below this fraction of the spectrum is below the rounding of its eigenvalues."""
BLOCK = 1 << 14
"""Pairs of eigenvalues looked at in one go (128 KiB an array): they stay in the cache."""


def denoise(matrix: NDArray[np.float64], noise_sd: float, trace: float | None = None) -> NDArray[np.float64]:
    """The released matrix with denoised eigenvalues: positive semidefinite, same eigenvectors. Public.

    Parameters
    ----------
    matrix : (d, d) array, the released symmetric matrix, data units
    noise_sd : sd of the noise off the diagonal (sqrt(2) times that on it), data units; 0 gives the
        projection onto the positive semidefinite matrices
    trace : a released trace, data units, if there is one that is much more exact than that of the
        matrix (whose sd is sqrt(2 d) noise_sd). It replaces the trace of the noisy matrix by a shift
        of all eigenvalues; it can remove at most sqrt(2) noise_sd of Frobenius error, so it is not
        worth paying for.

    Returns
    -------
    (d, d) array, symmetric, data units

    Raises
    ------
    ParameterError
        If the matrix is not square and finite, or ``noise_sd`` is negative or not finite.

    Notes
    -----
    Post-processing: no privacy cost. Scale-equivariant, deterministic, no randomness of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from dpspectra.postprocess.denoise import denoise
    >>> denoise(np.diag([9.0, -1.0]), 0.0)
    array([[9., 0.],
           [0., 0.]])
    """
    checked_noise(noise_sd)
    values, vectors = eigh_descending(matrix)
    if trace is not None:
        values = values + (trace - values.sum()) / len(values)
    return compose(vectors, shrink(values, noise_sd))


def shrink(eigenvalues: Vector, noise_sd: float) -> Vector:
    """Denoised eigenvalues from those of the release. Public.

    Parameters
    ----------
    eigenvalues : (d,) array, descending, data units
    noise_sd : sd of the noise off the diagonal, data units

    Returns
    -------
    (d,) array, descending, not negative, data units

    Raises
    ------
    ParameterError
        If ``noise_sd`` is negative or not finite, or the eigenvalues are not a descending vector.
    """
    noise = checked_noise(noise_sd)
    values = np.asarray(eigenvalues, dtype=np.float64)
    if values.ndim != 1 or not len(values) or (np.diff(values) > 0).any():
        raise ParameterError("eigenvalues must be a vector in descending order")
    if len(values) == 1 or noise <= NEGLIGIBLE * np.abs(values).max():
        return np.maximum(values, 0.0)
    scaled = values / noise
    mixed = _mix(scaled)
    if len(values) > SMALL:
        return noise * mixed
    weight = min(1.0, TRUSTED / len(values))
    return noise * (weight * _refine(scaled, mixed) + (1 - weight) * mixed)


def _mix(w: Vector) -> Vector:
    """The mixture of candidates A and B with the least Stein risk (quadratic in the weight)."""
    general, slope_a = _general(w)
    spiked, slope_b = _spiked(w)
    apart = float(np.sum((general - spiked) ** 2))
    if apart == 0:
        return general
    couple_a, couple_b = _coupling(w, general, spiked)
    risk_a = np.sum((general - w) ** 2) + 4 * (slope_a + couple_a)
    risk_b = np.sum((spiked - w) ** 2) + 4 * (slope_b + couple_b)
    weight = float(np.clip(0.5 - (risk_a + MARGIN - risk_b) / (2 * apart), 0.0, 1.0))
    return weight * general + (1 - weight) * spiked


def _general(w: Vector) -> tuple[Vector, float]:
    """Candidate A, for any spectrum, and the sum of its derivatives dx_i/dw_i."""
    pull = np.empty_like(w)
    for rows, gap in _gaps(w):
        root = np.sqrt(np.maximum(gap**2 - WIDTH**2, 0.0))
        pull[rows] = 2 / WIDTH**2 * np.sum(gap - np.copysign(root, gap), axis=1)
    level: Vector = isotonic_regression(w - 2 * pull, increasing=False)
    block = np.concatenate(([0], np.cumsum(np.diff(level) != 0)))
    outside = np.empty_like(w)
    for rows, gap in _gaps(w):
        size = np.abs(gap)
        # d pull_i / d w_i is a sum of these; the inner floor tames the square-root pole at |gap| = h.
        root = np.sqrt(np.maximum(gap**2 - WIDTH**2, (WIDTH / 10) ** 2))
        kernel = np.where(size > WIDTH, 1 - size / root, 1.0)
        outside[rows] = 2 / WIDTH**2 * np.sum(kernel, axis=1, where=block[rows, None] != block)
    slope = (1 - 2 * outside) / np.bincount(block)[block]
    return np.maximum(level, 0.0), float(np.sum(slope[level > 0]))


def _spiked(w: Vector) -> tuple[Vector, float]:
    """Candidate B, spikes over one flat bulk, and the sum of its derivatives dx_i/dw_i."""
    d = len(w)
    radius = 2 * np.sqrt(d)
    bulk = max(float(np.median(w)), 0.0)
    seen: set[int] = set()
    while True:
        count = int(np.count_nonzero(w > bulk + SPIKE * radius))
        height = w[:count] - bulk
        root = np.sqrt(np.maximum(height**2 - radius**2, 0.0))
        pushed = 2 * d * float(np.sum(1 / (height + root)))  # what the spikes push the bulk down by
        if count in seen or count == d:
            break
        seen.add(count)
        bulk = max(float(np.sum(w[count:]) + pushed) / (d - count), 0.0)
    x = np.full(d, bulk)
    x[:count] += root
    slope = float(np.sum(np.minimum(height, EDGE_SLOPE * root) / np.where(root > 0, root, 1.0)))
    return x, slope + (1.0 if bulk > 0 and count < d else 0.0)


def _coupling(w: Vector, *candidates: Vector) -> list[float]:
    """Sum over i < j of (x_i - x_j)/(w_i - w_j), for each candidate x; equal w have equal x."""
    totals = [0.0] * len(candidates)
    for rows, gap in _gaps(w):
        gap[gap == 0] = np.inf
        for k, x in enumerate(candidates):
            totals[k] += float(np.sum((x[rows, None] - x) / gap)) / 2
    return totals


def _refine(w: Vector, x: Vector) -> Vector:
    """One round of indirect inference: move x so that its simulated noisy spectrum nears the released one.

    The answer is the mean simulated oracle of the moved spectrum. More rounds fit the noise.
    """
    noise = noise_matrices(len(w), max(1, round(SIMULATED_VALUES / (2 * len(w)))))
    simulated, _ = mean_response(x, noise)
    moved = np.maximum(isotonic_regression(x + w - simulated, increasing=False), 0.0)
    _, oracle = mean_response(moved, noise)
    fitted: Vector = isotonic_regression(oracle, increasing=False)
    return np.maximum(fitted, 0.0)


def _gaps(w: Vector) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Differences w_i - w_j in blocks of rows."""
    step = max(1, BLOCK // len(w))
    for start in range(0, len(w), step):
        rows = slice(start, start + step)
        yield rows, np.subtract.outer(w[rows], w)
