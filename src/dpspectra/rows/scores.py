"""Scores of rows along public directions: s = v'(x - c)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .squares import VECTOR_BITS

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scores:
    """Rows (n, d) -> (v_1'(x - c), ..., v_k'(x - c)), (n, k), in units of the rows; rows are left alone.

    Parameters
    ----------
    vectors : int64 (d, k)
        Public directions times 2**VECTOR_BITS, of length at most 2**VECTOR_BITS each.
    centre : float64 (d,)
        A public point in units of the rows; whole numbers of length at most 2**bits if they are integers.
    integers : bool
        The rows are integers of length at most 2**bits, bits <= 20. By Cauchy-Schwarz every partial sum is
        then a whole number below 2**42, so a result is exact, in any order. Other rows are summed column by
        column, so that a result depends on its own row alone.
    """

    vectors: NDArray[np.int64]
    centre: FloatArray
    integers: bool

    def __call__(self, block: FloatArray) -> FloatArray:
        vectors = self.vectors.astype(np.float64)
        along: FloatArray
        if self.integers:
            along = block @ vectors - self.centre @ vectors
        else:
            along = np.zeros((len(block), vectors.shape[1]))
            for column, middle, weights in zip(block.T, self.centre, vectors, strict=True):
                along += (column - middle)[:, None] * weights
        along *= 2.0**-VECTOR_BITS
        return along
