"""The secure source: exact laws at small scales, moments at large ones, independence, wrapping, refusals.

False-alarm rate of each statistical test: 1e-9, registered, never retried.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dpspectra.core.errors import InfeasiblePlan
from dpspectra.noise.base import SIGMA_MAX, current
from dpspectra.noise.secure import SecureNoise
from dpspectra.testing import enumerate as exact
from dpspectra.testing.statistics import (
    check_counts,
    check_independent,
    check_law,
    check_moments,
    log_gaussian,
    log_laplace,
)

N = 20_000
NOISE = SecureNoise()


def zeros(size: int = N) -> np.ndarray:
    return np.zeros(size, dtype=np.int64)


@pytest.mark.statistical
@pytest.mark.parametrize("sigma", [0.5, 1.0, 4.3])
def test_small_gaussians_follow_the_discrete_law(sigma: float) -> None:
    check_law(NOISE.gaussian(zeros(), np.full(N, sigma)), log_gaussian, sigma)


@pytest.mark.statistical
@pytest.mark.parametrize("scale", [0.5, 2.0, 6.1])
def test_small_laplaces_follow_the_discrete_law(scale: float) -> None:
    check_law(NOISE.laplace(zeros(), np.full(N, scale)), log_laplace, scale)


@pytest.mark.statistical
@pytest.mark.parametrize("sigma", [2.0**27, 1.7 * 2.0**43, SIGMA_MAX])
def test_large_gaussians_have_the_asked_moments(sigma: float) -> None:
    check_moments(NOISE.gaussian(zeros(), np.full(N, sigma)), sigma)


@pytest.mark.statistical
def test_batches_and_the_chunks_of_two_threads_are_independent() -> None:
    draws = NOISE.gaussian(zeros(4 * 4096), np.full(4 * 4096, 2.0**30))
    check_independent(draws[: 2 * 4096], draws[2 * 4096 :])
    check_independent(draws[:4096], draws[4096 : 2 * 4096])
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: NOISE.gaussian(zeros(4096), np.full(4096, 2.0**30)), range(2))
    check_independent(first, second)


@pytest.mark.statistical
def test_each_entry_gets_its_own_scale() -> None:
    sigma = np.where(np.arange(N) % 2 == 0, 2.0**30, 2.0**34)
    draws = NOISE.gaussian(zeros(), sigma)
    check_moments(draws[::2], 2.0**30)
    check_moments(draws[1::2], 2.0**34)


def test_shape_is_kept_and_the_input_is_not_written_to() -> None:
    values = np.arange(6, dtype=np.int64).reshape(2, 3)
    noisy = NOISE.gaussian(values, np.full((2, 3), 5.0))
    assert noisy.shape == (2, 3)
    assert noisy.dtype == np.int64
    assert values.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_the_sum_wraps_and_never_fails_on_a_cell() -> None:
    top = np.iinfo(np.int64)
    values = np.array([top.max, top.min] * 50, dtype=np.int64)
    for noisy in (NOISE.gaussian(values, np.full(100, 1e6)), NOISE.laplace(values, np.full(100, 1e6))):
        with np.errstate(over="ignore"):
            noise = noisy - values  # wraps back
        assert np.abs(noise).max() < 1e8
        assert (noisy[::2] < 0).any()
        assert (noisy[1::2] > 0).any()


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), 2 * SIGMA_MAX, float("inf")])
def test_scales_that_do_not_fit_are_refused(scale: float) -> None:
    for draw in (NOISE.gaussian, NOISE.laplace):
        with pytest.raises(InfeasiblePlan, match="noise scale"):
            draw(zeros(3), np.full(3, scale))


def test_it_is_the_source_in_force_and_two_calls_differ() -> None:
    source = current()
    assert isinstance(source, SecureNoise)
    assert source.private
    first, second = (source.gaussian(zeros(50), np.full(50, 1e9)) for _ in range(2))
    assert not (first == second).any()


@pytest.mark.statistical
@pytest.mark.parametrize("scales", [(1.5, 1.5), (20.0, 40.0)])
def test_the_first_place_follows_its_law(scales: tuple[float, float]) -> None:
    counts = np.array([0, 2, 9, 30])
    places = np.bincount([NOISE.first(counts, 20, scales) for _ in range(1_500)], minlength=5)
    check_counts(places, np.exp(exact.first(counts, 20, scales)))


@pytest.mark.statistical
def test_the_largest_place_follows_the_exponential_mechanism() -> None:
    scores = np.array([0, 2, 5, 1])
    places = np.bincount([NOISE.largest(scores, 3.0) for _ in range(3_000)], minlength=4)
    check_counts(places, np.exp(exact.largest(scores, 3.0)))


@pytest.mark.statistical
def test_counts_below_the_threshold_are_hidden_and_empty_cells_always() -> None:
    shown = NOISE.threshold(np.repeat([0, 4], [200, N]), 2.5, 6)
    assert not shown[:200].any()
    seen = np.bincount(np.where(shown[200:] > 0, shown[200:] - 5, 0).clip(0, 9), minlength=10)
    check_counts(seen, np.exp(exact.cell(4, list(range(6, 15)), 2.5)))


@pytest.mark.statistical
def test_permutations_are_uniform() -> None:
    orders = np.array([NOISE.permutation(4) for _ in range(6_000)])
    codes = orders @ np.array([64, 16, 4, 1])
    names, counts = np.unique(codes, return_counts=True)
    assert names.size == 24
    check_counts(counts, np.full(24, 1 / 24))
    assert sorted(NOISE.permutation(1_000).tolist()) == list(range(1_000))
