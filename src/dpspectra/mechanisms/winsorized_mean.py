"""Winsorized means of half squared paired differences along private directions, at private cutoffs.

Page, with claim, lemmas and proof: docs/mechanisms/winsorized_mean.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..accounting.gaussian import calibrate as calibrate_budget
from ..core.facts import Facts
from ..core.privacy import Budget
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
    component's cutoff. Quantiles: lemma L-climb. Sources: 000, 001, [Durfee23].
    """

    name: ClassVar[str] = "winsorized_mean"
    theorem: ClassVar[str] = "winsorized_mean.md, theorem 1"

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

    def published(self, facts: Facts, budget: Budget) -> list[Part]:
        half, each = Fraction(1, 2), Fraction(1, len(self._searches))
        *searches, means = self.along(facts)
        return [
            Part(
                half, fraction_of(budget, half, Fraction(0)), tuple(replace(d, share=each) for d in searches)
            ),
            Part(half, fraction_of(budget, half, Fraction(1)), (replace(means, share=Fraction(1)),)),
        ]

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
        searched, _ = settings.rows(facts)
        mu_squared = calibrate_budget(self.budget, 1, 2.0**200).mu_squared * self.share
        wanted = self.n_components * (1.5 * MARGIN / (1 - LEVEL) / searched) ** 2 / float(mu_squared)
        return min(max(Fraction(math.ceil(100 * min(wanted, 1.0)), 100), LEAST), MOST)


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
