"""Rows on the grid against a slow oracle in exact integers and fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dpspectra.core.schema import Schema
from dpspectra.rows.clip import ball, squared_norms
from dpspectra.rows.encode import Encoder
from dpspectra.rows.maps import Recentre

CELLS = st.one_of(
    st.floats(width=64, allow_nan=True, allow_infinity=True),
    st.floats(-3, 3),
    st.sampled_from([0.0, 1.0, -1.0, 0.5, math.nan, math.inf, -math.inf]),
)


def squares(rows: np.ndarray) -> list[int]:
    return [sum(int(k) ** 2 for k in row) for row in rows]


def oracle(row: np.ndarray, encoder: Encoder, bits: int) -> list[int]:
    """One row by the specification: floor((x - c) f + 1/2), then the whole points of the box, then the ball.

    The half is taken off the centre, so the doubles are (x - (c - 1/(2 f))) * f.
    """
    level = 2.0**bits
    whole = []
    for x, c, s, lo, hi, m in zip(
        row, encoder.centre, encoder.scale, encoder.lower, encoder.upper, encoder.missing, strict=True
    ):
        factor = level / (s * encoder.radius)
        x, missing = (m, True) if math.isnan(x) else (min(max(x, lo), hi), False)
        k = math.floor(Fraction((x - (c - 0.5 / factor)) * factor))
        if not missing:
            k = min(max(k, math.ceil((lo - c) * factor)), math.floor((hi - c) * factor))
        whole.append(k)
    total = sum(k * k for k in whole)
    if total > 4**bits:
        whole = [math.trunc(k * (level / math.sqrt(total))) for k in whole]
        if sum(k * k for k in whole) > 4**bits:
            whole = [math.trunc(k * (1 - math.sqrt(len(whole)) / level)) for k in whole]
    return whole


@settings(max_examples=150, deadline=None)
@given(
    hnp.arrays(np.float64, st.tuples(st.integers(0, 6), st.integers(1, 5)), elements=CELLS),
    st.sampled_from([6, 12, 20]),
    st.sampled_from(["none", "bounds"]),
    st.sampled_from(["bounds", "zero"]),
    st.sampled_from([None, 0.3]),
)
def test_matches_the_oracle(
    data: np.ndarray, bits: int, scaling: str, origin: str, row_norm: float | None
) -> None:
    d = data.shape[1]
    bounds = ([-1.0 - i for i in range(d)], [2.0] * d)
    encoder = Encoder.build(Schema.from_bounds(bounds, d), scaling=scaling, origin=origin, row_norm=row_norm)
    out = np.empty(data.shape)
    encoder.quantiser(bits)(data, out)
    assert all(total <= 4**bits for total in squares(out))
    expected = np.array([oracle(row, encoder, bits) for row in data]).reshape(data.shape)
    assert np.abs(out - expected).max(initial=0) <= 2  # far rows are brought near by a power of two first
    near = (np.abs(expected) < 2**bits / 4).all(axis=1)
    np.testing.assert_array_equal(out[near], expected[near])


def test_direction_is_kept_however_far_the_row() -> None:
    encoder = Encoder.build(Schema.from_bounds(None, 2), row_norm=1)
    rows = np.array([[3.0, 4.0], [3e9, 4e9], [-3e200, 4e200]])
    out = np.empty((3, 2))
    encoder.quantiser(20)(rows, out)
    np.testing.assert_allclose(out / 2**20, [[0.6, 0.8], [0.6, 0.8], [-0.6, 0.8]], atol=4e-6)


@settings(max_examples=200, deadline=None)
@given(
    hnp.arrays(
        np.int64,
        st.tuples(st.integers(1, 8), st.integers(1, 40)),
        elements=st.integers(-(2**21), 2**21),
    ),
    st.sampled_from([8, 14, 20]),
)
def test_ball_never_exceeds_the_radius(rows: np.ndarray, bits: int) -> None:
    before = np.clip(rows, -(2 << bits), 2 << bits).astype(np.float64)
    after = ball(before.copy(), bits)
    for total, old, new in zip(squares(before), before, after, strict=True):
        assert sum(int(k) ** 2 for k in new) <= 4**bits
        if total <= 4**bits:
            np.testing.assert_array_equal(old, new)


def test_second_scaling_is_reached_and_enough() -> None:
    """Just outside rows, where the rounded factor may leave a row outside."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(4000, 3))
    rows = np.ceil(np.abs(rows) / np.linalg.norm(rows, axis=1)[:, None] * 2.0**20)
    axis = np.array([[2.0**20 + i, 0.0, 0.0] for i in range(1, 2000)])
    assert max(squares(ball(np.vstack([rows, axis]), 20))) <= 4**20


def test_wide_rows_have_an_exact_norm() -> None:
    """d > 8192 at q = 20: a double sum of all squares is no longer exact."""
    d = 9000
    row = np.full((1, d), 2.0**20)
    assert squared_norms(row, 20)[0] == d * 4.0**20
    assert squares(ball(row.copy(), 20))[0] <= 4**20
    edge = np.zeros((2, d))
    edge[:, 0] = 2.0**20
    edge[1, -1] = 1.0  # outside by one unit in 4**20
    clipped = ball(edge.copy(), 20)
    np.testing.assert_array_equal(clipped[0], edge[0])
    assert squares(clipped)[1] <= 4**20


@pytest.mark.parametrize("d", [1, 3, 20, 1100])
def test_memory_order_and_dtype_do_not_matter(d: int) -> None:
    rng = np.random.default_rng(2)
    data = rng.integers(-100, 100, size=(501, d)).astype(np.int8)
    encoder = Encoder.build(Schema.from_bounds((-50, 60), d), row_norm=40)
    results = []
    for form in (data, data.astype(np.float64), np.asfortranarray(data), data[::-1].copy()[::-1]):
        out = np.empty(data.shape)
        encoder.quantiser(20)(form, out)
        results.append(out)
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)


@settings(max_examples=100, deadline=None)
@given(hnp.arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(2, 4)), elements=CELLS))
def test_one_box_for_all_columns_changes_nothing(data: np.ndarray) -> None:
    """The short way by least and greatest number, against a table whose last column has another box."""
    rows, d = data.shape
    same = Schema.from_bounds((-1, 2), d)
    other = Schema.from_bounds(([-1.0] * d + [0.0], [2.0] * d + [0.0]), d + 1)
    short, long = np.empty((rows, d)), np.empty((rows, d + 1))
    Encoder.build(same).quantiser(12)(data, short)
    Encoder.build(other).quantiser(12)(np.column_stack([data, np.zeros(rows)]), long)
    np.testing.assert_array_equal(short, long[:, :d])


def test_halves_round_up() -> None:
    encoder = Encoder.build(Schema.from_bounds((-4, 4), 1))
    out = np.empty((4, 1))
    encoder.quantiser(2)(np.array([[0.5], [1.5], [-0.5], [-1.5]]), out)
    np.testing.assert_array_equal(out[:, 0], [1, 2, 0, -1])


def test_recentre_then_clip() -> None:
    encoder = Encoder.build(Schema.from_bounds((-1, 1), 2), row_norm=1)
    shift = np.array([1 << 19, 0])
    data = np.array([[0.5, 0.0], [-1.0, 0.0], [np.nan, 0.25]])
    out = np.empty((3, 2))
    encoder.quantiser(20)(data, out, Recentre(shift))
    np.testing.assert_array_equal(out[:2], [[0, 0], [-(1 << 20), 0]])
    np.testing.assert_array_equal(out[2], [-(1 << 19), 1 << 18])
    encoder.quantiser(20)(data, out, Recentre(np.array([2**62, -(2**62)])))
    assert max(squares(out)) <= 4**20


def test_c29_the_centre_is_subtracted_first() -> None:
    encoder = Encoder.build(Schema.from_bounds((1e5, 1e5 + 4e-5), 1))
    data = 1e5 + np.array([[0.0], [1.0], [2.0], [3.0]]) * 1e-5
    out = np.empty((4, 1))
    encoder.quantiser(20)(data, out)
    step = encoder.grid(20).step
    assert np.var(out * step) == pytest.approx(np.var(data - 1e5), rel=1e-5)
