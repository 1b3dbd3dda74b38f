"""Public integer maps of rows, applied on the grid before the ball clip."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Recentre:
    """Subtract a released, public point ``shift`` (d,), in grid units, from every row."""

    shift: NDArray[np.int64]

    def __call__(self, block: FloatArray) -> FloatArray:
        block -= self.shift.astype(np.float64)
        return block


@dataclass(frozen=True, eq=False)
class Magnify:
    """Blow rows up by 2**(halvings/2) about a public point, in grid units.

    The ball clip that follows cuts rows longer than r/2**(halvings/2), so rows clipped to a smaller public
    radius use the whole grid again.

    Parameters
    ----------
    halvings : int
        By how many factors of two the squared radius shrinks.
    shift : int64 (d,) or None
        The point; None: the centre of the grid.
    """

    halvings: int
    shift: NDArray[np.int64] | None = None

    def __call__(self, block: FloatArray) -> FloatArray:
        if self.shift is not None:
            block -= self.shift.astype(np.float64)
        if self.halvings:
            block *= 2.0 ** (self.halvings / 2)
            block += 0.5
            np.floor(block, out=block)
        return block
