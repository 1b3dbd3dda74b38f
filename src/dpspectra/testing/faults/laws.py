"""Faults of selections, grouping, frames and histograms, most of them seen in published code.

Each is a toy with one line broken; the honest toy of ``toys.py`` passes all checks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np

from ...core.facts import Facts
from ...core.released import Released, Step, StepPlan
from ...mechanisms.base import Mechanism
from ...mechanisms.steps import Draws
from ...noise.base import IntArray
from ...release import release
from ...summaries.table import Table
from ..sources import SeededNoise
from ..subject import FREE, REAL, Subject
from ..toys import (
    COUNT,
    MEAN,
    MODE,
    QUANTILE,
    SPARSE,
    TURNS,
    Values,
    bins,
    climbed,
    clipped,
    paired,
    quadrants,
    squares,
    toy,
    turned,
)
from .fault import Fault


def _let_out(steps: Draws, values: IntArray) -> None:
    """A step past the noise source."""
    steps.steps += (Step(steps.plan("toy"), values),)


class _Planned:
    """A mechanism with one change in its plans, and all the rest as it was."""

    def __init__(self, mechanism: Mechanism, change: Callable[[StepPlan], StepPlan]) -> None:
        self._mechanism, self._change = mechanism, change

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mechanism, name)

    def calibrate(self, facts: Facts) -> tuple[StepPlan, ...]:
        return tuple(self._change(plan) for plan in self._mechanism.calibrate(facts))


def _planning(change: Callable[[StepPlan], StepPlan]) -> Subject:
    return replace(REAL, adapt=lambda mechanism: cast(Mechanism, _Planned(mechanism, change)))


def _half_query_noise(plan: StepPlan) -> StepPlan:
    return replace(plan, sigma=(plan.sigma[0], plan.sigma[1] / 2))


def _low_threshold(plan: StepPlan) -> StepPlan:
    return replace(plan, sigma=(plan.sigma[0], plan.sigma[1] - 2))


# ------------------------------------------------------------------------------------------- grouping


def _in_file_order(table: Table, steps: Draws) -> None:
    steps.gaussian("toy", clipped(paired(table, np.arange(table.facts.rows or 0))))


# ---------------------------------------------------------------------------------------------- means


def _centred_by_the_sample(table: Table, steps: Draws) -> None:
    scores = table.matrix()[:, 0]
    steps.gaussian("toy", clipped((scores - scores.mean()) ** 2))


def _exact_cutoff(table: Table, steps: Draws) -> None:
    w = squares(table, steps)
    steps.gaussian("toy", clipped(w / max(float(np.quantile(w, 0.9)), 1e-300)))


def _noise_by_exact_squares(table: Table, steps: Draws) -> None:
    w, sigma = squares(table, steps), steps.plan("toy").sigma[0]
    _let_out(steps, steps.noise.gaussian(clipped(w), np.array([sigma * max(1.0, float(w.max()))])))


def _stop_on_equal_rows(table: Table, steps: Draws) -> None:
    w = squares(table, steps)
    if not w.all():
        raise ValueError("two rows are equal")
    steps.gaussian("toy", clipped(w))


def _standardised(table: Table, steps: Draws) -> None:
    rows = table.matrix()
    steps.gaussian("toy", turned(rows / np.maximum(rows.std(axis=0), 1e-300)))


# ----------------------------------------------------------------------------------------- selections


def _target_of_data(table: Table, steps: Draws) -> None:
    w = squares(table, steps)
    steps.first("toy", climbed(w), math.ceil(0.9 * np.count_nonzero(w)))


def _smooth_median(table: Table, steps: Draws) -> None:
    """Local sensitivities over the places that exist: those past the ends are dropped, not bounded."""
    values = np.sort(table.matrix()[:, 0]).clip(-1e12, 1e12)
    middle, scale = len(values) // 2, steps.plan("toy").sigma[0]
    jumps = [values[min(middle + k, len(values) - 1)] - values[max(middle - k, 0)] for k in range(1, 4)]
    smooth = max(math.exp(-k) * float(jump) for k, jump in enumerate(jumps))
    _let_out(
        steps, steps.noise.laplace(np.array([int(values[middle])]), np.array([scale * max(smooth, 1e-9)]))
    )


# ----------------------------------------------------------------------------------------- histograms


def _hard_threshold(table: Table, steps: Draws) -> None:
    counts, least = quadrants(table.matrix()), steps.plan("toy").sigma[1]
    _let_out(steps, np.where(counts >= least, counts, 0))


def _levels_of_data(table: Table, steps: Draws) -> None:
    counts = quadrants(table.matrix())
    steps.threshold("toy", counts[counts > 0])


def _group_sizes(table: Table, mechanism: Mechanism, **rest: Any) -> Released:
    sizes: Values = quadrants(table.matrix()).astype(np.float64)
    return release(table, mechanism, **rest | {"parameters": {"sizes": sizes.tolist()}})


FAULTS: tuple[Fault, ...] = (
    Fault("pairs of a file's order", "check_exact", mechanism=replace(MEAN, look=_in_file_order)),
    Fault(
        "permutation by a seed", "check_fresh", replace(REAL, source=lambda: SeededNoise(7)), mechanism=MODE
    ),
    Fault(
        "squares about the sample mean",
        "check_sensitivity",
        FREE,
        mechanism=replace(MEAN, look=_centred_by_the_sample),
    ),
    Fault(
        "cutoff at an exact quantile", "check_sensitivity", FREE, mechanism=replace(MEAN, look=_exact_cutoff)
    ),
    Fault(
        "noise scale of exact squares",
        "check_calls",
        FREE,
        mechanism=replace(MEAN, look=_noise_by_exact_squares),
    ),
    Fault("stop on equal rows", "check_silence", mechanism=replace(MEAN, look=_stop_on_equal_rows)),
    Fault(
        "sample standard deviations", "check_sensitivity", FREE, mechanism=replace(TURNS, look=_standardised)
    ),
    Fault(
        "mode of counts as if one count moved",
        "check_sensitivity",
        mechanism=toy(lambda table, steps: steps.largest("toy", bins(squares(table, steps))), law="largest"),
    ),
    Fault("half the query noise", "check_sensitivity", _planning(_half_query_noise), mechanism=QUANTILE),
    Fault("target of data", "check_calls", mechanism=replace(QUANTILE, look=_target_of_data)),
    Fault(
        "smooth sensitivity of a median", "check_calls", FREE, mechanism=replace(COUNT, look=_smooth_median)
    ),
    Fault("threshold without noise", "check_calls", mechanism=replace(SPARSE, look=_hard_threshold)),
    Fault("threshold too low", "check_sensitivity", _planning(_low_threshold), mechanism=SPARSE),
    Fault("levels of data", "check_calls", mechanism=replace(SPARSE, look=_levels_of_data)),
    Fault("exact group sizes", "check_hidden", replace(REAL, release=_group_sizes), mechanism=SPARSE),
)
