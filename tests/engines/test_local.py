"""In-memory tables: every container gives the same integers, and no cell shows."""

from __future__ import annotations

import decimal
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from threadpoolctl import threadpool_limits

from dpspectra.core.errors import ParameterError, SchemaError
from dpspectra.core.privacy import Adjacency
from dpspectra.core.schema import Column, Schema
from dpspectra.engines import LocalTable, describe, open_table
from dpspectra.engines.blocks import block_numbers
from dpspectra.rows.encode import Encoder
from dpspectra.rows.maps import Recentre
from dpspectra.summaries.moments import Moments, MomentSums

NAMES = ["a", "b", "c"]
SCHEMA = Schema.from_bounds((-2, 2), NAMES)
ENCODER = Encoder.build(SCHEMA)


def sums(data: object, encoder: Encoder = ENCODER, **options: object) -> MomentSums:
    return open_table(data, encoder, **options).reduce(Moments())


def same(one: MomentSums, other: MomentSums) -> None:
    assert one.count == other.count
    np.testing.assert_array_equal(one.total, other.total)
    np.testing.assert_array_equal(one.gram, other.gram)


def rows(n: int = 203) -> np.ndarray:
    data = np.random.default_rng(4).normal(size=(n, 3))
    data[3, 1], data[5, 0], data[6, 2], data[7] = np.nan, np.inf, -np.inf, np.nan
    return data


def units(data: object, **build: object) -> np.ndarray:
    """Column sums in encoded units."""
    names = describe(data).columns
    encoder = Encoder.build(Schema.from_bounds(build.pop("bounds"), names), **build)
    table = LocalTable(data, encoder)
    return table.reduce(Moments()).total * table.facts.grid.step


@pytest.mark.parametrize("block_rows", [1, 7, 203, None])
@pytest.mark.parametrize("threads", [1, 2])
def test_chunks_threads_and_containers_agree(block_rows: int | None, threads: int) -> None:
    data, frame = rows(), pd.DataFrame(rows(), columns=NAMES)
    expected = sums(data)
    with threadpool_limits(threads, "blas"):
        for form in (
            data,
            np.asfortranarray(data),
            data.tolist(),
            tuple(map(tuple, data)),
            data.astype(object),
            np.ma.masked_array(np.where(np.isnan(data), 9.0, data), np.isnan(data)),
            frame,
            frame[["c", "a", "b"]],
            frame.astype("Float64"),
            frame.astype("float64[pyarrow]"),
            pl.DataFrame(frame.to_dict("list")),
            pa.Table.from_pandas(frame),
            pa.RecordBatch.from_pandas(frame),
        ):
            same(expected, sums(form, block_rows=block_rows))
            same(expected, sums(form, block_rows=block_rows, adjacency="add-remove"))


def test_two_threads_equal_one() -> None:
    data = np.random.default_rng(5).normal(size=(40_000, 8))
    encoder = Encoder.build(Schema.from_bounds((-1, 1), 8))
    shift = np.arange(8) << 15
    for row_map in (None, Recentre(shift)):
        whole = LocalTable(data, encoder).reduce(Moments(), row_map)
        halves = [LocalTable(part, encoder).reduce(Moments(), row_map) for part in np.split(data, 4)]
        same(whole, halves[0] + halves[1] + halves[2] + halves[3])


@pytest.mark.parametrize("d", [1, 2, 10, 20, 200, 512, 520])
@pytest.mark.parametrize("row_norm", [None, 1.0])
def test_memory_of_a_pass(d: int, row_norm: float | None) -> None:
    """At most two blocks and 2 d^2 numbers beyond the input, also where every row is clipped or filled."""
    data = np.random.default_rng(6).uniform(-1, 1, size=(max(2_100_000 // d, 100), d))
    data[::7] = np.nan
    table = LocalTable(data, Encoder.build(Schema.from_bounds((-1, 1), d), row_norm=row_norm))
    table.reduce(Moments())  # what is loaded once is no part of a pass
    tracemalloc.start()
    table.reduce(Moments())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 8 * (2 * d * d + 2 * block_numbers(d))


@pytest.mark.parametrize("dtype", ["f2", "f4", "i1", "u1", "i8", "bool", ">f8", "longdouble"])
def test_dtypes_are_widened(dtype: str) -> None:
    data = np.array([[100, 0], [100, 1]]).astype(dtype)
    encoder = Encoder.build(Schema.from_bounds((0, 128), 2), origin="zero", clip=128)
    same(sums(data, encoder), sums(data.astype(np.float64), encoder))


def test_c25_int8_products() -> None:
    encoder = Encoder.build(Schema.from_bounds((0, 128), 1), origin="zero")
    table = LocalTable(np.array([[100], [100]], dtype=np.int8), encoder)
    result = table.reduce(Moments())
    assert result.gram is not None
    assert result.gram[0, 0] * table.facts.grid.step**2 == 20_000


def test_c25_arrow_decimal_dictionary_and_nullable() -> None:
    encoder = Encoder.build(Schema.from_bounds((0, 4), ["a", "b"]), origin="zero")
    plain = np.array([[1.5, 3], [np.nan, 2], [2.25, np.nan]])
    money = pa.array([decimal.Decimal("1.50"), None, decimal.Decimal("2.25")])
    table = pa.table({"a": money, "b": pa.array([3, 2, None]).dictionary_encode()})
    same(sums(plain, encoder), sums(table, encoder))
    frame = pd.DataFrame(plain, columns=["a", "b"])
    frame["b"] = pd.array([3, 2, None], dtype="Int64")
    same(sums(plain, encoder), sums(frame, encoder))
    frame["b"] = pd.Categorical([3, 2, None])
    same(sums(plain, encoder), sums(frame, encoder))
    same(sums(plain, encoder), sums(pl.DataFrame({"a": [1.5, None, 2.25], "b": [3, 2, None]}), encoder))


def test_categories_in_every_container() -> None:
    column = Column("a", "category", categories=("x", "y"), missing="indicator")
    encoder = Encoder.build(Schema((column, Column("b", bounds=(0, 1)))))
    letters, numbers = ["x", " y", "other", None, "x"], [0.0, 1.0, 0.5, None, 0.25]
    frame = pd.DataFrame({"a": letters, "b": numbers})
    expected = sums(list(zip(letters, numbers, strict=True)), encoder)
    assert (expected.total[:3] / (1 << 20) * encoder.radius).round(3).tolist() == [2, 1, 1]
    for form in (
        frame,
        frame.astype({"a": object}),
        frame.astype({"a": "category"}),
        frame.astype({"a": "string[pyarrow]"}),
        pl.DataFrame({"a": letters, "b": numbers}),
        pl.DataFrame({"a": letters, "b": numbers}).cast({"a": pl.Categorical}),
        pa.table({"a": letters, "b": numbers}),
        pa.table({"a": pa.array(letters).dictionary_encode(), "b": numbers}),
        np.array([letters, numbers], dtype=object).T,
    ):
        same(expected, sums(form, encoder))


def test_numeric_categories() -> None:
    columns = (Column("a", "category", categories=(1, 2)), Column("b", "category", categories=("true",)))
    encoder = Encoder.build(Schema(columns))
    data = np.array([[1, 1], [2, 0], [3, 1], [np.nan, 0]])
    frame = pd.DataFrame({"a": pd.array([1, 2, 3, None], dtype="Int64"), "b": [True, False, True, False]})
    expected = sums(data, encoder)
    assert (expected.total / (1 << 20) * encoder.radius).round(3).tolist() == [1, 1, 2]
    same(expected, sums(frame, encoder))
    same(expected, sums(pa.Table.from_pandas(frame), encoder))


@pytest.mark.parametrize("column", [["q", "r"], pd.Categorical(["q", "r"]), pd.to_datetime(["2020", "2021"])])
def test_text_and_dates_are_refused_by_name(column: object) -> None:
    frame = pd.DataFrame({"a": [0.0, 1.0], "b": column, "c": [0.0, 0.0]})
    for form in (frame, pa.Table.from_pandas(frame)):
        with pytest.raises(SchemaError, match="column 'b'") as caught:
            sums(form)
        assert "2020" not in str(caught.value)
        assert "'q'" not in str(caught.value)


def test_cells_never_raise() -> None:
    class Rude:
        def __float__(self) -> float:
            raise RuntimeError("canary-731")

    odd = [["canary-731", 10**400, None], [Rude(), -(10**400), pd.NA], [b"x", 1j, [1, 2]]]
    mapped = [[np.nan, np.inf, np.nan], [np.nan, -np.inf, np.nan], [np.nan] * 3]
    same(sums(odd), sums(np.array(mapped)))
    ragged = [[0.5, "0.25", True], "abc", [1], None]
    same(sums(ragged), sums(np.array([[0.5, 0.25, 1], *[[np.nan] * 3] * 3])))


def test_caller_data_are_unchanged(tmp_path) -> None:
    """C24: C and F order, read-only, memory-mapped."""
    data = rows()
    np.save(tmp_path / "x.npy", data)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    frozen = data.copy()
    frozen.flags.writeable = False
    for form in (data, np.asfortranarray(data), frozen, mapped):
        before = np.array(form)
        same(sums(rows()), sums(form))
        LocalTable(form, ENCODER).reduce(Moments(), Recentre(np.array([1, 2, 3])))
        ENCODER.transform(form)
        np.testing.assert_array_equal(before, form)


def test_c01_clipped_before_summing() -> None:
    low = np.vstack([np.full((99, 2), 0.5), [[1, 1]]])
    high = np.vstack([np.full((99, 2), 0.5), [[1e9, 1e9]]])
    encoder = Encoder.build(Schema.from_bounds((0, 1), 2))
    same(sums(low, encoder), sums(high, encoder))


def test_c02_sensitivity_about_the_public_centre() -> None:
    encoder = Encoder.build(Schema.from_bounds(None, 2), origin=[10, 0], row_norm=1)
    x = sums([[10, 0]] * 5 + [[9, 0]], encoder)
    y = sums([[10, 0]] * 5 + [[11, 0]], encoder)
    level = 1 << 20
    assert np.linalg.norm((x.total - y.total).astype(float)) <= 2 * level
    assert np.linalg.norm((x.gram - y.gram).astype(float)) <= np.sqrt(2) * level**2


def test_c03_rows_are_clipped_then_added() -> None:
    np.testing.assert_allclose(units([[3, 4], [3, 4]], bounds=None, row_norm=1), [1.2, 1.6], atol=4e-6)


def test_c04_second_moment_bound() -> None:
    encoder = Encoder.build(Schema.from_bounds((0, 10), 1), origin="zero")
    assert encoder.radius**2 == 100


def test_c05_special_values_are_finite() -> None:
    np.testing.assert_allclose(units(np.array([[np.nan], [5], [np.inf]]), bounds=(0, 1)), [1.0])
    half = np.full(2, np.sqrt(0.5))
    np.testing.assert_allclose(units([[np.inf, 1]], bounds=None, row_norm=1), half, atol=1e-5)


def test_c08_c09_same_flow_and_silence() -> None:
    """Neighbours, one with a NaN and one with a far row: same calls, no warning, no text."""
    clean = np.full((50, 2), 0.5)
    logs = []
    for cell in (0.5, np.nan, 2.5, np.inf, 1e308, -1e308):
        data = clean.copy()
        data[0, 0] = cell
        seen: list[int] = []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            encoder = Encoder.build(Schema.from_bounds(None, 2), row_norm=1)
            table = LocalTable(data, encoder, progress=seen.append)
            table.reduce(Moments())
        logs.append((seen, [str(w.message) for w in caught], repr(table)))
    assert all(log == logs[0] for log in logs)
    assert logs[0][1] == []


def test_c28_any_order_is_one_integer() -> None:
    encoder = Encoder.build(Schema.from_bounds((-1, 1), 1))
    ones, minus = np.ones((3048, 1), np.float16), -np.ones((1000, 1), np.float16)
    a, b = sums(np.vstack([ones, minus]), encoder), sums(np.vstack([minus, ones]), encoder)
    same(a, b)
    assert a.total[0] == 2048 << 20


@pytest.mark.parametrize("shape", [(10, 3), (1, 3), (2, 7), (4, 1)])
def test_c15_degenerate_tables(shape: tuple[int, int]) -> None:
    result = sums(np.zeros(shape), Encoder.build(Schema.from_bounds((-1, 1), shape[1])))
    assert not result.total.any()
    constant = sums(np.full(shape, 7.0), Encoder.build(Schema.from_bounds((7, 7), shape[1])))
    assert not constant.gram.any()


def test_facts_and_rows() -> None:
    table = LocalTable(rows(), ENCODER)
    assert (table.facts.rows, table.facts.features, table.facts.grid.bits) == (203, tuple(NAMES), 20)
    private = LocalTable(rows(), ENCODER, Adjacency.ADD_REMOVE, rows_max=2**24)
    assert (private.facts.rows, private.facts.grid.bits) == (None, 19)
    assert "203" not in repr(private)
    seen: list[int] = []
    LocalTable(rows(), ENCODER, block_rows=100, progress=seen.append).reduce(Moments())
    assert seen == [100, 200, 203]
    LocalTable(rows(), ENCODER, "add-remove", progress=seen.append).reduce(Moments())
    assert len(seen) == 3
    assert LocalTable(rows(), ENCODER, bits=12).facts.grid.bits == 12
    with pytest.raises(ParameterError, match="block_rows"):
        LocalTable(rows(), ENCODER, block_rows=0)


def test_empty_table() -> None:
    """n = 0 is a schema fault under replace-one and an ordinary private table under add/remove."""
    with pytest.raises(SchemaError, match="0 rows"):
        sums(np.empty((0, 3)))
    assert sums(np.empty((0, 3)), adjacency="add-remove").count == 0
    assert sums([], adjacency="add-remove").count == 0


def test_c14_declared_rows() -> None:
    encoder = Encoder.build(Schema.from_bounds((-2, 2), NAMES, rows=5000))
    with pytest.raises(SchemaError, match="rows = 5000"):
        open_table(rows(), encoder, whole=True)
    assert open_table(rows(), encoder).facts.rows == 203
    open_table(rows(), encoder, "add-remove", whole=True)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (np.zeros(3), "Reshape your data"),
        (np.zeros((2, 2)), "2 columns but the schema has 3"),
        (np.zeros((2, 0)), r"0 feature\(s\)"),
        (np.zeros((2, 3), complex), "complex"),
        (np.array([["canary", "1", "2"]]), "'a' holds text"),
        ([[1.0, 2.0]], "2 columns"),
        (object(), "not a table"),
        (pd.DataFrame({"a": [1.0], "b": [2.0]}), "not found in the table: 'c'"),
        (pd.DataFrame(np.zeros((1, 4)), columns=["a", "b", "c", "c"]), "more than once in the table: 'c'"),
        (pa.table({"canary": [1.0]}), "not found"),
    ],
)
def test_shape_faults(data: object, said: str) -> None:
    with pytest.raises(SchemaError, match=said) as caught:
        sums(data)
    assert "canary" not in str(caught.value)


def test_sparse_is_refused() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(SchemaError, match="sparse"):
        sums(sparse.csr_array(np.zeros((2, 3))))


def test_describe() -> None:
    frame = pd.DataFrame(rows(), columns=NAMES)
    assert describe(rows()) == (None, 3, 203)
    assert describe(rows().tolist()) == (None, 3, 203)
    for form in (frame, pl.DataFrame(frame.to_dict("list")), pa.Table.from_pandas(frame)):
        assert describe(form) == (("a", "b", "c"), 3, 203)
    assert describe(pd.DataFrame(rows())) == (None, 3, 203)
    same(sums(rows()), sums(pd.DataFrame(rows())))


class _Kept:
    """A summary that keeps the rows it was given."""

    def start(self, d, bits):
        self.blocks = []
        return self

    def add(self, block):
        self.blocks.append(block.copy())

    def result(self):
        return np.concatenate(self.blocks)


def test_groups_come_as_one_more_column() -> None:
    schema = Schema((Column("x", bounds=(-1, 1)), Column("g", "category", categories=("5", "7"))))
    cells = np.array([[0.5, 7], [-1, 5], [9, 8], [np.nan, np.nan]])
    table = open_table(cells, Encoder.build(schema, groups="g"), block_rows=3)
    assert table.facts.groups == ("5", "7", "(other)")
    assert table.facts.features == ("x",)
    one = 2.0**table.facts.grid.bits
    expected = [[one / 2, 1], [-one, 0], [one, 2], [0, 2]]
    assert table.reduce(_Kept(), groups=True).tolist() == expected
    assert table.reduce(_Kept()).tolist() == [row[:1] for row in expected]
    plain = open_table(cells[:, :1], Encoder.build(schema.select(["x"])))
    assert plain.reduce(_Kept(), groups=True)[:, 1].tolist() == [0, 0, 0, 0]
