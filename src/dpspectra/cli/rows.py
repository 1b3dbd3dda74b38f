"""Scores of rows: refused unless asked for by name, because they are not private."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import ParameterError
from .folder import check_writable
from .settings import PcaSettings
from .talk import note

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..core.schema import Column
    from ..estimators import PrivatePCA

REFUSED = (
    "--scores: projected rows are record-level and not private: each is one row of the table seen along "
    "public directions, without noise, and no budget covers it. If you may keep such a file, add "
    "--allow-record-level"
)


def check_scores(settings: PcaSettings) -> None:
    """Before anything is spent: permission, format, and a place outside the report."""
    path = settings.scores
    assert path is not None
    if not settings.allow_record_level:
        raise ParameterError(REFUSED)
    if path.suffix not in (".csv", ".parquet"):
        raise ParameterError("--scores must name a .csv or .parquet file")
    if settings.out is not None and path.absolute().is_relative_to(settings.out.absolute()):
        raise ParameterError("--scores must lie outside --out: a report is to be published, scores are not")
    if path.exists() and not settings.overwrite:
        raise ParameterError("--scores names a file that is there already (--overwrite)")
    check_writable(path.parent)


def write_scores(model: PrivatePCA, table: Any, path: Path) -> None:
    """Write one line a row, readable by its owner alone, whole or not at all."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    names = [str(name) for name in model.get_feature_names_out()]
    layout = pa.schema([(name, pa.float64()) for name in names])
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as handle:
            kind = csv.CSVWriter if path.suffix == ".csv" else parquet.ParquetWriter
            with kind(handle, layout) as writer:
                for block in _blocks(model, table):
                    columns = dict(zip(names, model.transform(block).T, strict=True))
                    writer.write_table(pa.table(columns, schema=layout))
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    note(f"{path} holds record-level scores. They are not private: protect the file like the table")


def _blocks(model: PrivatePCA, table: Any) -> Iterator[Any]:
    """The table in memory, or blocks of a stored one as the estimator takes them: by name, all columns."""
    if not isinstance(table, Path):
        yield table
        return
    import pyarrow as pa

    from ..core.schema import Schema
    from ..engines import stored_cells

    schema = model.schema
    assert isinstance(schema, Schema)
    for cells in stored_cells(table, schema):
        columns = dict.fromkeys(map(str, model.feature_names_in_), pa.nulls(len(cells)))
        for column, values in zip(schema.columns, cells.T, strict=True):
            columns[column.name] = pa.array(_texts(column, values) if column.categories else values)
        yield pa.table(columns)


def _texts(column: Column, codes: NDArray[np.float64]) -> list[str | None]:
    """Categories as text again; an unlisted one as a text that no list holds, a missing one as None."""
    listed = column.categories or ()
    unlisted = "*" + "".join(listed)
    return [None if code != code else listed[int(code)] if code >= 0 else unlisted for code in codes.tolist()]
