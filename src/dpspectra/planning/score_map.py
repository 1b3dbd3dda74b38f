"""How fine a score map can be: the noise of a cell against the rows in it, from a calibrated plan."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..core.facts import Facts
from ..core.released import StepPlan
from ..mechanisms.base import Mechanism
from ..mechanisms.score_map import ScoreMap
from ..postprocess.score_map import laplace_sd

BINS = (8, 12, 16, 24, 32, 48, 64)
CLEAR = 2.0
"""Noise sds from which on a count is seen well."""


@dataclass(frozen=True)
class CellNoise:
    """Noise of a score map.

    Attributes
    ----------
    bins, groups : cells a side, and maps
    noise_sd : sd of the noise of a cell, in rows; it hardly depends on the number of cells
    least : smallest count that a sparse map shows; 0 for an additive one
    average : rows of a cell if rows were spread evenly over all cells and groups
    finest : most cells a side at which an even spread has ``CLEAR`` noise sds (or the threshold) in a cell;
        1 if none has. Rows in few cells, as in clusters, allow more.
    choices : (bins, average, average over noise sd) of usual numbers of bins
    """

    bins: int
    groups: int
    noise_sd: float
    least: int
    average: float
    finest: int
    choices: tuple[tuple[int, float, float], ...]

    def to_dict(self) -> dict[str, Any]:
        return vars(self) | {"choices": [list(choice) for choice in self.choices]}


def cell_noise(mechanism: Mechanism, plans: Sequence[StepPlan], facts: Facts, rows: int) -> CellNoise | None:
    """None for mechanisms that make no score map. ``rows``: n, or a guess of it where n is private."""
    if not isinstance(mechanism, ScoreMap):
        return None
    plan = next(plan for plan in plans if plan.name == "cells")
    sparse = plan.law == "threshold"
    scale = math.ldexp(plan.sigma[0], -plan.shift)
    sd, least = (laplace_sd(scale), int(plan.sigma[1])) if sparse else (scale, 0)
    groups = max(1, len(facts.groups))

    def average(bins: int) -> float:
        return rows / (groups * bins**2)

    return CellNoise(
        bins=mechanism.bins,
        groups=groups,
        noise_sd=sd,
        least=least,
        average=average(mechanism.bins),
        finest=max(1, math.isqrt(int(rows / (groups * max(CLEAR * sd, float(least), 1.0))))),
        choices=tuple((bins, average(bins), average(bins) / sd) for bins in BINS),
    )
