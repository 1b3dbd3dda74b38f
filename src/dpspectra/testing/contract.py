"""What every mechanism must satisfy: the theorem of ``mechanisms/base.py``, clause by clause.

``contract(mechanism, adjacency)`` runs every check of ``CHECKS``. A check looks at a ``Subject``, so the same
checks judge the real way of a release, a third party's table, and the planted faults of ``faults``.

A mechanism may name in ``loose`` the steps whose declared sensitivity no pair is known to attain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from ..accounting.compose import epsilon_at
from ..accounting.exact import total
from ..accounting.zcdp import rho_of_range
from ..core.privacy import Adjacency, Budget, Cost
from ..core.released import StepPlan
from ..mechanisms.base import Mechanism
from .losses import excess, scales_of, size, spent
from .probes import nearest_power, probe
from .sources import ExactNoise, Recorder, Relabelled, in_force
from .subject import REAL, Subject, charges_of, plans_of, takes
from .trace import ContractViolation, require, run, traces

__all__ = ["CHECKS", "ContractViolation", "contract", "losses", "run"]

_WIDE = 2.0**20
"""Noise scale from which equal noise is no chance."""
TIGHT = Fraction(98, 100)
"""Part of the squared loss that the worst pair must reach: sensitivities are tight within 1 %."""
BUDGETS = (Budget.of(epsilon=1, delta="1e-6"), Budget.of(rho="0.02"), Budget.of(mu="0.3"))
"""The three ways to name a total; a mechanism may refuse some."""
RATE = 1e-10
"""False-alarm rate of a statistical check; a whole run makes hundreds."""


def contract(mechanism: Mechanism, adjacency: Adjacency, subject: Subject = REAL) -> None:
    """Run every check.

    Raises
    ------
    ContractViolation, LawViolation
        The first clause that does not hold.
    """
    for check in CHECKS.values():
        check(subject, mechanism, adjacency)


def losses(
    subject: Subject, mechanism: Mechanism, adjacency: Adjacency
) -> dict[str, tuple[Fraction, list[Fraction]]]:
    """Each step's declared squared loss (mu^2, or epsilon^2), and what each pair of neighbours costs."""
    found: dict[str, tuple[Fraction, list[Fraction]]] = {}
    for trace in traces(subject, mechanism, adjacency):
        for plan, left, right in trace.steps:
            measured = size(spent(plan, left, right))
            found.setdefault(plan.name, (size(plan.charge), []))[1].append(measured)
    return found


def check_calls(subject: Subject, mechanism: Mechanism, adjacency: Adjacency) -> None:
    """Neighbours see the same noise calls: number, order, laws, sizes and scales, as declared."""
    for trace in traces(subject, mechanism, adjacency):
        where = trace.pair.name
        for plan, left, right in trace.steps:
            require(left.values.shape == right.values.shape, "the size depends on a row", where, plan.name)
            whole = plan.law in ("first", "largest") or left.values.size == plan.size
            require(whole, "noise calls differ from the plan", where, plan.name)
            same = np.array_equal(left.scale, right.scale)
            require(same, "the noise scale or target depends on a row", where, plan.name)
            scales = scales_of(plan)
            planned = np.array_equal(left.scale.ravel()[: scales.size], scales)
            require(planned, "noise scale not in the plan", where, plan.name)
        orders = [[order.size for order in run.recorder.orders] for run in (trace.left, trace.right)]
        require(orders[0] == orders[1], "the permutations depend on a row", where)


def check_domain(subject: Subject, mechanism: Mechanism, adjacency: Adjacency) -> None:
    """One step a plan, in order, of flat int64 arrays of the declared size; a place is among those there."""
    for trace in traces(subject, mechanism, adjacency):
        for side in (trace.left, trace.right):
            steps, where = side.release.steps, trace.pair.name
            names = [step.plan.name for step in steps]
            require(names == [plan.name for plan in trace.plans], "steps differ from the plan", where)
            if not side.recorder.silent:
                plans = tuple(step.plan for step in steps)
                require(plans == trace.plans, "steps differ from the plan", where)
            for step, call in zip(steps, side.calls, strict=True):
                right = step.values.dtype == np.int64 and step.values.shape == (step.plan.size,)
                require(right, "a step is not a flat int64 array of its size", where, step.plan.name)
                if step.plan.law in ("first", "largest"):
                    inside = 0 <= step.values[0] < call.values.size + (step.plan.law == "first")
                    require(bool(inside), "a place that is none", where, step.plan.name)


def check_sensitivity(subject: Subject, mechanism: Mechanism, adjacency: Adjacency) -> None:
    """No pair of neighbours, given equal earlier outputs, costs more of any currency than a step declares;
    nor more of rho or mu^2 in all steps than the whole, which counts steps on disjoint rows once."""
    for trace in traces(subject, mechanism, adjacency):
        costs = []
        for plan, left, right in trace.steps:
            costs.append(spent(plan, left, right))
            over = excess(costs[-1], plan.charge)
            clause = f"neighbours differ by more than the declared sensitivity ({over})"
            require(over is None, clause, trace.pair.name, plan.name)
        whole = replace(subject.adapt(mechanism).cost(trace.plans), epsilon=None, delta=None)
        require(
            excess(total(costs), whole) is None, "neighbours differ by more than the cost", trace.pair.name
        )


def check_tight(subject: Subject, mechanism: Mechanism, adjacency: Adjacency) -> None:
    """Some pair reaches each declared sensitivity within 1 % (steps in ``mechanism.loose`` are let off)."""
    loose: frozenset[str] = getattr(mechanism, "loose", frozenset())
    for name, (declared, measured) in losses(subject, mechanism, adjacency).items():
        require(name in loose or max(measured) >= TIGHT * declared, "the sensitivity is not attained", name)


def check_arithmetic(subject: Subject, mechanism: Mechanism, adjacency: Adjacency) -> None:
    """Each step's cost follows from its scales, shares add to 1, and the steps compose to the claimed total.

    Under every way of naming the total that the mechanism takes.
    """
    cells = np.zeros((10, 3))
    for budget in (mechanism.budget, *BUDGETS):
        priced = replace(mechanism, budget=budget)  # type: ignore[type-var]
        if not takes(subject, priced, cells, adjacency):
            require(budget != mechanism.budget, "the mechanism refuses its own budget")
            continue
        plans = plans_of(subject, priced, cells, adjacency)
        for plan in plans:
            require(_priced(plan), "the cost does not follow from the scales", plan.name)
        require(sum(plan.share for plan in plans) == 1, "the shares do not add to 1")
        adapted = subject.adapt(priced)
        slack = adapted.slack(subject.open(cells, adjacency).facts)
        _check_total(adapted.cost(plans), charges_of(adapted, plans), budget, slack)


def _priced(plan: StepPlan) -> bool:
    """Whether the step's cost is what its scales cost at the sensitivity of its law."""
    scales, cost = [Fraction(scale) for scale in plan.sigma], plan.cost
    if plan.law == "gaussian":
        whitened = scales[0] ** 2 if len(scales) == 1 else min(scales[0] ** 2, 2 * scales[1] ** 2)
        return cost is None and plan.mu_squared == plan.sensitivity_squared / whitened
    if cost is None or cost.epsilon is None or cost.delta is None or plan.mu_squared:
        return False
    if plan.law == "threshold":
        return 0 < cost.delta < 1 and (cost.rho is None or cost.rho_delta == cost.delta)
    if plan.law == "first":
        ranged = 1 / scales[0] + 2 / scales[1]
        return cost.epsilon == 1 / scales[0] + 1 / scales[1] and (
            cost.rho is None or cost.rho >= rho_of_range(ranged)
        )
    return cost.delta == 0


def _check_total(claimed: Cost, steps: list[Cost], budget: Budget, slack: float) -> None:
    """The steps' sums are the claimed cost, and prove the budget."""
    summed = total(steps)
    for name in ("rho", "rho_delta", "mu_squared"):
        most, found = getattr(claimed, name), getattr(summed, name)
        require(most is None or most == found, "the steps do not add up to the cost", name)
    if budget.epsilon is None:
        name, most = ("rho", budget.rho) if budget.mu is None else ("mu_squared", budget.mu**2)
        found = getattr(summed, name)
        within = found is not None and found <= most and not summed.rho_delta
        require(within, "the steps pass the budget", name)
        return
    assert budget.delta is not None
    stated = (claimed.epsilon, claimed.delta) == (budget.epsilon, budget.delta)
    require(stated, "the claim is not what was asked for")
    if budget.delta:
        proven = epsilon_at(steps, budget.delta, slack).epsilon
    else:
        require(summed.delta == 0 and summed.epsilon is not None, "the steps have no pure price")
        proven = summed.epsilon or Fraction(0)
    require(proven <= budget.epsilon, "the steps do not prove the claimed epsilon")


class _Witness:
    """Stands in for a ledger, and notes the noise calls that came before a spend."""

    path = "witness"

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.costs: list[Cost] = []
        self.early = False

    def spend(self, label: str, cost: Cost, **facts: Any) -> None:
        self.early = self.early or bool(self._recorder.laws or self._recorder.orders)
        self.costs.append(cost)


def check_ledger(subject: Subject, mechanism: Mechanism, adjacency: Adjacency) -> None:
    """One ledger row a release, of its whole cost, committed before the first noise."""
    recorder, adapted = Recorder(ExactNoise()), subject.adapt(mechanism)
    witness = _Witness(recorder)
    with in_force(recorder):
        released = subject.release(subject.open(np.zeros((10, 3)), adjacency), adapted, ledger=witness)
    require(len(witness.costs) == 1, "a release is not exactly one ledger row")
    require(not witness.early, "noise was drawn before the ledger committed")
    require(witness.costs[0] == released.cost, "the ledger row is not the cost of the release")


def check_silence(subject: Subject, mechanism: Mechanism, adjacency: Adjacency) -> None:
    """Neighbours raise, warn and log alike; and no cell makes a release fail."""
    for trace in traces(subject, mechanism, adjacency):
        for side in (trace.left, trace.right):
            failed = f"a cell made the release fail: {type(side.error).__name__}"
            require(side.error is None, failed, trace.pair.name)
        alike = trace.left.heard == trace.right.heard
        require(alike, "neighbours warn or log differently", trace.pair.name)


def check_hidden(subject: Subject, mechanism: Mechanism, adjacency: Adjacency) -> None:
    """Given the same noisy outputs, the release is the same text: nothing else tells neighbours apart."""
    for trace in traces(subject, mechanism, adjacency):
        same = trace.left.release.to_json() == trace.right.release.to_json()
        require(same, "a release holds more than its noisy outputs", trace.pair.name)


def check_exact(subject: Subject, mechanism: Mechanism, adjacency: Adjacency) -> None:
    """Where rows stand does not change one bit of what noise is added to.

    A method that groups rows looks at their places through a secret permutation alone: if the rows move and
    the permutation follows them, nothing changes. As the permutation is uniform, the release of a moved table
    then has the same law, and rows of neighbours need not stand at the same place (joint convexity).
    """
    generator = np.random.default_rng(2)
    cells, moved = generator.normal(size=(400, 5)) * 0.4, generator.permutation(400)
    shuffled = np.empty_like(cells)
    shuffled[moved] = cells
    _, forth = run(subject, mechanism, cells, adjacency, Relabelled(3))
    _, back = run(subject, mechanism, shuffled, adjacency, Relabelled(3, moved))
    same = [np.array_equal(a, b) for (a, _), (b, _) in zip(forth.calls, back.calls, strict=True)]
    require(all(same), "the sums depend on the order of the rows")


def check_fresh(subject: Subject, mechanism: Mechanism, adjacency: Adjacency) -> None:
    """Two releases carry different noise in every step of more than two numbers, and group rows anew."""
    cells, released = np.zeros((40, 3)), []
    recorders = [Recorder(subject.source()) for _ in range(2)]
    for recorder in recorders:
        with in_force(recorder):
            released.append(subject.release(subject.open(cells, adjacency), subject.adapt(mechanism)))
    for a, b in zip(*(each.steps for each in released), strict=True):
        wide = a.plan.law in ("gaussian", "laplace", "wishart") and min(a.plan.sigma) >= _WIDE
        many = a.plan.size > 2 and wide
        require(not (many and bool((a.values == b.values).any())), "two releases share noise", a.plan.name)
    orders = [order for recorder in recorders for order in recorder.orders if order.size >= 20]
    distinct = {order.tobytes() for order in orders}
    require(len(distinct) == len(orders), "a permutation is used twice")


def check_noise(subject: Subject, mechanism: Mechanism, adjacency: Adjacency) -> None:
    """The source draws the plan's laws, near its scales, afresh at every call (false alarms: 2e-10 a law)."""
    plans = plans_of(subject, mechanism, np.zeros((10, 3)), adjacency)
    for plan in {plan.law: plan for plan in plans}.values():
        probe(subject.source, plan.law, nearest_power(plan.sigma[0]), RATE)


Check = Callable[[Subject, Mechanism, Adjacency], None]

CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        check_calls,
        check_domain,
        check_sensitivity,
        check_tight,
        check_arithmetic,
        check_ledger,
        check_silence,
        check_hidden,
        check_exact,
        check_fresh,
        check_noise,
    )
}
"""Every clause by its name, which planted faults refer to."""
