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
