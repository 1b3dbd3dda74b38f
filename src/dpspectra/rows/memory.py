"""In-memory tables (NumPy, lists, pandas, Polars, Arrow) as blocks of cells.

A block (n, columns) holds doubles or a view of the caller's numbers; categories are codes. Columns are
found by name in frames and by position in arrays. Refusals depend on types, names and widths alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..core.errors import SchemaError
from ..core.schema import Column, Schema
from . import arrow, special

Getter = Callable[[int, int], NDArray[Any]]


class Shape(NamedTuple):
    """Public shape of a table. ``rows`` is None where it is unknown without a pass; it is private under
    add/remove adjacency, where it must not be shown."""

    names: tuple[str, ...] | None
    columns: int
    rows: int | None


@dataclass(frozen=True)
class Memory:
    """An opened in-memory table: ``read(start, stop)`` gives the cells of these rows.

    ``array`` is the caller's own array where its numbers are the cells as they are.
    """

    rows: int
    read: Getter
    array: NDArray[Any] | None = None


def shape(data: Any) -> Shape:
    """Names (None for arrays), number of columns and rows of in-memory data."""
    if _is_frame(data):
        names = tuple(data.columns)
        return Shape(names if all(isinstance(n, str) for n in names) else None, len(names), len(data))
    if _is_arrow(data):
        table = _table(data)
        return Shape(tuple(table.column_names), table.num_columns, table.num_rows)
    if isinstance(data, (list, tuple)):
        width = len(data[0]) if data and hasattr(data[0], "__len__") else 0
        if not width:
            raise SchemaError("a list must hold rows of equal length. Reshape your data to (rows, columns)")
        return Shape(None, width, len(data))
    array = _array(data)
    return Shape(None, array.shape[1], array.shape[0])


def open_memory(data: Any, schema: Schema) -> Memory:
    """Find the schema's columns in the data; SchemaError names what does not fit."""
    if _is_frame(data):
        return Memory(len(data), _side_by_side(_frame_getters(data, schema)))
    if _is_arrow(data):
        return _open_arrow(_table(data), schema)
    if isinstance(data, (list, tuple)):
        return _open_rows(data, schema)
    return _open_array(_array(data), schema)


def read_all(data: Any, schema: Schema) -> NDArray[Any]:
    """All cells of an in-memory table."""
    memory = open_memory(data, schema)
    return memory.read(0, memory.rows)


def find(names: Sequence[str], schema: Schema, hint: str = "") -> list[int]:
    """Positions of the schema's columns among ``names``; texts show the schema's names only."""
    absent = [name for name in schema.names if name not in names]
    if absent:
        raise SchemaError(f"columns not found in the table: {', '.join(map(repr, absent))}{hint}")
    repeated = [name for name in schema.names if list(names).count(name) > 1]
    if repeated:
        raise SchemaError(f"columns appear more than once in the table: {', '.join(map(repr, repeated))}")
    return [list(names).index(name) for name in schema.names]


def _is_frame(data: Any) -> bool:
    return hasattr(data, "iloc") and hasattr(data, "columns")


def _is_arrow(data: Any) -> bool:
    return isinstance(data, (pa.Table, pa.RecordBatch)) or hasattr(data, "__arrow_c_stream__")


def _table(data: Any) -> Any:
    if isinstance(data, pa.Table):
        return data
    return pa.Table.from_batches([data]) if isinstance(data, pa.RecordBatch) else pa.table(data)


def _array(data: Any) -> NDArray[Any]:
    kind = type(data)
    if kind.__module__.startswith("scipy.sparse"):
        raise SchemaError("sparse data are not supported: bounds make rows dense; use .toarray()")
    if not isinstance(data, np.ndarray) and not hasattr(data, "__array__"):
        raise SchemaError(f"data of type {kind.__name__!r} are not a table; give an array, a frame or a path")
    array = data if isinstance(data, np.ndarray) else np.asarray(data)
    if array.ndim != 2:
        raise SchemaError(
            f"Expected 2D array, got {array.ndim}D array instead. Reshape your data to (rows, columns)"
        )
    if array.shape[1] == 0:
        raise SchemaError("0 feature(s) (shape=(, 0)) while a minimum of 1 is required.")
    return array


def _check_width(width: int, schema: Schema) -> None:
    if width != len(schema.columns):
        raise SchemaError(f"the table has {width} columns but the schema has {len(schema.columns)}")


def _open_array(array: NDArray[Any], schema: Schema) -> Memory:
    _check_width(array.shape[1], schema)
    kind = array.dtype.kind
    if kind in "OUST":
        for column in schema.columns:
            if kind != "O" and column.kind == "number":
                raise SchemaError(arrow.text_refused(column.name))
        return Memory(len(array), lambda start, stop: _objects(array[start:stop], schema))
    if kind not in "biuf":
        raise SchemaError(f"an array of dtype {array.dtype} does not hold real numbers")
    masked = isinstance(array, np.ma.MaskedArray)
    plain = all(column.categories is None for column in schema.columns)

    def read(start: int, stop: int) -> NDArray[Any]:
        cells = array[start:stop]
        if masked:
            cells = np.ma.filled(np.ma.asarray(cells).astype(np.float64), np.nan)
        if plain:
            return np.asarray(cells)
        cells = np.array(cells, dtype=np.float64)
        for i, column in enumerate(schema.columns):
            if column.categories is not None:
                cells[:, i] = special.number_codes(cells[:, i], column.categories)
        return cells

    return Memory(len(array), read, np.asarray(array) if plain and not masked else None)


def _open_rows(rows: Sequence[Any], schema: Schema) -> Memory:
    """A list of rows; one of another length is a row of missing cells."""
    width = len(schema.columns)

    def read(start: int, stop: int) -> NDArray[Any]:
        block = np.full((min(stop, len(rows)) - start, width), None, dtype=object)
        for cells, row in zip(block, rows[start:stop], strict=True):
            if hasattr(row, "__len__") and len(row) == width and not isinstance(row, (str, bytes)):
                cells[:] = [row[i] for i in range(width)]
        return _objects(block, schema)

    if rows and hasattr(rows[0], "__len__"):
        _check_width(len(rows[0]), schema)
    return Memory(len(rows), read)


def _objects(block: NDArray[Any], schema: Schema) -> NDArray[Any]:
    out = np.empty(block.shape)
    for i, column in enumerate(schema.columns):
        cells = block[:, i]
        out[:, i] = (
            special.numbers(cells)
            if column.categories is None
            else special.object_codes(cells, column.categories)
        )
    return out


def _open_arrow(table: Any, schema: Schema) -> Memory:
    chosen = table.select(find(table.column_names, schema))
    for column, field in zip(schema.columns, chosen.schema, strict=True):
        arrow.check(column, field.type)

    def read(start: int, stop: int) -> NDArray[Any]:
        return arrow_block(chosen.slice(start, stop - start), schema)

    return Memory(table.num_rows, read)


def arrow_block(batch: Any, schema: Schema) -> NDArray[np.float64]:
    """Cells of an Arrow table or batch that holds the schema's columns in order."""
    out = np.empty((batch.num_rows, len(schema.columns)))
    for i, column in enumerate(schema.columns):
        out[:, i] = arrow.cells(batch.column(i), column)
    return out


def _side_by_side(getters: list[Getter]) -> Getter:
    def read(start: int, stop: int) -> NDArray[Any]:
        columns = [get(start, stop) for get in getters]
        out = np.empty((len(columns[0]), len(columns)))
        for i, column in enumerate(columns):
            out[:, i] = column
        return out

    return read


def _frame_getters(data: Any, schema: Schema) -> list[Getter]:
    """One getter per column of a pandas frame, chosen by its dtype; pandas itself is not imported."""
    names = list(data.columns)
    if all(isinstance(name, str) for name in names):
        places = find(names, schema)
    else:
        _check_width(len(names), schema)
        places = list(range(len(names)))
    pairs = zip(schema.columns, places, strict=True)
    return [_series_getter(data.iloc[:, place], column) for column, place in pairs]


def _series_getter(series: Any, column: Column) -> Getter:
    dtype, listed = series.dtype, column.categories
    if hasattr(dtype, "pyarrow_dtype"):
        values = pa.chunked_array(series.array.__arrow_array__())
        arrow.check(column, values.type)
        return lambda start, stop: arrow.cells(values.slice(start, stop - start), column)
    if hasattr(dtype, "categories"):
        levels = np.asarray(dtype.categories, dtype=object)
        if listed is None and dtype.categories.dtype.kind not in "biuf":
            raise SchemaError(arrow.text_refused(column.name))
        table = special.numbers(levels) if listed is None else special.object_codes(levels, listed)
        table = np.append(table, np.nan)  # pandas marks a missing cell by code -1
        codes = series.cat.codes.to_numpy()
        return lambda start, stop: table[codes[start:stop]]
    if dtype.kind in "biuf":
        if isinstance(dtype, np.dtype):
            values = series.to_numpy()
            plain: Getter = lambda start, stop: values[start:stop]  # noqa: E731
        else:
            plain = lambda start, stop: series.iloc[start:stop].to_numpy(np.float64, na_value=np.nan)  # noqa: E731
        if listed is None:
            return plain
        return lambda start, stop: special.number_codes(plain(start, stop).astype(np.float64), listed)
    if dtype.kind not in "OUST":
        raise SchemaError(f"column {column.name!r} has dtype {dtype}, which is neither numbers nor text")
    if listed is None:
        raise SchemaError(arrow.text_refused(column.name))
    return lambda start, stop: special.object_codes(np.asarray(series.iloc[start:stop], dtype=object), listed)
