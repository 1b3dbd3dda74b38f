"""From the noisy sums of a clipped-mean release to variances along directions. Public."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ParameterError
from ..core.facts import Facts
from ..core.released import Drawn, Released, StepPlan
from .dyadic import best_cut, default_bins
from .means import Means

FloatArray = NDArray[np.float64]

BITS = 30
"""Bits of a square on the grid of its cut, unless many rows leave fewer; noise is far above 2**-30."""


def pairs_of(facts: Facts) -> int:
    """m, the number of disjoint pairs of rows; ParameterError below one."""
    if facts.rows is None or facts.rows < 2:
        raise ParameterError("variances along directions need a public number of rows, two at least")
    return facts.rows // 2


def bits_of(facts: Facts) -> int:
    """Bits b of a square, so that sums of m integers up to 2 * 2**b fit 64 bits."""
    return min(BITS, 61 - pairs_of(facts).bit_length())


def cut_of(clip: float | None, facts: Facts) -> float:
    """C in squared units of the table's rows.

    Parameters
    ----------
    clip : C in squared encoded units, or None: 2 B^2, which no square passes

    Raises
    ------
    ParameterError
        Without a bound on rows and without ``clip``, or if it is out of range.
    """
    if clip is None:
        if not facts.grid.bounded:
            raise ParameterError(
                "clip is missing: without a public bound on rows squares need one of their own. Give clip "
                "from domain knowledge, in squared units of the encoded columns, or clip='dyadic', or take a "
                "method that needs none (winsorized_mean, huber_mean)"
            )
        return 2.0 * 4.0**facts.grid.bits
    cut = clip / facts.grid.step**2
    if not (0 < cut < math.inf and clip < math.inf):
        raise ParameterError("clip must be positive, finite and in the range of doubles")
    return cut


def cuts(drawn: Drawn, clip: float | str | None, plan: StepPlan) -> FloatArray:
    """C of each component (k,), encoded units: the public one, or those that the noisy counts of "dyadic" say
    to be best with the noise of ``plan``, that of the means."""
    facts, k = drawn.facts, plan.size
    if clip != "dyadic":
        assert not isinstance(clip, str)
        return np.full(k, cut_of(clip, facts) * facts.grid.step**2)
    low, _ = default_bins(facts)
    step, m = drawn.step("bins"), pairs_of(facts)
    counts = np.ldexp(step.values.astype(np.float64), -step.plan.shift).reshape(k, -1)
    relative = _planned_sd(plan) / 2.0 ** bits_of(facts) / m
    return np.array([best_cut(column, _planned_sd(step.plan), m, relative, low) for column in counts])


def _planned_sd(plan: StepPlan) -> float:
    """Of the noise, in units of the statistic: as planned, whatever noise source was in force."""
    return math.ldexp(math.sqrt(plan.sensitivity_squared / plan.mu_squared), -plan.shift)


def decode(released: Released) -> Means:
    """Variances of a release of ``clipped_mean``, encoded units."""
    facts, step = released.facts, released.step("means")
    upper = cuts(released, released.parameters["clip"], step.plan)
    unit = upper * math.ldexp(1.0, -bits_of(facts) - step.plan.shift) / pairs_of(facts)
    return Means(step.values.astype(np.float64) * unit, step.plan.sigma[0] * unit, upper)
