"""What a pair of neighbours costs in one noise call, by its law and its exact inputs a, b on both tables.

With c = b - a:

- gaussian: mu^2 = sum c^2/sigma^2.
- laplace: epsilon = sum |c|/scale.
- first: if counts go up by at most u and down by at most v, epsilon is u/s1 + (u - min c)/s2 from a to b
  (shift the target's noise by u, then that of the place where the search stops), v/s1 + (v + max c)/s2 back;
  the two together are the range of the loss.
- largest: range and epsilon are (max c - min c)/scale.
- wishart: epsilon = sum |eigenvalues of c|/(2 scale), and the slack of float noise.
- threshold: epsilon as laplace, and the delta of the changed cells at the epsilon that the step states.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..accounting.zcdp import rho_of_pure, rho_of_range
from ..core.privacy import Cost
from ..core.released import StepPlan
from ..mechanisms.steps import float_slack, side_of, spread
from ..noise.base import FloatArray, IntArray
from ..postprocess.symmetric import unpack
from . import enumerate as exact

_ROUNDING = Fraction(1, 10**9)
"""Of the deltas that ``enumerate.py`` computes in floats."""


@dataclass(frozen=True)
class Call:
    """One noise call of a run: its law, exact input and scales as ``Recorder`` notes them."""

    law: str
    values: IntArray
    scale: FloatArray


def spent(plan: StepPlan, left: Call, right: Call) -> Cost:
    """What the pair costs in this call, with the scales of the left one; exact but for delta."""
    change = (right.values - left.values).ravel()  # wraps like the sums themselves
    moved = np.flatnonzero(change).tolist()
    if plan.law in ("gaussian", "laplace"):
        whitened = [Fraction(int(change[i])) / Fraction(float(left.scale.flat[i])) for i in moved]
        if plan.law == "gaussian":
            return Cost.gaussian(_sum(ratio**2 for ratio in whitened))
        return _laplace(whitened)
    scales = [Fraction(float(scale)) for scale in left.scale]
    if plan.law == "wishart":
        matrix = unpack(change.astype(np.float64), side_of(plan.size))
        nuclear = float(np.abs(np.linalg.eigvalsh(matrix)).sum())
        pure = Fraction(nuclear * (1 - 1e-12)) / (2 * scales[0]) + Fraction(float_slack(plan))
        return Cost.pure(pure, rho=rho_of_pure(pure))
    if plan.law == "largest":
        reach = (int(change.max()) - int(change.min())) / scales[0]
        return Cost.pure(reach, rho=rho_of_range(reach))
    if plan.law == "first":
        low, high = int(change.min()), int(change.max())
        up, down = max(high, 0), max(-low, 0)
        there = up / scales[0] + (up - low) / scales[1]
        back = down / scales[0] + (down + high) / scales[1]
        return Cost.pure(max(there, back), rho=rho_of_range(there + back))
    plain = _laplace(int(change[i]) / scales[0] for i in moved)
    return Cost(plain.epsilon, _delta(plan, left, right, plain), plain.rho, Fraction(0))


def excess(spent: Cost, charge: Cost) -> str | None:
    """The first currency of the charge that the pair spends more of, or None."""
    for name in ("mu_squared", "epsilon", "delta", "rho"):
        most, found = getattr(charge, name), getattr(spent, name)
        if most is not None and (found is None or found > most * (1 + _ROUNDING * (name == "delta"))):
            return name
    return None


def size(cost: Cost) -> Fraction:
    """A squared size to compare pairs by: mu^2, or epsilon^2."""
    if cost.mu_squared is not None:
        return cost.mu_squared
    assert cost.epsilon is not None
    return cost.epsilon**2


def scales_of(plan: StepPlan) -> FloatArray:
    """The scales of a call that the plan fixes (a target or a threshold follows them in the call)."""
    if plan.law in ("gaussian", "laplace"):
        return spread(plan)
    return np.array(plan.sigma)


def _laplace(losses: Iterable[Fraction]) -> Cost:
    pures = [abs(loss) for loss in losses]
    return Cost.pure(_sum(pures), rho=_sum(rho_of_pure(pure) for pure in pures))


def _delta(plan: StepPlan, left: Call, right: Call, plain: Cost) -> Fraction:
    """At the epsilon that the plan states; 0 where the pair passes it already."""
    epsilon, reach = plan.charge.epsilon, plain.epsilon
    if epsilon is None or reach is None or reach > epsilon:
        return Fraction(0)
    scale, least = (float(s) for s in left.scale.ravel())
    p, q = exact.together(exact.threshold(left.values, right.values, scale, math.ceil(least)))
    return Fraction(max(exact.delta(p, q, float(epsilon)), exact.delta(q, p, float(epsilon))))


def _sum(values: Iterable[Fraction]) -> Fraction:
    return sum(values, Fraction(0))
