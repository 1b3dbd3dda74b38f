"""An audit of a mechanism: what an attacker measures on the worst pair of neighbours, against the claim.

Two kinds of measurement, both at given earlier outputs:

- *Gaussian steps*: their noise is drawn ``runs`` times a side from the source in force and projected on the
  whitened difference of the two exact inputs, the best test there is between two Gaussians: N(0, 1) on one
  table, N(mu, 1) on its neighbour.
- *All other steps*: the laws of the outcome on both tables are enumerated (``enumerate.py``), so their losses
  are exact; outcomes are drawn from these laws where they are added to those of the Gaussian steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy import stats

from ..accounting.compose import epsilon_at
from ..core.privacy import Adjacency
from ..core.released import StepPlan
from ..mechanisms.base import Mechanism
from ..noise.base import FloatArray, Noise
from . import enumerate as exact
from .losses import Call, spent
from .neighbours import Pair
from .sources import ExactNoise
from .statistics import ALARMS, RATE
from .subject import REAL, Subject, charges_of
from .trace import Trace, taken, trace

_BOUNDS = 6
"""Clopper-Pearson bounds of an audit: two of mu, two of epsilon each way; each has a part of the rate."""
_PILOT = 50_000


@dataclass(frozen=True)
class Choice:
    """A step that is not Gaussian: its stated epsilon and the largest privacy loss of an outcome, exact.

    For a threshold ``measured`` leaves out the outcomes that its delta pays for.
    """

    step: str
    claimed: float
    measured: float


@dataclass(frozen=True)
class Audit:
    """Claim and measurement of one mechanism.

    Attributes
    ----------
    pair : name of the worst pair of neighbours
    claimed_mu, mu_bound : of the Gaussian steps together: the claim, and a lower bound measured with
        confidence 1 - ``rate``; both 0 if there are none
    choices : the other steps
    claimed_epsilon, epsilon_bound : of the whole at ``delta``: what the accountant says, and a lower bound
    smallest_fault : the mildest factor on the noise (below 1) that would be exposed, about half the time
    """

    pair: str
    runs: int
    rate: float
    delta: float
    claimed_mu: float
    mu_bound: float
    choices: tuple[Choice, ...]
    claimed_epsilon: float
    epsilon_bound: float
    smallest_fault: float

    @property
    def passed(self) -> bool:
        """No lower bound exceeds its claim. A right mechanism fails with probability at most ``rate``."""
        chosen = all(choice.measured <= choice.claimed * (1 + 1e-9) for choice in self.choices)
        return chosen and self.mu_bound <= self.claimed_mu and self.epsilon_bound <= self.claimed_epsilon


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
    """Measure what the worst pair found tells an attacker, step by step and as a whole.

    Parameters
    ----------
    mechanism, adjacency : what is audited
    runs : runs a side; 400,000 show about 5 % too little noise, 20,000 about 15 %
    delta : where epsilon is read off; a large one, since a tail of 1e-6 needs more runs than anyone has
    d : columns of the tables
    rate : chance that a right mechanism fails (Clopper-Pearson bounds, so exact for every number of runs)
    """
    ALARMS.add("audit", rate)
    seen = _worst(mechanism, adjacency, d, subject)
    gaussian = [step for step in seen.steps if step[0].law == "gaussian"]
    others = [step for step in seen.steps if step[0].law != "gaussian"]
    laws = [law for step in others for law in _laws(*step)]
    choices = tuple(
        Choice(step[0].name, float(step[0].charge.epsilon or 0), _measured(*step)) for step in others
    )
    null, other, reach = _project(gaussian, subject.source(), runs)
    mu = math.sqrt(sum((plan.mu_squared for plan, _, _ in gaussian), Fraction(0)))
    part = rate / _BOUNDS
    mu_bound, mu_fault = 0.0, 0.0
    if reach:
        false, true = _bounds(null, other, mu / 2, part)
        mu_bound, mu_fault = stats.norm.ppf(true) - stats.norm.ppf(false), _smallest_fault(mu, runs, part)
    generator = np.random.default_rng()
    left, right = (
        reach * score - reach**2 / 2 + _chosen(laws, side, runs, generator)
        for side, score in enumerate((null, other))
    )
    low, high = (
        reach * generator.normal(side * reach, 1, _PILOT)
        - reach**2 / 2
        + _chosen(laws, side, _PILOT, generator)
        for side in (0, 1)
    )
    adapted = subject.adapt(mechanism)
    slack = adapted.slack(subject.open(np.zeros_like(seen.pair.left), adjacency).facts)
    charges = charges_of(adapted, seen.plans)
    return Audit(
        pair=seen.pair.name,
        runs=runs,
        rate=rate,
        delta=delta,
        claimed_mu=mu,
        mu_bound=float(mu_bound),
        choices=choices,
        claimed_epsilon=float(epsilon_at(charges, Fraction(delta), slack).epsilon),
        epsilon_bound=max(
            _epsilon(left, right, _threshold(low, high, delta, runs, part), delta, part),
            _epsilon(-right, -left, _threshold(-high, -low, delta, runs, part), delta, part),
        ),
        smallest_fault=max([mu_fault, *(choice.measured / choice.claimed for choice in choices)]),
    )


def worst(mechanism: Mechanism, adjacency: Adjacency, d: int = 3, subject: Subject = REAL) -> Pair:
    """The pair of neighbours that costs most over all steps together."""
    return _worst(mechanism, adjacency, d, subject).pair


def _worst(mechanism: Mechanism, adjacency: Adjacency, d: int, subject: Subject) -> Trace:
    """Its runs without noise. Costs of different laws are compared in rho, which they all have."""
    seen = [
        trace(subject, mechanism, *each, adjacency, ExactNoise())
        for each in taken(subject, mechanism, adjacency, d)
    ]
    return max(seen, key=lambda one: sum(spent(*step).rho or Fraction(0) for step in one.steps))


def _laws(plan: StepPlan, left: Call, right: Call) -> list[tuple[exact.Logs, exact.Logs]]:
    """ln P of the outcomes of each independent part of a step, on both tables; none for a law that has no
    enumeration."""
    first, second = left.values, right.values
    own, *rest = (float(scale) for scale in left.scale.ravel())
    if plan.law == "first":
        p, q = (exact.first(counts, int(rest[1]), (own, rest[0])) for counts in (first, second))
        return [(p, q)]
    if plan.law == "largest":
        return [(exact.largest(first, own), exact.largest(second, own))]
    if plan.law == "laplace":
        return exact.laplace(first, second, left.scale)
    return exact.threshold(first, second, own, math.ceil(rest[0])) if plan.law == "threshold" else []


def _measured(plan: StepPlan, left: Call, right: Call) -> float:
    """The largest privacy loss, either way: enumerated, or the formula of ``losses.py`` where nothing is."""
    laws = _laws(plan, left, right)
    if plan.law == "threshold":  # outcomes that one table excludes are what delta pays for
        laws = [(p[shared], q[shared]) for p, q in laws if (shared := np.isfinite(p) & np.isfinite(q)).any()]
    if plan.law == "wishart":
        return float(spent(plan, left, right).epsilon or 0)
    return max(sum(exact.loss(*law[::way]) for law in laws) for way in (1, -1))


def _chosen(
    laws: Sequence[tuple[exact.Logs, exact.Logs]], side: int, runs: int, generator: np.random.Generator
) -> FloatArray:
    """The sum of ln q/p over outcomes drawn from the laws of one side (0: p, 1: q)."""
    score = np.zeros(runs)
    for law in laws:
        weight = np.exp(law[side])
        with np.errstate(invalid="ignore"):
            tells = np.clip(law[1] - law[0], -700, 700)
        score += tells[generator.choice(weight.size, runs, p=weight / weight.sum())]
    return score


def _project(
    steps: Sequence[tuple[StepPlan, Call, Call]], source: Noise, runs: int
) -> tuple[FloatArray, FloatArray, float]:
    """The best test's statistic on both sides, sd 1 if the noise is as declared, and its mean on the other.

    Only entries that differ are drawn.
    """
    null, other, square = np.zeros(runs), np.zeros(runs), 0.0
    for _, a, b in steps:
        moved = np.flatnonzero(a.values != b.values)
        if not moved.size:
            continue
        sigma = np.tile(a.scale[moved], (runs, 1))
        change = (b.values[moved] - a.values[moved]) / a.scale[moved]
        square += float(change @ change)
        for score, call in ((null, a), (other, b)):
            noisy = source.gaussian(np.tile(call.values[moved], (runs, 1)), sigma)
            score += ((noisy - a.values[moved]) / sigma) @ change
    reach = math.sqrt(square)
    return (null / reach, other / reach, reach) if reach else (null, other, 0.0)


def _epsilon(null: FloatArray, other: FloatArray, threshold: float, delta: float, rate: float) -> float:
    """Lower bound on epsilon at ``delta`` from one test."""
    false, true = _bounds(null, other, threshold, rate)
    return max(0.0, math.log((true - delta) / false)) if true > delta else 0.0


def _bounds(null: FloatArray, other: FloatArray, threshold: float, rate: float) -> tuple[float, float]:
    """Clopper-Pearson: an upper bound on P(null > t) and a lower bound on P(other > t)."""
    false, true, n = int((null > threshold).sum()), int((other > threshold).sum()), null.size
    upper = 1.0 if false == n else float(stats.beta.isf(rate, false + 1, n - false))
    lower = 0.0 if true == 0 else float(stats.beta.ppf(rate, true, n - true + 1))
    return upper, lower


def _threshold(null: FloatArray, other: FloatArray, delta: float, runs: int, rate: float) -> float:
    """The threshold from which ``_epsilon`` may expect most, by a pilot of its own."""
    steps = np.unique(np.quantile(other, np.linspace(0.0005, 0.9995, 400)))
    near, far = (
        np.rint(runs * (1 - np.searchsorted(np.sort(side), steps, side="right") / side.size))
        for side in (null, other)
    )
    upper = stats.beta.isf(rate, near + 1, np.maximum(runs - near, 1))
    lower = stats.beta.ppf(rate, np.maximum(far, 1), runs - far + 1)
    gain = np.log(np.maximum(lower - delta, 1e-300)) - np.log(upper)
    return float(steps[int(np.argmax(gain))])


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
