"""What is put to the test: the way from cells to a release, in replaceable pieces.

``REAL`` is the way that users go. A third party's table or a planted fault replaces one piece.
"""

from __future__ import annotations

import itertools
import typing
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..core.errors import InfeasiblePlan, ParameterError
from ..core.privacy import Adjacency, Budget, Cost
from ..core.released import Released, StepPlan
from ..core.schema import Schema
from ..engines import open_table
from ..mechanisms.base import Mechanism
from ..mechanisms.registry import mechanisms
from ..noise.base import Noise
from ..noise.secure import SecureNoise
from ..release import release
from ..rows.encode import Encoder
from ..summaries.table import Table

Cells = NDArray[np.float64]

BUDGET = Budget.of(epsilon=1, delta="1e-6")
"""What most callers ask for, and every kind of step has a price in it."""


def open_cells(cells: Cells, adjacency: Adjacency) -> Table:
    """A table of float cells (n, d) in the unit ball about the origin, as the estimators open it."""
    schema = Schema.from_bounds(None, cells.shape[1])
    encoder = Encoder.build(schema, origin="zero", scaling="none", row_norm=1.0, clip=None)
    return open_table(cells, encoder, adjacency)


def open_free(cells: Cells, adjacency: Adjacency) -> Table:
    """A table of float cells (n, d) without any bound."""
    schema = Schema.from_bounds(None, cells.shape[1])
    encoder = Encoder.build(schema, origin="zero", scaling="none", open_ended=True)
    return open_table(cells, encoder, adjacency)


def same(mechanism: Mechanism) -> Mechanism:
    """The mechanism as it is."""
    return mechanism


@dataclass(frozen=True)
class Subject:
    """The pieces that a release is made of.

    Attributes
    ----------
    open : cells (n, d) and adjacency -> Table
    release : as ``dpspectra.release.release``
    source : makes the noise source that would be in force
    adapt : a mechanism -> the mechanism that is run
    """

    open: Callable[[Cells, Adjacency], Table] = open_cells
    release: Callable[..., Released] = release
    source: Callable[[], Noise] = SecureNoise
    adapt: Callable[[Mechanism], Mechanism] = same


REAL = Subject()
FREE = Subject(open=open_free)
"""Tables without bounds."""
FREE_DIRECTIONS = "spatial_sign"
"""A direction mechanism that takes them."""


def plans_of(
    subject: Subject, mechanism: Mechanism, cells: Cells, adjacency: Adjacency
) -> tuple[StepPlan, ...]:
    """The steps that a release of these cells declares."""
    return tuple(subject.adapt(mechanism).calibrate(subject.open(cells, adjacency).facts))


def charges_of(mechanism: Mechanism, plans: Sequence[StepPlan]) -> list[Cost]:
    """What adds up to the total: the charge of each step, unless an optional method ``charges(plans)`` counts
    steps on disjoint rows as one."""
    charges = getattr(mechanism, "charges", None)
    return [plan.charge for plan in plans] if charges is None else list(charges(plans))


def takes(subject: Subject, mechanism: Mechanism, cells: Cells, adjacency: Adjacency) -> bool:
    """Whether the mechanism plans a release of a table of these public facts."""
    try:
        plans_of(subject, mechanism, cells, adjacency)
    except (InfeasiblePlan, ParameterError):
        return False
    return True


def variants(kind: type[Any], budget: Budget = BUDGET) -> Iterator[Mechanism]:
    """The configurations of a mechanism that the suites run.

    What the optional classmethod ``audited(budget)`` yields, or else all values of its ``Literal`` and
    ``bool`` fields, whose number grows quickly.
    """
    if hasattr(kind, "audited"):
        yield from kind.audited(budget)
        return
    hints = typing.get_type_hints(kind)
    choices: dict[str, tuple[Any, ...]] = {}
    for field in fields(kind):
        hint = hints[field.name]
        if typing.get_origin(hint) is Literal:
            choices[field.name] = typing.get_args(hint)
        elif hint is bool:
            choices[field.name] = (False, True)
    for values in itertools.product(*choices.values()):
        yield kind(budget=budget, **dict(zip(choices, values, strict=True)))


@dataclass(frozen=True)
class Case:
    """A configuration, the way to it and the adjacency: what a suite runs on."""

    subject: Subject
    mechanism: Mechanism
    adjacency: Adjacency

    def __str__(self) -> str:
        bounds = "" if self.subject is REAL else "-free"
        return f"{self.mechanism.name}-{self.adjacency.value}{bounds}"


def cases(budget: Budget = BUDGET) -> list[Case]:
    """Every configuration of every mechanism found, with every adjacency and kind of table that it takes.

    On tables without bounds directions come from ``FREE_DIRECTIONS``, where they can be chosen.
    """
    cells, found = np.zeros((400, 3)), []
    for kind in mechanisms().values():
        choice = (
            {"directions": FREE_DIRECTIONS} if "directions" in [entry.name for entry in fields(kind)] else {}
        )
        for mechanism in variants(kind, budget):
            free = replace(mechanism, **choice)  # type: ignore[type-var]
            found += [
                Case(subject, chosen, adjacency)
                for adjacency in sorted(mechanism.adjacencies)
                for subject, chosen in ((REAL, mechanism), (FREE, free))
                if takes(subject, chosen, cells, adjacency)
            ]
    return found
