"""The public geometry of encoded rows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpspectra.core.errors import ParameterError, SchemaError
from dpspectra.core.schema import Column, Schema
from dpspectra.rows.encode import Encoder

MIXED = Schema(
    (
        Column("age", bounds=(0, 100), missing="indicator"),
        Column("sector", "category", categories=("public", "private"), missing="indicator"),
    )
)


def test_features_and_radius() -> None:
    encoder = Encoder.build(MIXED)
    assert encoder.features == ("age", "age_missing", "sector=public", "sector=private", "sector_missing")
    assert encoder.centre == (50.0, 0.0, 0.0, 0.0, 0.0)
    assert encoder.radius == pytest.approx(math.sqrt(50**2 + 1 + 1))
    scaled = Encoder.build(MIXED, scaling="bounds")
    assert scaled.scale == (50.0, 1.0, 1.0, 1.0, 1.0)
    assert scaled.radius == pytest.approx(math.sqrt(3))


def test_origin_zero_and_vector() -> None:
    schema = Schema.from_bounds(([-3, 1], [1, 2]), 2)
    assert Encoder.build(schema, origin="zero").radius == math.hypot(3, 2)
    assert Encoder.build(schema, origin=[-3, 1]).radius == math.hypot(4, 1)
    assert Encoder.build(schema, origin="zero").missing == (-1.0, 1.5)
    one_hot = Encoder.build(MIXED, origin=[50, 0, 1, 0, 0])
    assert one_hot.radius == pytest.approx(math.sqrt(50**2 + 1 + 2))


def test_radius_is_the_smallest_bound() -> None:
    schema = Schema.from_bounds((0, 2), 1)
    assert Encoder.build(schema, row_norm=5).radius == 1.0
    assert Encoder.build(schema, row_norm=0.5).radius == 0.5
    assert Encoder.build(schema, row_norm=0.5, clip=0.25).radius == 0.25
    assert Encoder.build(Schema.from_bounds(None, 2), row_norm=3).radius == 3.0


def test_no_bounds_names_three_ways_out() -> None:
    with pytest.raises(SchemaError, match=r"'x0'.*domain knowledge.*public data.*paid"):
        Encoder.build(Schema.from_bounds(None, 2))
    with pytest.raises(SchemaError, match="needs bounds"):
        Encoder.build(Schema.from_bounds(None, 2), row_norm=1, scaling="bounds")


@pytest.mark.parametrize(
    "wrong",
    [
        {"row_norm": 0},
        {"row_norm": math.nan},
        {"clip": math.inf},
        {"clip": True},
        {"origin": "middle"},
        {"origin": [1.0]},
        {"origin": [math.nan, 0]},
        {"origin": ["a", "b"]},
        {"scaling": "private"},
    ],
)
def test_wrong_parameters(wrong: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        Encoder.build(Schema.from_bounds((0, 1), 2), **wrong)


def test_constant_columns() -> None:
    encoder = Encoder.build(Schema.from_bounds((7, 7), 2), scaling="bounds")
    assert (encoder.radius, encoder.scale) == (1.0, (1.0, 1.0))


def test_ranges_beyond_doubles_are_refused() -> None:
    with pytest.raises(SchemaError, match="rescale"):
        Encoder.build(Schema.from_bounds((0, 1e-320), 1))
    with pytest.raises(SchemaError, match="rescale"):
        Encoder.build(Schema.from_bounds((-8e307, 8e307), 9))


def test_bits_rule() -> None:
    encoder = Encoder.build(Schema.from_bounds((0, 1), 5))
    for rows in (1, 2, 1000, 2**22, 2**22 + 1, 2**24, 2**24 + 1, 2**31, 10**12):
        bits = encoder.bits_for(rows)
        assert rows * 4**bits <= 2**62
        assert bits == 20 or rows * 4 ** (bits + 1) > 2**61
    assert encoder.bits_for(None) == encoder.bits_for(2**22) == 20
    assert encoder.bits_for(2**22 + 1) == 19
    with pytest.raises(SchemaError, match="too coarse"):
        encoder.bits_for(2**60)


def test_dominant_column() -> None:
    """C16: body mass in grams swamps lengths in millimetres; scaling by bounds removes the unit."""
    lo, hi = [30, 13, 150, 2000], [65, 23, 250, 7000]
    names = ["bill", "depth", "flipper", "mass"]
    grams = Schema.from_bounds((lo, hi), names)
    kilos = Schema.from_bounds(([*lo[:3], 2.0], [*hi[:3], 7.0]), names)
    assert Encoder.build(grams).dominant_column() == "mass"
    assert Encoder.build(grams, scaling="bounds").dominant_column() is None
    assert Encoder.build(grams.select(["mass"])).dominant_column() is None
    assert Encoder.build(Schema.from_bounds(None, 2), row_norm=1).dominant_column() is None
    rows = np.array([[40.0, 20.0, 200.0, 3000.0]])
    a = np.empty((1, 4))
    b = np.empty((1, 4))
    Encoder.build(grams, scaling="bounds").quantiser(20)(rows, a)
    Encoder.build(kilos, scaling="bounds").quantiser(20)(rows / [1, 1, 1, 1000], b)
    np.testing.assert_array_equal(a, b)


def test_transform_maps_special_values_only() -> None:
    encoder = Encoder.build(MIXED)
    cells = [[200.0, "public"], [None, "other"], [math.inf, None], [-math.inf, " private "]]
    expected = [[200, 0, 1, 0, 0], [50, 1, 0, 0, 0], [100, 0, 0, 0, 1], [0, 0, 0, 1, 0]]
    np.testing.assert_array_equal(encoder.transform(cells), expected)


def test_transform_without_bounds() -> None:
    encoder = Encoder.build(Schema.from_bounds(None, 2), origin=[1, 2], row_norm=5)
    cells = np.array([[np.nan, np.inf], [-np.inf, 9.0]])
    np.testing.assert_array_equal(encoder.transform(cells), [[1, 7], [-4, 9]])


def test_a_group_column_is_read_and_not_encoded() -> None:
    schema = Schema((*MIXED.columns, Column("g", "category", categories=("a", "b"))))
    encoder = Encoder.build(schema, groups="g")
    assert encoder.features == Encoder.build(MIXED).features
    assert (encoder.radius, encoder.centre) == (Encoder.build(MIXED).radius, Encoder.build(MIXED).centre)
    assert encoder.levels == ("a", "b", "(other)")
    cells = np.array([[1, 0, 1], [2, 1, 0], [3, -1, -1], [4, 0, np.nan]], dtype=float)
    assert encoder.codes(cells).tolist() == [1, 0, 2, 2]
    assert np.array_equal(encoder.expand(cells), Encoder.build(MIXED).expand(cells[:, :2]))
    assert Encoder.build(MIXED).levels == ()
    assert Encoder.build(MIXED).codes(cells).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("columns", "name", "message"),
    [
        (MIXED.columns, "absent", "no column 'absent'"),
        (MIXED.columns, "age", "no column 'age'"),
        (MIXED.columns[1:], "sector", "no other column"),
    ],
)
def test_a_group_column_is_a_category_among_others(columns, name: str, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Encoder.build(Schema(tuple(columns)), groups=name)
