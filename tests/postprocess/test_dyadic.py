"""Cuts from counts of dyadic bins, against the risk that they are to minimise."""

import math

import numpy as np
import pytest

from dpspectra.core.facts import Facts, Grid
from dpspectra.core.privacy import Adjacency
from dpspectra.postprocess.dyadic import best_cut, default_bins
from dpspectra.summaries.dyadic import counts

LOW, HIGH = -30, 30


def facts(radius: float) -> Facts:
    return Facts(10, ("a",), Grid(20, radius, (0.0,), (1.0,)), Adjacency.REPLACE_ONE)


@pytest.mark.parametrize(
    ("radius", "bins"), [(1.0, (-39, 1)), (3.0, (-36, 4)), (math.inf, (-64, 127)), (2.0**-3, (-45, -5))]
)
def test_the_last_default_bin_holds_the_largest_square(radius: float, bins: tuple[int, int]) -> None:
    low, high = default_bins(facts(radius))
    assert (low, high) == bins
    if math.isfinite(radius):
        assert 2.0**high <= 2 * radius**2 < 2.0 ** (high + 1)


@pytest.mark.parametrize("tail", ["normal", "t5", "uniform"])
@pytest.mark.parametrize("relative", [0.1, 0.01, 0.001])
@pytest.mark.parametrize("noise", [1e-9, 40.0])
def test_the_cut_is_nearly_the_best(tail: str, relative: float, noise: float) -> None:
    """Bias plus noise at most 1.6 times (2.5 with noisy counts) that of the best power of two."""
    generator, m = np.random.default_rng(1), 20_000
    draws = {
        "normal": generator.normal(size=m),
        "t5": generator.standard_t(5, size=m),
        "uniform": generator.uniform(-1, 1, size=m),
    }[tail]
    w = 37 * draws**2
    exact = counts(w[:, None], LOW, HIGH)[0]

    def risk(cut: float) -> float:
        return float(np.maximum(w - cut, 0).mean() + relative * cut)

    best = min(risk(2.0**j) for j in range(LOW, HIGH))
    noisy = exact + generator.normal(size=exact.shape) * noise
    assert risk(best_cut(noisy, noise, m, relative, LOW)) <= (1.6 if noise < 1 else 2.5) * best


def test_less_noise_cuts_higher() -> None:
    w = np.random.default_rng(2).standard_t(3, size=(10_000, 1)) ** 2
    exact = counts(w, LOW, HIGH)[0]
    found = [best_cut(exact, 1.0, 10_000, relative, LOW) for relative in (0.3, 0.03, 0.003, 0.0003)]
    assert found == sorted(found)
    assert found[-1] > 8 * found[0]


def test_a_second_heap_is_seen() -> None:
    exact = np.zeros(HIGH - LOW + 1)
    exact[30], exact[40] = 900, 100
    assert best_cut(exact, 3.0, 1000, 1e-3, LOW) >= 2.0**10


@pytest.mark.parametrize("seed", range(20))
def test_without_data_the_guess_stays_near_one(seed: int) -> None:
    noisy = np.random.default_rng(seed).normal(size=192) * 100
    assert 2.0**-12 <= best_cut(noisy, 100.0, 50, 0.5, -64) <= 2.0**12


def test_counts_below_zero_are_no_counts() -> None:
    exact = np.full(HIGH - LOW + 1, -5.0)
    exact[35] = 1000
    assert best_cut(exact, 1.0, 1000, 0.01, LOW) in (2.0**5, 2.0**6, 2.0**7)
