"""Exact sums against Python integers; merging, wrapping, BLAS threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from threadpoolctl import threadpool_limits

from dpspectra.summaries.moments import Moments, MomentSums

BLOCKS = hnp.arrays(
    np.int64, st.tuples(st.integers(0, 12), st.just(3)), elements=st.integers(-(2**19), 2**19)
)


def slow(rows: np.ndarray) -> tuple[list[int], list[list[int]]]:
    whole = [[int(k) for k in row] for row in rows]
    d = rows.shape[1]
    total = [sum(row[i] for row in whole) for i in range(d)]
    return total, [[sum(row[i] * row[j] for row in whole) for j in range(d)] for i in range(d)]


def summed(blocks: list[np.ndarray], bits: int = 20, gram: bool = True) -> MomentSums:
    sums = Moments(gram).start(blocks[0].shape[1], bits)
    for block in blocks:
        sums.add(block.astype(np.float64))
    return sums.result()


@settings(max_examples=100, deadline=None)
@given(BLOCKS, BLOCKS)
def test_matches_python_integers(a: np.ndarray, b: np.ndarray) -> None:
    total, gram = slow(np.vstack([a, b]))
    left, right = Moments().start(3, 20), Moments().start(3, 20)
    left.add(a.astype(np.float64))
    right.add(b.astype(np.float64))
    right.merge(left)
    for result in (summed([a, b]), summed([b, a]), summed([a]) + summed([b]), right.result()):
        assert result.count == len(a) + len(b)
        assert result.gram is not None
        assert result.total.tolist() == total
        assert result.gram.tolist() == gram


def test_long_blocks_stay_exact() -> None:
    """More rows at the edge of the ball than one double product holds: odd squares show a lost unit."""
    rows = np.full((20_001, 1), 2.0**20 - 1)
    result = summed([rows])
    assert result.gram is not None
    assert int(result.gram[0, 0]) == 20_001 * (2**20 - 1) ** 2


def test_sums_wrap_without_a_word() -> None:
    rows = np.full((4096, 1), 2.0**20)
    one = summed([rows])
    total = one
    for _ in range(11):
        total = total + total
    assert total.gram is not None
    assert int(total.gram[0, 0]) == -(2**63)


def test_without_gram() -> None:
    result = summed([np.ones((5, 2))], gram=False)
    assert result.gram is None
    assert (result + result).total.tolist() == [10, 10]
    assert (result + result).gram is None


@pytest.mark.parametrize("threads", [1, 2])
def test_blas_threads(threads: int) -> None:
    rows = np.random.default_rng(3).integers(-(2**16), 2**16, size=(3000, 60)).astype(np.float64)
    exact = rows.astype(np.int64).T @ rows.astype(np.int64)
    with threadpool_limits(threads, "blas"):
        np.testing.assert_array_equal(summed([rows]).gram, exact)


def test_repr_shows_no_sum() -> None:
    assert repr(summed([np.full((3, 2), 4321.0)])) == "MomentSums(d=2)"
