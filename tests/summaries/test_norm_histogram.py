"""Counts of norms against plain integers; the sensitivity of lemma L-norms."""

import itertools
import math

import numpy as np
import pytest

from dpspectra.summaries.norm_histogram import NormHistogram, bin_count

BITS = 6
R = 2**BITS


def counted(rows: np.ndarray) -> list[int]:
    counts = NormHistogram().start(rows.shape[1], BITS)
    counts.add(rows.astype(np.float64))
    return counts.result().tolist()


def place(row: list[int]) -> int:
    """By rational comparisons."""
    square = max(sum(k * k for k in row), 1)
    return max(j for j in range(2 * BITS + 1) if 255 * square < 256 * R * R / 2**j)


def test_counts_equal_plain_integers() -> None:
    rows = np.array(
        [row for row in itertools.product(range(-9, 65, 3), repeat=2) if row[0] ** 2 + row[1] ** 2 <= R * R]
    )
    expected = [0] * bin_count(BITS)
    for row in rows.tolist():
        expected[place(row)] += 1
    assert counted(rows) == expected


def test_zero_rows_are_in_the_last_bin_and_rows_of_the_bound_in_the_first() -> None:
    assert counted(np.zeros((3, 2)))[-1] == 3
    assert counted(np.array([[R, 0], [0, -R]]))[0] == 2


def test_rows_of_half_the_bound_stay_together_whatever_rounding_did() -> None:
    assert counted(np.array([[R // 2, 0], [R // 2, 1], [R // 2, 2]]))[2] == 3


def test_merging_adds() -> None:
    rows = np.random.default_rng(0).integers(-20, 20, (50, 3))
    parts = [NormHistogram().start(3, BITS) for _ in range(2)]
    for part, half in zip(parts, (rows[:20], rows[20:]), strict=True):
        part.add(half.astype(np.float64))
    parts[0].merge(parts[1])
    assert parts[0].result().tolist() == counted(rows)


@pytest.mark.parametrize("d", [1, 4])
def test_one_row_moves_two_counts_by_one(d: int) -> None:
    rows = np.random.default_rng(1).integers(-R // 3, R // 3, (30, d))
    rows = rows[np.sum(rows**2, axis=1) <= R * R]
    base = np.array(counted(rows[1:]))
    changes = [np.array(counted(rows[[i, *range(1, len(rows))]])) - base for i in range(len(rows))]
    assert all(np.abs(change).sum() == 1 for change in changes)  # added
    swaps = [a - b for a, b in itertools.combinations(changes, 2)]
    assert max(math.sqrt(float(swap @ swap)) for swap in swaps) == pytest.approx(math.sqrt(2))
    assert max(int(np.abs(swap).sum()) for swap in swaps) == 2
