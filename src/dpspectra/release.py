"""The one door from private to public.

The cost is committed to the ledger before the mechanism reads a row or draws noise, so a crash over-counts
and never under-counts. What comes back holds noisy integers and public facts alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .accounting.ledger import Ledger
from .core.errors import ParameterError
from .core.privacy import Guarantee
from .core.released import Released, Step
from .core.version import library_version
from .mechanisms.base import Mechanism
from .noise.base import current
from .summaries.table import Table


def release(
    table: Table,
    mechanism: Mechanism,
    *,
    ledger: Ledger | None = None,
    label: str = "table",
    parameters: dict[str, Any] | None = None,
) -> Released:
    """Calibrate, commit, sample.

    ``parameters`` are public settings of the preprocessing, kept on the card beside the mechanism's own.
    Raises ParameterError or InfeasiblePlan from public facts, BudgetExceeded if the ledger's cap is
    reached; all three before a row is read.
    """
    facts, noise = table.facts, current()
    if facts.adjacency not in mechanism.adjacencies:
        raise ParameterError(f"{mechanism.name} does not support adjacency={facts.adjacency.value!r}")
    plans = mechanism.calibrate(facts)
    cost = mechanism.cost(plans)
    public = (parameters or {}) | mechanism.parameters()
    if ledger is not None:
        ledger.spend(
            label,
            cost,
            mechanism=mechanism.name,
            version=library_version(),
            adjacency=facts.adjacency,
            unit=facts.unit,
            parameters=public | {"private": noise.private, "steps": {p.name: str(p.share) for p in plans}},
        )
    steps = mechanism.sample(table, noise, plans)
    if noise.silent:  # state the noise that is there: none
        steps = tuple(
            Step(replace(step.plan, sigma=(0.0,) * len(step.plan.sigma)), step.values) for step in steps
        )
    budget = mechanism.budget
    return Released(
        mechanism=mechanism.name,
        theorem=mechanism.theorem,
        facts=facts,
        steps=steps,
        cost=cost,
        guarantee=Guarantee(
            epsilon=None if budget.epsilon is None else float(budget.epsilon),
            delta=None if budget.delta is None else float(budget.delta),
            rho=None if budget.rho is None else float(budget.rho),
            mu=None if budget.mu is None else float(budget.mu),
            adjacency=facts.adjacency.value,
            unit=facts.unit,
            private=noise.private,
            slack=mechanism.slack(facts),
        ),
        parameters=public,
        label=label,
        recorded=ledger is not None and ledger.path is not None,
        entropy=noise.entropy,
        version=library_version(),
    )
