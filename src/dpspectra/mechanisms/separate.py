"""Eigenvectors and eigenvalues apart: a noisy scatter for the former, a noisy sorted spectrum for the latter.

Page, with claim, lemmas and proof: docs/mechanisms/separate.md. Source: 002 (SeparateCov).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, Self

from ..core.facts import Facts
from ..core.privacy import Budget
from ..postprocess.symmetric import pack
from ..summaries.moments import Moments
from ..summaries.table import Table
from ._moments import bounded, gram, opening, row_map
from ._spectrum import eigenvalues, widened
from .steps import Draft, Draws, Stepwise


@dataclass(frozen=True)
class Separate(Stepwise):
    """Gaussian noise on the scatter and, with what is left, on its exact sorted eigenvalues; replace-one.

    Parameters (all public)
    -----------------------
    budget : the one total; (epsilon, delta), rho or mu. Pure DP is refused.
    center : "private" releases the mean first, "fixed" takes the grid's centre
    preset : "tight" has isometric noise on the scatter, "published" equal sds (source 002)

    Cost: mu^2 = sum over steps of Delta^2/sigma^2; scatter and spectrum get halves of what the mean leaves.
    """

    name: ClassVar[str] = "separate"
    theorem: ClassVar[str] = "separate.md, theorem 1"
    serves: ClassVar[frozenset[str]] = frozenset()  # estimators do not read its noise law yet
    needs_bounds: ClassVar[bool] = True
    loose: ClassVar[frozenset[str]] = frozenset({"spectrum"})

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
        """Shares of mu^2: mean 10 % where it is drawn, then halves."""
        bounded(facts, self.name)
        d, squared = facts.d, 2 * facts.grid.levels**4
        first = opening(facts, self.center, "none", "gaussian")
        half = (1 - sum((draft.share or Fraction(0) for draft in first), Fraction(0))) / 2
        tight = self.preset == "tight"
        return [
            *first,
            Draft("scatter", d * (d + 1) // 2, squared, half, "L-gram", symmetric=tight),
            Draft("spectrum", d, widened(squared, d, facts), half, "L-spectrum"),
        ]

    def draw(self, table: Table, steps: Draws) -> None:
        exact = gram(table.reduce(Moments(), row_map(table, steps, "scatter")))
        steps.gaussian("scatter", pack(exact))
        steps.gaussian("spectrum", eigenvalues(exact))
