"""Counts of cells and of sizes: plain loops as oracle, chunks, and what one row changes."""

import numpy as np
import pytest

from dpspectra.rows.scores import Scores
from dpspectra.rows.squares import VECTOR_BITS
from dpspectra.summaries.histogram import Cells, Sizes, climb

ONE = np.array([[1, 0], [0, 1], [0, 0]]) * 2**VECTOR_BITS
SCORES = Scores(ONE, np.array([1.0, 0.0, 0.0]), integers=True)
CELLS = Cells(SCORES, (np.array([-2.0, 0.0, 2.0]), np.array([0.0])), groups=3)


def counts(summary, rows, chunks=1):
    parts = [summary.start(3, 20) for _ in range(chunks)]
    for part, block in zip(parts, np.array_split(rows, chunks), strict=True):
        part.add(block)
    for part in parts[1:]:
        parts[0].merge(part)
    return parts[0].result()


def table(n: int = 200, seed: int = 0) -> np.ndarray:
    generator = np.random.default_rng(seed)
    return np.column_stack([generator.integers(-6, 7, size=(n, 3)), generator.integers(0, 3, n)]).astype(
        float
    )


def oracle(rows: np.ndarray) -> np.ndarray:
    found = np.zeros((3, 4, 2), dtype=int)
    for x, y, _, group in rows.tolist():
        first = sum(x - 1 >= edge for edge in (-2, 0, 2))  # a score on an edge belongs to the cell above
        found[int(group), first, int(y >= 0)] += 1
    return found.ravel()


@pytest.mark.parametrize("chunks", [1, 3, 7])
def test_cells_equal_a_loop(chunks: int) -> None:
    rows = table()
    assert np.array_equal(counts(CELLS, rows, chunks), oracle(rows))


def test_every_row_is_counted_once_wherever_it_is() -> None:
    rows = table(9)
    rows[:4, 0] = [2.0**500, -(2.0**500), 1e9, -1e9]
    rows[4:6, 3] = [-7, 99]  # a group that is none falls into the first or last
    assert counts(CELLS, rows).sum() == 9


def test_one_row_moves_two_counts_by_one() -> None:
    generator = np.random.default_rng(5)
    for _ in range(200):
        rows = table(5, int(generator.integers(2**31)))
        other = rows.copy()
        other[2] = table(1, int(generator.integers(2**31)))[0] * generator.choice([1, 100])
        other[2, 3] %= 3
        change = counts(CELLS, rows) - counts(CELLS, other)
        assert change @ change <= 2  # L-cells
        assert abs(change).sum() <= 2
        more = counts(CELLS, np.vstack([rows, other[2]])) - counts(CELLS, rows)
        assert max(more) == 1 == more.sum()


def test_sizes_climb() -> None:
    rungs = np.array([0.0, 1.0, 4.0])
    rows = table()[:, :3]
    found = climb(counts(Sizes(SCORES, rungs), rows, 3), 2)
    scores = np.abs(rows[:, :2] - [1, 0])
    assert found.tolist() == [[int((column <= rung).sum()) for rung in rungs] for column in scores.T]


def test_one_row_moves_all_climbing_counts_one_way() -> None:
    rungs = np.array([0.5, 1.0, 2.0, 4.0])
    generator = np.random.default_rng(6)
    for _ in range(200):
        rows = generator.integers(-6, 7, size=(5, 3)).astype(float)
        other = rows.copy()
        other[0] = generator.integers(-6, 7, size=3)
        change = climb(counts(Sizes(SCORES, rungs), rows), 2) - climb(counts(Sizes(SCORES, rungs), other), 2)
        for one in change:
            assert set(one) <= {0, 1} or set(one) <= {0, -1}  # L-climb
