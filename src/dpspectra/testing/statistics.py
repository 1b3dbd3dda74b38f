"""Checks of a noise law. Each states the chance that a right sampler fails it, and none is ever retried.

Rates are exact or upper bounds for every sample size, never asymptotic. They are added up in ``ALARMS``;
a test run prints the sum and fails if it reaches ``LIMIT``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import brentq

Draws = NDArray[np.int64]

RATE = 1e-9
"""False-alarm rate of one check, unless it says otherwise."""
LIMIT = 1e-6
"""What the rates of a whole run must stay below."""


class LawViolation(AssertionError):
    """Draws that a right sampler would give with probability below the check's rate."""


@dataclass
class Alarms:
    """The false-alarm rates that a run has used up, by check."""

    rates: dict[str, float] = field(default_factory=dict)

    def add(self, check: str, rate: float) -> None:
        self.rates[check] = self.rates.get(check, 0.0) + rate

    @property
    def total(self) -> float:
        return math.fsum(self.rates.values())


ALARMS = Alarms()


def log_gaussian(k: NDArray[np.int64], sigma: float) -> NDArray[np.float64]:
    """ln of the discrete Gaussian weight exp(-k^2/(2 sigma^2)), not normalised."""
    return -(np.asarray(k, dtype=np.float64) ** 2) / (2 * sigma**2)


def log_laplace(k: NDArray[np.int64], scale: float) -> NDArray[np.float64]:
    """ln of the discrete Laplace weight exp(-|k|/scale), not normalised."""
    return -np.abs(np.asarray(k, dtype=np.float64)) / scale


def check_law(
    draws: Draws,
    log_weight: Callable[[NDArray[np.int64], float], NDArray[np.float64]],
    scale: float,
    rate: float = RATE,
) -> None:
    """Draws follow exactly the integer law of weights ``exp(log_weight(k, scale))``, for a small scale.

    By ``check_counts``: integers expected at least 25 times have a cell each, the two tails one each.
    """
    far = math.ceil(60 * scale) + 10
    support = np.arange(-far, far + 1)
    weight = np.exp(log_weight(support, scale))
    law = weight / weight.sum()
    edge = int(support[law * draws.size >= 25].max())
    inner = np.abs(support) <= edge
    expected = np.concatenate([[law[support < -edge].sum()], law[inner], [law[support > edge].sum()]])
    counts = np.bincount(np.clip(draws, -edge - 1, edge + 1) + edge + 1, minlength=expected.size)
    check_counts(counts, expected, rate)


def check_counts(counts: NDArray[np.int64], law: NDArray[np.float64], rate: float = RATE) -> None:
    """How often each of K outcomes was seen fits the law (K,), for every number N of independent draws.

    The likelihood-ratio form of chi-square: P(N KL >= x) <= e^-x (e x/(K - 1))^(K - 1) for x > K - 1 at every
    N (Agrawal 2020), which sets the threshold. An outcome of probability zero is a violation.
    """
    ALARMS.add("law", rate)
    seen = counts > 0
    if np.any(law[seen] <= 0):
        raise LawViolation("an outcome that the declared law excludes")
    divergence = float((counts[seen] * np.log(counts[seen] / (counts.sum() * law[seen]))).sum())
    if divergence > _threshold(law.size - 1, rate):
        raise LawViolation("the draws do not follow the declared law")


def check_moments(draws: Draws, sigma: float, rate: float = RATE) -> None:
    """Mean 0 and variance sigma^2 of a Gaussian whose sigma is so large (above 2^20) that rounding is not
    seen: normal and chi-square tails, a quarter of the rate each."""
    ALARMS.add("moments", rate)
    z = np.asarray(draws, dtype=np.float64) / sigma
    mean = float(z.sum()) / math.sqrt(z.size)
    square = float((z**2).sum())
    low, high = stats.chi2.ppf(rate / 4, z.size), stats.chi2.isf(rate / 4, z.size)
    if abs(mean) > stats.norm.isf(rate / 4):
        raise LawViolation("the noise is not centred at zero")
    if not low <= square <= high:
        raise LawViolation(f"the noise has {'too little' if square < low else 'too much'} variance")


def check_independent(first: Draws, second: Draws, rate: float = RATE) -> None:
    """Two batches of Gaussian draws are not correlated (the t law of a correlation, exact)."""
    ALARMS.add("independence", rate)
    size = min(first.size, second.size)
    a, b = (np.asarray(x[:size], dtype=np.float64) for x in (first, second))
    a, b = a - a.mean(), b - b.mean()
    correlation = float(a @ b / math.sqrt((a @ a) * (b @ b)))
    correlation = min(max(correlation, -1 + 1e-15), 1 - 1e-15)
    t = correlation * math.sqrt((size - 2) / (1 - correlation**2))
    if abs(t) > stats.t.isf(rate / 2, size - 2):
        raise LawViolation("two batches of noise depend on each other")


def smallest_fault(draws: int, rate: float = RATE) -> float:
    """The largest factor below 1 on sigma that ``check_moments`` catches half the time."""
    return float(math.sqrt(stats.chi2.ppf(rate / 4, draws) / draws))


def _threshold(freedom: int, rate: float) -> float:
    """x with e^-x (e x/K)^K = rate."""

    def excess(x: float) -> float:
        return -x + freedom * (1 + math.log(x / freedom)) - math.log(rate)

    top = 2.0 * freedom
    while excess(top) > 0:
        top *= 2
    return float(brentq(excess, freedom, top))
