"""What mechanisms of second moments share: what is drawn before the scatter, and the rows that it is made of.

Steps, each where it is asked for: "norms" (a histogram of row norms), "mean", "radii" (a histogram of
distances from the released mean), "count", then the second moments. A histogram chooses the radius to which
rows are clipped for the next sum; they are then blown up to the whole grid, so that every sensitivity and
scale of the plan stays what it is without clipping (``postprocess.threshold``, ``rows.maps.Magnify``).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ..core.errors import ParameterError
from ..core.facts import Facts
from ..core.privacy import Adjacency
from ..core.released import Step
from ..noise.base import IntArray
from ..postprocess.decode import grid_mean
from ..postprocess.threshold import halvings
from ..rows.maps import Magnify, Recentre
from ..summaries.moments import Moments, MomentSums
from ..summaries.norm_histogram import NormHistogram, bin_count
from ..summaries.table import RowMap, Table
from .steps import Draft, Draws

MEAN_SHARE, COUNT_SHARE = Fraction(1, 10), Fraction(1, 20)
CLIP_SHARE = {"gaussian": Fraction(1, 20), "laplace": Fraction(1, 10)}
"""Of rho, or of epsilon for pure steps; halved where there are two histograms."""


def bounded(facts: Facts, name: str) -> None:
    """Refuse rows without a public bound."""
    if not facts.grid.bounded:
        raise ParameterError(
            f"method={name!r} needs a public bound on rows: give bounds or row_norm, or take "
            "a method that needs none (spherical_kendall, spatial_sign)"
        )


def opening(facts: Facts, center: str, clip: str, law: str) -> list[Draft]:
    """Drafts of what comes before the second moments; ``law`` is "gaussian" or "laplace"."""
    if center not in ("private", "joint", "fixed"):
        raise ParameterError('center of a mechanism must be "private", "joint" or "fixed"')
    if clip not in ("none", "private"):
        raise ParameterError('clip of a mechanism must be "none" or "private"')
    replace, pure = facts.adjacency is Adjacency.REPLACE_ONE, law == "laplace"
    private = center == "private"
    drafts: list[Draft] = []

    def histogram(name: str) -> Draft:
        change = (4 if pure else 2) if replace else 1
        share = CLIP_SHARE[law] / (2 if private else 1)
        return Draft(name, bin_count(facts.grid.bits), change, share, "L-norms", law=law)

    if clip == "private":
        drafts.append(histogram("norms"))
    if private:
        size, change = _mean_change(facts, pure)
        drafts.append(Draft("mean", size, change, MEAN_SHARE, "L-sum", law=law))
        if clip == "private":
            drafts.append(histogram("radii"))
    if center == "fixed" and not replace:
        drafts.append(Draft("count", 1, 1, COUNT_SHARE, "L-count", law=law))
    return drafts


def _mean_change(facts: Facts, pure: bool) -> tuple[int, int]:
    """Size of the "mean" step and its squared sensitivity: L2, or L1 if ``pure``."""
    d, square = facts.d, facts.grid.levels**2
    if facts.adjacency is Adjacency.REPLACE_ONE:
        return d, 4 * square * (d if pure else 1)
    # (r, k): in L1 at most r + sqrt(d) r, squared and rounded up
    return d + 1, square * (1 + d) + math.isqrt(4 * d * square**2) + 1 if pure else 2 * square


def noisy(steps: Draws, name: str, exact: IntArray) -> Step:
    """Draw a step by the law of its plan."""
    draw = {"gaussian": steps.gaussian, "laplace": steps.laplace, "wishart": steps.wishart}
    return draw[steps.plan(name).law](name, exact)


def row_map(table: Table, steps: Draws, target: str) -> RowMap | None:
    """Draw norms, mean and radii as planned; the map of the rows whose second moments ``target`` is."""
    shift = None
    if steps.planned("norms"):
        noisy(steps, "norms", table.reduce(NormHistogram()))
    if steps.planned("mean"):
        near = halvings(steps, steps.plan("mean"))
        sums = table.reduce(Moments(gram=False), Magnify(near) if near else None)
        noisy(steps, "mean", _vector(sums, table.facts))
        shift = grid_mean(steps)
    if steps.planned("radii"):
        assert shift is not None
        noisy(steps, "radii", table.reduce(NormHistogram(), Recentre(shift)))
    near = halvings(steps, steps.plan(target))
    return Magnify(near, shift) if near or shift is not None else None


def draw_count(steps: Draws, sums: MomentSums) -> None:
    """The number of rows, where it is planned."""
    if steps.planned("count"):
        noisy(steps, "count", np.array([sums.count], dtype=np.int64))


def gram(sums: MomentSums) -> IntArray:
    """The Gram matrix of a summary that has one."""
    if sums.gram is None:
        raise ParameterError("the summary holds no second moments")
    return sums.gram


def _vector(sums: MomentSums, facts: Facts) -> IntArray:
    """The sum of rows; under add/remove led by r times the count (z = (r, k))."""
    if facts.adjacency is Adjacency.REPLACE_ONE:
        return sums.total
    return np.concatenate([np.array([sums.count], dtype=np.int64) * facts.grid.levels, sums.total])
