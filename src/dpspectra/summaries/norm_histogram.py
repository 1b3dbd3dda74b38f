"""Exact counts of row norms on a public grid spaced by sqrt(2).

Bin j holds rows with r^2/2^(j+1) <= (1 - 2^-8) |k|^2 < r^2/2^j, r = 2**bits; the last one, bin 2 bits, what
is left: rows of norm 1 and zero rows. The margin keeps rows whose norm is a round part of the bound, as unit
rows are, in the lower bin when quantising has made them a little longer. Squared norms are exact integers.

======================  ===========  ===========  ========
statistic               replace-one  add/remove   lemma
======================  ===========  ===========  ========
counts, L2              sqrt(2)      1            L-norms
counts, L1              2            1            L-norms
======================  ===========  ===========  ========
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..rows.clip import squared_norms
from .table import Block

IntArray = NDArray[np.int64]


def bin_count(bits: int) -> int:
    """How many bins there are on a grid of 2**bits levels."""
    return 2 * bits + 1


@dataclass(frozen=True)
class NormHistogram:
    """Counts of rows by norm, (2 bits + 1,) int64; needs rows in the ball of radius 2**bits."""

    def start(self, d: int, bits: int) -> NormCounts:
        """Empty counts."""
        return NormCounts(bits)


class NormCounts:
    """Adds blocks of integer rows."""

    def __init__(self, bits: int) -> None:
        self._bits = bits
        self._counts = np.zeros(bin_count(bits), dtype=np.int64)

    def add(self, block: Block) -> None:
        """Count the rows of a block (n, d)."""
        squares = np.maximum(squared_norms(block, self._bits), 1.0)
        _, exponent = np.frexp(squares * (1 - 2.0**-8))
        self._counts += np.bincount(2 * self._bits - exponent, minlength=bin_count(self._bits))

    def merge(self, other: NormCounts) -> None:
        """Add other counts."""
        self._counts += other._counts

    def result(self) -> IntArray:
        """The counts, largest norms first; private."""
        return self._counts
