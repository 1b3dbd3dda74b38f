"""The secure source where only a place, a hidden cell or an order is let out: the laws are exact.

False-alarm rate of each statistical test: 1e-9, registered, never retried. The expected laws are computed
apart from the sampler (``testing/enumerate.py``, or here).
"""

import math
from collections.abc import Callable, Sequence
from itertools import permutations

import numpy as np
import pytest

from dpspectra.noise.secure import SecureNoise, _geometric
from dpspectra.testing import enumerate as exact
from dpspectra.testing.sources import SeededNoise
from dpspectra.testing.statistics import LawViolation, check_counts

NOISE = SecureNoise()
N = 1_000


def seen(draw: Callable[[], int], outcomes: int, runs: int = N) -> np.ndarray:
    return np.bincount([draw() for _ in range(runs)], minlength=outcomes)


def array(values: Sequence[int]) -> np.ndarray:
    return np.array(values, dtype=np.int64)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("counts", "target", "scales"),
    [([0, 1, 3, 6, 9], 5, (2.0, 2.0)), ([0, 0, 1], 4, (1.5, 3.0)), ([2] * 12 + [40], 9, (4.0, 0.8))],
)
def test_first(counts: list[int], target: int, scales: tuple[float, float]) -> None:
    law = np.exp(exact.first(array(counts), target, scales))
    found = seen(lambda: NOISE.first(array(counts), target, scales), len(counts) + 1)
    check_counts(found, law)


@pytest.mark.statistical
@pytest.mark.parametrize("scale", [0.4, 2.0, 7.5])
def test_one_sided_geometrics(scale: float) -> None:
    top = math.ceil(6 * scale)
    law = np.append(np.exp(-np.arange(top) / scale) * -np.expm1(-1 / scale), math.exp(-top / scale))
    check_counts(np.bincount(np.minimum(_geometric(scale, 10_000), top), minlength=top + 1), law)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("scores", "scale"), [([0, 1, 2, 5], 2.0), ([7, 7, 7], 0.5), ([-40, 3, 0, 1, 9, 8], 6.0)]
)
def test_largest_is_the_exponential_mechanism(scores: list[int], scale: float) -> None:
    weight = np.exp(array(scores) / scale)
    check_counts(seen(lambda: NOISE.largest(array(scores), scale), len(scores)), weight / weight.sum())


@pytest.mark.statistical
def test_threshold_hides_empty_cells_and_small_counts() -> None:
    counts, scale, least = np.tile(array([0, 1, 4, 9]), N), 2.0, 6
    noisy = NOISE.threshold(counts, scale, least).reshape(N, 4)
    assert not noisy[:, 0].any()
    assert ((noisy == 0) | (noisy >= least)).all()
    for column, count in enumerate([1, 4, 9], start=1):
        starts = [*range(least, least + 8)]
        law = np.exp(exact.cell(count, starts, scale))
        places = np.searchsorted(starts, noisy[:, column], side="right")
        check_counts(np.bincount(places, minlength=len(starts) + 1), law)


@pytest.mark.statistical
def test_permutations_are_uniform() -> None:
    known = {order: i for i, order in enumerate(permutations(range(4)))}
    found = seen(lambda: known[tuple(NOISE.permutation(4).tolist())], 24)
    check_counts(found, np.full(24, 1 / 24))


def test_a_permutation_holds_every_row_once_and_is_fresh() -> None:
    first, second = NOISE.permutation(1000), NOISE.permutation(1000)
    assert sorted(first.tolist()) == list(range(1000))
    assert first.tolist() != second.tolist()
    assert NOISE.permutation(0).size == 0


@pytest.mark.parametrize(("asked", "drawn"), [((2.0, 2.0), (2.0, 1.5)), ((2.0, 2.0), (1.0, 2.0))])
def test_a_wrong_scale_is_caught(asked: tuple[float, float], drawn: tuple[float, float]) -> None:
    """A seeded source stands in, so nothing here is by chance."""
    counts, source = array([0, 1, 3, 6, 9]), SeededNoise(1)
    found = seen(lambda: source.first(counts, 5, drawn), 6, 20_000)
    with pytest.raises(LawViolation):
        check_counts(found, np.exp(exact.first(counts, 5, asked)))


def test_noise_that_is_not_gumbel_is_caught() -> None:
    """Exponential noise is permute-and-flip, which chooses the largest more often."""
    generator, scores = np.random.default_rng(1), array([0, 1, 2, 5])
    found = seen(lambda: int(np.argmax(scores + generator.exponential(2.0, 4))), 4, 20_000)
    with pytest.raises(LawViolation):
        check_counts(found, np.exp(exact.largest(scores, 2.0)))
