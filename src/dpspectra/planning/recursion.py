"""What to expect of recursive preconditioning, and whether it pays against one release, from public facts.

Units: squared lengths over B^2. If the noise of the first release is so large that it can trust no direction,
the recursion learns nothing, and the whole budget is better spent on one release.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from ..core.errors import InfeasiblePlan
from ..core.facts import Facts
from ..core.released import StepPlan
from ..core.request import Request
from ..mechanisms.base import Mechanism
from ..mechanisms.recursive import Recursive
from ..postprocess.recursion import TRUST, planned_sd
from .auto import MOMENTS
from .law import Law

RECURSIVE = Recursive.name


@dataclass(frozen=True)
class Recursing:
    """A recursion before it is run.

    Attributes
    ----------
    early : releases that may come before the last one
    need : factor by which n must grow for the recursion to work; below 1 it does. In practice it is the
        squared radius after the first release, by theory the error.
    least_rows : that n
    spectral_error : expected error in every direction, relative, where the releases suffice: of Gaussian
        rows in practice, by theory a bound for the promised condition number
    reach : ratio of B^2 to the smallest variance up to which the releases suffice
    pays_below : smallest variance, over B^2, below which one release of the whole budget has a larger error
    """

    early: int
    need: float
    least_rows: int
    spectral_error: float
    reach: float
    pays_below: float

    @property
    def works(self) -> bool:
        return self.need < 1

    def law(self, d: int, rows: int) -> Law:
        """The noise in the whitened frame, where every variance is 1."""
        return Law(d, rows, self.spectral_error / (2 * math.sqrt(d)), 0.0, 0.0, True)

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        return vars(self) | {"works": self.works}


def recursing(mechanism: Mechanism, plans: Sequence[StepPlan], facts: Facts, rows: int) -> Recursing | None:
    """None for other mechanisms. ``rows``: n, or a guess of it where n is private."""
    if not isinstance(mechanism, Recursive):
        return None
    d, early = facts.d, [plan for plan in plans if plan.name.startswith("early")]

    def edge(plan: StepPlan) -> float:
        """2 tau sqrt(d) of a release at the first radius."""
        return planned_sd(plan) * math.sqrt(2.0 * d) / (rows * 4.0**facts.grid.bits)

    if mechanism.preset == "practical":
        trusted = TRUST * edge(early[0])
        need = d * trusted
        reach = need ** (1 - len(early)) / trusted if need < 1 else 1.0
        longest = (math.sqrt(d) + math.sqrt(2 * math.log(max(rows, 2)))) ** 2  # of whitened Gaussian rows
        error = edge(plans[-1]) * longest
    else:
        reach = facts.grid.radius**2 / float(mechanism.floor or 1.0)
        need = error = edge(plans[-1]) * reach * (3 / 7) ** len(early)
    whole = float(sum(plan.mu_squared for plan in plans))
    one = edge(plans[-1]) * math.sqrt(plans[-1].mu_squared / whole)
    return Recursing(len(early), need, math.ceil(rows * need), error, reach, min(1.0, one / error))


def second_moment_for(request: Request, facts: Facts) -> tuple[str, str]:
    """What finds a second moment, and why: recursion for all directions, where it can start.

    InfeasiblePlan if recursion is asked for by name and the number of rows, where it is public, does not
    allow it.
    """
    settings, named = dict(request.settings), request.method != "auto"
    if request.method == MOMENTS:
        return MOMENTS, "asked for by name"
    if not named and settings.get("accuracy") == "norm":
        return MOMENTS, "auto: large directions are best from one release, which has the whole budget"
    if facts.rows is not None and facts.grid.bounded:
        own = {field.name for field in fields(Recursive)} & settings.keys()
        mechanism = Recursive(request.budget, **{name: settings[name] for name in own})
        found = recursing(mechanism, mechanism.calibrate(facts), facts, facts.rows)
        if found is not None and not found.works and named:
            raise InfeasiblePlan(
                f"recursion needs about {found.least_rows} rows at this budget, for {facts.d} features: "
                f'bring more rows, a larger budget or fewer columns, or take method="{MOMENTS}"'
            )
        if found is not None and not found.works:
            return MOMENTS, "auto: too few rows at this budget for recursion to trust a direction"
    return RECURSIVE, "asked for by name" if named else "auto: small directions count as much as large ones"
