"""Symmetric matrices and their packed upper triangles. Public, pure functions."""

from __future__ import annotations

import math
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ParameterError

Number = TypeVar("Number", np.int64, np.float64)


def pack(matrix: NDArray[Number]) -> NDArray[Number]:
    """The upper triangle of a matrix, row by row, diagonal included.

    Parameters
    ----------
    matrix : (d, d) array, int64 or float64; only its upper triangle is read

    Returns
    -------
    (d (d + 1) / 2,) array of the same dtype, in the order of ``numpy.triu_indices``
    """
    _square(matrix)
    return np.concatenate([row[i:] for i, row in enumerate(matrix)])


def unpack(flat: NDArray[Number], d: int) -> NDArray[Number]:
    """The symmetric matrix whose packed upper triangle is ``flat``.

    Parameters
    ----------
    flat : (d (d + 1) / 2,) array, int64 or float64
    d : order of the matrix

    Returns
    -------
    (d, d) array of the same dtype, exactly symmetric

    Raises
    ------
    ParameterError
        If ``flat`` does not have d (d + 1) / 2 entries.
    """
    if d < 1 or flat.shape != (d * (d + 1) // 2,):
        raise ParameterError("flat must have d (d + 1) / 2 entries for a matrix of order d")
    matrix = np.empty((d, d), dtype=flat.dtype)
    start = 0
    # Row by row: an index array of the triangle would need twice the memory of the matrix.
    for i in range(d):
        row = flat[start : start + d - i]
        matrix[i, i:] = row
        matrix[i:, i] = row
        start += d - i
    return matrix


def symmetrise(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """(M + M') / 2 as float64, the nearest symmetric matrix in the Frobenius norm; shape (d, d)."""
    _square(matrix)
    half = np.asarray(matrix, dtype=np.float64) / 2
    half += half.T.copy()
    return half


def checked(matrix: NDArray[np.float64], name: str = "matrix") -> NDArray[np.float64]:
    """``matrix`` as a symmetric float64 array; ParameterError unless it is square and finite."""
    array = np.asarray(matrix, dtype=np.float64)
    _square(array, name)
    if not np.isfinite(array).all():
        raise ParameterError(f"{name} must be finite")
    return symmetrise(array)


def checked_noise(noise_sd: float) -> float:
    """``noise_sd`` as a float; ParameterError unless it is finite and not negative."""
    noise = float(noise_sd)
    if not (math.isfinite(noise) and noise >= 0):
        raise ParameterError("noise_sd must be finite and not negative")
    return noise


def _square(matrix: NDArray[np.generic], name: str = "matrix") -> None:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] < 1:
        raise ParameterError(f"{name} must be a square array of shape (d, d), d >= 1")
