"""One pass over blocks of rows: quantise and sum, on one or two threads; integers make all ways agree."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ParameterError, SchemaError
from ..core.facts import Facts
from ..core.privacy import Adjacency
from ..core.threads import share
from ..rows.encode import Encoder
from ..rows.quantise import PIECE, SHARED_PIECE
from ..summaries.table import Accumulator, RowMap, Summary
from .pairs import Pairs, encoded

R = TypeVar("R")
Progress = Callable[[int], None]

NARROW = 512
"""Up to this many features two threads with one BLAS thread each win; their matrices are small then."""

SMALL = 1 << 18
"""Numbers in a table below which a second thread costs more than it saves."""


class Source(Protocol):
    """Where cells come from. ``rows`` is None where it is private or unknown."""

    @property
    def rows(self) -> int | None: ...

    def blocks(self, rows: int) -> Iterator[NDArray[Any]]:
        """Blocks (at most ``rows``, columns) of cells, in order."""
        ...

    def cells(self) -> NDArray[Any]:
        """All cells (n, columns): the caller's own array where that is possible."""
        ...


class BlockTable:
    """A ``Table`` over any source of blocks."""

    def __init__(
        self,
        source: Source,
        encoder: Encoder,
        adjacency: Adjacency | str,
        rows_max: int | None,
        block_rows: int | None,
        bits: int | None,
        progress: Progress | None,
    ) -> None:
        adjacency = Adjacency.parse(adjacency)
        public = source.rows if adjacency is Adjacency.REPLACE_ONE else None
        if public == 0:
            raise SchemaError("the table has 0 rows: a minimum of 1 is required")
        capacity = public if public is not None else (rows_max or encoder.schema.rows_max)
        self._source = source
        self._encoder = encoder
        self._block_rows = _block_rows(encoder.d) if block_rows is None else block_rows
        if self._block_rows < 1:
            raise ParameterError("block_rows must be a positive integer")
        self._progress = progress if adjacency is Adjacency.REPLACE_ONE else None
        self._facts = Facts(
            rows=public,
            features=encoder.features,
            grid=encoder.grid(encoder.bits_for(capacity) if bits is None else bits),
            adjacency=adjacency,
            unit=encoder.schema.unit,
            groups=encoder.levels,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}(d={self._facts.d}, adjacency={self._facts.adjacency.value!r})"

    @property
    def facts(self) -> Facts:
        """The public facts of the table."""
        return self._facts

    def reduce(self, summary: Summary[R], row_map: RowMap | None = None, *, groups: bool = False) -> R:
        """Visit every row once and return the exact summary (see ``summaries.table.Table``)."""
        rows = self._facts.rows
        small = rows is not None and rows * self._facts.d < SMALL
        if small or self._facts.d > NARROW or (os.cpu_count() or 1) < 2:
            return self._work(summary, row_map, groups, self._feed(), PIECE).result()
        first, *others = share(
            lambda feed: self._work(summary, row_map, groups, feed, SHARED_PIECE), self._feed(), worth=True
        )
        for other in others:
            first.merge(other)
        return first.result()

    def pairs(self, order: NDArray[np.int64]) -> Pairs:
        """Differences of disjoint pairs of rows in this order (see ``summaries.table.Table``)."""
        return Pairs(self._cells(), self._encoder, self._facts, order)

    def matrix(self) -> NDArray[np.float64]:
        """All encoded rows (n, d): private."""
        return encoded(self._cells(), self._encoder, self._facts.grid.bits)

    def _cells(self) -> NDArray[Any]:
        if self._facts.rows is None:
            raise ParameterError(
                'this method groups rows, so their number must be public: adjacency="replace-one"'
            )
        return self._source.cells()

    def _feed(self) -> Iterator[NDArray[Any]]:
        seen = 0
        for cells in self._source.blocks(self._block_rows):
            yield cells
            seen += len(cells)
            if self._progress is not None:
                self._progress(seen)

    def _work(
        self,
        summary: Summary[R],
        row_map: RowMap | None,
        groups: bool,
        feed: Iterator[NDArray[Any]],
        piece: int,
    ) -> Accumulator[R]:
        facts = self._facts
        sums = summary.start(facts.d, facts.grid.bits)
        quantise = self._encoder.quantiser(facts.grid.bits, piece, getattr(row_map, "encoded", False))
        buffer = np.empty((0, facts.d))
        with np.errstate(all="ignore"):  # no warning may depend on a cell
            for cells in feed:
                if len(buffer) < len(cells):
                    buffer = np.empty((len(cells), facts.d))
                block = buffer[: len(cells)]
                quantise(self._encoder.expand(cells), block, row_map)
                sums.add(np.column_stack([block, self._encoder.codes(cells)]) if groups else block)
        return sums


def block_numbers(d: int) -> int:
    """Numbers of a block: 2 MiB, more for wide rows so that the product outweighs adding it up, and at most
    32 MiB. A pass over an array takes at most two blocks and 2 d^2 numbers of memory."""
    rows = 1024 if d <= NARROW else max(1024, min(4096, (1 << 22) // d))
    return max(1 << 18, rows * d)


def _block_rows(d: int) -> int:
    """Rows in a go: a block, or less than half of one where two threads share the work. That leaves room for
    scratch and the second thread's sums, and is still in the cache when it is summed."""
    return min(1 << 15, max(384, SHARED_PIECE // d)) if d <= NARROW else block_numbers(d) // d
