"""The bundled tables: whole, inside their hand-written public bounds, and the same after an export."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pyarrow import csv, parquet

from dpspectra import datasets
from dpspectra.core.errors import ParameterError
from dpspectra.core.schema import Schema

SHAPES = {"breast_cancer": (569, 30), "digits": (1797, 64)}


def test_names_and_loaders() -> None:
    assert datasets.names() == tuple(sorted(SHAPES))
    assert datasets.load_digits().name == "digits"
    assert datasets.load_breast_cancer().name == "breast_cancer"
    with pytest.raises(ParameterError, match=r"name must be .* breast_cancer, digits"):
        datasets.load("iris")


@pytest.mark.parametrize("name", SHAPES)
def test_data_fit_their_schema(name: str) -> None:
    dataset = datasets.load(name)
    rows, d = SHAPES[name]
    assert dataset.data.shape == (rows, d)
    assert dataset.data.dtype == np.float64
    assert dataset.schema.rows == rows
    assert dataset.schema.label == name
    assert len(dataset.schema.columns) == d
    low, high = np.array([column.bounds for column in dataset.schema.columns]).T
    assert (low <= dataset.data).all()
    assert (dataset.data <= high).all()


@pytest.mark.parametrize("name", SHAPES)
def test_columns_are_those_of_the_source(name: str) -> None:
    import sklearn.datasets

    source = getattr(sklearn.datasets, f"load_{name}")()
    assert list(datasets.load(name).schema.names) == list(source.feature_names)
    np.testing.assert_array_equal(datasets.load(name).data, source.data)


def test_digit_bounds_hold_by_construction() -> None:
    assert {column.bounds for column in datasets.load_digits().schema.columns} == {(0.0, 16.0)}


def test_breast_cancer_bounds_are_not_read_from_the_data() -> None:
    """No bound equals an extreme of its column, except the natural zero."""
    dataset = datasets.load_breast_cancer()
    for column, low, high in zip(
        dataset.schema.columns, dataset.data.min(axis=0), dataset.data.max(axis=0), strict=True
    ):
        assert column.bounds is not None
        assert column.bounds[1] > 1.1 * high
        assert column.bounds[0] == 0 or column.bounds[0] < low


def test_data_are_shared_and_read_only() -> None:
    data = datasets.load_digits().data
    with pytest.raises(ValueError, match="read-only"):
        data[0, 0] = 1
    assert datasets.load_digits().data is data


def test_repr_shows_no_cell() -> None:
    assert repr(datasets.load_digits()).startswith("Dataset('digits': 1,797 handwritten digits")


@pytest.mark.parametrize("name", SHAPES)
def test_export_round_trips(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    text, binary, schema = datasets.export(name, folder)
    assert [path.name for path in (text, binary, schema)] == [
        f"{name}.csv",
        f"{name}.parquet",
        f"{name}.toml",
    ]
    dataset = datasets.load(name)
    assert Schema.read(schema) == dataset.schema
    for table in (csv.read_csv(text), parquet.read_table(binary)):
        assert tuple(table.column_names) == dataset.schema.names
        np.testing.assert_array_equal(np.column_stack([c.to_numpy() for c in table.columns]), dataset.data)


def test_export_replaces_only_when_told(tmp_path: Path) -> None:
    (tmp_path / "digits.toml").write_text("mine")
    with pytest.raises(FileExistsError, match="digits"):
        datasets.export("digits", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["digits.toml"]
    assert (tmp_path / "digits.toml").read_text() == "mine"
    datasets.export("digits", tmp_path, overwrite=True)
    assert (tmp_path / "digits.toml").read_text() != "mine"


def test_scikit_learn_is_imported_when_data_are_asked_for() -> None:
    code = (
        "import sys; from dpspectra.datasets.bundled import load, names; "
        "before = 'sklearn.datasets' in sys.modules; load(names()[0]); "
        "sys.exit(before or 'sklearn.datasets' not in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
