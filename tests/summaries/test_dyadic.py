"""Dyadic counts against exact rational comparisons, at the edges of doubles too."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpspectra.summaries.dyadic import EXTENT, counts

INFINITE = float("inf")


def place(value: float, low: int, high: int) -> int:
    """The bin of a value by exact comparisons with powers of two, as offset from the first."""
    if value == INFINITE:
        return high - low
    found = [r for r in range(low, high) if Fraction(value) >= Fraction(2) ** (r + 1)]
    return len(found)


@given(
    st.lists(st.floats(0, allow_nan=False, allow_subnormal=True), min_size=1, max_size=8),
    st.integers(-12, 3),
    st.integers(0, 15),
)
def test_counts_equal_exact_comparisons(values: list[float], low: int, size: int) -> None:
    high = low + size
    expected = np.zeros(size + 1, dtype=int)
    for value in values:
        expected[place(value, low, high)] += 1
    found = counts(np.array(values)[:, None], low, high)
    assert found.dtype == np.int64
    assert found.tolist() == [expected.tolist()]


def test_edges_fall_to_the_upper_bin_and_ends_take_the_rest() -> None:
    edges = np.array(
        [0.0, 5e-324, 0.25, np.nextafter(0.5, 0), 0.5, 1.0, np.nextafter(2, 0), 2.0, 1e308, np.inf]
    )
    assert counts(edges[:, None], -2, 1).tolist() == [[4, 1, 2, 3]]


@pytest.mark.parametrize("r", [-EXTENT, 0, EXTENT])
def test_one_bin_takes_everything(r: int) -> None:
    assert counts(np.array([[0.0, 1.0], [1e300, np.inf]]), r, r).tolist() == [[2], [2]]


def test_columns_are_counted_apart_and_one_value_moves_one_count() -> None:
    values = np.exp(np.random.default_rng(4).normal(scale=4, size=(60, 3)))
    before = counts(values, -8, 8)
    assert before.shape == (3, 17)
    assert (before.sum(axis=1) == 60).all()
    for other in (0.0, 1e-3, 1.0, 7.0, 1e9, np.inf):
        changed = values.copy()
        changed[17] = other
        move = counts(changed, -8, 8) - before
        assert (move.sum(axis=1) == 0).all()
        assert (np.abs(move).sum(axis=1) <= 2).all()
