"""Statistics that look at two rows at a time: differences of disjoint pairs, and all rows at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..core.facts import Facts
from ..core.threads import share
from ..rows.encode import Encoder
from ..rows.free import Free
from ..summaries.table import Accumulator, RowMap, Summary

R = TypeVar("R")
T = TypeVar("T")

PIECE = 1 << 16
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
        size, step = len(self._left), max(1, PIECE // self._facts.d)
        places = (slice(start, min(start + step, size)) for start in range(0, size, step))
        return share(work, places, worth=size * self._facts.d >= SMALL)

    def _blocks(self, feed: Iterator[slice]) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Blocks of differences; the next one may overwrite the last."""
        d, step = self._facts.d, max(1, PIECE // self._facts.d)
        encode = self._encoder.quantiser(self._facts.grid.bits, 2 * step * d)
        scratch, out = np.empty((2 * step, d)), np.empty((step, d))
        with np.errstate(all="ignore"):  # no warning may depend on a cell
            for place in feed:
                count = place.stop - place.start
                both, block = scratch[: 2 * count], out[:count]
                self._gather(np.concatenate((self._left[place], self._right[place])), both)
                if isinstance(encode, Free):
                    encode.difference(both, block)
                else:
                    encode(both, both)
                    np.subtract(both[:count], both[count:], out=block)
                yield place, block

    def _gather(self, chosen: NDArray[np.int64], out: NDArray[np.float64]) -> None:
        """Rows of features in data units."""
        cells = self._cells
        if self._encoder.plain and cells.dtype == np.float64 and cells.flags.c_contiguous:
            np.take(cells, chosen, axis=0, out=out, mode="clip")  # other modes, or orders, make copies
        else:
            np.copyto(out, self._encoder.expand(self._cells[chosen]), casting="unsafe")


def encoded(cells: NDArray[Any], encoder: Encoder, bits: int) -> NDArray[np.float64]:
    """All rows, encoded: (n, d), C order."""
    out = np.empty((len(cells), encoder.d))
    encode, step = encoder.quantiser(bits), max(1, PIECE // encoder.d)
    with np.errstate(all="ignore"):
        for start in range(0, len(cells), step):
            encode(encoder.expand(cells[start : start + step]), out[start : start + step])
    return out
