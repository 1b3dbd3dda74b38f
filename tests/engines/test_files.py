"""Tables in files: same integers as in memory, whatever the format; faults show no cell."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpspectra.core.errors import SchemaError
from dpspectra.core.schema import Column, Reading, Schema
from dpspectra.engines import FileTable, LocalTable, describe, lines, open_table, template
from dpspectra.rows.encode import Encoder
from dpspectra.summaries.moments import Moments, MomentSums

NAMES = ["a", "b", "c"]
CANARY = "canary-4711"


def encoder(reading: Reading | None = None, names: list[str] = NAMES) -> Encoder:
    return Encoder.build(Schema.from_bounds((-2, 2), names, reading=reading or Reading()))


def sums(data: object, chosen: Encoder, **options: object) -> MomentSums:
    return open_table(data, chosen, **options).reduce(Moments())


def same(one: MomentSums, other: MomentSums) -> None:
    assert one.count == other.count
    np.testing.assert_array_equal(one.total, other.total)
    np.testing.assert_array_equal(one.gram, other.gram)


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def frame(n: int = 300) -> pd.DataFrame:
    data = np.random.default_rng(6).normal(size=(n, 3))
    data[2, 0] = np.nan
    data[9] = np.nan
    return pd.DataFrame(data, columns=NAMES).assign(z=[f"text {i}, x" for i in range(n)])


def test_every_format_gives_the_same_integers(tmp_path: Path) -> None:
    table = frame()
    expected = LocalTable(table[NAMES], encoder()).reduce(Moments())
    folder, csvs = tmp_path / "parts", tmp_path / "csvs"
    folder.mkdir()
    csvs.mkdir()
    for i in range(3):
        part = table.iloc[i * 100 : (i + 1) * 100]
        part.to_parquet(folder / f"{i}.parquet", row_group_size=17)
        part.to_csv(csvs / f"{i}.csv", index=False)
    (folder / "_SUCCESS").touch()
    table[["z", "c", "b", "a"]].to_parquet(tmp_path / "x.parquet")
    table.to_csv(tmp_path / "x.csv", index=False)
    table.to_csv(tmp_path / "x.csv.gz", index=False)
    table.to_csv(tmp_path / "quoted.csv", index=False, quoting=1)
    table.to_csv(tmp_path / "crlf.csv", index=False, lineterminator="\r\n", encoding="utf-8-sig")
    stored = (
        folder,
        csvs,
        str(folder / "*.parquet"),
        tmp_path / "x.parquet",
        tmp_path / "x.csv",
        tmp_path / "x.csv.gz",
        tmp_path / "quoted.csv",
        tmp_path / "crlf.csv",
        ds.dataset(folder),
        ds.dataset(pa.Table.from_pandas(table)),
    )
    for data in stored:
        for block_rows in (1, 7, 300, None):
            same(expected, sums(data, encoder(), block_rows=block_rows))
        same(expected, sums(data, encoder(), adjacency="add-remove"))
        assert open_table(data, encoder()).facts.rows == 300
        assert open_table(data, encoder(), "add-remove").facts.rows is None


def test_declared_reading(tmp_path: Path) -> None:
    table = frame(40)[NAMES]
    expected = LocalTable(table, encoder()).reduce(Moments())
    for delimiter, decimal, encoding in ((";", ",", "utf-8"), ("\t", ".", "utf-16"), ("|", ",", "latin-1")):
        path = tmp_path / "x.csv"
        table.to_csv(path, index=False, sep=delimiter, decimal=decimal, encoding=encoding, na_rep="?")
        chosen = encoder(Reading(delimiter=delimiter, decimal=decimal, encoding=encoding))
        same(expected, sums(path, chosen))


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("1", 1),
        (" 1.5 ", 1.5),
        ("+.5", 0.5),
        ("1.", 1),
        ("15e-1", 1.5),
        ("-inf", -np.inf),
        ("Infinity", np.inf),
        ("1e999", np.inf),
        ("1,2", np.nan),
        ("NA", np.nan),
        ("", np.nan),
        ("-", np.nan),
        ("?", np.nan),
        ("0x10", np.nan),
        ("1 2", np.nan),
        ("nan(1)", np.nan),
        ("\xff", np.nan),
        ("1\x00", np.nan),
        (CANARY, np.nan),
        ("1" * 400, np.inf),
        ("\u0661", np.nan),
    ],
)
def test_number_cells(tmp_path: Path, cell: str, value: float) -> None:
    for quote in ("", '"'):
        reading = Reading(delimiter=";", encoding="latin-1" if "\xff" in cell else "utf-8")
        body = f"a;b\n{quote}{cell}{quote};1\n0.25;1\n".encode(reading.encoding)
        path = write(tmp_path / "x.csv", body)
        chosen = encoder(reading, ["a", "b"])
        same(sums(np.array([[value, 1], [0.25, 1]]), chosen), sums(path, chosen))


def test_thousands_and_na_values(tmp_path: Path) -> None:
    schema = Schema.from_bounds((-9999, 9999), ["a"], reading=Reading(thousands=",", na_values=("-999",)))
    chosen = Encoder.build(schema)
    path = write(tmp_path / "x.csv", 'a\n"1,234.5"\n-999\n7\n')
    same(sums([[1234.5], [None], [7]], chosen), sums(path, chosen))
    german = Schema.from_bounds((-9999, 9999), ["a"], reading=Reading(";", ",", "."))
    same(sums([[1234.5]], chosen), sums(write(path, "a\n1.234,5\n"), Encoder.build(german)))


def test_categories(tmp_path: Path) -> None:
    letters = Column("a", "category", categories=("x", "?", "3"), missing="indicator")
    schema = Schema((letters, Column("b", bounds=(0, 1))))
    chosen = Encoder.build(schema)
    path = write(tmp_path / "x.csv", 'a,b\nx,1\n ? ,0\nother,1\n"NA",\n"3","0.5"\n')
    cells = [["x", 1], ["?", 0], ["other", 1], [None, None], ["3", 0.5]]
    same(sums(cells, chosen), sums(path, chosen))


RAGGED = 'a,b\n1,0.5\n2\n\n1,2,3\n"open,1\n1"x,0.25\nx"y,"z\n0.5,0.5\r0.5\n"a""b",1\n0.1,0.2'


def test_ragged_lines_are_rows_of_missing_cells(tmp_path: Path) -> None:
    nan = np.nan
    cells = np.array([[1, 0.5], *[[nan, nan]] * 4, [nan, 0.25], [nan, nan], [0.5, nan], [nan, 1], [0.1, 0.2]])
    chosen = encoder(names=["a", "b"])
    path = write(tmp_path / "x.csv", RAGGED)
    same(sums(cells, chosen), sums(path, chosen))
    same(sums(cells, chosen), sums(write(path, RAGGED + "\n"), chosen))


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=40).filter(lambda b: b"\n" not in b))
def test_no_line_changes_the_number_of_rows(tmp_path_factory: pytest.TempPathFactory, line: bytes) -> None:
    """Neighbours that differ in one line of any bytes: same n, same other rows, no error."""
    path = write(tmp_path_factory.getbasetemp() / "any.csv", b"a,b\n0.5,0.5\n" + line + b"\n0.25,1\n")
    table = FileTable(path, encoder(names=["a", "b"]))
    assert table.facts.rows == table.reduce(Moments()).count == 3
    first, second, third = next(lines.blocks(path, table._encoder.schema))
    assert (first.tolist(), third.tolist()) == ([0.5, 0.5], [0.25, 1])
    assert second.shape == (2,)


def test_chunks_end_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "x.csv", RAGGED * 3)
    chosen = encoder(names=["a", "b"])
    expected = sums(path, chosen)
    for size in (1, 2, 5, 64):
        monkeypatch.setattr(lines, "CHUNK", size)
        same(expected, sums(path, chosen))
        assert open_table(path, chosen).facts.rows == expected.count


def test_overlong_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "CHUNK", 16)
    monkeypatch.setattr(lines, "LONGEST", 64)
    chosen = encoder(names=["a", "b"])
    path = write(tmp_path / "x.csv", "a,b\n1,1\n" + "9" * 1000 + ",1\n0.5,0.5\n")
    result = sums(path, chosen)
    assert result.count == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{CANARY},b,c\n1,2,3\n", "not found in the table: 'a'"),
        (f"{CANARY},{CANARY},7\n1,2,3\n", "must hold the column names"),
        (f"a;b;c\n1;2;{CANARY}\n", "delimiter"),
        ("a,b,c,a\n1,2,3,4\n", "more than once in the table: 'a'"),
        ("", "not found"),
    ],
)
def test_header_faults_show_no_cell(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(SchemaError, match=said) as caught:
        sums(write(tmp_path / "x.csv", text), encoder())
    assert CANARY not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_repeated_names_that_are_not_read_are_fine(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "z,a,z,b,c\n9,1,9,0.5,0\n")
    same(sums([[1, 0.5, 0]], encoder()), sums(path, encoder()))


def test_header_only(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "a,b,c\n")
    with pytest.raises(SchemaError, match="0 rows"):
        sums(path, encoder())
    assert sums(path, encoder(), adjacency="add-remove").count == 0


def test_unreadable_files(tmp_path: Path) -> None:
    truncated = gzip.compress(f"a,b,c\n1,2,{CANARY}\n".encode() * 99)[:-20]
    damaged = {
        "x.csv.gz": truncated,
        "y.csv.gz": b"a,b,c\n1,2,3\n",
        "x.parquet": CANARY.encode(),
        "x.dat": b"a,b,c\n",
    }
    for name, body in damaged.items():
        with pytest.raises(SchemaError) as caught:
            sums(write(tmp_path / name, body), encoder())
        assert CANARY not in str(caught.value)
    with pytest.raises(SchemaError, match="no CSV or Parquet file"):
        sums(tmp_path / "absent.csv", encoder())
    with pytest.raises(SchemaError, match="both"):
        sums(tmp_path, encoder())


def test_types_are_checked_before_reading(tmp_path: Path) -> None:
    table = pa.table({"a": [1.0], "b": [CANARY], "c": [1.0]})
    pq.write_table(table, tmp_path / "x.parquet")
    for data in (tmp_path / "x.parquet", ds.dataset(tmp_path / "x.parquet")):
        with pytest.raises(SchemaError, match="'b' holds text") as caught:
            sums(data, encoder())
        assert CANARY not in str(caught.value)
    write(tmp_path / "x.csv", "a,b,c\n1,2,3\n")
    with pytest.raises(SchemaError, match="give the path"):
        sums(ds.dataset(tmp_path / "x.csv", format="csv"), encoder())


def test_describe_and_template(tmp_path: Path) -> None:
    frame(10).to_parquet(tmp_path / "x.parquet", index=False)
    frame(10).to_csv(tmp_path / "x.csv", index=False)
    assert describe(tmp_path / "x.parquet") == (("a", "b", "c", "z"), 4, 10)
    assert describe(tmp_path / "x.csv") == (("a", "b", "c", "z"), 4, None)
    assert describe(ds.dataset(tmp_path / "x.parquet")).rows is None
    text = template(tmp_path / "x.parquet")
    assert 'kind = "category"\ncategories = []' in text
    assert text.count("bounds = []") == 3
    with pytest.raises(SchemaError, match="'a': bounds are empty"):
        Schema.from_toml(text)
    for data in (tmp_path / "x.parquet", tmp_path / "x.csv"):
        text = template(data).replace("bounds = []", "bounds = [-2, 2]")
        filled = Schema.from_toml(text.replace("categories = []", 'categories = ["u"]'))
        assert filled.names == ("a", "b", "c", "z")
    assert "text 1" not in text


def test_progress_under_replace_one_only(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    frame(10).to_csv(path, index=False)
    seen: list[int] = []
    sums(path, encoder(), block_rows=4, progress=seen.append)
    assert seen == [4, 8, 10]
    sums(path, encoder(), adjacency="add-remove", progress=seen.append)
    assert seen == [4, 8, 10]
