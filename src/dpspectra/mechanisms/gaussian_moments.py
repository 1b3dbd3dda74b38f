"""Second moments by exact integers plus isometric discrete Gaussian noise.

Page, with claim, lemmas and proof: docs/mechanisms/gaussian_moments.md. Three layouts:

- ``center="fixed"``: the scatter about the grid's public centre (and a count under add/remove);
- ``center="private"``: the mean first, then the scatter about the *released* mean (default);
- ``center="joint"``: one pass over z = (c, k), releasing sum z z', which holds count, mean and scatter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np

from ..accounting.exact import float_up, sqrt_up
from ..accounting.gaussian import Calibration, sigma_floor_for
from ..accounting.gaussian import calibrate as calibrate_budget
from ..core.errors import InfeasiblePlan, ParameterError
from ..core.facts import Facts
from ..core.privacy import Adjacency, Budget, Cost
from ..core.released import Step, StepPlan
from ..noise.base import SIGMA_MAX, FloatArray, IntArray, Noise
from ..postprocess.decode import augmentation, grid_mean
from ..postprocess.symmetric import pack
from ..rows.maps import Recentre
from ..summaries.moments import Moments, MomentSums
from ..summaries.table import Table

Center = Literal["private", "joint", "fixed"]
MEAN_SHARE, COUNT_SHARE, TRACE_SHARE = Fraction(1, 10), Fraction(1, 20), Fraction(1, 20)


@dataclass(frozen=True)
class GaussianMoments:
    """Noisy second moments of rows in a public ball; both adjacencies.

    Parameters (all public)
    -----------------------
    budget : the one total; (epsilon, delta), rho or mu. Pure DP is refused.
    center : "private", "joint" or "fixed", see the module.
    trace : also release the trace by itself, for 5 % of mu^2.

    Cost: mu^2 = sum over steps of Delta^2/sigma^2, exactly. Sources: 002 (calibration), lemmas L-sum,
    L-gram, L-augmented, L-trace of the page.
    """

    name: ClassVar[str] = "gaussian_moments"
    theorem: ClassVar[str] = "gaussian_moments.md, theorem 1"
    adjacencies: ClassVar[frozenset[Adjacency]] = frozenset(Adjacency)

    budget: Budget
    center: Center = "private"
    trace: bool = False

    def parameters(self) -> dict[str, Any]:
        return {"layout": self.center, "trace": self.trace}

    def calibrate(self, facts: Facts) -> tuple[StepPlan, ...]:
        """Shares of mu^2: mean 10 %, count 5 %, trace 5 % where they occur, second moments the rest."""
        drafts = self._drafts(facts)
        calibration, floor = self._calibration(drafts)
        spare = 1 - sum((draft.share for draft in drafts if draft.share is not None), Fraction(0))
        return tuple(draft.plan(calibration.mu_squared, spare, floor, facts) for draft in drafts)

    def slack(self, facts: Facts) -> float:
        return self._calibration(self._drafts(facts))[0].slack

    def _calibration(self, drafts: Sequence[_Draft]) -> tuple[Calibration, float]:
        """The total mu^2 and the least noise sd, in scaled grid units, that its proof (lemma DG) asks for."""
        coordinates = sum(draft.size for draft in drafts)
        continuous = calibrate_budget(self.budget, coordinates, sigma_floor=2.0**200)
        floor = sigma_floor_for(coordinates, float_up(sqrt_up(continuous.mu_squared)))
        return calibrate_budget(self.budget, coordinates, floor), floor

    def cost(self, plans: Sequence[StepPlan]) -> Cost:
        cost = Cost.gaussian(sum((plan.mu_squared for plan in plans), Fraction(0)))
        if self.budget.epsilon is not None and self.budget.delta is not None:
            return cost.claiming(self.budget.epsilon, self.budget.delta)
        return cost

    def sample(self, table: Table, noise: Noise, plans: Sequence[StepPlan]) -> tuple[Step, ...]:
        facts, plan = table.facts, {plan.name: plan for plan in plans}
        steps: list[Step] = []

        def draw(name: str, exact: IntArray) -> Step:
            step = Step(plan[name], noise.gaussian(exact << plan[name].shift, spread(plan[name], facts.d)))
            steps.append(step)
            return step

        row_map = None
        if self.center == "private":
            sums = table.reduce(Moments(gram=False))
            row_map = Recentre(grid_mean(draw("mean", _vector(sums, facts)), facts))
        sums = table.reduce(Moments(), row_map)
        if "count" in plan:
            draw("count", np.array([sums.count], dtype=np.int64))
        if self.center == "joint":
            draw("augmented", _augmented(sums, augmentation(facts)))
        else:
            draw("scatter", pack(_gram(sums)))
        if "trace" in plan:
            draw("trace", np.array([np.trace(_gram(sums))], dtype=np.int64))
        return tuple(steps)

    def _drafts(self, facts: Facts) -> list[_Draft]:
        """What is drawn, with its exact squared sensitivity in grid units before scaling."""
        d, square = facts.d, facts.grid.levels**2
        replace = facts.adjacency is Adjacency.REPLACE_ONE
        drafts: list[_Draft] = []
        if self.center == "private":
            drafts.append(
                _Draft("mean", d, 4 * square, MEAN_SHARE, "L-sum")
                if replace
                else _Draft("mean", d + 1, 2 * square, MEAN_SHARE, "L-sum")
            )
        if self.center == "joint":
            norm = (augmentation(facts) ** 2 + square) ** 2
            size = (d + 1) * (d + 2) // 2
            drafts.append(_Draft("augmented", size, 2 * norm if replace else norm, None, "L-augmented", True))
        else:
            if self.center == "fixed" and not replace:
                drafts.append(_Draft("count", 1, 1, COUNT_SHARE, "L-count"))
            sensitivity = 2 * square**2 if replace else square**2
            drafts.append(_Draft("scatter", d * (d + 1) // 2, sensitivity, None, "L-gram", True))
        if self.trace:
            drafts.append(_Draft("trace", 1, square**2, TRACE_SHARE, "L-trace"))
        return drafts


@dataclass(frozen=True)
class _Draft:
    """A step before its share of the budget is known; ``share=None`` takes what the others leave."""

    name: str
    size: int
    sensitivity_squared: int
    share: Fraction | None
    lemma: str
    symmetric: bool = False

    def plan(self, mu_squared: Fraction, spare: Fraction, sigma_floor: float, facts: Facts) -> StepPlan:
        share = spare if self.share is None else self.share
        mean_square = self.sensitivity_squared / (mu_squared * share)
        smallest = sqrt_up(mean_square / 2 if self.symmetric else mean_square)
        shift = max(0, math.ceil(math.log2(sigma_floor) - math.log2(smallest)))
        sensitivity = Fraction(self.sensitivity_squared * 4**shift)
        diagonal = float_up(sqrt_up(mean_square * 4**shift))
        sigma: tuple[float, ...] = (diagonal,)
        spent = sensitivity / Fraction(diagonal) ** 2
        if self.symmetric:
            off = float_up(sqrt_up(mean_square * 4**shift / 2))
            sigma, spent = (diagonal, off), sensitivity / min(Fraction(diagonal) ** 2, 2 * Fraction(off) ** 2)
        # A row's entry is at most the sensitivity; past 2^63 sums would wrap: private still, but useless.
        rows = facts.rows or 1 << (62 - 2 * facts.grid.bits)
        if sensitivity * rows**2 >= 2**126:
            raise InfeasiblePlan(
                "so many rows at so large a budget do not fit 64-bit sums: ask for a smaller budget, or "
                "declare fewer rows (rows, rows_max)"
            )
        if max(sigma) > SIGMA_MAX:
            raise InfeasiblePlan(
                "the budget is too small: the noise does not fit 64-bit integers; "
                "ask for a larger epsilon, delta, rho or mu"
            )
        return StepPlan(self.name, self.size, shift, sigma, sensitivity, spent, share, self.lemma)


def spread(plan: StepPlan, d: int) -> FloatArray:
    """Noise sd of every entry of a step."""
    sigma = np.full(plan.size, plan.sigma[-1])
    if len(plan.sigma) == 2:  # packed upper triangle: the diagonal opens each row
        side = d if plan.name == "scatter" else d + 1
        lengths = np.arange(side, 1, -1)
        sigma[np.concatenate([[0], np.cumsum(lengths)])] = plan.sigma[0]
    return sigma


def _gram(sums: MomentSums) -> IntArray:
    if sums.gram is None:
        raise ParameterError("the summary holds no second moments")
    return sums.gram


def _vector(sums: MomentSums, facts: Facts) -> IntArray:
    """The sum of rows; under add/remove led by r times the count (z = (r, k))."""
    if facts.adjacency is Adjacency.REPLACE_ONE:
        return sums.total
    return np.concatenate([np.array([sums.count], dtype=np.int64) * facts.grid.levels, sums.total])


def _augmented(sums: MomentSums, c: int) -> IntArray:
    """The packed sum of z z' with z = (c, k)."""
    corner = np.array([sums.count], dtype=np.int64) * np.int64(c * c)
    return np.concatenate([corner, sums.total * c, pack(_gram(sums))])
