"""How blocks of rows are visited (memory, files); no mathematics here."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any

from ..core.errors import SchemaError
from ..core.privacy import Adjacency
from ..core.schema import Reading
from ..rows import memory
from ..rows.encode import Encoder
from ..rows.memory import Shape
from .blocks import BlockTable
from .files import FileTable, is_dataset, stored_cells, template
from .files import shape as file_shape
from .local import LocalTable

__all__ = [
    "BlockTable",
    "FileTable",
    "LocalTable",
    "Shape",
    "describe",
    "open_table",
    "stored_cells",
    "template",
]


def is_stored(data: Any) -> bool:
    """True for paths and PyArrow datasets, False for in-memory data."""
    return isinstance(data, (str, PathLike)) or is_dataset(data)


def describe(data: Any, reading: Reading | None = None) -> Shape:
    """The public shape of a table: (names or None, number of columns, number of rows or None).

    Rows are None for CSV files and datasets, where they need a pass; under add/remove adjacency the number
    is private and must not be shown.
    """
    return file_shape(data, reading or Reading()) if is_stored(data) else memory.shape(data)


def open_table(
    data: Any,
    encoder: Encoder,
    adjacency: Adjacency | str = Adjacency.REPLACE_ONE,
    *,
    rows_max: int | None = None,
    block_rows: int | None = None,
    bits: int | None = None,
    progress: Callable[[int], None] | None = None,
    whole: bool = False,
) -> BlockTable:
    """Open a table behind the ``Table`` protocol, by the type of ``data``.

    Parameters
    ----------
    data : array, list, frame (pandas, Polars, Arrow), path (CSV, Parquet, folder, glob) or PyArrow dataset
    encoder : Encoder
    adjacency : Adjacency or str
        Under replace-one the number of rows is public and read (a counting pass for CSV); under add/remove
        it is private and never read.
    rows_max : int or None
        Public capacity under add/remove; default the schema's.
    block_rows : int or None
        Rows of a block; any value gives the same sums.
    bits : int or None
        Grid bits, to give several tables one grid; default by the rule from public rows or capacity.
    progress : callable or None
        Called with the number of rows visited, under replace-one only.
    whole : bool
        Check the number of rows against the schema's declared ``rows`` (replace-one only).
    """
    kind = FileTable if is_stored(data) else LocalTable
    table = kind(data, encoder, adjacency, rows_max, block_rows, bits=bits, progress=progress)
    declared, rows = encoder.schema.rows, table.facts.rows
    if whole and declared is not None and rows is not None and rows != declared:
        raise SchemaError(
            f"the schema declares rows = {declared} but the table has another number of rows; the public "
            "number must be right: correct the schema or give the whole table"
        )
    return table
