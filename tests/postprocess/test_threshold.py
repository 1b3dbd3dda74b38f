"""The choice of a clipping radius, against plain loops and for what it is meant to do."""

import math

import numpy as np
import pytest

from dpspectra.postprocess.threshold import edge, kept, mean_edge


def plain_edge(counts: list[float], noise: float, d: int) -> int:
    best, place = math.inf, 0
    for j in range(len(counts)):
        t = 0.5**j
        bias = sum(n * max(0.5**i - t, 0) for i, n in enumerate(counts))
        tau = noise * t
        e = 2 * tau * math.sqrt(d)
        trace = sum(n * min(0.5**i, t) for i, n in enumerate(counts))
        error = bias**2 + min(d * (d + 1) * tau**2, e**2 + e * trace / 4)
        if error < best:
            best, place = error, j
    return place


@pytest.mark.parametrize("seed", range(20))
def test_edge_equals_a_plain_loop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = np.where(rng.random(41) < 0.3, rng.integers(0, 5000, 41), 0).astype(float)
    noise, d = 10 ** rng.uniform(-1, 4), int(rng.integers(1, 300))
    assert edge(counts, noise, d) == plain_edge(counts.tolist(), noise, d)


def test_rows_well_inside_the_bound_are_clipped_to_their_own_size() -> None:
    counts = np.zeros(41)
    counts[8] = 50_000
    assert edge(counts, 2.0, 50) == 8
    assert mean_edge(counts, 2.0, 50) == 8


def test_without_noise_nothing_that_is_there_is_clipped() -> None:
    counts = np.zeros(41)
    counts[[3, 10]] = 1, 5000
    assert edge(counts, 0.0, 10) == mean_edge(counts, 0.0, 10) == 0
    assert edge(counts, 1e-6, 10) == mean_edge(counts, 1e-6, 10) == 3  # the largest norm there is


def test_no_rows_seen_ask_for_the_smallest_radius() -> None:
    assert edge(np.zeros(41), 1.0, 5) == 40


def test_kept_needs_a_window_above_the_level() -> None:
    level = 4.0
    counts = np.array([0, 3.9, 0, 4.1, 0, 0, 2.9, 2.9, 0, 2.1, 2.1, 2.1, 2.1, 0, -3.0])
    found = kept(counts, level)
    assert found[3] == 4.1  # alone
    assert (found[6:8] == 2.9).all()  # as two
    assert (found[9:13] == 2.1).all()  # as four
    assert found[1] == 0
    assert found[-1] == 0


def test_a_full_bin_does_not_keep_its_noisy_neighbours() -> None:
    counts = np.zeros(20)
    counts[8:12] = 3.0, 1.0, -1.0, 10_000.0
    assert np.flatnonzero(kept(counts, 4.0)).tolist() == [11]


def test_noise_alone_is_seldom_kept() -> None:
    """Of 2,000 histograms of noise at most 2 % keep anything: 41 bins, three windows, four sds."""
    rng = np.random.default_rng(0)
    assert sum(kept(rng.standard_normal(41), 4.0).any() for _ in range(2000)) < 40
