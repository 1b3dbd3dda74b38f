"""Huber means of half squared paired differences along private directions: no bound on the data is needed.

Page, with claim, lemmas and proof: docs/mechanisms/huber_mean.md. A private dyadic scale of each column, then
steps of gradient descent whose cuts follow from the noisy outputs so far (``postprocess/huber_mean.py``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..accounting.gaussian import calibrate as calibrate_budget
from ..accounting.zcdp import epsilon_for
from ..core.errors import ParameterError
from ..core.facts import Facts
from ..core.privacy import Budget
from ..noise.base import FloatArray, IntArray
from ..postprocess.clipped_mean import pairs_of
from ..postprocess.huber_mean import BITS, Cut, bins, cut
from ..summaries.dyadic import EXTENT, counts
from ..summaries.table import Table
from .allocation import Allocated, Part, fraction_of
from .steps import Draft, Draws, parameters_of

LEAST, MOST = Fraction(1, 20), Fraction(1, 2)
"""Of the part for the means, what goes to the scales: between these, as much as lets the median be found."""
MARGIN = 10
"""Noise scales by which the score of the right bin should pass those far off: 100 bins need about 5."""
STEPS = (Fraction(1, 20), Fraction(3, 20), Fraction(4, 5))
"""Parts of the steps in what the scales leave."""
PUBLISHED_SCALE = Fraction(1, 4)
FEWEST = 4
"""Pairs that the published constants need: one block."""
USUAL_DELTA = Fraction(1, 10**6)
LEAST_EPSILON = Fraction(1, 10**6)
"""Below it the published cut would round to nothing."""


@dataclass(frozen=True)
class HuberMean(Allocated):
    """Huber means of w along private directions; replace-one.

    Parameters (all public)
    -----------------------
    budget : the one total; (epsilon, delta) or rho. The selection of a scale has no price in mu.
    n_components, directions, share, options : as ``Along``.
    scales : (first r, last r) of the dyadic bins in which a scale is looked for, of squares in encoded units
        ("published": of their half squared differences). None: from the bound on rows, or wide.
    preset : "published" has the source's constants: scales by the mode of block medians, tau of its formula,
        ceil(log m) steps from 0 of sensitivity 2 tau, parts calibrated apart; 8 rows at least.

    Cost: a selection of range epsilon a column (lemmas L-median, L-mode), and mu^2 = k/sigma^2 a step
    (lemma L-psi), sigma in units of the cut's width. Sources: 000, 001.
    """

    name: ClassVar[str] = "huber_mean"
    theorem: ClassVar[str] = "huber_mean.md, theorem 1"
    loose: ClassVar[frozenset[str]] = frozenset(f"step_{step}" for step in range(1, 65))

    budget: Budget
    n_components: int = 2
    directions: str = "gaussian_moments"
    share: Fraction = Fraction(1, 2)
    scales: tuple[int, int] | None = None
    preset: Literal["tight", "published"] = "tight"
    options: tuple[tuple[str, Any], ...] = ()

    def parameters(self) -> dict[str, Any]:
        found = parameters_of(self, "n_components", "directions", "share", "preset")
        found["scales"] = None if self.scales is None else list(self.scales)
        if self.preset == "published":
            found["epsilon_steps"] = float(self._epsilon * self.share * (1 - PUBLISHED_SCALE))
        return found

    @property
    def _epsilon(self) -> Fraction:
        """Of the whole budget; one in rho is read at the usual delta."""
        if self.budget.epsilon is not None:
            return self.budget.epsilon
        return epsilon_for(self.budget.rho or Fraction(0), USUAL_DELTA)

    def along(self, facts: Facts) -> list[Draft]:
        m = pairs_of(facts)
        if self.scales is not None and not -EXTENT <= self.scales[0] <= self.scales[1] <= EXTENT:
            raise ParameterError(
                f"scales must be two whole numbers, the first not above the second, in -{EXTENT}..{EXTENT}"
            )
        if self.preset == "published" and m < FEWEST:
            raise ParameterError(
                f"preset='published' needs {2 * FEWEST} rows at least; preset='tight' does not"
            )
        if self.preset == "published" and self._epsilon < LEAST_EPSILON:
            raise ParameterError("preset='published' has no cut at so small a budget: ask for a larger one")
        part = self._for_scales(m)
        return [*self._selections(part), *self._steps(m, 1 - part)]

    def published(self, facts: Facts, budget: Budget) -> list[Part]:
        scale, steps, whole = PUBLISHED_SCALE, 1 - PUBLISHED_SCALE, Fraction(1)
        return [
            Part(scale, fraction_of(budget, scale, Fraction(0)), tuple(self._selections(whole))),
            Part(steps, fraction_of(budget, steps, whole), tuple(self._steps(pairs_of(facts), whole))),
        ]

    def look(self, table: Table, steps: Draws, vectors: NDArray[np.int64]) -> None:
        facts, parameters = table.facts, self.parameters()
        squares = self.squares(table, steps, vectors)
        squares *= facts.grid.step**2
        np.minimum(squares, 2.0**EXTENT, out=squares)
        low, high = bins(facts, parameters)
        tight = self.preset == "tight"
        found = counts(squares if tight else block_medians(squares), low, high)
        for column, bin_counts in enumerate(found, 1):
            name = f"scale_{column}"
            if tight:
                bin_counts = median_scores(bin_counts, low, steps.plan(name).sigma[0])
            steps.largest(name, bin_counts)
        for step in range(1, self._number_of_steps(len(squares)) + 1):
            name = f"step_{step}"
            steps.gaussian(name, cut_to_grid(squares, cut(steps, parameters, steps.plan(name))).sum(axis=0))

    def _for_scales(self, m: int) -> Fraction:
        """Their part of what the directions leave. Scores of bins far off are m/2 below the best."""
        if self.preset == "published":
            return PUBLISHED_SCALE
        mu_squared = float(calibrate_budget(self.budget, 1, 2.0**200).mu_squared * self.share)
        wanted = self.n_components / (4 * mu_squared) * (4 * MARGIN / m) ** 2
        return min(max(Fraction(math.ceil(100 * min(wanted, 1.0)), 100), LEAST), MOST)

    def _number_of_steps(self, m: int) -> int:
        return len(STEPS) if self.preset == "tight" else math.ceil(math.log(m))

    def _selections(self, share: Fraction) -> list[Draft]:
        k, lemma = self.n_components, "L-median" if self.preset == "tight" else "L-mode"
        return [
            Draft(f"scale_{column}", 1, 1, share / k, lemma, law="largest", spread=2)
            for column in range(1, k + 1)
        ]

    def _steps(self, m: int, share: Fraction) -> list[Draft]:
        k, number = self.n_components, self._number_of_steps(m)
        parts = STEPS if self.preset == "tight" else (Fraction(1, number),) * number
        return [
            Draft(f"step_{step}", k, k * 4**BITS, share * part, "L-psi") for step, part in enumerate(parts, 1)
        ]


def median_scores(bin_counts: IntArray, low: int, scale: float) -> IntArray:
    """Score of each bin r: -|#{values below 2^(r+1)} - m/2|, less the noise scale times 2 ln(1 + |r|).

    The latter is public: without data r is drawn in proportion to 1/(1 + |r|)^2, so that a scale near 1 costs
    little, however many bins there are, and one far off costs 2 ln |r| noise scales. Private.
    """
    below = np.cumsum(bin_counts)
    r = np.arange(low, low + len(below))
    against = np.rint(scale * 2 * np.log1p(np.abs(r))).astype(np.int64)
    scores: IntArray = -np.abs(below - below[-1] // 2) - against
    return scores


def block_medians(squares: FloatArray) -> FloatArray:
    """Medians (M, k) of half squared differences of consecutive rows of ``squares`` (m, k), which stand in a
    secret random order, in M = floor(sqrt(m)/2) blocks of equal size; a remainder is left out. Private."""
    differences = (squares[0::2][: len(squares) // 2] - squares[1::2]) ** 2 / 2
    number = math.isqrt(len(squares)) // 2
    size = len(differences) // number
    blocks = differences[: number * size].reshape(number, size, -1)
    medians: FloatArray = np.median(blocks, axis=1)
    return medians


def cut_to_grid(squares: FloatArray, found: Cut) -> IntArray:
    """Squares (m, k) cut to [low, low + width], as integers 0..2**BITS of it; private."""
    part = np.clip((squares - found.low) / found.width, 0.0, 1.0)
    return np.rint(np.ldexp(part, BITS)).astype(np.int64)
