"""Second moments under pure DP: exact integer sums plus the difference of two Wisharts.

Page, with claim, lemmas and proof: docs/mechanisms/wishart_difference.md. The noise s (G G' - H H'), G and H
d x (d + 1) standard normal, is isotropic, and sqrt(2/d) of the sd that Laplace noise needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from ..core.facts import Facts
from ..core.privacy import Adjacency, Budget
from ..postprocess.symmetric import pack
from ..summaries.moments import Moments
from ..summaries.table import Table
from ._moments import bounded, draw_count, gram, opening, row_map
from .steps import Draft, Draws, Stepwise


@dataclass(frozen=True)
class WishartDifference(Stepwise):
    """Noisy second moments of rows in a public ball under pure DP; both adjacencies.

    Parameters (all public)
    -----------------------
    budget : the one total; (epsilon, delta) costs epsilon at delta = 0, rho costs epsilon^2/2
    center : "private" releases the mean first (Laplace noise), "fixed" takes the grid's centre
    clip : "private" clips rows at a radius that a noisy histogram of their norms chooses

    Cost: pure epsilon, the sum over steps; the numerical slack of float noise is inside (``slack``).
    """

    name: ClassVar[str] = "wishart_difference"
    theorem: ClassVar[str] = "wishart_difference.md, theorem 1"
    adjacencies: ClassVar[frozenset[Adjacency]] = frozenset(Adjacency)
    serves: ClassVar[frozenset[str]] = frozenset()  # estimators do not read its noise law yet
    needs_bounds: ClassVar[bool] = True

    budget: Budget
    center: Literal["private", "fixed"] = "private"
    clip: Literal["none", "private"] = "none"

    @classmethod
    def audited(cls, budget: Budget) -> Iterator[Self]:
        """The configurations that the suites of ``testing`` run."""
        yield cls(budget)
        yield cls(budget, center="fixed")
        yield cls(budget, clip="private")

    def parameters(self) -> dict[str, Any]:
        return {"layout": self.center, "threshold": self.clip}

    def drafts(self, facts: Facts) -> list[Draft]:
        """Shares of epsilon: histograms 10 %, mean 10 %, count 5 % where they occur, the scatter the rest."""
        bounded(facts, self.name)
        # Of one row the nuclear norm changes by at most 2 r^2; by r^2 if it comes or goes, or is a number.
        single = facts.d == 1 or facts.adjacency is Adjacency.ADD_REMOVE
        squared = facts.grid.levels**4 * (1 if single else 4)
        scatter = Draft("scatter", facts.d * (facts.d + 1) // 2, squared, None, "L-nuclear", law="wishart")
        return [*opening(facts, self.center, self.clip, "laplace"), scatter]

    def draw(self, table: Table, steps: Draws) -> None:
        sums = table.reduce(Moments(), row_map(table, steps, "scatter"))
        draw_count(steps, sums)
        steps.wishart("scatter", pack(gram(sums)))
