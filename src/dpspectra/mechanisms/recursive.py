"""Second moments right in every direction, by recursive preconditioning.

Page, with claim, lemmas and proof: docs/mechanisms/recursive.md. Cheap early releases find the large
directions; each next one sees the rows with those directions shrunk, so that its radius and its noise are
smaller; the last release, of whitened rows, has almost the whole budget.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ..core.errors import ParameterError
from ..core.facts import Facts
from ..core.privacy import Adjacency, Budget
from ..postprocess.recursion import BINS, Recursion, limits, rows_of
from ..postprocess.symmetric import pack
from ..rows.precondition import Precondition
from ..summaries.moments import Moments
from ..summaries.norms import NormCounts
from ..summaries.table import Table
from .steps import Draft, Draws, Stepwise

EARLY_SHARE, NORMS_SHARE, COUNT_SHARE = Fraction(3, 100), Fraction(5, 100), Fraction(2, 100)


@dataclass(frozen=True)
class Recursive(Stepwise):
    """Spectrally accurate second moments of rows in a public ball; both adjacencies.

    Parameters (all public)
    -----------------------
    budget : the one total; (epsilon, delta), rho or mu
    releases : most early releases, 3 % of mu^2 each. Those that are not needed read no rows, but are drawn
        all the same, so that every path costs what was committed.

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

    def parameters(self) -> dict[str, Any]:
        return {"releases": self.releases}

    def drafts(self, facts: Facts) -> list[Draft]:
        """Shares of mu^2: early releases 3 % each, norms 5 %, the count 2 % where n is private, the last the
        rest."""
        if not facts.grid.bounded:
            raise ParameterError(
                f"method={self.name!r} needs a public bound on rows: give bounds or row_norm"
            )
        if not 1 <= self.releases <= 25:
            raise ParameterError("releases must be in 1..25: how many early releases there may be")
        replace = facts.adjacency is Adjacency.REPLACE_ONE
        size, gram = facts.d * (facts.d + 1) // 2, facts.grid.levels**4 * (2 if replace else 1)
        return [
            *([] if replace else [Draft("count", 1, 1, COUNT_SHARE, "L-count")]),
            *(
                Draft(f"early_{i}", size, gram, EARLY_SHARE, "L-gram", True)
                for i in range(1, self.releases + 1)
            ),
            Draft("norms", BINS, 2 if replace else 1, NORMS_SHARE, "L-norms"),
            Draft("last", size, gram, None, "L-gram", True),
        ]

    def draw(self, table: Table, steps: Draws) -> None:
        facts, count = table.facts, None
        if steps.planned("count"):
            total = table.reduce(Moments(gram=False)).count
            count = steps.gaussian("count", np.array([total], dtype=np.int64))
        recursion = Recursion.start(facts, steps.plan("last"), rows_of(facts, count))

        def seen() -> Precondition:
            view = recursion.view
            return Precondition(view.matrix, view.shift, facts.grid.bits, facts.grid.step)

        for i in range(1, self.releases + 1):
            if recursion.view.final:
                exact = np.zeros(facts.d * (facts.d + 1) // 2, dtype=np.int64)
            else:
                exact = pack(_gram(table, seen()))
            recursion.take(steps.gaussian(f"early_{i}", exact))
        recursion.settle()
        counts = table.reduce(NormCounts(limits(facts.grid.bits)), seen())
        recursion.take(steps.gaussian("norms", counts))
        steps.gaussian("last", pack(_gram(table, seen())))


def _gram(table: Table, view: Precondition) -> Any:
    gram = table.reduce(Moments(), view).gram
    assert gram is not None
    return gram
