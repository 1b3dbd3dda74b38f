"""The folder: every file or none, numbers that read back exactly, and others' files left alone."""

import csv
import json
import math
from importlib import import_module

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from dpspectra.core.errors import ParameterError
from dpspectra.core.released import Released
from dpspectra.report.tables import encode, tables
from dpspectra.report.write import OWN, write

MODULE = import_module("dpspectra.report.write")  # the package's name "write" is the function

PCA_FILES = {
    "release.json",
    "components.csv",
    "explained_variance.csv",
    "covariance.csv",
    "covariance_raw.csv",
    "correlation.csv",
    "report.html",
    *(
        f"{name}.{kind}"
        for name in ("scree", "loadings", "correlation_circle", "correlation_heatmap")
        for kind in ("png", "svg")
    ),
}


def read_csv(path):
    with path.open(newline="", encoding="utf-8") as handle:
        head, *rows = list(csv.reader(line for line in handle if not line.startswith("#")))
    return head, [row[0] for row in rows], [row[1:] for row in rows]


@pytest.fixture
def quick(monkeypatch):
    """Files of the right names without drawing them: for tests of the folder alone."""

    def contents(model, kind):
        names = [name for name in sorted(PCA_FILES) if name.endswith((".png", ".svg"))]
        names += [f"{name}.{kind}" for name in ("covariance", "correlation", "explained_variance")]
        names += [f"components.{kind}"] if hasattr(model, "components_") else []
        files = {name: f"{name} {model.privacy_.private}".encode() for name in names}
        return files | {"release.json": model.release_.to_json().encode(), "report.html": b"page"}

    monkeypatch.setattr(MODULE, "contents", contents)


@pytest.fixture(scope="module")
def folder(pca, tmp_path_factory):
    path = tmp_path_factory.mktemp("reports") / "deep" / "report"
    paths = write(pca, path)
    assert {item.name for item in paths} == PCA_FILES and all(item.is_file() for item in paths)
    return path


def test_files_and_nothing_else(folder):
    assert {item.name for item in folder.iterdir()} == PCA_FILES <= OWN
    assert [item.name for item in folder.parent.iterdir()] == ["report"]


def test_release_reads_back(pca, folder):
    assert Released.from_json((folder / "release.json").read_text()).to_json() == pca.release_.to_json()


def test_csv_floats_read_back_to_the_same_doubles(pca, folder):
    head, names, values = read_csv(folder / "covariance.csv")
    assert head[1:] == names == list(pca.feature_names_encoded_)
    assert np.array_equal(np.array(values, dtype=float), pca.covariance_)
    head, names, values = read_csv(folder / "components.csv")
    assert names == [f"PC{index + 1}" for index in range(6)]
    assert np.array_equal(np.array(values, dtype=float), pca.components_)


def test_unknown_numbers_are_empty(pca, folder):
    head, _, rows = read_csv(folder / "explained_variance.csv")
    low = head[1:].index("explained_variance_low")
    for row, bound in zip(rows, pca.eigenvalue_intervals_[:, 0], strict=True):
        assert row[low] == "" if math.isnan(bound) else float(row[low]) == bound


def encoded(model, kind):
    return {table.name: encode(table, kind, model.privacy_.private) for table in tables(model)}


def test_json_and_parquet_hold_the_same_numbers_and_the_flag(unprivate):
    as_json, as_parquet = encoded(unprivate, "json"), encoded(unprivate, "parquet")
    for name in ("covariance_raw", "components"):
        data = json.loads(as_json[name])
        stored = parquet.read_table(pa.BufferReader(as_parquet[name]))
        assert data["private"] is False and stored.schema.metadata[b"private"] == b"false"
        assert data["columns"] == stored.column_names
        assert data["data"] == [list(row.values()) for row in stored.to_pylist()]


def test_csv_of_a_release_that_is_not_private_says_so_in_its_first_line(unprivate, pca):
    assert encoded(unprivate, "csv")["covariance"].startswith(b"# NOT PRIVATE (test noise)\n")
    assert not encoded(pca, "csv")["covariance"].startswith(b"#")


@pytest.fixture
def undrawn(monkeypatch):
    """Pictures are made but not rendered."""
    monkeypatch.setattr("dpspectra.report.pictures.encode", lambda *_: b"")


def test_covariance_has_no_components(undrawn, covariance, tmp_path):
    names = {path.name for path in write(covariance, tmp_path / "report")}
    assert "components.csv" not in names and "loadings.png" not in names
    assert {"covariance.csv", "explained_variance.csv", "report.html"} <= names


def test_an_empty_folder_is_used(quick, unprivate, tmp_path):
    (tmp_path / "report").mkdir()
    assert (tmp_path / "report" / "report.html") in write(unprivate, tmp_path / "report")


def test_a_folder_with_files_is_refused_before_anything_is_drawn(unprivate, tmp_path, monkeypatch):
    (tmp_path / "notes.txt").write_text("mine")
    monkeypatch.setattr(MODULE, "contents", lambda *_: pytest.fail("drawn"))
    with pytest.raises(ParameterError, match="not empty"):
        write(unprivate, tmp_path)
    with pytest.raises(ParameterError, match="name of a file"):
        write(unprivate, tmp_path / "notes.txt")
    with pytest.raises(ParameterError, match="format"):
        write(unprivate, tmp_path / "new", format="xlsx")
    assert [item.name for item in tmp_path.iterdir()] == ["notes.txt"]


def test_overwrite_replaces_its_own_files_only(quick, unprivate, covariance, tmp_path):
    folder = tmp_path / "report"
    write(unprivate, folder)
    (folder / "notes.txt").write_text("mine")
    (folder / "sub").mkdir()
    names = {path.name for path in write(covariance, folder, overwrite=True, format="json")}
    left = {item.name for item in folder.iterdir()}
    assert left == names | {"notes.txt", "sub"}  # no component or CSV of the earlier report stays
    assert (folder / "notes.txt").read_text() == "mine"
    assert (folder / "scree.png").read_bytes() == b"scree.png True"


def test_overwrite_keeps_files_of_a_reports_names_where_no_report_was(quick, covariance, tmp_path):
    folder = tmp_path / "report"
    folder.mkdir()
    (folder / "components.csv").write_text("mine")
    write(covariance, folder, overwrite=True)
    assert (folder / "components.csv").read_text() == "mine"


def test_no_file_holds_a_cell(undrawn, make, tmp_path):
    canary = 6.123456789
    model = make(canary=canary, private=False)  # seeded: no false alarm by chance
    write(model, tmp_path / "report")
    for path in (tmp_path / "report").iterdir():
        assert b"6.123456" not in path.read_bytes()


@pytest.mark.parametrize("place", [("write", "render"), ("pictures", "encode"), ("write", "encode")])
def test_a_failure_while_rendering_leaves_nothing(undrawn, unprivate, tmp_path, monkeypatch, place):
    def fail(*_, **__):
        raise RuntimeError("planted")

    monkeypatch.setattr(import_module(f"dpspectra.report.{place[0]}"), place[1], fail)
    with pytest.raises(RuntimeError, match="planted"):
        write(unprivate, tmp_path / "report")
    assert not list(tmp_path.iterdir())


def tree(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("survives", [0, 3, 17, 25])
def test_a_failure_while_exchanging_is_undone(quick, unprivate, tmp_path, monkeypatch, survives):
    folder = tmp_path / "report"
    write(unprivate, folder)
    (folder / "notes.txt").write_text("mine")
    before, left, replace = tree(folder), [survives], type(folder).replace

    def fails_once(self, target):
        left[0] -= 1
        if left[0] == -1:
            raise OSError("disk full")
        return replace(self, target)

    monkeypatch.setattr(type(folder), "replace", fails_once)
    with pytest.raises(OSError, match="disk full"):
        write(unprivate, folder, overwrite=True, format="json")
    assert tree(folder) == before
    assert [item.name for item in tmp_path.iterdir()] == ["report"]


def test_a_failure_while_flushing_leaves_nothing(quick, unprivate, tmp_path, monkeypatch):
    def fail(_):
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write(unprivate, tmp_path / "report")
    assert not list(tmp_path.iterdir())
