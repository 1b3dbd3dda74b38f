"""What is shown of noisy cells: projection, smoothing, synthetic points, distances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpspectra.postprocess.score_map import (
    by_group,
    edges,
    laplace_sd,
    nonnegative,
    points,
    smoothed,
    total_variation,
)


def noisy(seed: int, shape: tuple[int, ...] = (2, 5, 4)) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape) * 5 + 2


@given(st.integers(0, 10_000), st.floats(0, 1e4))
def test_projection_is_the_nearest(seed: int, total: float) -> None:
    values = noisy(seed)
    found = nonnegative(values, total)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(total, abs=1e-6)
    # The condition of the nearest point of a convex set, at its corners: one cell holds everything.
    gap = (values - found).ravel()
    assert total * gap.max() <= gap @ found.ravel() + 1e-5 * (1 + total)


def test_groups_keep_their_released_sums() -> None:
    values = noisy(3) + np.array([10.0, -5.0])[:, None, None]
    total = 200.0
    found = by_group(values, total)
    assert found.sum() == pytest.approx(total)
    assert found.min() >= 0
    assert found.sum(axis=(1, 2)) == pytest.approx(nonnegative(values.sum(axis=(1, 2)), total))
    assert not found[1].any()  # its sum is far below 0
    assert by_group(values[:1], total) == pytest.approx(nonnegative(values[:1], total))


def test_counts_that_add_up_stay() -> None:
    values = np.abs(noisy(1))
    assert np.allclose(nonnegative(values, float(values.sum())), values)
    assert not nonnegative(values, 0.0).any()


def test_smoothing_keeps_group_sums_and_weights() -> None:
    values = noisy(2)
    found = smoothed(values)
    assert np.allclose(found.sum(axis=(1, 2)), values.sum(axis=(1, 2)))
    one = np.zeros((1, 5, 5))
    one[0, 2, 2] = 16
    assert smoothed(one)[0, 1:4, 1:4].tolist() == [[1, 2, 1], [2, 4, 2], [1, 2, 1]]
    corner = np.zeros((1, 3, 3))
    corner[0, 0, 0] = 16
    assert smoothed(corner)[0].tolist() == [[9, 3, 0], [3, 1, 0], [0, 0, 0]]


def test_points_are_as_many_as_the_cells_say_and_lie_in_them() -> None:
    counts = np.array([[[1.4, 0.0], [2.6, 3.0]], [[0.5, 0.3], [0.0, 0.2]]])
    ends = np.array([[-1.0, 0.0, 1.0], [0.0, 2.0, 4.0]])
    places, groups = points(counts, ends)
    assert places.shape == (8, 2)
    again, _ = points(counts, ends)
    assert np.array_equal(places, again)
    found = np.histogramdd(np.column_stack([groups, places]), bins=[[-0.5, 0.5, 1.5], ends[0], ends[1]])[0]
    assert found.tolist() == [[[1, 0], [3, 3]], [[1, 0], [0, 0]]]
    assert points(np.zeros((1, 2, 2)), ends)[0].shape == (0, 2)


def test_total_variation() -> None:
    assert total_variation(np.array([1, 1]), np.array([5, 5])) == 0
    assert total_variation(np.array([1, 0]), np.array([0, 2])) == 1
    assert total_variation(np.array([3, 1]), np.array([0, 0])) == pytest.approx(0.25)


def test_edges_are_even_and_symmetric() -> None:
    assert edges(3.0, 4).tolist() == [-3, -1.5, 0, 1.5, 3]


@pytest.mark.parametrize("scale", [0.3, 2.0, 40.0])
def test_laplace_sd(scale: float) -> None:
    values = np.arange(-5000, 5001)
    weights = np.exp(-np.abs(values) / scale)
    assert laplace_sd(scale) == pytest.approx(np.sqrt((weights * values**2).sum() / weights.sum()))
    assert laplace_sd(0.0) == 0
