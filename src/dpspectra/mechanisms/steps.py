"""From shares of one total to calibrated steps: what mechanisms of several draws have in common.

A mechanism states drafts: sizes, sensitivities, shares. Shares are of rho, in which every kind of step has a
price, and add up to 1. Steps of other laws get their scales from their shares of the rho that the total
would buy as one Gaussian step; the Gaussian steps then share, in proportion, all that is left of the total
by the best composition of the whole (``accounting.compose.fill``), which is more than their nominal share.
Where no step is Gaussian and the total names an epsilon, shares are of that.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from ..accounting.compose import epsilon_at, fill
from ..accounting.exact import float_down, float_up, sqrt_down, sqrt_up, total
from ..accounting.gaussian import Calibration, sigma_floor_for
from ..accounting.gaussian import calibrate as calibrate_budget
from ..accounting.threshold import least_shown
from ..accounting.zcdp import rho_of_pure, rho_of_range
from ..core.errors import InfeasiblePlan, ParameterError
from ..core.facts import Facts
from ..core.privacy import Adjacency, Budget, Cost
from ..core.released import Drawn, Step, StepPlan
from ..noise.base import SIGMA_MAX, FloatArray, IntArray, Noise
from ..noise.floats import fits, wishart_slack
from ..summaries.table import Table


@dataclass(frozen=True)
class Draft:
    """A step before its part of the budget is known.

    Parameters (all public)
    -----------------------
    name, lemma : of the step, and of the proof of its sensitivity
    size : how many integers are released
    sensitivity_squared : squared sensitivity in units of the statistic: L2 for "gaussian", L1 for "laplace",
        the nuclear norm for "wishart"; for the others the sensitivity is 1 ("first": all counts move one way
        by at most 1; "largest": ``spread``)
    share : part of the total's rho; None takes what the others leave (one draft at most)
    symmetric : the packed upper triangle of a symmetric matrix, which gets isometric noise; its L1 norm
        counts off-diagonal entries sqrt(2) times
    law : "gaussian", "laplace", "wishart", "first", "largest" or "threshold"
    spread : of "largest": the most by which the change of one score exceeds that of another; of "threshold":
        how many counts a row moves by 1
    """

    name: str
    size: int
    sensitivity_squared: int
    share: Fraction | None
    lemma: str
    symmetric: bool = False
    law: str = "gaussian"
    spread: int = 1

    def part(self, factor: Fraction) -> Draft:
        """The same draft with its share times ``factor``."""
        return self if self.share is None else replace(self, share=self.share * factor)


class Stepwise:
    """Base of mechanisms that are a list of drafts and a way to draw them."""

    name: ClassVar[str]
    adjacencies: ClassVar[frozenset[Adjacency]] = frozenset({Adjacency.REPLACE_ONE})
    serves: ClassVar[frozenset[str]] = frozenset({"directions"})
    """What its release is for: "covariance", "directions", "scree" or "map"."""
    needs_bounds: ClassVar[bool] = False
    """Whether it takes rows with a public bound alone."""
    budget: Budget

    @abstractmethod
    def drafts(self, facts: Facts) -> Sequence[Draft]:
        """Every step, from public facts; raises ParameterError or InfeasiblePlan."""

    @abstractmethod
    def draw(self, table: Table, steps: Draws) -> None:
        """Draw every step of ``drafts``, in order, through ``steps``."""

    def calibrate(self, facts: Facts) -> tuple[StepPlan, ...]:
        """Every draw of noise, from public facts; raises ParameterError or InfeasiblePlan."""
        return calibrated(self.budget, tuple(self.drafts(facts)), facts)

    def slack(self, facts: Facts) -> float:
        """The part of epsilon that covers the noise as it is drawn: eta of lemma DG, discrete against
        continuous Gaussian noise, and that of float noise."""
        return slack_of(self.budget, filled(tuple(self.drafts(facts))))

    def cost(self, plans: Sequence[StepPlan]) -> Cost:
        """The total, claiming what was asked for."""
        cost = total(self.charges(plans))
        if self.budget.epsilon is not None and self.budget.delta is not None:
            return cost.claiming(self.budget.epsilon, self.budget.delta)
        return cost

    def charges(self, plans: Sequence[StepPlan]) -> list[Cost]:
        """What adds up to the total: the cost of each step, or of steps that look at disjoint rows as one."""
        return [plan.charge for plan in plans]

    def sample(self, table: Table, noise: Noise, plans: Sequence[StepPlan]) -> tuple[Step, ...]:
        """Read the table and draw."""
        draws = Draws(table.facts, noise, plans)
        self.draw(table, draws)
        return draws.steps


class Draws(Drawn):
    """Draws the planned steps in their order, and holds those drawn so far, which are public."""

    def __init__(self, facts: Facts, noise: Noise, plans: Sequence[StepPlan]) -> None:
        self.facts, self.steps = facts, ()
        self.noise = noise
        self._plans = {plan.name: plan for plan in plans}

    def planned(self, name: str) -> bool:
        """Whether the plan has a step of that name."""
        return name in self._plans

    def plan(self, name: str) -> StepPlan:
        """The plan of that name."""
        return self._plans[name]

    def gaussian(self, name: str, exact: IntArray) -> Step:
        """Exact integers, flat -> the step, with noise."""
        plan = self._plans[name]
        return self._drawn(plan, self.noise.gaussian(exact << plan.shift, spread(plan)))

    def laplace(self, name: str, exact: IntArray) -> Step:
        """Exact integers, flat -> the step, with discrete Laplace noise."""
        plan = self._plans[name]
        return self._drawn(plan, self.noise.laplace(exact, spread(plan)))

    def wishart(self, name: str, exact: IntArray) -> Step:
        """The packed upper triangle of a symmetric matrix -> the step, with a difference of Wisharts."""
        plan = self._plans[name]
        return self._drawn(plan, self.noise.wishart(exact, side_of(plan.size), plan.sigma[0]))

    def threshold(self, name: str, exact: IntArray) -> Step:
        """Exact counts, flat -> the step: noisy counts, and 0 where there is none or the noisy one is low."""
        plan = self._plans[name]
        return self._drawn(plan, self.noise.threshold(exact, plan.sigma[0], int(plan.sigma[1])))

    def first(self, name: str, counts: IntArray, target: int) -> int:
        """The place of the first noisy count at the noisy target."""
        plan = self._plans[name]
        place = self.noise.first(counts, target, (plan.sigma[0], plan.sigma[1]))
        self._drawn(plan, np.array([place], dtype=np.int64))
        return place

    def largest(self, name: str, scores: IntArray) -> int:
        """The place of the largest noisy score."""
        plan = self._plans[name]
        place = self.noise.largest(scores, plan.sigma[0])
        self._drawn(plan, np.array([place], dtype=np.int64))
        return place

    def _drawn(self, plan: StepPlan, values: IntArray) -> Step:
        step = Step(plan, values)
        self.steps += (step,)
        return step


def filled(drafts: Sequence[Draft]) -> tuple[Draft, ...]:
    """The drafts with the open share filled in."""
    spare = 1 - sum((draft.share for draft in drafts if draft.share is not None), Fraction(0))
    return tuple(replace(draft, share=spare) if draft.share is None else draft for draft in drafts)


@lru_cache(maxsize=64)
def calibrated(budget: Budget, drafts: tuple[Draft, ...], facts: Facts) -> tuple[StepPlan, ...]:
    """Drafts -> plans within the budget.

    Raises
    ------
    ParameterError
        Selections with a budget in mu, whose currency they have no price in.
    InfeasiblePlan
        Noise or sums that 64-bit integers do not hold.
    """
    drafts = filled(drafts)
    selections = _selections(budget, drafts)
    calibration, floor = _gaussian_total(budget, drafts, selections)
    whole = sum((_share(draft) for draft in drafts if draft.law == "gaussian"), Fraction(0))
    return tuple(
        selections[draft.name]
        if draft.name in selections
        else _gaussian_plan(draft, calibration.mu_squared * _share(draft) / whole, floor, facts)
        for draft in drafts
    )


@lru_cache(maxsize=64)
def slack_of(budget: Budget, drafts: tuple[Draft, ...]) -> float:
    """The part of epsilon that covers the noise of these drafts as it is drawn (``Stepwise.slack``)."""
    selections = _selections(budget, drafts)
    floats = sum(float_slack(plan) for plan in selections.values())
    return _gaussian_total(budget, drafts, selections)[0].slack + floats


def _share(draft: Draft) -> Fraction:
    assert draft.share is not None
    return draft.share


def _selections(budget: Budget, drafts: Sequence[Draft]) -> dict[str, StepPlan]:
    """The plans of the steps that are not Gaussian."""
    chosen = [draft for draft in drafts if draft.law != "gaussian"]
    if not chosen:
        return {}
    if budget.mu is not None:
        raise ParameterError(
            "mu: this method selects privately (a quantile, a scale), which has no price in mu; give epsilon "
            "and delta, or rho"
        )
    pure = len(chosen) == len(drafts) and all(draft.law != "threshold" for draft in drafts)
    if budget.epsilon is not None and pure:  # pure steps add up to it at any delta
        return {draft.name: _pure(draft, budget.epsilon * _share(draft)) for draft in chosen}
    rho = calibrate_budget(budget, 1, 2.0**200).mu_squared / 2
    found = {
        draft.name: _selection(draft, rho * _share(draft)) for draft in chosen if draft.law != "threshold"
    }
    for draft in chosen:
        if draft.law == "threshold":
            found[draft.name] = _threshold(
                draft, budget, tuple(drafts), tuple(plan.charge for plan in found.values())
            )
    return found


def _selection(draft: Draft, rho: Fraction) -> StepPlan:
    """By the range of the privacy loss, which costs about range^2/8: of "first" it is e1 + 2 e2, with e1 = e2
    here, of "largest" ``spread``/scale. Other pure steps cost at most epsilon^2/2."""
    reach = sqrt_down(8 * rho)
    return _pure(draft, {"first": 2 * reach / 3, "largest": reach}.get(draft.law, reach / 2))


def _pure(draft: Draft, epsilon: Fraction) -> StepPlan:
    """A step of that pure epsilon or a little less, as scales are rounded up."""
    size, sensitivity = 1, Fraction(1)
    if draft.law == "first":
        scale = float_up(2 / epsilon)
        sigma: tuple[float, ...] = (scale, scale)
        cost = Cost.pure(2 / Fraction(scale), rho=rho_of_range(3 / Fraction(scale)))
    elif draft.law == "largest":
        scale = float_up(draft.spread / epsilon)
        sigma, reach = (scale,), draft.spread / Fraction(scale)
        cost = Cost.pure(reach, rho=rho_of_range(reach))
    else:
        size, sensitivity = draft.size, Fraction(draft.sensitivity_squared)
        sigma, pure = (_laplace if draft.law == "laplace" else _wishart)(draft, epsilon)
        cost = Cost.pure(pure, rho=rho_of_pure(pure))
    if max(sigma) > SIGMA_MAX:
        raise InfeasiblePlan("the budget is too small for this noise or selection: ask for a larger one")
    return StepPlan(
        draft.name, size, 0, sigma, sensitivity, Fraction(0), _share(draft), draft.lemma, draft.law, cost
    )


@lru_cache(maxsize=64)
def _threshold(draft: Draft, budget: Budget, drafts: tuple[Draft, ...], others: tuple[Cost, ...]) -> StepPlan:
    """Noise and threshold of a stability histogram, of its share of delta and of as much epsilon as leaves
    the Gaussian steps their shares of mu^2: by the best composition that is more than by its price in rho."""
    if not (budget.epsilon and budget.delta):
        raise ParameterError(
            "a sparse histogram has a threshold, whose price is a delta: give epsilon and delta"
        )
    gaussian = [step for step in drafts if step.law == "gaussian"]
    coordinates, delta = sum(step.size for step in gaussian), budget.delta * _share(draft)
    kept = calibrate_budget(budget, 1, 2.0**200).mu_squared * sum(map(_share, gaussian), Fraction(0))
    low, high = budget.epsilon * _share(draft) / 64, budget.epsilon
    if not gaussian and not others:
        low = high  # alone, it has all of epsilon
    for _ in range(12 if low < high else 0):
        middle = (low + high) / 2
        costs = [*others, Cost.approx(middle, delta)]
        try:
            fits = (
                fill(budget, costs, coordinates, 2.0**200).mu_squared >= kept
                if gaussian
                else epsilon_at(costs, budget.delta).epsilon <= budget.epsilon
            )
        except ParameterError:  # it takes all
            fits = False
        low, high = (middle, high) if fits else (low, middle)
    scale = float_up(draft.spread / low)
    if scale > SIGMA_MAX:
        raise InfeasiblePlan("the budget is too small for a threshold on counts: ask for a larger one")
    cost = Cost.approx(draft.spread / Fraction(scale), delta)
    sigma, square = (scale, float(least_shown(scale, delta))), Fraction(draft.spread) ** 2
    return StepPlan(
        draft.name, draft.size, 0, sigma, square, Fraction(0), _share(draft), draft.lemma, draft.law, cost
    )


def _laplace(draft: Draft, epsilon: Fraction) -> tuple[tuple[float, ...], Fraction]:
    """Scales and epsilon: the sensitivity over the scale, isometric where the draft is symmetric."""
    squared = draft.sensitivity_squared
    sigma: tuple[float, ...] = (float_up(sqrt_up(Fraction(squared)) / epsilon),)
    least = Fraction(sigma[0]) ** 2
    if draft.symmetric:
        sigma += (float_up(sqrt_up(Fraction(squared, 2)) / epsilon),)
        least = min(least, 2 * Fraction(sigma[1]) ** 2)
    return sigma, min(epsilon, sqrt_up(squared / least))


def _wishart(draft: Draft, epsilon: Fraction) -> tuple[tuple[float, ...], Fraction]:
    """Scale and epsilon: half the nuclear sensitivity over the scale, and what float noise costs on top."""
    side, root = side_of(draft.size), sqrt_up(Fraction(draft.sensitivity_squared))
    slack = Fraction(wishart_slack(side, float_down(root / (2 * epsilon))))
    if 4 * slack > epsilon:
        raise InfeasiblePlan(
            "epsilon is too small for float noise on so many columns: ask for a larger one, or take "
            "method='laplace'"
        )
    scale = float_up(root / (2 * (epsilon - slack)))
    if not fits(side, scale):
        raise InfeasiblePlan(
            "epsilon is too small: the noise does not fit 64-bit integers; ask for a larger one"
        )
    return (scale,), min(epsilon, root / (2 * Fraction(scale)) + slack)


def float_slack(plan: StepPlan) -> float:
    """The part of epsilon that covers a step's float noise; 0 where noise is exact."""
    return wishart_slack(side_of(plan.size), plan.sigma[0]) if plan.law == "wishart" else 0.0


def side_of(size: int) -> int:
    """Order of the symmetric matrix whose packed upper triangle has that size."""
    return (math.isqrt(8 * size + 1) - 1) // 2


def _gaussian_total(
    budget: Budget, drafts: Sequence[Draft], selections: dict[str, StepPlan]
) -> tuple[Calibration, float]:
    """The total mu^2 of the Gaussian steps and the least noise sd that its proof (lemma DG) asks for."""
    coordinates = sum(draft.size for draft in drafts if draft.law == "gaussian")
    if not coordinates:
        return Calibration(Fraction(0), 0.0), 0.0
    continuous = calibrate_budget(budget, coordinates, sigma_floor=2.0**200)
    floor = sigma_floor_for(coordinates, float_up(sqrt_up(continuous.mu_squared)))
    return _left(budget, tuple(plan.charge for plan in selections.values()), coordinates, floor), floor


@lru_cache(maxsize=64)
def _left(budget: Budget, fixed: tuple[Cost, ...], coordinates: int, floor: float) -> Calibration:
    return fill(budget, fixed, coordinates, floor) if fixed else calibrate_budget(budget, coordinates, floor)


def _gaussian_plan(draft: Draft, mu_squared: Fraction, sigma_floor: float, facts: Facts) -> StepPlan:
    mean_square = draft.sensitivity_squared / mu_squared
    smallest = sqrt_up(mean_square / 2 if draft.symmetric else mean_square)
    shift = max(0, math.ceil(math.log2(sigma_floor) - math.log2(smallest)))
    sensitivity = Fraction(draft.sensitivity_squared * 4**shift)
    diagonal = float_up(sqrt_up(mean_square * 4**shift))
    sigma: tuple[float, ...] = (diagonal,)
    spent = sensitivity / Fraction(diagonal) ** 2
    if draft.symmetric:
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
    return StepPlan(draft.name, draft.size, shift, sigma, sensitivity, spent, _share(draft), draft.lemma)


def spread(plan: StepPlan) -> FloatArray:
    """Noise sd of every entry of a Gaussian step, scale of a Laplace one."""
    sigma = np.full(plan.size, plan.sigma[-1])
    if len(plan.sigma) == 2:  # packed upper triangle of a side of s: the diagonal opens each row
        lengths = np.arange(side_of(plan.size), 1, -1)
        sigma[np.concatenate([[0], np.cumsum(lengths)])] = plan.sigma[0]
    return sigma


def parameters_of(mechanism: Any, *names: str) -> dict[str, Any]:
    """Fields of a mechanism as JSON values."""
    return {name: _plain(getattr(mechanism, name)) for name in names}


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Fraction) else value
