"""The public side of ``huber_mean``: where each step cuts, and what its release decodes to.

A step of the Huber mean goes from theta to theta + mean psi_tau(w - theta), which is the mean of w cut to
[theta - tau, theta + tau]. Each cut is a function of the noisy outputs so far and of public facts, so the
mechanism asks this module for it, and the decoder finds the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.facts import Facts
from ..core.released import Drawn, Released, Step, StepPlan
from .clipped_mean import pairs_of
from .dyadic import default_bins
from .means import Means

FloatArray = NDArray[np.float64]

BITS = 20
"""A cut square is an integer from 0 to 2**BITS in a step."""
PUBLISHED = (-40, 40)
"""Bins of the published constants, of half squared differences of squares."""

START = 4.0
"""Mean of w over 2^r, r the bin that ends at the median: 2.2 times the median, for Gaussian rows."""
LEAST = 0.25
"""Part of the start below which an iterate is not trusted as a scale."""
REACH, LEAST_REACH, MOST_NOISE = 0.7, 4.0, 0.25
"""tau over the iterate: REACH sqrt(precision) in light tails; at least LEAST_REACH, and not so much that the
noise passes MOST_NOISE of the iterate."""


@dataclass(frozen=True)
class Cut:
    """Where squares are cut: at ``low`` and at ``low + width``, (k,) each, encoded units."""

    low: FloatArray
    width: FloatArray


def bins(facts: Facts, parameters: Mapping[str, Any]) -> tuple[int, int]:
    """The public r of the first and of the last dyadic bin, in encoded units."""
    if parameters["scales"] is not None:
        low, high = parameters["scales"]
        return low, high
    if parameters["preset"] == "published":
        return PUBLISHED
    return default_bins(facts)


def names(drawn: Drawn, kind: str) -> list[str]:
    """Of the steps drawn so far, those called ``kind_1``, ``kind_2``, ..."""
    return [step.plan.name for step in drawn.steps if step.plan.name.startswith(f"{kind}_")]


def precision(plan: StepPlan, facts: Facts) -> float:
    """Width of a cut over the noise sd of the mean that the step releases, m mu/sqrt(k): as planned, whatever
    noise source was in force."""
    return pairs_of(facts) * math.sqrt(plan.mu_squared / plan.size)


def cut(drawn: Drawn, parameters: Mapping[str, Any], plan: StepPlan) -> Cut:
    """Where the step of this plan cuts, after the steps before it."""
    low, _ = bins(drawn.facts, parameters)
    places = [drawn.step(name).values[0] for name in names(drawn, "scale")]
    scale = np.ldexp(1.0, np.array(places, dtype=np.int64) + low)
    published = parameters["preset"] == "published"
    start = np.zeros(len(scale)) if published else START * scale
    theta = start
    for name in [*names(drawn, "step"), plan.name]:
        here = plan if name == plan.name else drawn.step(name).plan
        if published:
            found = _published(theta, scale, parameters, drawn.facts)
        else:
            found = _tight(theta, start, precision(here, drawn.facts))
        if name == plan.name:
            break
        theta = np.maximum(moved(drawn.step(name), found, drawn.facts), 0.0)
    return found


def moved(step: Step, found: Cut, facts: Facts) -> FloatArray:
    """The iterate after a step, (k,), not cut at 0."""
    mean = np.ldexp(step.values.astype(np.float64), -(BITS + step.plan.shift)) / pairs_of(facts)
    iterate: FloatArray = found.low + found.width * mean
    return iterate


def decode(released: Released) -> Means:
    """The last iterate, and its noise.

    ``noise_sd`` is that of the last step, given the steps before it. It does not hold the bias of the cut,
    which pulls the mean of squares with a heavy upper tail down by E max(w - upper, 0), nor, where a step
    starts far from the mean (published constants), what is left of the way.
    """
    last = released.steps[-1]
    found = cut(released, released.parameters, last.plan)
    sd = found.width * math.ldexp(last.plan.sigma[0], -(BITS + last.plan.shift)) / pairs_of(released.facts)
    return Means(moved(last, found, released.facts), sd, found.low + found.width)


def _tight(theta: FloatArray, start: FloatArray, x: float) -> Cut:
    """tau grows with the precision x of the step, and with the mean over the median: in heavy tails, more of
    the mean lies far out."""
    scale = np.maximum(theta, LEAST * start)
    reach = np.minimum(REACH * math.sqrt(x) * scale / start, MOST_NOISE * x)
    tau = scale * np.maximum(reach, LEAST_REACH)
    below = np.minimum(tau, theta)  # w >= 0, so w - theta >= -theta
    return Cut(theta - below, tau + below)


def _published(theta: FloatArray, scale: FloatArray, parameters: Mapping[str, Any], facts: Facts) -> Cut:
    """The source's tau, of the bin of half squared differences of w; its sensitivity is 2 tau throughout."""
    m = pairs_of(facts)
    factor = parameters["epsilon_steps"] / len(scale) * m / math.sqrt((1 + math.log(m)) * math.log(m))
    tau = np.sqrt(scale * factor)
    return Cut(theta - tau, 2 * tau)
