"""Tables in memory: NumPy (any real dtype and order, memory-mapped), lists, pandas, Polars, Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

from ..core.privacy import Adjacency
from ..rows.encode import Encoder
from ..rows.memory import Memory, open_memory
from .blocks import BlockTable, Progress


class LocalTable(BlockTable):
    """A table in memory; the caller's data are never changed.

    Parameters are those of ``engines.open_table``.

    Raises
    ------
    SchemaError
        If columns are missing, repeated, or of a type that does not fit; never because of a cell.
    """

    def __init__(
        self,
        data: Any,
        encoder: Encoder,
        adjacency: Adjacency | str = Adjacency.REPLACE_ONE,
        rows_max: int | None = None,
        block_rows: int | None = None,
        *,
        bits: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        source = _MemorySource(open_memory(data, encoder.schema))
        super().__init__(source, encoder, adjacency, rows_max, block_rows, bits, progress)


class _MemorySource:
    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @property
    def rows(self) -> int:
        return self._memory.rows

    def blocks(self, rows: int) -> Iterator[NDArray[Any]]:
        for start in range(0, self._memory.rows, rows):
            yield self._memory.read(start, min(start + rows, self._memory.rows))

    def cells(self) -> NDArray[Any]:
        if self._memory.array is not None:
            return self._memory.array
        return self._memory.read(0, self._memory.rows)
