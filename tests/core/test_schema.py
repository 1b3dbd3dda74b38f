"""Schemas: validation by name, TOML there and back, bounds in every form."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpspectra.core.errors import ParameterError, SchemaError
from dpspectra.core.schema import Column, Reading, Schema

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
NUMBERS = st.floats(-1e9, 1e9)


@given(st.lists(NAMES, min_size=1, max_size=4, unique=True), NUMBERS, st.floats(0, 1e6), NAMES)
def test_toml_reads_back_equal(names: list[str], lo: float, width: float, label: str) -> None:
    schema = Schema.from_bounds((lo, lo + width), names, label=label, rows=5)
    assert Schema.from_toml(schema.to_toml()) == schema


def test_all_fields_read_back(tmp_path) -> None:
    schema = Schema(
        (
            Column("age", bounds=(0, 120), missing="indicator"),
            Column("sector", "category", categories=("private", 'a "b"\n', 3)),
            Column("free"),
        ),
        label="patients",
        unit="visit",
        rows_max=100,
        reading=Reading(";", ",", ".", ("", "?"), "latin-1", "'"),
    )
    schema.write(tmp_path / "s.toml")
    assert Schema.read(tmp_path / "s.toml") == schema
    assert schema.columns[1].categories == ("private", 'a "b"', "3")
    assert schema.columns[0].features == ("age", "age_missing")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "at least one column"),
        ("[columns.age]\nbounds = []", "'age': bounds are empty: fill in"),
        ("[columns.age]\nbounds = [2, 1]", "'age': bounds must be in order"),
        ("[columns.age]\nbounds = [0, inf]", "'age': bounds and their difference must be finite"),
        ("[columns.age]\nbounds = [-1e308, 1e308]", "'age': bounds and their difference"),
        ('[columns.age]\nbounds = ["0", "1"]', "'age': bounds must be two numbers"),
        ("[columns.age]\nbounds = [1]", "'age': bounds must be"),
        ("[columns.age]\nbound = [0, 1]", "'age': unknown keys 'bound'"),
        ('[columns.age]\nkind = "text"', "'age': kind must be"),
        ('[columns.age]\nkind = "category"', "'age': a category needs categories"),
        ('[columns.age]\nkind = "category"\ncategories = []', "'age': categories are empty"),
        ('[columns.age]\nkind = "category"\ncategories = ["a", "a"]', "'age': categories repeat"),
        ('[columns.age]\nmissing = "drop"', "'age': missing must be"),
        ("[columns]\nage = 3", "'age': write it as"),
        ("[table]\nrows = 0\n[columns.age]\nbounds=[0,1]", "rows must be a positive integer"),
        ("[tabel]\nrows = 1", "unknown keys 'tabel'"),
        ('[reading]\ndelimiter = ";;"\n[columns.age]', "delimiter must be one ASCII"),
        ('[reading]\ndecimal = ";"\n[columns.age]', "decimal must be"),
        ('[reading]\nencoding = "nope"\n[columns.age]', "encoding is not"),
        ("[columns.age", "not valid TOML"),
    ],
)
def test_faults_are_named(text: str, said: str) -> None:
    with pytest.raises(SchemaError, match=said.replace("[", r"\[")):
        Schema.from_toml(text)


def test_constant_column_is_allowed() -> None:
    assert Column("one", bounds=(1, 1)).bounds == (1.0, 1.0)


def test_repeated_names_and_features() -> None:
    with pytest.raises(SchemaError, match="'a'"):
        Schema((Column("a"), Column("a")))
    with pytest.raises(SchemaError, match="one feature name"):
        Schema((Column("a", missing="indicator"), Column("a_missing")))


def test_bounds_in_every_form() -> None:
    one = Schema.from_bounds((0, 1), 2)
    assert one.names == ("x0", "x1")
    assert one == Schema.from_bounds(([0, 0], [1, 1]), 2) == Schema.from_bounds((0, [1, 1]), ["x0", "x1"])
    assert one == Schema.from_bounds({"x1": (0, 1), "x0": (0, 1)}, ["x0", "x1"])
    assert Schema.from_bounds(None, 2).columns[0].bounds is None
    assert one.select(["x1"]).names == ("x1",)


@pytest.mark.parametrize("bounds", [3, "01", (1, 2, 3), ([0], [1, 1]), ([0, 0, 0], 1)])
def test_bounds_of_wrong_shape(bounds: object) -> None:
    with pytest.raises(ParameterError, match="bounds"):
        Schema.from_bounds(bounds, 2)


def test_bounds_by_name_must_fit() -> None:
    with pytest.raises(SchemaError, match="no pair for columns 'b'"):
        Schema.from_bounds({"a": (0, 1)}, ["a", "b"])
    with pytest.raises(SchemaError, match="unknown columns 'c'"):
        Schema.from_bounds({"a": (0, 1), "c": (0, 1)}, ["a"])
    with pytest.raises(SchemaError, match="not in the schema: 'z'"):
        Schema.from_bounds((0, 1), ["a"]).select(["z"])


def test_unreadable_file(tmp_path) -> None:
    with pytest.raises(SchemaError, match="cannot be read"):
        Schema.read(tmp_path / "absent.toml")


@pytest.mark.parametrize(
    "entry",
    [
        *({"na_values": value} for value in (5, True, [1], ["\ud800"])),
        *({"encoding": value} for value in ("hex", "rot13", "idna", "punycode", "undefined", "a\0b", 5)),
        *({"thousands": value} for value in ("e", "n", "+", "-", "\n")),
        {"delimiter": "\0"},
    ],
)
def test_reading_that_cannot_read_numbers(entry: dict[str, Any]) -> None:
    with pytest.raises(SchemaError, match="reading"):
        Reading(**entry)


def test_text_that_cannot_be_written() -> None:
    with pytest.raises(SchemaError):
        Column("\ud800", bounds=(0, 1))
    with pytest.raises(SchemaError):
        Column("a", kind="category", categories=("\ud800",))
