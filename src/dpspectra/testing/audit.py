"""A scalar audit of a Gaussian mechanism: what an attacker measures on the worst pair, against the claim.

The statistic is the projection of the noisy outputs on the whitened difference of the two tables, the best
test there is between two Gaussians: N(0, 1) on one table, N(mu, 1) on its neighbour. Runs are drawn together:
each noise call is repeated ``runs`` times for one visit of the rows, at equal earlier outputs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ..accounting.gaussian import epsilon_for
from ..core.privacy import Adjacency
from ..mechanisms.base import Mechanism
from ..noise.base import FloatArray, IntArray, Noise
from .contract import both, loss, plans_of, run
from .neighbours import Pair, pairs
from .statistics import ALARMS, RATE
from .subject import REAL, Subject


@dataclass(frozen=True)
class Audit:
    """Claim and measurement of one mechanism.

    Attributes
    ----------
    pair : name of the worst pair of neighbours
    claimed_mu, mu_bound : the claim, and a lower bound on mu measured with confidence 1 - ``rate``
    claimed_epsilon, epsilon_bound : the same for epsilon at ``delta``
    smallest_fault : the mildest factor on the noise (below 1) that would be exposed, about half the time
    """

    pair: str
    runs: int
    rate: float
    delta: float
    claimed_mu: float
    mu_bound: float
    claimed_epsilon: float
    epsilon_bound: float
    smallest_fault: float

    @property
    def passed(self) -> bool:
        """No lower bound exceeds its claim. A right mechanism fails with probability at most ``rate``."""
        return self.mu_bound <= self.claimed_mu and self.epsilon_bound <= self.claimed_epsilon


class _Repeated:
    """Draws each noise call ``runs`` times, keeps all, and lets the mechanism go on with the exact input."""

    private = False
    silent = False
    entropy = "repeated for an audit (test)"

    def __init__(self, inner: Noise, runs: int) -> None:
        self._inner, self._runs = inner, runs
        self.draws: list[tuple[IntArray, IntArray, FloatArray]] = []

    def gaussian(self, values: IntArray, sigma: FloatArray) -> IntArray:
        scale = np.broadcast_to(sigma, values.shape).ravel()
        tiled = np.tile(values.ravel(), (self._runs, 1))
        noisy = self._inner.gaussian(tiled, np.tile(scale, (self._runs, 1)))
        self.draws.append((values.ravel().copy(), noisy, scale))
        return values.copy()

    laplace = gaussian


class _Answering(_Repeated):
    """As ``_Repeated``, but the mechanism goes on with given outputs."""

    def __init__(self, inner: Noise, runs: int, outputs: list[IntArray]) -> None:
        super().__init__(inner, runs)
        self._outputs = list(outputs)

    def gaussian(self, values: IntArray, sigma: FloatArray) -> IntArray:
        super().gaussian(values, sigma)
        return self._outputs.pop(0).copy()

    laplace = gaussian


def audit(
    mechanism: Mechanism,
    adjacency: Adjacency,
    *,
    runs: int = 20_000,
    delta: float = 0.01,
    d: int = 3,
    rate: float = RATE,
    subject: Subject = REAL,
) -> Audit:
    """Measure lower bounds on mu, and on epsilon at ``delta``, on the worst pair found.

    Parameters
    ----------
    mechanism, adjacency : what is audited
    runs : runs a side; 400,000 show about 5 % too little noise, 20,000 about 15 %
    delta : where epsilon is read off; a large one, since a tail of 1e-6 needs more runs than anyone has
    d : columns of the tables
    rate : chance that a right mechanism fails (Clopper-Pearson bounds, so exact for every number of runs)
    """
    ALARMS.add("audit", rate)
    pair = worst(mechanism, adjacency, d, subject)
    low, high = _Repeated(subject.source(), runs), None
    _, recorder = run(subject, mechanism, pair.left, adjacency, low)
    high = _Answering(subject.source(), runs, recorder.outputs)
    run(subject, mechanism, pair.right, adjacency, high)
    null, other = _project(low, high)
    plans = plans_of(subject, mechanism, pair.left, adjacency)
    mu_squared = sum((plan.mu_squared for plan in plans), Fraction(0))
    mu = math.sqrt(mu_squared)
    middle, far = mu / 2, _threshold(mu, delta)
    # Two thresholds, fixed by the claim alone, with two bounds each: a quarter of the rate for each bound.
    false, true = _bounds(null, other, middle, rate / 4)
    mu_bound = stats.norm.ppf(true) - stats.norm.ppf(false)
    false, true = _bounds(null, other, far, rate / 4)
    return Audit(
        pair=pair.name,
        runs=runs,
        rate=rate,
        delta=delta,
        claimed_mu=mu,
        mu_bound=float(mu_bound),
        claimed_epsilon=float(epsilon_for(mu_squared, Fraction(delta))),
        epsilon_bound=math.log((true - delta) / false) if true > delta else 0.0,
        smallest_fault=_smallest_fault(mu, runs, rate / 4),
    )


def worst(mechanism: Mechanism, adjacency: Adjacency, d: int = 3, subject: Subject = REAL) -> Pair:
    """The pair of neighbours that costs most over all steps together."""

    def cost(pair: Pair) -> Fraction:
        (_, left), (_, right) = both(subject, mechanism, pair, adjacency)
        calls = zip(left.calls, right.calls, strict=True)
        return sum((loss(a, b, sigma) for (a, sigma), (b, _) in calls), Fraction(0))

    return max(pairs(subject, adjacency, d), key=cost)


def _project(low: _Repeated, high: _Repeated) -> tuple[FloatArray, FloatArray]:
    """The best test's statistic on both sides: mean 0 and mean mu, sd 1 if the noise is as declared."""
    null, other = np.zeros(low.draws[0][1].shape[0]), np.zeros(high.draws[0][1].shape[0])
    square = 0.0
    for (a, left, sigma), (b, right, _) in zip(low.draws, high.draws, strict=True):
        change = (b - a) / sigma
        square += float(change @ change)
        null += (left - a) / sigma @ change
        other += (right - a) / sigma @ change
    return null / math.sqrt(square), other / math.sqrt(square)


def _bounds(
    null: NDArray[np.float64], other: NDArray[np.float64], threshold: float, rate: float
) -> tuple[float, float]:
    """Clopper-Pearson: an upper bound on P(null > t) and a lower bound on P(other > t)."""
    false, true, n = int((null > threshold).sum()), int((other > threshold).sum()), null.size
    upper = 1.0 if false == n else float(stats.beta.isf(rate, false + 1, n - false))
    lower = 0.0 if true == 0 else float(stats.beta.ppf(rate, true, n - true + 1))
    return upper, lower


def _threshold(mu: float, delta: float) -> float:
    """The threshold whose ln((P_mu(T > t) - delta)/P_0(T > t)) is largest under the claim."""
    t = np.linspace(-1, mu + 6, 1401)
    gain = stats.norm.sf(t - mu) - delta
    ratio = np.where(gain > 0, np.log(np.maximum(gain, 1e-300)) - stats.norm.logsf(t), -np.inf)
    return float(t[int(np.argmax(ratio))])


def _smallest_fault(mu: float, runs: int, rate: float) -> float:
    """claim/measured when the bound on mu just meets the claim, with counts at their expectation."""

    def bound(factor: float) -> float:
        # With noise too small by ``factor`` both sides keep the whitened statistic, but scaled.
        false = round(runs * float(stats.norm.sf(mu / 2 / factor)))
        true = round(runs * float(stats.norm.sf(-mu / 2 / factor)))
        upper = stats.beta.isf(rate, false + 1, runs - false)
        lower = stats.beta.ppf(rate, max(true, 1), runs - true + 1)
        return float(stats.norm.ppf(lower) - stats.norm.ppf(upper))

    factors = np.linspace(0.999, 0.2, 400)
    found = [float(factor) for factor in factors if bound(float(factor)) > mu]
    return found[0] if found else 0.0
