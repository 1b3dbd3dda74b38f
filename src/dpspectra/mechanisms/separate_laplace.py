"""Eigenvectors and eigenvalues apart, under pure DP.

Page, with claim, lemmas and proof: docs/mechanisms/separate_laplace.md. Source: 002 (SeparateLapCov).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, Self

from ..core.facts import Facts
from ..core.privacy import Budget
from ..postprocess.symmetric import pack
from ..summaries.moments import Moments
from ..summaries.table import Table
from ._moments import bounded, gram, opening, row_map
from ._spectrum import eigenvalues, widened
from .laplace import scatter
from .steps import Draft, Draws, Stepwise


@dataclass(frozen=True)
class SeparateLaplace(Stepwise):
    """Laplace noise on the scatter and on its exact sorted eigenvalues, half of epsilon each; replace-one.

    Parameters (all public)
    -----------------------
    budget : the one total; (epsilon, delta) costs epsilon at delta = 0, rho costs epsilon^2/2
    center : "private" releases the mean first, "fixed" takes the grid's centre
    preset : of the scatter's noise, as in ``laplace``
    """

    name: ClassVar[str] = "separate_laplace"
    theorem: ClassVar[str] = "separate_laplace.md, theorem 1"
    serves: ClassVar[frozenset[str]] = frozenset()  # estimators do not read its noise law yet
    needs_bounds: ClassVar[bool] = True
    loose: ClassVar[frozenset[str]] = frozenset({"scatter", "mean", "spectrum"})

    budget: Budget
    center: Literal["private", "fixed"] = "private"
    preset: Literal["tight", "published"] = "tight"

    @classmethod
    def audited(cls, budget: Budget) -> Iterator[Self]:
        """The configurations that the suites of ``testing`` run."""
        yield cls(budget)
        yield cls(budget, center="fixed", preset="published")

    def parameters(self) -> dict[str, Any]:
        return {"layout": self.center, "preset": self.preset}

    def drafts(self, facts: Facts) -> list[Draft]:
        """Shares of epsilon: mean 10 % where it is drawn, then halves."""
        bounded(facts, self.name)
        fourth = facts.grid.levels**4
        first = opening(facts, self.center, "none", "laplace")
        half = (1 - sum((draft.share or Fraction(0) for draft in first), Fraction(0))) / 2
        change = widened((4 if facts.d > 1 else 1) * fourth, facts.d**2, facts)
        return [
            *first,
            replace(scatter(facts, self.preset), share=half),
            Draft("spectrum", facts.d, change, half, "L-spectrum", law="laplace"),
        ]

    def draw(self, table: Table, steps: Draws) -> None:
        exact = gram(table.reduce(Moments(), row_map(table, steps, "scatter")))
        steps.laplace("scatter", pack(exact))
        steps.laplace("spectrum", eigenvalues(exact))
