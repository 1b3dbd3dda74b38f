"""Winsorized means of half squared paired differences along private directions, at private cutoffs.

Page, with claim, lemmas and proof: docs/mechanisms/winsorized_mean.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..accounting import zcdp
from ..accounting.compose import parallel
from ..accounting.exact import total
from ..accounting.gaussian import calibrate as calibrate_budget
from ..core.errors import ParameterError
from ..core.facts import Facts
from ..core.privacy import Budget, Cost
from ..core.released import StepPlan
from ..noise.base import FloatArray, IntArray
from ..postprocess.clipped_mean import bits_of
from ..postprocess.quantile import target
from ..postprocess.winsorized_mean import LEVEL, MARGIN, Settings
from ..summaries.quantile import counts
from ..summaries.table import Table
from .allocation import Allocated, Part, fraction_of
from .steps import Draft, Draws, parameters_of

LEAST, MOST = Fraction(1, 10), Fraction(1, 2)
"""Of the part for the means, what goes to quantiles: between these, as much as level .9 needs."""


@dataclass(frozen=True)
class WinsorizedMean(Allocated):
    """Private quantiles of the squares, then noisy means of the squares cut at them; replace-one.

    Parameters (all public)
    -----------------------
    budget : the one total; (epsilon, delta) or rho.
    n_components, directions, share, options : as ``Along``.
    limits : [a, b] of the cutoffs, squared encoded units. Squares are cut below at a; by default 0, and 2 B^2
        or, without a bound on rows, 2^60.
    stretch : how far beyond the .9 quantile to cut; None takes it from the noise of the means.
    rows : "reused" takes quantiles and means of all pairs, "disjoint" each of one half of them.
    preset : "published" has the source's allocation: two quantiles a component, at a fine ladder that ends
        at 147, with epsilon/(4 k) each of the part left by the directions, and half of it for the means.

    Squares are put on a grid between their two cutoffs before they are added up, so the sensitivity of the
    sum is sqrt(k) levels whatever the cutoffs are (lemma L-between), and the noise is the same part of each
    component's cutoff. Quantiles: lemma L-climb. Sources: the R package dppca,
    [Durfee23].
    """

    name: ClassVar[str] = "winsorized_mean"
    theorem: ClassVar[str] = "winsorized_mean.md, theorem 1"
    loose: ClassVar[frozenset[str]] = frozenset({"means"})

    budget: Budget
    n_components: int = 2
    directions: str = "gaussian_moments"
    share: Fraction = Fraction(1, 2)
    limits: tuple[float, float] | None = None
    stretch: float | None = None
    rows: Literal["reused", "disjoint"] = "reused"
    preset: Literal["tight", "published"] = "tight"
    options: tuple[tuple[str, Any], ...] = ()

    def parameters(self) -> dict[str, Any]:
        found = parameters_of(
            self, "n_components", "directions", "share", "limits", "stretch", "rows", "preset"
        )
        return found | {"limits": None if self.limits is None else list(self.limits)}

    def along(self, facts: Facts) -> list[Draft]:
        part = self._for_quantiles(facts) / len(self._searches)
        searches = [Draft(name, 1, 1, part, "L-climb", law="first") for name in self._searches]
        square = self.n_components * 4 ** bits_of(facts)
        return [*searches, Draft("means", self.n_components, square, None, "L-between")]

    @property
    def apart(self) -> bool:
        return self.preset == "published" or self.rows == "disjoint"

    def published(self, facts: Facts, budget: Budget) -> list[Part]:
        half, whole, each = Fraction(1, 2), Fraction(1), Fraction(1, len(self._searches))
        *searches, means = self.along(facts)
        if self.preset == "published":
            spent = fraction_of(budget, half, Fraction(0)), fraction_of(budget, half, whole)
        else:
            spent = budget, budget
        return [
            Part(half, spent[0], tuple(replace(draft, share=each) for draft in searches)),
            Part(half, spent[1], (replace(means, share=whole),)),
        ]

    def parts(self, facts: Facts) -> list[Part]:
        if self.preset == "published" or self.budget.epsilon is None:
            return super().parts(facts)
        # The larger of two costs is known in rho alone, so what is asked for becomes rho.
        return replace(self, budget=in_rho(self.budget)).parts(facts)

    def charges(self, plans: Sequence[StepPlan]) -> list[Cost]:
        charges = super().charges(plans)
        if self.preset == "published" or self.rows == "reused":
            return charges
        *rest, means = charges
        first = len(rest) - len(self._searches)
        return [*rest[:first], parallel([total(rest[first:]), means])]

    def look(self, table: Table, steps: Draws, vectors: NDArray[np.int64]) -> None:
        facts, settings = table.facts, Settings.of(self.parameters())
        squares = self.squares(table, steps, vectors)
        searched, averaged = settings.rows(facts)
        rungs = settings.ladder(facts)
        levels = settings.levels({name: steps.plan(name) for name in self._searches}, facts)
        for name in self._searches:
            column = squares[:searched, int(name.split()[1]) - 1]
            steps.first(name, counts(column, rungs), target(levels[name], searched))
        lower, upper = settings.cutoffs(steps, steps.plan("means"), facts)
        steps.gaussian("means", between(squares[-averaged:], lower, upper, bits_of(facts)).sum(axis=0))

    @property
    def _searches(self) -> list[str]:
        """Names of the searches, by end and component."""
        ends = ("lower", "upper") if self.preset == "published" else ("upper",)
        return [f"{end} {i + 1}" for end in ends for i in range(self.n_components)]

    def _for_quantiles(self, facts: Facts) -> Fraction:
        """Their part of what the directions leave: as much as searches for level .9 need."""
        settings = Settings.of(self.parameters())
        settings.bounds(facts)  # refuses limits that are none
        if self.stretch is not None and not 0 < self.stretch < math.inf:
            raise ParameterError("stretch must be positive and finite")
        searched, _ = settings.rows(facts)
        mu_squared = calibrate_budget(self.budget, 1, 2.0**200).mu_squared * self.share
        wanted = self.n_components * (1.5 * MARGIN / (1 - LEVEL) / searched) ** 2 / float(mu_squared)
        return min(max(Fraction(math.ceil(100 * min(wanted, 1.0)), 100), LEAST), MOST)


def in_rho(budget: Budget) -> Budget:
    """The rho whose conversion gives (epsilon, delta), a little less for the rounding of the way back."""
    if budget.epsilon is None or budget.delta is None or budget.pure:
        raise ParameterError("rows='disjoint' needs rho, or epsilon with delta > 0")
    return Budget(rho=zcdp.rho_for(budget.epsilon, budget.delta) * (1 - Fraction(1, 10**9)))


def between(squares: FloatArray, lower: FloatArray, upper: FloatArray, bits: int) -> IntArray:
    """floor(2**bits (w - L)/(U - L)) of squares w cut to [L, U]; 0 where L = U.

    Parameters
    ----------
    squares : (m, k), private
    lower, upper : (k,), public, finite, L <= U, in their units

    Returns
    -------
    int64 (m, k) in 0..2**bits: (U - L)/(U - L) is 1 and rounding is monotone.
    """
    width = np.where(upper > lower, upper - lower, 1.0)
    parts = (np.clip(squares, lower, upper) - lower) / width
    return np.floor(np.ldexp(parts, bits)).astype(np.int64)
