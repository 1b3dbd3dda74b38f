"""Statistics that look at two rows at a time: differences of disjoint pairs, and all rows at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..core.facts import Facts
from ..rows.encode import Encoder
from ..summaries.table import Accumulator, RowMap, Summary

R = TypeVar("R")
T = TypeVar("T")

PIECE = 1 << 17
"""Numbers of a block of differences: it stays in the cache from gathering to summing."""
SMALL = 1 << 18
"""Numbers below which a second thread costs more than it saves."""


class Pairs:
    """Differences of the rows order[0] - order[1], order[2] - order[3], ...; private, like the order."""

    def __init__(self, cells: NDArray[Any], encoder: Encoder, facts: Facts, order: NDArray[np.int64]) -> None:
        self._cells, self._encoder, self._facts = cells, encoder, facts
        count = len(order) // 2
        self._left, self._right = order[0 : 2 * count : 2], order[1 : 2 * count : 2]

    def __repr__(self) -> str:
        return f"Pairs(d={self._facts.d})"

    def reduce(self, summary: Summary[R], row_map: RowMap | None = None) -> R:
        """Visit every difference once and return the summary."""
        facts = self._facts

        def work(feed: Iterator[slice]) -> Accumulator[R]:
            sums = summary.start(facts.d, facts.grid.bits)
            for _, block in self._blocks(feed):
                sums.add(block if row_map is None else row_map(block))
            return sums

        first, *others = self._share(work)
        for other in others:
            first.merge(other)
        return first.result()

    def values(self, row_map: RowMap, width: int) -> NDArray[np.float64]:
        """What ``row_map`` makes of every difference: (pairs, width), in order."""
        out = np.empty((len(self._left), width))

        def work(feed: Iterator[slice]) -> None:
            for place, block in self._blocks(feed):
                out[place] = row_map(block)

        self._share(work)
        return out

    def _share(self, work: Callable[[Iterator[slice]], T]) -> list[T]:
        """The work of one thread, or of two over one feed."""
        feed = _Places(len(self._left), max(1, PIECE // self._facts.d))
        if len(self._left) * self._facts.d < SMALL or (os.cpu_count() or 1) < 2:
            return [work(feed)]
        with ThreadPoolExecutor(2) as pool:
            return [part.result() for part in [pool.submit(work, feed) for _ in range(2)]]

    def _blocks(self, feed: Iterator[slice]) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        d, encode = self._facts.d, self._encoder.quantiser(self._facts.grid.bits)
        with np.errstate(all="ignore"):  # no warning may depend on a cell
            for place in feed:
                left, right = (
                    self._encoder.expand(np.take(self._cells, chosen[place], axis=0))
                    for chosen in (self._left, self._right)
                )
                block, other = np.empty((len(left), d)), np.empty((len(left), d))
                encode(left, block)
                encode(right, other)
                block -= other
                yield place, block


def encoded(cells: NDArray[Any], encoder: Encoder, bits: int) -> NDArray[np.float64]:
    """All rows, encoded: (n, d), C order."""
    out = np.empty((len(cells), encoder.d))
    encode, step = encoder.quantiser(bits), max(1, PIECE // encoder.d)
    with np.errstate(all="ignore"):
        for start in range(0, len(cells), step):
            encode(encoder.expand(cells[start : start + step]), out[start : start + step])
    return out


class _Places(Iterator[slice]):
    """Consecutive slices of ``size`` places, which threads may share."""

    def __init__(self, size: int, step: int) -> None:
        self._starts, self._size, self._step = iter(range(0, size, step)), size, step
        self._lock = Lock()

    def __next__(self) -> slice:
        with self._lock:
            start = next(self._starts)
        return slice(start, min(start + self._step, self._size))
