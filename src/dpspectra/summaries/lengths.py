"""Counts of rows by their length: how many are at most as long as each step of a public ladder.

Replacing one row moves all counts one way, each by 0 or 1 (lemma L-climb).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..rows.clip import squared_norms
from .histogram import CountAccumulator
from .table import Block


@dataclass(frozen=True, eq=False)
class Lengths:
    """Rows by length, int64 (steps + 1,): the i-th count is that of rungs[i - 1] < |x| <= rungs[i].

    ``histogram.climb`` makes the counts of |x| <= t of them.

    Parameters
    ----------
    rungs : (steps,) ascending, public, in units of the rows
    """

    rungs: NDArray[np.float64]

    def start(self, d: int, bits: int) -> CountAccumulator:
        """No rows yet."""
        squares = self.rungs**2

        def places(block: Block) -> NDArray[np.int64]:
            return np.searchsorted(squares, squared_norms(block, bits), side="left")

        return CountAccumulator(places, len(squares) + 1)
