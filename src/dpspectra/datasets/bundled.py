"""The bundled tables. Schemas lie beside this file; the data are read from scikit-learn when asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ParameterError
from ..core.schema import Schema


@dataclass(frozen=True, repr=False)
class Dataset:
    """A table and what is publicly known of it.

    Attributes
    ----------
    name : str
    data : array of shape (n, d), read-only, in the units of the schema's bounds; columns in its order
    schema : Schema, written by hand from public knowledge, never from the data
    description : one sentence
    source : where the table comes from, for citation
    """

    name: str
    data: NDArray[np.float64]
    schema: Schema
    description: str
    source: str

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}: {self.description})"


@dataclass(frozen=True)
class _Entry:
    read: Callable[[], Any]
    description: str
    source: str


def _read_digits() -> Any:
    from sklearn.datasets import load_digits as read

    return read()


def _read_breast_cancer() -> Any:
    from sklearn.datasets import load_breast_cancer as read

    return read()


_ENTRIES = {
    "breast_cancer": _Entry(
        _read_breast_cancer,
        "569 digitised images of breast masses, 30 measurements of their cell nuclei",
        "Wolberg, Mangasarian, Street and Street (1995), Breast Cancer Wisconsin (Diagnostic), "
        "UCI Machine Learning Repository; CC BY 4.0; as bundled with scikit-learn",
    ),
    "digits": _Entry(
        _read_digits,
        "1,797 handwritten digits of 8 x 8 pixels, each pixel an integer from 0 to 16",
        "Alpaydin and Kaynak (1998), Optical Recognition of Handwritten Digits, test set, "
        "UCI Machine Learning Repository; CC BY 4.0; as bundled with scikit-learn",
    ),
}


def names() -> tuple[str, ...]:
    """Names of the bundled tables, sorted."""
    return tuple(_ENTRIES)


def load(name: str) -> Dataset:
    """A bundled table by its name; ParameterError lists the names there are."""
    entry = _entry(name)
    return Dataset(name, _data(name), Schema.from_toml(_schema_text(name)), entry.description, entry.source)


def load_digits() -> Dataset:
    """Handwritten digits, (1797, 64); bounds 0..16 hold by construction."""
    return load("digits")


def load_breast_cancer() -> Dataset:
    """Cell nuclei, (569, 30); bounds are plausible limits chosen by us, an assumption and no guarantee."""
    return load("breast_cancer")


def export(name: str, folder: str | Path, *, overwrite: bool = False) -> tuple[Path, ...]:
    """Write a bundled table as NAME.csv and NAME.parquet, and its schema as NAME.toml.

    Parameters
    ----------
    name : one of ``names()``
    folder : made if it does not exist
    overwrite : replace files of these names; otherwise FileExistsError, and nothing is written

    Returns
    -------
    The paths written: CSV, Parquet, TOML.
    """
    import pyarrow as pa
    from pyarrow import csv, parquet

    dataset = load(name)
    folder = Path(folder)
    paths = tuple(folder / f"{name}.{ending}" for ending in ("csv", "parquet", "toml"))
    if not overwrite and any(path.exists() for path in paths):
        raise FileExistsError(
            f"a file of table {name!r} is already in the folder: choose another or overwrite"
        )
    folder.mkdir(parents=True, exist_ok=True)
    table = pa.table(dict(zip(dataset.schema.names, dataset.data.T, strict=True)))
    csv.write_csv(table, paths[0])
    parquet.write_table(table, paths[1])
    paths[2].write_text(_schema_text(name), encoding="utf-8")
    return paths


def _entry(name: str) -> _Entry:
    if name not in _ENTRIES:
        raise ParameterError(f"name must be one of the bundled tables: {', '.join(_ENTRIES)}")
    return _ENTRIES[name]


@cache
def _data(name: str) -> NDArray[np.float64]:
    data = np.asarray(_entry(name).read().data, dtype=np.float64)
    data.flags.writeable = False  # shared between callers
    return data


def _schema_text(name: str) -> str:
    return (files(__package__) / f"{name}.toml").read_text(encoding="utf-8")
