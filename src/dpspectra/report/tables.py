"""The tables of a report as CSV, JSON or Parquet; each says whether it is private where its format can."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ParameterError
from ..plots.fitted import Fitted, names
from ..plots.style import NOT_PRIVATE
from .summary import plain

FORMATS = ("csv", "json", "parquet")


@dataclass(frozen=True)
class Table:
    """A named table: column names and one sequence of equal length for each."""

    name: str
    columns: tuple[str, ...]
    data: tuple[Sequence[Any] | NDArray[Any], ...]


def tables(estimator: Fitted) -> list[Table]:
    """All tables of a report, uncut."""
    made = [
        explained(estimator),
        _matrix("covariance", estimator, estimator.covariance_),
        _matrix("covariance_raw", estimator, estimator.covariance_raw_),
        _matrix("correlation", estimator, estimator.correlation_),
    ]
    components = getattr(estimator, "components_", None)
    if components is not None:
        labels = [f"PC{index + 1}" for index in range(len(components))]
        made.insert(0, Table("components", ("component", *names(estimator)), (labels, *components.T)))
    return made


def encode(table: Table, file_format: str, private: bool) -> bytes:
    """The bytes of a table; ``file_format`` is "csv", "json" or "parquet".

    CSV: floats by their shortest text that reads back to the same double, unknown numbers empty; a first
    line starting with # if the release is not private. JSON: strict, ``{"private", "columns", "data"}``
    with one list a row. Parquet: typed columns, ``private`` in the schema's metadata.
    """
    if file_format == "csv":
        return _csv(table, private)
    if file_format == "json":
        body = {"private": private, "columns": list(table.columns), "data": _rows(table)}
        return json.dumps(body, allow_nan=False).encode()
    if file_format == "parquet":
        return _parquet(table, private)
    raise ParameterError(f"format must be one of {', '.join(map(repr, FORMATS))}")


def explained(estimator: Fitted) -> Table:
    """One row for each eigenvalue, whether its component is kept or not."""
    d = len(estimator.eigenvalues_)
    alignment = np.full(d, np.nan)
    known = np.asarray(getattr(estimator, "alignment_", ()), dtype=np.float64)
    alignment[: known.size] = known
    columns: dict[str, Any] = {
        "component": [f"PC{index + 1}" for index in range(d)],
        "explained_variance": estimator.eigenvalues_,
        "explained_variance_low": estimator.eigenvalue_intervals_[:, 0],
        "explained_variance_high": estimator.eigenvalue_intervals_[:, 1],
        "explained_variance_raw": estimator.eigenvalues_raw_,
        "explained_variance_ratio": estimator.ratio_,
        "explained_variance_ratio_low": estimator.ratio_intervals_[:, 0],
        "explained_variance_ratio_high": estimator.ratio_intervals_[:, 1],
        "cumulative_ratio": np.cumsum(estimator.ratio_),
        "alignment": alignment,
        "resolved": np.asarray(estimator.resolved_, dtype=bool),
    }
    return Table("explained_variance", tuple(columns), tuple(columns.values()))


def _matrix(name: str, estimator: Fitted, matrix: NDArray[np.float64]) -> Table:
    features = names(estimator)
    return Table(name, ("feature", *features), (features, *np.asarray(matrix).T))


def _rows(table: Table) -> list[list[Any]]:
    return [list(row) for row in zip(*(plain(column) for column in table.data), strict=True)]


def _csv(table: Table, private: bool) -> bytes:
    buffer = io.StringIO()
    if not private:
        buffer.write(f"# {NOT_PRIVATE}\n")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(_rows(table))  # csv writes floats by repr and None as an empty cell
    return buffer.getvalue().encode()


def _parquet(table: Table, private: bool) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    buffer = io.BytesIO()
    arrow = pa.Table.from_arrays([pa.array(column) for column in table.data], names=list(table.columns))
    marked = arrow.replace_schema_metadata({"private": str(private).lower()})
    parquet.write_table(marked, buffer)
    return buffer.getvalue()
