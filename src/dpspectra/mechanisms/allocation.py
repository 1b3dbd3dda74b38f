"""The source's way to split a total: parts calibrated one by one, added up by basic composition.

The library's own way (``steps.calibrated``) composes all steps at once and gives the Gaussian ones what is
left, which is never less. This one is here to state a published allocation as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from ..accounting.exact import sqrt_down
from ..core.facts import Facts
from ..core.privacy import Budget
from ..core.released import StepPlan
from .along import Along
from .steps import Draft, calibrated, filled, slack_of


@dataclass(frozen=True)
class Part:
    """Steps that are calibrated by themselves.

    Attributes
    ----------
    weight : their part of the total, as shown
    budget : what they may spend; the budgets of all parts add up to the total
    drafts : their shares add up to 1
    """

    weight: Fraction
    budget: Budget
    drafts: tuple[Draft, ...]


def fraction_of(budget: Budget, epsilon: Fraction, delta: Fraction) -> Budget:
    """The parts of a total: of epsilon (or rho, or mu^2) and of delta."""
    if budget.epsilon is not None and budget.delta is not None:
        return Budget(epsilon=budget.epsilon * epsilon, delta=budget.delta * delta)
    if budget.rho is not None:
        return Budget(rho=budget.rho * epsilon)
    assert budget.mu is not None
    return Budget(mu=sqrt_down(budget.mu**2 * epsilon))


class Allocated(Along):
    """Base of mechanisms along directions with a published allocation beside the library's own.

    Fields that a subclass declares besides those of ``Along``: ``preset``, "tight" or "published".
    """

    preset: str

    @property
    def apart(self) -> bool:
        """Whether the parts are calibrated one by one."""
        return self.preset == "published"

    def published(self, facts: Facts, budget: Budget) -> list[Part]:
        """The parts that follow the directions, of what is left to them; their weights add up to 1."""
        return [Part(Fraction(1), budget, filled(tuple(self.along(facts))))]

    def parts(self, facts: Facts) -> list[Part]:
        """Directions and what follows them, each with its part of epsilon and delta."""
        self.drafts(facts)  # refuses what cannot be
        before, after = (fraction_of(self.budget, part, part) for part in (1 - self.share, self.share))
        found = Part(1 - self.share, before, filled(tuple(self.finder().drafts(facts))))
        rest = self.published(facts, after)
        return [found, *(replace(part, weight=self.share * part.weight) for part in rest)]

    def calibrate(self, facts: Facts) -> tuple[StepPlan, ...]:
        if not self.apart:
            return super().calibrate(facts)
        return tuple(
            replace(plan, share=part.weight * plan.share)
            for part in self.parts(facts)
            for plan in calibrated(part.budget, part.drafts, facts)
        )

    def slack(self, facts: Facts) -> float:
        if not self.apart:
            return super().slack(facts)
        return sum(slack_of(part.budget, part.drafts) for part in self.parts(facts))
