"""Exact first and second moments of integer rows.

With r = 2**bits the radius in grid units, and rows k in the ball of radius r (Frobenius and L2 norms):

=====================  ==========================  =============  ===========
statistic              replace-one                 add/remove     lemma
=====================  ==========================  =============  ===========
sum of rows            2 r                         r              L-sum
Gram matrix            sqrt(2) r^2                 r^2            L-gram
augmented by c         sqrt(2) (r^2 + c^2)         r^2 + c^2      L-augmented
trace of the Gram      r^2                         r^2            L-trace
=====================  ==========================  =============  ===========
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .table import Block

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class MomentSums:
    """Exact sums, private. ``count`` rows; ``total`` (d,) int64; ``gram`` (d, d) int64 or None.

    Adding wraps in int64, as sums do under add/remove adjacency past the capacity of the grid.
    """

    count: int
    total: IntArray
    gram: IntArray | None

    def __add__(self, other: MomentSums) -> MomentSums:
        gram = None if self.gram is None or other.gram is None else self.gram + other.gram
        return MomentSums(self.count + other.count, self.total + other.total, gram)

    def __repr__(self) -> str:
        return f"MomentSums(d={len(self.total)})"


@dataclass(frozen=True)
class Moments:
    """Count, sum and (if ``gram``) Gram matrix of integer rows; sensitivities by the lemmas above."""

    gram: bool = True

    def start(self, d: int, bits: int) -> MomentAccumulator:
        """Empty sums for rows of d integers in the ball of radius 2**bits."""
        return MomentAccumulator(d, bits, self.gram)


class MomentAccumulator:
    """Adds blocks: products in double precision, exact below 2**53, then int64, which wraps."""

    def __init__(self, d: int, bits: int, gram: bool) -> None:
        self._exact_rows = 1 << max(0, 53 - 2 * bits)
        self._count = 0
        self._total: IntArray = np.zeros(d, dtype=np.int64)
        self._gram: IntArray | None = np.zeros((d, d), dtype=np.int64) if gram else None
        self._product: NDArray[np.float64] | None = np.empty((d, d)) if gram else None

    def add(self, block: Block) -> None:
        """Add integer rows (n, d), C order."""
        self._count += len(block)
        for start in range(0, len(block), self._exact_rows):
            rows = block[start : start + self._exact_rows]
            _add(self._total, np.ones(len(rows)) @ rows)
            if self._gram is not None and self._product is not None:
                np.matmul(rows.T, rows, out=self._product)
                _add(self._gram, self._product)

    def merge(self, other: MomentAccumulator) -> None:
        """Add another accumulator of the same summary."""
        self._count += other._count
        self._total += other._total
        if self._gram is not None and other._gram is not None:
            self._gram += other._gram

    def result(self) -> MomentSums:
        """The sums; the accumulator is spent afterwards."""
        self._product = None
        return MomentSums(self._count, self._total, self._gram)


def _add(sums: IntArray, whole: NDArray[np.float64]) -> None:
    """Add doubles that are integers; the ufunc casts them in a small buffer, so no second matrix is made."""
    np.add(sums, whole, out=sums, dtype=np.int64, casting="unsafe")
