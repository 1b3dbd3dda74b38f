"""Composition of the steps of one release whose plan is fixed beforehand.

Claim: ``epsilon_at`` and ``fill`` name a pair (epsilon, delta) that the whole release satisfies, also when
a later step looks at earlier outputs, as long as each step's *cost* was fixed in advance.  Each of three
routes is a proof, so the best of their answers holds:

- ``basic``: epsilons and deltas add.
- ``zcdp``: rho and rho_delta add, then the optimal conversion (``zcdp.py``); a step that states only
  (epsilon, delta) is delta-approximately (epsilon tanh(epsilon/2))-zCDP.
- ``pld``: privacy-loss distributions convolve (``pld.py``); Gaussian steps are one of mu^2 = sum mu_i^2.

These totals describe or calibrate a fixed plan; they never admit a release to a ledger, where costs are
chosen after seeing outputs.  ``pld`` speaks of continuous Gaussians, hence of ``slack`` (lemma DG in
``gaussian.py``): epsilon grows by twice that, delta by one part in 10^9.  The other routes do not need it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpspectra.core.errors import ParameterError
from dpspectra.core.privacy import Budget, Cost

from . import gaussian, zcdp
from .exact import total
from .pld import Losses


@dataclass(frozen=True)
class Bound:
    """A proven epsilon at the delta asked for, and the route that proved it ("pld", "zcdp" or "basic")."""

    epsilon: Fraction
    route: str


def compose(steps: Sequence[Cost], delta: Fraction | None = None, slack: float = 0.0) -> Cost:
    """Total of steps in every currency they all know; with ``delta``, the best (epsilon, delta) as its claim.

    Parameters
    ----------
    steps : sequence of Cost
        Fixed beforehand; data of one table throughout.
    delta : Fraction, optional
        In (0, 1).
    slack : float
        eta of lemma DG over all Gaussian steps (``gaussian.discrete_slack``).

    Raises
    ------
    ParameterError
        As ``epsilon_at``.
    """
    cost = total(steps)
    return cost if delta is None else cost.claiming(epsilon_at(steps, delta, slack).epsilon, delta)


def parallel(halves: Sequence[Cost]) -> Cost:
    """Cost of steps on disjoint parts of the rows, each row in one part: the maximum of each currency.

    A changed row changes one part; if the split is drawn at random, hockey-stick and Renyi divergences of
    the mixture are at most the larger one (joint convexity, quasi-convexity). Recorded as zCDP or
    approximate DP: the mixture is not a Gaussian step.
    """

    def largest(values: list[Fraction | None]) -> Fraction | None:
        known = [value for value in values if value is not None]
        return max(known) if known and len(known) == len(values) else None

    return Cost(
        epsilon=largest([half.epsilon for half in halves]),
        delta=largest([half.delta for half in halves]),
        rho=largest([half.rho for half in halves]),
        rho_delta=max((half.rho_delta for half in halves), default=Fraction(0)),
    )


def epsilon_at(steps: Sequence[Cost], delta: Fraction, slack: float = 0.0) -> Bound:
    """Smallest epsilon that one of the three routes proves at ``delta``, rounded up.

    Raises
    ------
    ParameterError
        If delta is out of (0, 1), or no route applies: a step states no usable cost, or the steps' own
        deltas reach ``delta``.
    """
    if not 0 < delta < 1:
        raise ParameterError("delta must be in (0, 1)")
    cost, found = total([_with_rho(step) for step in steps]), []
    if cost.epsilon is not None and cost.delta is not None and cost.delta <= delta:
        found.append(Bound(cost.epsilon, "basic"))
    if cost.rho is not None and cost.rho_delta < delta:
        found.append(Bound(zcdp.epsilon_for(cost.rho, delta, cost.rho_delta), "zcdp"))
    losses = Losses.of(steps)
    kept = delta * (1 - gaussian.DELTA_SHARE) if losses is not None and losses.mu_squared > 0 else delta
    if losses is not None and (epsilon := losses.epsilon_at(kept)) is not None:
        found.append(Bound(epsilon + 2 * Fraction(slack), "pld"))
    if not found:
        raise ParameterError("the steps prove no epsilon at this delta: raise it above the steps' own deltas")
    return min(found, key=lambda bound: bound.epsilon)


def fill(
    budget: Budget, fixed: Sequence[Cost], coordinates: int, sigma_floor: float = gaussian.SIGMA_FLOOR
) -> gaussian.Calibration:
    """Largest mu^2 of Gaussian steps that, beside the ``fixed`` steps, keeps the whole release in ``budget``.

    With no fixed steps this is ``gaussian.calibrate``.

    Parameters
    ----------
    budget : Budget
        The total of the release.
    fixed : sequence of Cost
        The other steps; under rho each must know rho, under mu each must be Gaussian.
    coordinates, sigma_floor
        As in ``gaussian.calibrate``; Gaussian steps among ``fixed`` count as well.

    Raises
    ------
    ParameterError
        If the fixed steps do not fit the budget or state no cost in its units.
    """
    cost = total([_with_rho(step) for step in fixed])
    if budget.rho is not None or budget.mu is not None:
        whole = gaussian.calibrate(budget, coordinates, sigma_floor)
        used = cost.mu_squared if budget.rho is None else cost.rho and 2 * cost.rho
        if used is None or (budget.rho is not None and cost.rho_delta > 0):
            raise ParameterError("a fixed step has no cost in the budget's units: give epsilon and delta")
        return gaussian.Calibration(_left(whole.mu_squared - used), whole.slack)
    epsilon, delta, slack = gaussian.after_slack(budget, coordinates, sigma_floor)
    assert budget.epsilon is not None and budget.delta is not None
    found = []
    losses, top = Losses.of(fixed), gaussian.mu_for(epsilon, delta)
    if losses is not None and (room := losses.room(epsilon, delta, top)) is not None:
        found.append(gaussian.Calibration(room, slack))
    if cost.rho is not None and cost.rho_delta < budget.delta:
        rho = zcdp.rho_for(budget.epsilon, budget.delta - cost.rho_delta)
        found.append(gaussian.Calibration(2 * (rho - cost.rho), 0.0))
    if not found:
        raise ParameterError("a fixed step states no usable cost, or the fixed steps use up the budget")
    best = max(found, key=lambda calibration: calibration.mu_squared)
    return gaussian.Calibration(_left(best.mu_squared), best.slack)


def _left(mu_squared: Fraction) -> Fraction:
    if mu_squared <= 0:
        raise ParameterError("the fixed steps use up the budget: give them a smaller share")
    return mu_squared


def _with_rho(step: Cost) -> Cost:
    """The step with the zCDP that its (epsilon, delta) implies, where it states none."""
    if step.rho is not None or step.epsilon is None or step.delta is None:
        return step
    return replace(step, rho=zcdp.rho_of_pure(step.epsilon), rho_delta=step.delta)
