"""Second moments right in every direction, by recursive preconditioning.

Page, with claim, lemmas and proof: docs/mechanisms/recursive.md. Cheap early releases find the large
directions; each next one sees the rows with those directions shrunk, so that its radius and its noise are
smaller; the last release, of whitened rows, has almost the whole budget.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np

from ..core.errors import InfeasiblePlan, ParameterError
from ..core.facts import Facts
from ..core.privacy import Adjacency, Budget
from ..postprocess.recursion import BINS, Recursion, limits, rows_of
from ..postprocess.symmetric import pack
from ..rows.precondition import Precondition
from ..summaries.moments import Moments
from ..summaries.norms import NormCounts
from ..summaries.table import Table
from .steps import Draft, Draws, Stepwise, parameters_of

EARLY_SHARE, NORMS_SHARE, COUNT_SHARE = Fraction(3, 100), Fraction(5, 100), Fraction(2, 100)
MOST = 25
"""Early releases that there may be."""
STOP = 640
"""Times m: the condition number at which the source stops."""
PUBLISHED = 8
"""The source's noise 4 R^2/n for N releases of rho/N each is that of 8 times the squared sensitivity."""


@dataclass(frozen=True)
class Recursive(Stepwise):
    """Spectrally accurate second moments of rows in a public ball; both adjacencies.

    Parameters (all public)
    -----------------------
    budget : the one total; (epsilon, delta), rho or mu
    releases : most early releases, 3 % of mu^2 each. Those that are not needed read no rows, but are drawn
        all the same, so that every path costs what was committed.
    preset : "practical"; "theory" has the source's recursion with releases counted and priced right, half of
        mu^2 on the last; "published" its noise as well, which costs an eighth of the budget.
    floor, subsample, alpha : of the last two: a lower bound on the smallest eigenvalue in squared encoded
        units (required), and the m and alpha of a subsamplable table. They fix the number of releases.

    Cost: mu^2 = sum over steps of Delta^2/sigma^2, exactly. Source: 003 (the recursion), with our count of
    releases, sensitivities, map and schedule.
    """

    name: ClassVar[str] = "recursive"
    theorem: ClassVar[str] = "recursive.md, theorem 1"
    adjacencies: ClassVar[frozenset[Adjacency]] = frozenset(Adjacency)
    serves: ClassVar[frozenset[str]] = frozenset({"second moment"})
    needs_bounds: ClassVar[bool] = True

    budget: Budget
    releases: int = 8
    preset: Literal["practical", "theory", "published"] = "practical"
    floor: float | None = None
    subsample: int = 100
    alpha: float = 0.1

    @classmethod
    def audited(cls, budget: Budget) -> Iterator[Recursive]:
        """What the suites run; "published" is "theory" with more noise."""
        yield cls(budget, releases=3)
        yield cls(budget, preset="theory", floor=1e-4, subsample=1)

    def parameters(self) -> dict[str, Any]:
        return parameters_of(self, "releases", "preset", "floor", "subsample", "alpha")

    def early(self, facts: Facts) -> int:
        """How many releases come before the last one."""
        if self.preset == "practical":
            if not 1 <= self.releases <= MOST:
                raise ParameterError(f"releases must be in 1..{MOST}: how many early releases there may be")
            return self.releases
        if self.floor is None or not 0 < self.floor < math.inf:
            raise ParameterError(
                f"preset={self.preset!r} needs floor, a public lower bound on the smallest eigenvalue in "
                "squared encoded units (min_eigenvalue finds a private one)"
            )
        if self.subsample < 1 or not 0 <= self.alpha < 1:
            raise ParameterError("subsample must be a positive number of rows, and alpha in [0, 1)")
        left = facts.grid.radius**2 / self.floor / ((1 - self.alpha) * STOP * self.subsample)
        found = math.log(max(left, 1.0)) / math.log(7 / 3)
        if found > MOST:
            raise InfeasiblePlan(
                f"floor is so far below B^2 that more than {MOST} releases are needed: raise it"
            )
        return math.ceil(found)

    def drafts(self, facts: Facts) -> list[Draft]:
        """Shares of mu^2: early releases 3 % each, norms 5 %, the count 2 % where n is private, the last the
        rest; by theory the last has half, as published as much as the others."""
        if not facts.grid.bounded:
            raise ParameterError(
                f"method={self.name!r} needs a public bound on rows: give bounds or row_norm"
            )
        replaced, early = facts.adjacency is Adjacency.REPLACE_ONE, self.early(facts)
        size, gram = facts.d * (facts.d + 1) // 2, facts.grid.levels**4 * (2 if replaced else 1)
        count = [] if replaced else [Draft("count", 1, 1, COUNT_SHARE, "L-count")]
        norms, share = [], EARLY_SHARE
        if self.preset == "practical":
            norms = [Draft("norms", BINS, 2 if replaced else 1, NORMS_SHARE, "L-norms")]
        else:
            whole = 1 - sum((draft.share or Fraction(0) for draft in count), Fraction(0))
            share = whole / (2 * max(1, early) if self.preset == "theory" else early + 1)
        if self.preset == "published":
            if not replaced:
                raise ParameterError(
                    "preset='published' is for adjacency='replace-one' alone, like its source"
                )
            gram *= PUBLISHED
        names = [f"early_{i}" for i in range(1, early + 1)]
        return [
            *count,
            *(Draft(name, size, gram, share, "L-gram", True) for name in names),
            *norms,
            Draft("last", size, gram, None, "L-gram", True),
        ]

    def draw(self, table: Table, steps: Draws) -> None:
        facts, count = table.facts, None
        if steps.planned("count"):
            total = table.reduce(Moments(gram=False)).count
            count = steps.gaussian("count", np.array([total], dtype=np.int64))
        recursion = Recursion.start(facts, steps.plan("last"), rows_of(facts, count), self.parameters())

        def seen() -> Precondition:
            view = recursion.view
            return Precondition(view.matrix, view.shift, facts.grid.bits, facts.grid.step)

        for i in range(1, self.early(facts) + 1):
            if recursion.view.final:
                exact = np.zeros(facts.d * (facts.d + 1) // 2, dtype=np.int64)
            else:
                exact = pack(_gram(table, seen()))
            recursion.take(steps.gaussian(f"early_{i}", exact))
        if steps.planned("norms"):
            recursion.settle()
            counts = table.reduce(NormCounts(limits(facts.grid.bits)), seen())
            recursion.take(steps.gaussian("norms", counts))
        steps.gaussian("last", pack(_gram(table, seen())))


def _gram(table: Table, view: Precondition) -> Any:
    gram = table.reduce(Moments(), view).gram
    assert gram is not None
    return gram
