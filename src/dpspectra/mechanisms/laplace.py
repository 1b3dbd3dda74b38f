"""Second moments under pure DP: exact integer sums plus discrete Laplace noise on the upper triangle.

Page, with claim, lemmas and proof: docs/mechanisms/laplace.md.
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

Preset = Literal["tight", "published"]


@dataclass(frozen=True)
class Laplace(Stepwise):
    """Laplace noise on the scatter of rows in a public ball, under pure DP; both adjacencies.

    Parameters (all public)
    -----------------------
    budget : the one total; (epsilon, delta) costs epsilon at delta = 0, rho costs epsilon^2/2
    center : "private" releases the mean first, "fixed" takes the grid's centre
    preset : "tight" has isometric scales, "published" equal ones of sqrt(2) d r^2/epsilon (source 002)

    Cost: pure epsilon, the sum over steps, exactly.
    """

    name: ClassVar[str] = "laplace"
    theorem: ClassVar[str] = "laplace.md, theorem 1"
    adjacencies: ClassVar[frozenset[Adjacency]] = frozenset(Adjacency)
    serves: ClassVar[frozenset[str]] = frozenset()  # estimators do not read its noise law yet
    needs_bounds: ClassVar[bool] = True
    loose: ClassVar[frozenset[str]] = frozenset({"scatter", "mean"})

    budget: Budget
    center: Literal["private", "fixed"] = "private"
    preset: Preset = "tight"

    @classmethod
    def audited(cls, budget: Budget) -> Iterator[Self]:
        """The configurations that the suites of ``testing`` run."""
        yield cls(budget)
        yield cls(budget, center="fixed", preset="published")

    def parameters(self) -> dict[str, Any]:
        return {"layout": self.center, "preset": self.preset}

    def drafts(self, facts: Facts) -> list[Draft]:
        """Shares of epsilon: mean 10 %, count 5 % where they occur, the scatter the rest."""
        bounded(facts, self.name)
        return [*opening(facts, self.center, "none", "laplace"), scatter(facts, self.preset)]

    def draw(self, table: Table, steps: Draws) -> None:
        sums = table.reduce(Moments(), row_map(table, steps, "scatter"))
        draw_count(steps, sums)
        steps.laplace("scatter", pack(gram(sums)))


def scatter(facts: Facts, preset: Preset) -> Draft:
    """The scatter with Laplace noise: L1 of the upper triangle, off-diagonal entries counted sqrt(2) times
    if "tight", of the whole matrix if "published"."""
    d, fourth = facts.d, facts.grid.levels**4
    changes = 2 if facts.adjacency is Adjacency.REPLACE_ONE and d > 1 else 1  # of the squared Frobenius norm
    entries = d * (d + 1) // 2 if preset == "tight" else d * d
    return Draft(
        "scatter",
        d * (d + 1) // 2,
        entries * changes * fourth,
        None,
        "L-upper",
        symmetric=preset == "tight",
        law="laplace",
    )
