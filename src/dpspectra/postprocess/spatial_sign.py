"""The public side of the spatial sign method: where the ladder of radii stands, and the released centre.

Steps "radius" and "centre_1", "centre_2", ... of a release, each centre about the one before it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..core.facts import Facts
from ..core.released import Drawn

FloatArray = NDArray[np.float64]

RADII = (0.8, 0.3, 0.2, 0.1)
"""Clipping radii of the means that find the centre, in parts of the private radius: each mean corrects the
one before it, with less noise as its radius is smaller. Measured on means up to 14 spreads away."""


def ladder(facts: Facts, smallest: float, largest: float) -> FloatArray:
    """Ascending radii (steps,), a factor of sqrt(2) or a little less apart, in units of the table's rows.

    With a public bound from one unit of the grid to the radius of the ball; else from ``smallest`` to
    ``largest``. Few steps: every one may stop the search too early.
    """
    low, high = (1.0, float(facts.grid.levels)) if facts.grid.bounded else (smallest, largest)
    steps = 1 + math.ceil(2 * (math.log2(high) - math.log2(low)))
    return np.exp2(np.linspace(math.log2(low), math.log2(high), steps))


def radius(drawn: Drawn, rungs: FloatArray) -> float:
    """The private radius; the last one of the ladder where no step stopped."""
    place = int(drawn.step("radius").values[0])
    return float(rungs[min(place, len(rungs) - 1)])


def centre(drawn: Drawn, rungs: FloatArray) -> FloatArray:
    """The released centre as far as it is drawn: (d,) in units of the table's rows about its origin."""
    facts = drawn.facts
    point = np.zeros(facts.d)
    if not drawn.has("radius"):
        return point
    reach = radius(drawn, rungs)
    for number, part in enumerate(RADII, 1):
        if drawn.has(f"centre_{number}"):
            step = drawn.step(f"centre_{number}")
            assert facts.rows is not None
            mean = np.ldexp(step.values.astype(np.float64), -step.plan.shift - facts.grid.bits) / facts.rows
            mean /= max(1.0, float(np.linalg.norm(mean)))  # means of rows in a ball are in it
            point = point + part * reach * mean
    return point


def location(released: Drawn, smallest: float, largest: float) -> FloatArray:
    """The released centre (d,) in encoded units about the origin of the grid; zeros if it was public."""
    return centre(released, ladder(released.facts, smallest, largest)) * released.facts.grid.step
