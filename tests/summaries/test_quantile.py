"""The unbounded quantile: exact counts, ladders, and the privacy loss of its law by exact enumeration.

The law of the stopping place is a finite sum over the threshold noise (its tail is bounded by 1e-16 of the
whole), so losses below are exact to 1e-9.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpspectra.postprocess.quantile import geometric, reached, shifted, stopped, target
from dpspectra.summaries.quantile import counts


def law(visited: list[int], goal: int, e1: float, e2: float) -> np.ndarray:
    """P(place) of the first i with count_i + V_i >= goal + V; V_i, V geometric with rates e2, e1."""
    v = np.arange(math.ceil(60 / e1))
    log_weight = -e1 * v + np.log(-np.expm1(-e1))
    log_run, places = np.zeros(len(v)), []
    for count in visited:
        gap = np.maximum(goal + v - count, 0)
        log_stop = -e2 * gap  # P(V_i >= gap)
        places.append(np.exp(log_weight + log_run + log_stop).sum())
        with np.errstate(divide="ignore"):
            log_run = log_run + np.log(-np.expm1(log_stop))
    places.append(np.exp(log_weight + log_run).sum())
    return np.array(places)


def pairs() -> list[tuple[list[int], list[int], int]]:
    """Counts of neighbours, the right ones higher by 0 or 1 in one block, and a target."""
    plateaus = [
        ([g - c] * length + [g + 80], [g - c + 1] * length + [g + 80], g)
        for g in (50, 200)
        for c, length in itertools.product((1, 2, 5, 12, 25, 40), (1, 3, 20, 400))
    ]
    blocks = []
    rng = np.random.default_rng(4)
    for _ in range(40):
        visited = np.sort(rng.integers(0, 30, size=12))
        start, stop = np.sort(rng.integers(0, 13, size=2))
        moved = visited + ((np.arange(12) >= start) & (np.arange(12) < stop))
        blocks.append((visited.tolist(), np.maximum.accumulate(moved).tolist(), int(rng.integers(1, 30))))
    return plateaus + blocks


RATES = [(0.5, 0.5), (1.0, 1.0), (0.25, 0.5), (0.1, 0.1)]


@pytest.mark.parametrize(("e1", "e2"), RATES)
def test_the_loss_stays_in_its_interval_and_reaches_both_ends(e1: float, e2: float) -> None:
    least, most = math.inf, -math.inf
    for left, right, goal in pairs():
        p, q = law(left, goal, e1, e2), law(right, goal, e1, e2)
        assert p.sum() == pytest.approx(1, abs=1e-9)
        seen = (p > 1e-12) & (q > 1e-12)
        loss = np.log(p[seen] / q[seen])
        least, most = min(least, loss.min()), max(most, loss.max())
    assert -e2 - 1e-6 <= least <= -0.99 * e2
    assert 0.99 * (e1 + e2) <= most <= e1 + e2 + 1e-6


@pytest.mark.parametrize(("e1", "e2"), RATES)
def test_the_divergences_stay_below_that_of_the_range(e1: float, e2: float) -> None:
    rho = (e1 + 2 * e2) ** 2 / 8
    for left, right, goal in pairs():
        p, q = law(left, goal, e1, e2), law(right, goal, e1, e2)
        for a, b in ((p, q), (q, p)):
            for order in (1.01, 2, 8, 64):
                terms = order * np.log(a[a > 0]) + (1 - order) * np.log(b[a > 0])
                divergence = np.logaddexp.reduce(terms) / (order - 1)
                assert divergence <= order * rho + 1e-9


def test_a_law_that_claims_too_much_is_caught() -> None:
    """Threshold noise of half the scale breaks the interval on the same pairs."""
    e1 = e2 = 0.5
    losses = [
        np.log(p[(p > 1e-12) & (q > 1e-12)] / q[(p > 1e-12) & (q > 1e-12)]).max()
        for left, right, goal in pairs()
        for p, q in [(law(left, goal, 2 * e1, e2), law(right, goal, 2 * e1, e2))]
    ]
    assert max(losses) > e1 + e2 + 0.2


def test_counts_are_those_of_a_plain_loop_and_move_one_way() -> None:
    rng = np.random.default_rng(2)
    rungs = geometric(8.0, 30, 10)
    for _ in range(50):
        values = rng.choice([0.0, rungs[3], 1.0, 9.0, 1e300], size=20) * rng.choice([1.0, 0.5], size=20)
        found = counts(values, rungs)
        assert found.tolist() == [sum(x <= t for x in values) for t in rungs]
        values[rng.integers(20)] = rng.exponential()
        change = counts(values, rungs) - found
        assert np.abs(change).max(initial=0) <= 1
        assert (change >= 0).all() or (change <= 0).all()


def test_ladders_end_where_they_say() -> None:
    assert shifted()[-1] == pytest.approx(147.04, abs=0.01)
    assert shifted(10, 1.5, 2.0)[0] == pytest.approx(2.5)
    rungs = geometric(3.0)
    assert (len(rungs), rungs[-1]) == (200, 3.0)
    assert rungs[0] == pytest.approx(3.0 * 2.0**-40)
    np.testing.assert_allclose(np.diff(np.log(rungs)), np.log(rungs[1] / rungs[0]))


def test_targets_and_ends() -> None:
    assert [target(Fraction(9, 10), m) for m in (0, 1, 10, 11)] == [1, 1, 9, 10]
    rungs = geometric(1.0, 5, 4)
    assert reached(rungs, 2) == rungs[2]
    assert reached(rungs, 5) == 1.0
    assert [stopped(rungs, place) for place in (4, 5)] == [True, False]
