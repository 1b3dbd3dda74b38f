"""Half squared projections of differences along public directions: w = (v'x)^2/2."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

VECTOR_BITS = 20
"""Directions are multiples of 2**-20, so that their products with integer rows are exact."""


@dataclass(frozen=True, eq=False)
class Squares:
    """The row map x -> ((v_1'x)^2/2, ..., (v_k'x)^2/2), in squared units of the rows.

    Parameters
    ----------
    vectors : int64 (d, k)
        Public directions times 2**VECTOR_BITS, of length at most 2**VECTOR_BITS each.
    integers : bool
        The rows are integers of size below 2**32: products are then exact in any order. Other rows are
        summed column by column, so that a result depends on its own row alone.
    """

    vectors: NDArray[np.int64]
    integers: bool

    def __call__(self, block: FloatArray) -> FloatArray:
        vectors = self.vectors.astype(np.float64)
        if self.integers:
            along = block @ vectors
        else:
            along = np.zeros((len(block), vectors.shape[1]))
            for column, weights in zip(block.T, vectors, strict=True):
                along += column[:, None] * weights
        along *= 2.0**-VECTOR_BITS
        along *= along
        along *= 0.5
        return along
