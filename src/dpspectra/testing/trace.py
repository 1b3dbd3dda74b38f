"""Recorded releases of neighbours: the second is given all that the first gave out and how it was grouped.

That is the situation of each clause of the contract: equal earlier outputs, and the same secret permutation
(which is drawn without looking at the rows, so the proof may condition on it).
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import numpy as np

from ..core.privacy import Adjacency
from ..core.released import Released, StepPlan
from ..mechanisms.base import Mechanism
from ..noise.base import Noise
from .losses import Call
from .neighbours import Pair, pairs
from .sources import ExactNoise, Recorder, SeededNoise, in_force
from .subject import Cells, Subject, plans_of, takes


class ContractViolation(AssertionError):
    """A clause of the contract does not hold."""


def require(holds: bool, clause: str, *where: Any) -> None:
    """Raise ContractViolation, with the place, unless the clause holds."""
    if not holds:
        raise ContractViolation(": ".join([*(str(part) for part in where), clause]))


@dataclass(frozen=True)
class Run:
    """What one release gave out (None if it failed), was heard to log and warn, and asked of its source."""

    released: Released | None
    recorder: Recorder
    heard: tuple[Any, ...]
    error: Exception | None = None

    @property
    def release(self) -> Released:
        """The release, which is there unless a cell made it fail."""
        if self.released is None:
            raise ContractViolation(f"a cell made the release fail: {type(self.error).__name__}")
        return self.released

    @property
    def calls(self) -> list[Call]:
        """The noise calls in their order."""
        inputs = zip(self.recorder.laws, self.recorder.calls, strict=True)
        return [Call(law, values, scale) for law, (values, scale) in inputs]


@dataclass(frozen=True)
class Trace:
    """A pair of neighbours, the plan from their public facts, and the two runs."""

    pair: Pair
    plans: tuple[StepPlan, ...]
    left: Run
    right: Run

    @property
    def steps(self) -> Iterator[tuple[StepPlan, Call, Call]]:
        """Each step with its call on both sides."""
        for run in (self.left, self.right):
            planned = [call.law for call in run.calls] == [plan.law for plan in self.plans]
            require(planned, "noise calls differ from the plan", self.pair.name)
        return zip(self.plans, self.left.calls, self.right.calls, strict=True)


def run(
    subject: Subject, mechanism: Mechanism, cells: Cells, adjacency: Adjacency, inner: Noise
) -> tuple[Released, Recorder]:
    """One release of these cells under a noise source, recorded."""
    recorder = Recorder(inner)
    with in_force(recorder):
        released = subject.release(subject.open(cells, adjacency), subject.adapt(mechanism))
    return released, recorder


def taken(
    subject: Subject, mechanism: Mechanism, adjacency: Adjacency, d: int
) -> list[tuple[Pair, tuple[StepPlan, ...]]]:
    """The pairs of neighbours whose number of rows the mechanism takes, each with its plan, which depends on
    public facts alone."""
    found: dict[tuple[int, ...], tuple[StepPlan, ...] | None] = {}
    both = []
    for pair in pairs(subject, adjacency, d):
        shape = pair.left.shape
        if shape not in found:
            cells = np.zeros(shape)
            fits = takes(subject, mechanism, cells, adjacency)
            found[shape] = plans_of(subject, mechanism, cells, adjacency) if fits else None
        plans = found[shape]
        if plans is not None:
            both.append((pair, plans))
    require(bool(both), "the mechanism takes none of the tables")
    return both


def trace(
    subject: Subject,
    mechanism: Mechanism,
    pair: Pair,
    plans: tuple[StepPlan, ...],
    adjacency: Adjacency,
    inner: Noise,
) -> Trace:
    """Both runs of a pair, the left one under ``inner``."""
    left = _watched(subject, mechanism, pair.left, adjacency, inner)
    right = _watched(subject, mechanism, pair.right, adjacency, left.recorder.replay())
    return Trace(pair, plans, left, right)


def traces(subject: Subject, mechanism: Mechanism, adjacency: Adjacency, d: int = 3) -> tuple[Trace, ...]:
    """All pairs whose number of rows the mechanism takes, without noise; a third of them after noisy outputs.

    Sensitivities of later steps must hold whatever was seen before, and without noise only tame outputs are.
    The last answer is kept, since many checks look at it.
    """
    return _traces(subject, cast(Hashable, mechanism), adjacency, d)


@lru_cache(maxsize=1)
def _traces(subject: Subject, mechanism: Any, adjacency: Adjacency, d: int) -> tuple[Trace, ...]:
    both = taken(subject, mechanism, adjacency, d)
    tame = tuple(trace(subject, mechanism, *each, adjacency, ExactNoise()) for each in both)
    if len(tame[0].plans) == 1:
        return tame
    return tame + tuple(trace(subject, mechanism, *each, adjacency, SeededNoise(1)) for each in both[::3])


def _watched(subject: Subject, mechanism: Mechanism, cells: Cells, adjacency: Adjacency, inner: Noise) -> Run:
    recorder, released, failed = Recorder(inner), None, None
    with _heard() as heard, in_force(recorder):
        try:
            released = subject.release(subject.open(cells, adjacency), subject.adapt(mechanism))
        except Exception as error:  # whatever a faulty mechanism raises is what we want to see
            failed = error
    return Run(released, recorder, tuple(heard), failed)


class _Notes(logging.Handler):
    """Keeps what is logged."""

    def __init__(self, lines: list[Any]) -> None:
        super().__init__(0)
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append((record.name, record.levelno, record.getMessage()))


@contextmanager
def _heard() -> Iterator[list[Any]]:
    """Within this block the list gathers log lines of every level; warnings join it at the end."""
    lines: list[Any] = []
    notes, root = _Notes(lines), logging.getLogger()
    level = root.level
    root.addHandler(notes)
    root.setLevel(0)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield lines
        lines += [(warning.category, str(warning.message)) for warning in caught]
    finally:
        root.removeHandler(notes)
        root.setLevel(level)
