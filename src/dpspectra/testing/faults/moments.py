"""Faults on the way of a release: noise, sensitivities, sums, counts, the ledger."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ...accounting.compose import parallel
from ...core.facts import Facts
from ...core.privacy import Adjacency, Cost
from ...core.released import Released, StepPlan
from ...mechanisms.base import Mechanism
from ...noise.base import FloatArray, IntArray
from ...release import release
from ...summaries.moments import Moments, MomentSums
from ...summaries.table import Block, Paired, RowMap, Table
from ..sources import SeededNoise
from ..subject import REAL, Cells, open_cells
from .fault import Fault

Rows = NDArray[np.float64]


# ---------------------------------------------------------------------------------------------- noise


class _Thin(SeededNoise):
    """90 % of the noise."""

    def gaussian(self, values: IntArray, sigma: FloatArray) -> IntArray:
        return super().gaussian(values, 0.9 * np.asarray(sigma))


class _Reused(SeededNoise):
    """Draws once, and scales that draw for every later call."""

    def __init__(self) -> None:
        super().__init__(0)
        self._draw: FloatArray | None = None

    def gaussian(self, values: IntArray, sigma: FloatArray) -> IntArray:
        if self._draw is None:
            self._draw = np.random.default_rng().normal(size=1 << 16)
        return values + np.rint(np.resize(self._draw, values.shape) * sigma).astype(np.int64)


# ------------------------------------------------------------------------------------------ mechanism


class _Understated:
    """Claims 1/sqrt(2) of every sensitivity, and adds noise to match."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mechanism, name)

    def calibrate(self, facts: Facts) -> tuple[StepPlan, ...]:
        return tuple(
            replace(
                plan,
                sensitivity_squared=plan.sensitivity_squared / 2,
                sigma=tuple(value / 2**0.5 for value in plan.sigma),
            )
            for plan in self._mechanism.calibrate(facts)
        )


class _Disjoint:
    """Charges steps on the same rows as if each row were in one of them."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mechanism, name)

    def cost(self, plans: Sequence[StepPlan]) -> Cost:
        return parallel([plan.charge for plan in plans])


def _understate(mechanism: Mechanism) -> Mechanism:
    return cast(Mechanism, _Understated(mechanism))


# ---------------------------------------------------------------------------------------------- table


@dataclass(frozen=True)
class _Collect:
    """A summary that is the rows themselves."""

    def start(self, d: int, bits: int) -> _Collected:
        return _Collected(d)


class _Collected:
    def __init__(self, d: int) -> None:
        self._blocks: list[Block] = [np.empty((0, d))]

    def add(self, block: Block) -> None:
        self._blocks.append(block.copy())

    def merge(self, other: _Collected) -> None:
        self._blocks += other._blocks

    def result(self) -> Rows:
        return np.vstack(self._blocks)


@dataclass(frozen=True)
class _Altered:
    """A table whose sums of second moments are changed."""

    inner: Table
    change: Callable[[Rows, MomentSums], MomentSums]
    facts: Facts

    def reduce(self, summary: Any, row_map: RowMap | None = None, *, groups: bool = False) -> Any:
        sums = self.inner.reduce(summary, row_map, groups=groups)
        if not isinstance(summary, Moments) or sums.gram is None:
            return sums
        return self.change(self.inner.reduce(_Collect(), row_map), sums)

    def pairs(self, order: IntArray) -> Paired:
        return self.inner.pairs(order)

    def matrix(self) -> Block:
        return self.inner.matrix()


def _altering(change: Callable[[Rows, MomentSums], MomentSums]) -> Callable[[Cells, Adjacency], Table]:
    def opened(cells: Cells, adjacency: Adjacency) -> Table:
        inner = open_cells(cells, adjacency)
        return _Altered(inner, change, inner.facts)

    return opened


def _float_gram(rows: Rows, sums: MomentSums) -> MomentSums:
    gram = np.zeros((rows.shape[1],) * 2, dtype=np.float32)
    for row in rows.astype(np.float32):
        gram += np.outer(row, row)
    return replace(sums, gram=np.rint(gram.astype(np.float64)).astype(np.int64))


def _exact_centring(rows: Rows, sums: MomentSums) -> MomentSums:
    centred = rows - np.rint(rows.mean(axis=0)) if len(rows) else rows
    return replace(sums, gram=np.rint(centred.T @ centred).astype(np.int64))


def _clip_after_sum(cells: Cells, adjacency: Adjacency) -> Table:
    inner = open_cells(cells, adjacency)
    levels = inner.facts.grid.levels
    rows = np.clip(np.nan_to_num(cells, posinf=10.0, neginf=-10.0), -10, 10) * levels

    def change(_: Rows, sums: MomentSums) -> MomentSums:
        limit = float(len(rows) * levels**2)
        return replace(sums, gram=np.rint(np.clip(rows.T @ rows, -limit, limit)).astype(np.int64))

    return _Altered(inner, change, inner.facts)


def _exact_count(cells: Cells, adjacency: Adjacency) -> Table:
    inner = open_cells(cells, adjacency)
    return _Altered(inner, lambda _, sums: sums, replace(inner.facts, rows=len(cells)))


def _refusing_nan(cells: Cells, adjacency: Adjacency) -> Table:
    if np.isnan(cells).any():
        raise ValueError("input contains NaN")
    return open_cells(cells, adjacency)


# --------------------------------------------------------------------------------------------- ledger


def _ledger_last(table: Table, mechanism: Mechanism, *, ledger: Any = None, **rest: Any) -> Released:
    released = release(table, mechanism, **rest)
    if ledger is not None:
        ledger.spend("table", released.cost)
    return released


def _no_ledger(table: Table, mechanism: Mechanism, **rest: Any) -> Released:
    return release(table, mechanism, **rest | {"ledger": None})


FAULTS: tuple[Fault, ...] = (
    Fault("noise x 0.9", "check_noise", replace(REAL, source=lambda: _Thin(0))),
    Fault("noise reused between steps", "check_noise", replace(REAL, source=_Reused)),
    Fault("seed in a release", "check_fresh", replace(REAL, source=lambda: SeededNoise(7))),
    Fault("sensitivity / sqrt(2)", "check_sensitivity", replace(REAL, adapt=_understate)),
    Fault(
        "steps on the same rows charged as disjoint",
        "check_sensitivity",
        replace(REAL, adapt=lambda mechanism: cast(Mechanism, _Disjoint(mechanism))),
    ),
    Fault("clip after sum", "check_sensitivity", replace(REAL, open=_clip_after_sum)),
    Fault("exact centring", "check_sensitivity", replace(REAL, open=_altering(_exact_centring))),
    Fault("float Gram", "check_exact", replace(REAL, open=_altering(_float_gram))),
    Fault("exact n in a ratio", "check_hidden", replace(REAL, open=_exact_count), Adjacency.ADD_REMOVE),
    Fault("error on a NaN cell", "check_silence", replace(REAL, open=_refusing_nan)),
    Fault("ledger after noise", "check_ledger", replace(REAL, release=_ledger_last)),
    Fault("missing ledger row", "check_ledger", replace(REAL, release=_no_ledger)),
)
