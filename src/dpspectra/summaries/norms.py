"""Exact counts of rows by their norm.

One replaced row leaves one bin and enters another: l2 sensitivity sqrt(2); one row more or less: 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..rows.clip import squared_norms
from .table import Block

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class NormCounts:
    """How many integer rows have a squared norm in (limits[j + 1], limits[j]], the last bin all below.

    ``limits`` : falling squared norms in grid units, public; rows above the first are in the first bin.
    """

    limits: tuple[float, ...]

    def start(self, d: int, bits: int) -> NormCounter:
        return NormCounter(self.limits, bits)


class NormCounter:
    """Counts blocks of rows."""

    def __init__(self, limits: tuple[float, ...], bits: int) -> None:
        self._rising, self._bits = np.array(limits[:0:-1]), bits
        self._counts: IntArray = np.zeros(len(limits), dtype=np.int64)

    def add(self, block: Block) -> None:
        places = np.searchsorted(self._rising, squared_norms(block, self._bits), side="left")
        self._counts += np.bincount(places, minlength=len(self._counts))[::-1]

    def merge(self, other: NormCounter) -> None:
        self._counts += other._counts

    def result(self) -> IntArray:
        """(len(limits),) counts, largest norms first."""
        return self._counts
