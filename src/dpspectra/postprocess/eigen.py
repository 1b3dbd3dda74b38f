"""Eigenvalues and eigenvectors in a documented order, with documented signs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .symmetric import checked

TIE = 1e-6
"""Loadings whose magnitudes differ by less than this fraction count as tied."""


def eigh_descending(matrix: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Eigenvalues, largest first, and eigenvectors as columns. Public.

    The rule uses the components alone, so it gives the same answer after save and load:

    - *Sign*: the loading of largest magnitude is positive; among loadings whose magnitudes tie (within
      a fraction 1e-6) the one of lowest index decides.
    - *Order*: eigenvalues descend; where they tie to within rounding (d times the machine epsilon times
      the largest magnitude), vectors follow the index of their deciding loading. A basis of a tied
      eigenspace is still only one of many: no rule can make it mean something.

    Parameters
    ----------
    matrix : (d, d) array, symmetric, data units

    Returns
    -------
    values : (d,) array, data units, descending
    vectors : (d, d) array, orthonormal columns, ``vectors[:, i]`` belongs to ``values[i]``

    Raises
    ------
    ParameterError
        If the matrix is not square and finite.
    """
    ascending, columns = np.linalg.eigh(checked(matrix))
    values = ascending[::-1].copy()
    vectors = columns[:, ::-1]
    pivots = pivot(vectors)
    order = np.lexsort((pivots, _tie_groups(values)))
    signs = np.where(vectors[pivots[order], order] < 0, -1.0, 1.0)
    if (np.diff(order) > 0).all():  # in order already: no column has to be moved
        return values, vectors * signs
    return values, vectors[:, order] * signs


def pivot(vectors: NDArray[np.float64]) -> NDArray[np.intp]:
    """Index of the deciding loading of each column: the first whose magnitude is the largest within 1e-6."""
    magnitude = np.abs(vectors)
    first: NDArray[np.intp] = np.argmax(magnitude >= (1 - TIE) * magnitude.max(axis=0), axis=0)
    return first


def rounding(values: NDArray[np.float64]) -> float:
    """The rounding error of computed eigenvalues: d times the machine epsilon times the largest one."""
    return float(len(values) * np.finfo(np.float64).eps * np.abs(values).max())


def _tie_groups(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """A group number for each descending eigenvalue; neighbours within rounding share it."""
    return np.concatenate(([0], np.cumsum(-np.diff(values) > rounding(values))))
