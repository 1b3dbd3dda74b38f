"""Checkers of a noise law pass right draws and catch wrong ones. Seeds are fixed: nothing is by chance."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from dpspectra.testing.statistics import (
    ALARMS,
    LIMIT,
    Alarms,
    LawViolation,
    check_independent,
    check_law,
    check_moments,
    log_gaussian,
    log_laplace,
    smallest_fault,
)

N = 60_000


def inverse(log_weight, scale: float, seed: int, size: int = N) -> np.ndarray:
    """Draws from the integer law by its distribution function."""
    support = np.arange(-400, 401)
    law = np.exp(log_weight(support, scale))
    return np.random.default_rng(seed).choice(support, size, p=law / law.sum())


@pytest.mark.parametrize("log_weight", [log_gaussian, log_laplace])
@pytest.mark.parametrize("scale", [0.4, 1.0, 3.7, 20.0])
def test_right_draws_pass(log_weight, scale: float) -> None:
    check_law(inverse(log_weight, scale, 1), log_weight, scale)


@pytest.mark.parametrize("log_weight", [log_gaussian, log_laplace])
def test_ten_percent_too_little_noise_is_caught(log_weight) -> None:
    with pytest.raises(LawViolation):
        check_law(inverse(log_weight, 0.9 * 3.7, 1), log_weight, 3.7)


def test_another_law_of_the_same_variance_is_caught() -> None:
    draws = np.rint(np.random.default_rng(1).laplace(0, 3 / 2**0.5, N)).astype(np.int64)
    with pytest.raises(LawViolation):
        check_law(draws, log_gaussian, 3.0)


def test_a_rounded_normal_is_told_from_a_discrete_gaussian_at_a_small_sigma() -> None:
    draws = np.rint(np.random.default_rng(1).normal(0, 0.5, N)).astype(np.int64)
    with pytest.raises(LawViolation):
        check_law(draws, log_gaussian, 0.5)


def test_moments() -> None:
    sigma = 2.0**30
    draws = np.rint(np.random.default_rng(1).normal(0, sigma, N)).astype(np.int64)
    check_moments(draws, sigma)
    for wrong in (0.95 * draws, 1.05 * draws, draws + 0.05 * sigma):
        with pytest.raises(LawViolation):
            check_moments(wrong.astype(np.int64), sigma)
    assert 0.97 < smallest_fault(N) < 1


def test_dependence_is_caught() -> None:
    generator = np.random.default_rng(1)
    a, b = (generator.normal(0, 1e9, N).astype(np.int64) for _ in range(2))
    check_independent(a, b)
    for wrong in (a, -a, b + a // 10):
        with pytest.raises(LawViolation):
            check_independent(a, wrong)


def test_rates_add_up() -> None:
    alarms = Alarms()
    alarms.add("a", 1e-9)
    alarms.add("a", 1e-9)
    alarms.add("b", 3e-9)
    assert alarms.total == pytest.approx(5e-9)
    assert ALARMS.total < LIMIT


def test_the_run_fails_when_the_rates_reach_the_limit(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(Path(__file__).parents[1] / "conftest.py")
    hooks = next(p for p in pytestconfig.pluginmanager.get_plugins() if getattr(p, "__file__", "") == path)
    session = SimpleNamespace(config=SimpleNamespace(), exitstatus=pytest.ExitCode.OK)
    for rate, status in ((9e-7, pytest.ExitCode.OK), (LIMIT, pytest.ExitCode.TESTS_FAILED)):
        monkeypatch.setattr(hooks, "ALARMS", Alarms({"one": rate}))
        hooks.pytest_sessionfinish(session, 0)
        assert session.exitstatus == status
