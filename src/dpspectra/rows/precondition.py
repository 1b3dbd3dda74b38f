"""A public linear map of rows onto the integer grid, exact in integers, with digits below the grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .clip import ball, squared_norms

FloatArray = NDArray[np.float64]

FINE = 20
"""Most binary digits of a row below its grid, for small directions; fewer on coarse grids."""


@dataclass(frozen=True, eq=False)
class Precondition:
    """The row map x -> M x / 2**shift on the grid of 2**bits levels, then the ball of that radius.

    ``matrix`` M (d, d) int64, public, with rows shorter than 2**(51 - bits)/sqrt(d); ``step`` one unit of the
    table's grid in encoded units. A row is cut to its radius in each coordinate and split into two integers,
    k + l / 2**min(FINE, bits): all products and partial sums of each stay below 2**52, so they are exact in
    any order, and what follows looks at one row alone.
    """

    encoded: ClassVar[bool] = True

    matrix: NDArray[np.int64]
    shift: int
    bits: int
    step: float

    def __call__(self, block: FloatArray) -> FloatArray:
        matrix, level = self.matrix.T.astype(np.float64), 2.0**self.bits
        block /= self.step
        np.clip(block, -level, level, out=block)
        whole = np.floor(block + 0.5)
        block -= whole
        fine = min(FINE, self.bits)
        block *= 2.0**fine
        np.rint(block, out=block)
        mapped = block @ matrix
        mapped *= 2.0**-fine
        mapped += whole @ matrix
        np.ldexp(mapped, -self.shift, out=mapped)
        mapped += 0.5
        np.floor(mapped, out=mapped)
        outside = np.flatnonzero(squared_norms(mapped, self.bits) > 4.0**self.bits)
        if outside.size:
            mapped[outside] = ball(mapped[outside], self.bits)
        return mapped
