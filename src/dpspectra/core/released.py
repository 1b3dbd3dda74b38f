"""What a mechanism gives to the public: noisy integers, the grid, how they were made, and the card."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import SchemaError
from .facts import Facts, Grid
from .privacy import Adjacency, Cost, Guarantee

FORMAT = "dpspectra.release"
FORMAT_VERSION = 1
UNREADABLE = (ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError, ValueError)
"""What code that expects a release may meet in a file that is not one."""


@dataclass(frozen=True)
class StepPlan:
    """One draw of noise, fixed by public facts before anything is read.

    The released integers are ``2**shift * statistic + noise``. ``sigma`` is the noise sd of each of the
    ``size`` entries in those units: one number, or (diagonal, off-diagonal) for a symmetric matrix packed
    as its upper triangle, row by row. ``sensitivity_squared`` is the squared L2 (Frobenius) sensitivity
    in the same units. ``lemma`` names its proof on the mechanism's page.

    ``law`` is the method of the noise source that draws it. "gaussian" steps cost ``mu_squared`` =
    sensitivity^2/sigma^2; the others ("laplace", "wishart", "first", "largest", "threshold") hold the scales
    of their draws in ``sigma``, have ``mu_squared`` 0 and state their ``cost``. ``sensitivity_squared`` is
    that of the L1 norm for "laplace", of the nuclear norm for "wishart". Of "first" and "largest" the
    released integer is a place.
    """

    name: str
    size: int
    shift: int
    sigma: tuple[float, ...]
    sensitivity_squared: Fraction
    mu_squared: Fraction
    share: Fraction
    lemma: str
    law: str = "gaussian"
    cost: Cost | None = None

    @property
    def charge(self) -> Cost:
        """What the step costs, whatever its law."""
        return Cost.gaussian(self.mu_squared) if self.cost is None else self.cost

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "size": self.size,
            "shift": self.shift,
            "sigma": list(self.sigma),
            "sensitivity_squared": str(self.sensitivity_squared),
            "mu_squared": str(self.mu_squared),
            "share": str(self.share),
            "lemma": self.lemma,
            "law": self.law,
            "cost": None if self.cost is None else self.cost.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> StepPlan:
        return cls(
            name=data["name"],
            size=data["size"],
            shift=data["shift"],
            sigma=tuple(float(value) for value in data["sigma"]),
            sensitivity_squared=Fraction(data["sensitivity_squared"]),
            mu_squared=Fraction(data["mu_squared"]),
            share=Fraction(data["share"]),
            lemma=data["lemma"],
            law=data["law"],
            cost=None if data["cost"] is None else Cost.from_dict(data["cost"]),
        )


@dataclass(frozen=True)
class Step:
    """A step and its noisy integers (int64, flat)."""

    plan: StepPlan
    values: NDArray[np.int64]


class Drawn:
    """Steps by name: what post-processing reads, of a whole release or of its first steps."""

    facts: Facts
    steps: tuple[Step, ...]

    def step(self, name: str) -> Step:
        """The step of that name; KeyError if there is none."""
        for step in self.steps:
            if step.plan.name == name:
                return step
        raise KeyError(name)

    def has(self, name: str) -> bool:
        return any(step.plan.name == name for step in self.steps)


@dataclass(frozen=True)
class Released(Drawn):
    """A release: everything in it is public, and all estimates are functions of it alone.

    Attributes
    ----------
    mechanism, theorem : name of the mechanism and of the theorem on its page
    facts : public facts of the table (rows is None under add/remove)
    steps : what was drawn, in order
    cost, guarantee : exact cost, and the promise in the units it was asked in
    parameters : public parameters of the mechanism and of the preprocessing, JSON values
    label, recorded : the ledger's label of the table; False if no ledger file was given
    entropy, version : noise source and library version
    """

    mechanism: str
    theorem: str
    facts: Facts
    steps: tuple[Step, ...]
    cost: Cost
    guarantee: Guarantee
    parameters: dict[str, Any] = field(default_factory=dict)
    label: str = "table"
    recorded: bool = False
    entropy: str = ""
    version: str = ""

    def __repr__(self) -> str:
        return f"Released(mechanism={self.mechanism!r}, d={self.facts.d}, {self.guarantee.sentence()})"

    @property
    def private(self) -> bool:
        return self.guarantee.private

    def to_json(self) -> str:
        """Strict JSON; ``Released.from_json`` reads it back to an equal release."""
        facts, grid = self.facts, self.facts.grid
        return json.dumps(
            {
                "format": FORMAT,
                "format_version": FORMAT_VERSION,
                "private": self.private,
                "guarantee": vars(self.guarantee),
                "mechanism": self.mechanism,
                "theorem": self.theorem,
                "label": self.label,
                "recorded": self.recorded,
                "entropy": self.entropy,
                "version": self.version,
                "adjacency": facts.adjacency.value,
                "unit": facts.unit,
                "rows": facts.rows,
                "features": list(facts.features),
                "groups": list(facts.groups),
                "grid": {
                    "bits": grid.bits,
                    "radius": grid.radius if grid.bounded else None,
                    "centre": list(grid.centre),
                    "scale": list(grid.scale),
                },
                "cost": self.cost.to_dict(),
                "parameters": self.parameters,
                "steps": [step.plan.to_dict() | {"values": step.values.tolist()} for step in self.steps],
            },
            allow_nan=False,
            indent=1,
        )

    @classmethod
    def from_json(cls, text: str | bytes) -> Released:
        """Read a release; raises SchemaError if it is not one or is of a later format."""
        try:
            data = json.loads(text, parse_constant=_no_number)
            if data["format"] != FORMAT:
                raise SchemaError("not a dpspectra release file")
            if data["format_version"] > FORMAT_VERSION:
                raise SchemaError("this release file needs a newer dpspectra")
            grid = data["grid"]
            facts = Facts(
                rows=data["rows"],
                features=tuple(data["features"]),
                grid=Grid(
                    grid["bits"],
                    math.inf if grid["radius"] is None else grid["radius"],
                    tuple(grid["centre"]),
                    tuple(grid["scale"]),
                ),
                adjacency=Adjacency(data["adjacency"]),
                unit=data["unit"],
                groups=tuple(data.get("groups", ())),
            )
            steps = tuple(
                Step(StepPlan.from_dict(step), np.asarray(step["values"], dtype=np.int64))
                for step in data["steps"]
            )
            promise = Guarantee(**data["guarantee"])
            promise.sentence()  # its numbers are numbers
            return cls(
                mechanism=data["mechanism"],
                theorem=data["theorem"],
                facts=facts,
                steps=steps,
                cost=Cost.from_dict(data["cost"]),
                guarantee=promise,
                parameters=data["parameters"],
                label=data["label"],
                recorded=data["recorded"],
                entropy=data["entropy"],
                version=data["version"],
            )
        except SchemaError:
            raise
        except UNREADABLE as error:
            raise SchemaError("not a readable dpspectra release file") from error


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is not strict JSON")
