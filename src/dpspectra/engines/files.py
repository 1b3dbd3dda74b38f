"""Tables in files: CSV and Parquet (one file, a folder, a glob) and PyArrow datasets, streamed."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pa_dataset
import pyarrow.parquet as pq
from numpy.typing import NDArray

from ..core.errors import SchemaError
from ..core.privacy import Adjacency
from ..core.schema import Reading, Schema, toml
from ..rows import arrow
from ..rows.encode import Encoder
from ..rows.memory import Shape, arrow_block, find
from . import lines
from .blocks import BlockTable, Progress

PARQUET = (".parquet", ".pq")
CSV = (".csv", ".tsv", ".txt")
FloatArray = NDArray[np.float64]


class FileTable(BlockTable):
    """A table in files, streamed in bounded memory; only the schema's columns are read.

    ``data`` is a path of one CSV (also .gz) or Parquet file, a folder or glob of one of the two kinds, or a
    PyArrow dataset. The other parameters are those of ``engines.open_table``. The number of rows is counted
    under replace-one only.

    Raises
    ------
    SchemaError
        If a file cannot be read or columns do not fit; texts show the schema's names, never a cell.
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
        public = Adjacency.parse(adjacency) is Adjacency.REPLACE_ONE
        source = _FileSource(data, encoder.schema, public)
        super().__init__(source, encoder, adjacency, rows_max, block_rows, bits, progress)


class _FileSource:
    def __init__(self, data: Any, schema: Schema, counted: bool) -> None:
        self._schema = schema
        self._dataset = data if is_dataset(data) else None
        self._paths = [] if is_dataset(data) else find_files(data)
        self._check()
        self.rows = self._count() if counted else None

    def _check(self) -> None:
        if self._dataset is not None:
            if isinstance(getattr(self._dataset, "format", None), pa_dataset.CsvFileFormat):
                raise SchemaError("a PyArrow dataset of CSV files guesses types from cells: give the path")
            _check_types(self._dataset.schema, self._schema)
        for path in self._paths:
            if is_parquet(path):
                with _parquet(path) as file:
                    _check_types(file.schema_arrow, self._schema)
            else:
                lines.locate(lines.header(path, self._schema.reading), self._schema)

    def _count(self) -> int:
        if self._dataset is not None:
            return int(self._dataset.count_rows())
        total = 0
        for path in self._paths:
            if is_parquet(path):
                with _parquet(path) as file:
                    total += file.metadata.num_rows
            else:
                total += lines.count(path, self._schema.reading)
        return total

    def blocks(self, rows: int) -> Iterator[NDArray[Any]]:
        for block in self._stored_blocks(rows):
            for start in range(0, len(block), rows):
                yield block[start : start + rows]

    def cells(self) -> NDArray[Any]:
        return np.concatenate([block.copy() for block in self._stored_blocks(8192)])

    def _stored_blocks(self, rows: int) -> Iterator[FloatArray]:
        names = list(self._schema.names)
        if self._dataset is not None:
            scanner = self._dataset.scanner(
                columns=names, batch_size=rows, batch_readahead=1, fragment_readahead=1
            )
            yield from self._arrow_blocks(scanner.to_batches())
        for path in self._paths:
            if is_parquet(path):
                with _parquet(path) as file:
                    batches = file.iter_batches(batch_size=rows, columns=names, use_threads=False)
                    yield from self._arrow_blocks(batches)
            else:
                yield from lines.blocks(path, self._schema)

    def _arrow_blocks(self, batches: Iterator[Any]) -> Iterator[FloatArray]:
        try:
            for batch in batches:
                yield arrow_block(batch.select(self._schema.names), self._schema)
        except (pa.ArrowException, OSError):
            raise SchemaError("a Parquet file or dataset cannot be read") from None


def stored_cells(data: Any, schema: Schema) -> Iterator[FloatArray]:
    """Blocks of cells (rows, columns) of a table in files, categories as codes: record-level, private."""
    return _FileSource(data, schema, counted=False).blocks(8192)


def is_dataset(data: Any) -> bool:
    """True for PyArrow datasets."""
    return isinstance(data, pa_dataset.Dataset)


def find_files(data: str | PathLike[str]) -> list[Path]:
    """The files of a path, folder or glob, sorted by name; one kind only."""
    path = Path(fspath(data)).expanduser()
    if path.is_dir():
        found = sorted(p for p in path.rglob("*") if p.is_file() and (is_parquet(p) or is_csv(p)))
    elif path.is_file():
        found = [path]
    else:
        root = Path(path.anchor)
        found = sorted(p for p in root.glob(str(path.relative_to(root))) if p.is_file())
    if not found:
        raise SchemaError(f"no CSV or Parquet file at {str(path)!r}")
    if any(not is_parquet(p) and not is_csv(p) for p in found):
        raise SchemaError(f"{str(path)!r}: file names must end in one of {', '.join(PARQUET + CSV)} (or .gz)")
    if len({is_parquet(p) for p in found}) > 1:
        raise SchemaError(f"{str(path)!r} holds both CSV and Parquet files: name one kind")
    return found


def is_parquet(path: Path) -> bool:
    return path.suffix.lower() in PARQUET


def is_csv(path: Path) -> bool:
    stem = path.with_suffix("") if path.suffix == ".gz" else path
    return stem.suffix.lower() in CSV


def _parquet(path: Path) -> Any:
    try:
        return pq.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False)
    except (pa.ArrowException, OSError):
        raise SchemaError(f"file {path.name!r} cannot be read as Parquet") from None


def _check_types(stored: Any, schema: Schema) -> None:
    places = find(stored.names, schema)
    for column, place in zip(schema.columns, places, strict=True):
        arrow.check(column, stored.field(place).type)


def _stored_schema(data: Any) -> Any:
    """Arrow schema of a dataset or of the first Parquet file; None for CSV."""
    if is_dataset(data):
        return data.schema
    path = find_files(data)[0]
    if not is_parquet(path):
        return None
    with _parquet(path) as file:
        return file.schema_arrow


def shape(data: Any, reading: Reading) -> Shape:
    """Names and number of columns; rows from Parquet metadata, else None (they need a pass)."""
    stored = _stored_schema(data)
    if stored is None:
        names = lines.header(find_files(data)[0], reading)
        return Shape(tuple(names), len(names), None)
    rows = None
    if not is_dataset(data):
        rows = 0
        for path in find_files(data):
            with _parquet(path) as file:
                rows += file.metadata.num_rows
    return Shape(tuple(stored.names), len(stored.names), rows)


def template(data: Any, reading: Reading | None = None) -> str:
    """A schema file to fill in: names and kinds from the stored schema, never anything from cells.

    Every ``bounds`` and ``categories`` is empty, so the file is refused until the custodian fills it in.
    CSV files have no kinds: all columns are written as numbers. A CSV file must have its names in the
    first line, since that line is copied.
    """
    reading = reading or Reading()
    stored = _stored_schema(data)
    names = lines.header(find_files(data)[0], reading) if stored is None else list(stored.names)
    kinds = ["number"] * len(names) if stored is None else [_kind(field.type) for field in stored]
    parts = [
        "# Fill in every bounds = [lo, hi] and categories = [...] from domain knowledge or public data,\n"
        "# never from this table. Remove the columns that are not to be read.\n"
        '# A column of text: kind = "category" and categories = ["...", ...].\n'
        "# label names the table in ledgers: one table, one label, and another table another one.\n"
        '[table]\nlabel = "table"\nunit = "row"\n'
        "# rows = ...      public number of rows (replace-one); `plan` needs it\n"
        "# rows_max = ...  public capacity (add-remove)\n"
    ]
    for name, kind in zip(names, kinds, strict=True):
        blank = "categories = []" if kind == "category" else "bounds = []"
        parts.append(f'[columns.{toml(name)}]\nkind = "{kind}"\n{blank}\n')
    if stored is None:
        entries = ("delimiter", "decimal", "thousands", "na_values", "encoding", "quote")
        values = [(key, getattr(reading, key)) for key in entries]
        parts.append(
            "[reading]\n" + "".join(f"{key} = {toml(value)}\n" for key, value in values if value is not None)
        )
    return "\n".join(parts)


def _kind(stored: Any) -> str:
    stored = stored.value_type if pa.types.is_dictionary(stored) else stored
    return "category" if arrow.is_text(stored) else "number"
