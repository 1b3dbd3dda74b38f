"""Euclidean projections of a released matrix onto convex sets that hold the exact one.

A projection onto a convex set that contains the exact matrix never moves the release away from it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ParameterError
from .symmetric import checked


def compose(vectors: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """V diag(values) V' for values >= 0, exactly symmetric. Shapes (d, d) and (d,).

    As a product of one factor with its own transpose it is a symmetric rank update: half the work, and
    symmetric to the last bit.
    """
    used = np.flatnonzero(values > 0)
    # Sorted values are used from one end: a slice, so no column has to be moved.
    some = slice(used[0], used[-1] + 1) if len(used) and used[-1] - used[0] + 1 == len(used) else used
    factor = vectors[:, some] * np.sqrt(values[some])
    matrix: NDArray[np.float64] = factor @ factor.T
    return matrix


def psd(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest positive semidefinite matrix in the Frobenius norm. Public.

    Parameters
    ----------
    matrix : (d, d) array, symmetric, data units

    Returns
    -------
    (d, d) array, symmetric, eigenvalues max(w, 0)

    Raises
    ------
    ParameterError
        If the matrix is not square and finite.
    """
    values, vectors = np.linalg.eigh(checked(matrix))
    return compose(vectors, np.maximum(values, 0.0))


def psd_trace(matrix: NDArray[np.float64], bound: float) -> NDArray[np.float64]:
    """The nearest matrix among the positive semidefinite ones of trace at most ``bound``. Public.

    The eigenvectors stay; the eigenvalues become max(w - c, 0), with c = 0 if their positive parts
    already add up to at most the bound, else the c > 0 for which they add up to it.

    Parameters
    ----------
    matrix : (d, d) array, symmetric, data units
    bound : public bound on the trace, data units, not negative

    Returns
    -------
    (d, d) array, symmetric

    Raises
    ------
    ParameterError
        If the matrix is not square and finite, or the bound is negative or not a number.
    """
    if not bound >= 0:
        raise ParameterError("bound must be a number that is not negative")
    values, vectors = np.linalg.eigh(checked(matrix))
    return compose(vectors, trace_ball(values, float(bound)))


def trace_ball(values: NDArray[np.float64], bound: float) -> NDArray[np.float64]:
    """Projection of a vector onto {x >= 0, sum x <= bound}; any order, shape (d,)."""
    positive = np.maximum(values, 0.0)
    if positive.sum() <= bound:
        return positive
    ordered = np.sort(positive)[::-1]
    cuts = (np.cumsum(ordered) - bound) / np.arange(1, len(ordered) + 1)
    # The last index whose value exceeds the cut that keeps it: all values above stay positive.
    last = np.nonzero(ordered > cuts)[0]
    return np.maximum(positive - cuts[last[-1]], 0.0) if len(last) else np.zeros_like(positive)
