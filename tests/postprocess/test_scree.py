"""Noisy variances become a scree: not negative, not rising, with honest shares and intervals."""

import itertools

import numpy as np
import pytest

from dpspectra.postprocess.scree import monotone, scree


def brute(values):
    """The closest non-increasing sequence: the best of all ways to cut it into blocks of equal values."""
    best, found = np.inf, None
    k = len(values)
    for cuts in itertools.product([0, 1], repeat=k - 1):
        edges = [0, *(i + 1 for i, cut in enumerate(cuts) if cut), k]
        fit = np.concatenate([np.full(b - a, np.mean(values[a:b])) for a, b in itertools.pairwise(edges)])
        if (np.diff(fit) <= 1e-12).all() and (loss := np.sum((fit - values) ** 2)) < best:
            best, found = loss, fit
    return found


@pytest.mark.parametrize("seed", range(20))
def test_monotone_is_the_closest_falling_sequence(seed):
    values = np.random.default_rng(seed).normal(size=5)
    np.testing.assert_allclose(monotone(values), np.maximum(brute(values), 0), atol=1e-12)


def test_shares_add_to_one_or_are_all_zero():
    some = scree(np.array([3.0, 1.0, 2.0, -1.0]), np.full(4, 0.1))
    np.testing.assert_allclose(some.values, [3, 1.5, 1.5, 0])
    np.testing.assert_allclose(some.ratios, [0.5, 0.25, 0.25, 0])
    none = scree(np.array([-3.0, -1.0]), np.full(2, 0.1))
    assert (none.values == 0).all() and (none.ratios == 0).all()
    assert np.isnan(none.ratio_intervals).all()


def test_the_edge_is_passed_by_noise_once_in_a_hundred():
    draws = np.random.default_rng(0).normal(0, 2.0, size=100_000)
    found = scree(draws, np.full(draws.size, 2.0))
    assert np.mean(found.resolved) == pytest.approx(0.01, abs=0.0025)  # 8 sds


def test_intervals_hold_the_value_before_noise():
    """Variances 9, 4, 1 with noise sd .3, 20,000 draws: 90 % each, and of their shares."""
    exact, sd = np.array([9.0, 4.0, 1.0]), np.full(3, 0.3)
    noise = np.random.default_rng(1).normal(size=(4000, 3)) * sd
    made = [scree(exact + e, sd) for e in noise]
    shares = exact / exact.sum()
    for name, truth in (("intervals", exact), ("ratio_intervals", shares)):
        ends = np.array([getattr(one, name) for one in made])
        held = ((ends[:, :, 0] <= truth) & (truth <= ends[:, :, 1])).mean(axis=0)
        np.testing.assert_allclose(held, 0.9, atol=0.035)


def test_no_interval_where_squares_may_be_cut():
    found = scree(np.array([2.0, 1.0]), np.full(2, 0.1), valid=np.array([True, False]))
    assert np.isfinite(found.intervals[0]).all() and np.isnan(found.intervals[1]).all()
    assert np.isnan(found.ratio_intervals).all()
