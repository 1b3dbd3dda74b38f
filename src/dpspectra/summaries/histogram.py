"""Exact counts of rows by the cell that their scores fall into, and by the size of their scores.

=====================================  =====================================  ===========  ==========
statistic                              replace-one                            add/remove   lemma
=====================================  =====================================  ===========  ==========
counts of (group, cell)                two counts by 1: L2 norm sqrt(2)       one by 1     L-cells
counts of |s| <= t, for t ascending    all one way, each by 0 or 1            the same     L-climb
=====================================  =====================================  ===========  ==========
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..rows.scores import Scores
from .table import Block

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
PlaceOf = Callable[[Block], IntArray]


@dataclass(frozen=True, eq=False)
class Cells:
    """Counts of rows by group and cell of a public grid: int64 (groups * cells of the grid), flat, C order.

    Parameters (all public)
    -----------------------
    scores : of the rows, two columns
    inner : for each score the edges between cells, ascending; cells below the first and above the last
        edge have no end, so that every row is counted once
    groups : number of groups; blocks have the place of a row's group in one more column
    """

    scores: Scores
    inner: tuple[FloatArray, FloatArray]
    groups: int

    def start(self, d: int, bits: int) -> CountAccumulator:
        """No rows yet."""
        size = self.groups * (len(self.inner[0]) + 1) * (len(self.inner[1]) + 1)
        return CountAccumulator(self._places, size)

    def _places(self, block: Block) -> IntArray:
        """The flat place of each row, a function of the row alone."""
        along = self.scores(block[:, :-1])
        group = np.clip(block[:, -1], 0, self.groups - 1).astype(np.int64)
        first, second = (
            np.searchsorted(edges, values, side="right")
            for edges, values in zip(self.inner, along.T, strict=True)
        )
        places: IntArray = (group * (len(self.inner[0]) + 1) + first) * (len(self.inner[1]) + 1) + second
        return places


@dataclass(frozen=True, eq=False)
class Sizes:
    """For each score, counts of rows by its size: int64 (k * (steps + 1),), flat.

    The i-th count of a score is that of rungs[i - 1] < |s| <= rungs[i]; ``climb`` makes the counts of
    |s| <= t of them.
    """

    scores: Scores
    rungs: FloatArray

    def start(self, d: int, bits: int) -> CountAccumulator:
        """No rows yet."""
        return CountAccumulator(self._places, self.scores.vectors.shape[1] * (len(self.rungs) + 1))

    def _places(self, block: Block) -> IntArray:
        size = np.abs(self.scores(block)).T
        places = np.searchsorted(self.rungs, size, side="left")
        return (places + np.arange(len(places))[:, None] * (len(self.rungs) + 1)).ravel()


def climb(sizes: IntArray, scores: int) -> IntArray:
    """#{|s| <= t} for each score and rung t, from the counts of ``Sizes``: (scores, steps)."""
    return np.cumsum(sizes.reshape(scores, -1), axis=1)[:, :-1]


class CountAccumulator:
    """Adds up how many rows fall into each place."""

    def __init__(self, places: PlaceOf, size: int) -> None:
        self._places = places
        self._counts: IntArray = np.zeros(size, dtype=np.int64)

    def add(self, block: Block) -> None:
        """Count rows (n, d)."""
        self._counts += np.bincount(self._places(block), minlength=len(self._counts))

    def merge(self, other: CountAccumulator) -> None:
        """Add another accumulator of the same summary."""
        self._counts += other._counts

    def result(self) -> IntArray:
        """The counts, private."""
        return self._counts
