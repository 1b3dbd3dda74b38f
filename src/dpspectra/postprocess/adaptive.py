"""The public side of ``adaptive``, preset "published": noise bounds, the choice they lead to, and decoding.

Lengths are in units of r, the public bound; tau_j = 2^-j. Formulas and constants are those of source 002 and
its public code, whose bounds hold with probability 1 - beta, beta = 0.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.released import Drawn, Released, StepPlan
from .decode import about, start
from .eigen import eigh_descending
from .separate import Separated
from .symmetric import unpack
from .threshold import declared

FloatArray = NDArray[np.float64]

BETA = 0.1
_HEURISTIC = {"gaussian": 6.0, "laplace": 14.0}
"""By which the public code divides its first bound for the separate release."""


@dataclass(frozen=True)
class Noise:
    """Error bounds of the two final releases: ``whole`` 4^-j, and ``first`` 2^-j + ``second`` 4^-j."""

    whole: float
    first: float
    second: float

    def at(self, j: int) -> tuple[float, float]:
        """Of the noisy matrix, and of eigenvectors and eigenvalues apart, at tau_j."""
        return self.whole * 0.25**j, self.first * 0.5**j + self.second * 0.25**j


@dataclass(frozen=True)
class Choice:
    """What the test chose: rows are clipped to r/2**(halvings/2); whether to release apart."""

    halvings: int
    apart: bool


def noise(drawn: Drawn, final: StepPlan) -> Noise:
    """The bounds, from the noisy trace and the plan of the final step ("moments")."""
    rows, square = float(drawn.facts.rows or 1), float(drawn.facts.grid.levels) ** 2
    d, gaussian = max(drawn.facts.d, 2), final.law == "gaussian"
    step = drawn.step("trace")
    margin = math.sqrt(2 * math.log(8 / BETA)) if gaussian else math.log(4 / BETA)
    upper = math.ldexp(float(step.values[0]), -step.plan.shift) + margin * declared(step.plan, 1)[0]
    trace = min(max(upper / square / rows, 1e-16), 1.0)
    unit, beta = declared(final, d)[0] / square / rows, 0.75 * BETA
    first = math.sqrt((2**2.5 if gaussian else 8) * trace * unit * _operator(d, beta / 2, gaussian))
    second = math.sqrt(2) if gaussian else 4 / (math.sqrt(2) * d)
    return Noise(
        _frobenius(d, beta, gaussian) * unit,
        first / _HEURISTIC[final.law],
        second * _vector(d, beta / 2, gaussian) * unit,
    )


def choice(drawn: Drawn, final: StepPlan) -> Choice:
    """What the search's place says: the last radius before the bias passed the noise; the better release."""
    place = min(int(drawn.step("threshold").values[0]), drawn.facts.grid.bits)
    whole, apart = noise(drawn, final).at(place)
    return Choice(2 * max(place - 1, 0), apart < whole)


def weights(law: str, d: int, apart: bool) -> tuple[int, int, int]:
    """(a, c, 2^b): the final step holds a scatter/2^b, rounded, and c spectrum/2^b.

    The whole budget goes to the scatter, or half of it to each. Gaussian: 180/256 < 1/sqrt(2) leaves 0.6 %
    for rounding. Laplace: scales sqrt(2) d r^2/epsilon and 2 r^2/epsilon at half of epsilon.
    """
    if not apart:
        return 1, 0, 1
    return (180, 180, 256) if law == "gaussian" else (128, math.floor(64 * math.sqrt(2) * d), 256)


def decode_adaptive(released: Released, ddof: int = 1) -> Separated:
    """Read a release of preset "published": the noisy scatter, its eigenvalues or the released ones, cut to
    [0, tau^2]. Encoded units; the sd of eigenvalues that are the scatter's own is nan."""
    step, facts = released.step("moments"), released.facts
    size = facts.d * (facts.d + 1) // 2
    found, first = choice(released, step.plan), start(released, ddof)
    a, c, whole = weights(step.plan.law, facts.d, found.apart)
    square = facts.grid.step**2 * 0.5**found.halvings / first.rows
    unit = math.ldexp(square, -step.plan.shift) * whole
    sd = step.plan.sigma[0] * unit / a * (1 if step.plan.law == "gaussian" else math.sqrt(2))
    numbers = step.values.astype(np.float64) * unit
    matrix = unpack(numbers[:size] / a, facts.d)
    estimate = about(first, matrix, sd, step.plan.law)
    if found.apart:
        values, spread = (numbers[size:] / c - first.mean_sd**2) * first.factor, sd * a / c * first.factor
    else:
        values, spread = eigh_descending(estimate.covariance)[0], math.nan
    tidy = np.clip(values, 0.0, facts.grid.radius**2 * 0.5**found.halvings)
    return Separated(estimate, values, spread, tidy)


def _vector(d: int, beta: float, gaussian: bool) -> float:
    """The norm of d unit noises."""
    if gaussian:
        return math.sqrt(d + 2 * math.sqrt(d * math.log(1 / beta)) + 2 * math.log(1 / beta))
    return 1.5 * math.sqrt(d) + math.log(2 / beta) * _laplace_tail(d)


def _operator(d: int, beta: float, gaussian: bool) -> float:
    """The operator norm of a symmetric matrix of unit noises on its upper triangle."""
    theta = min(math.pow(math.log(d) / d, 0.3), 0.5)
    edge = math.sqrt(math.log(d)) if gaussian else math.log(d)
    bulk = (1 + theta) * (2 * math.sqrt(d) + 6 * edge / math.sqrt(math.log1p(theta)))
    if gaussian:
        return bulk + math.sqrt(2 * math.log(2 / beta))
    return bulk + math.sqrt(2) * math.log(2 / beta) * _laplace_tail(d * (d + 1) / 2)


def _frobenius(d: int, beta: float, gaussian: bool) -> float:
    """The Frobenius norm of such a matrix."""
    tail = math.log(2 / beta)
    if gaussian:
        return math.sqrt(d * d + 2 * math.sqrt(d * tail) * (1 + math.sqrt(2 * (d - 1))) + 6 * tail)
    return 1.5 * d + tail * _laplace_tail(d * (d + 1) / 2)


def _laplace_tail(count: float) -> float:
    return 2 * max((math.sqrt(2) + 1) / (math.sqrt(2) - 1), 2 * math.log2(count))
