"""What to expect of variances along directions, from a calibrated plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.facts import Facts
from ..core.privacy import Guarantee
from ..core.released import Released, Step, StepPlan
from ..mechanisms.along import Along
from ..mechanisms.base import Mechanism
from ..postprocess.lowrank import means_of


@dataclass(frozen=True)
class Looking:
    """Noise of k variances along released directions.

    Attributes
    ----------
    directions : the mechanism that finds them
    share : part of the budget for the variances
    relative : noise sd of a variance, as part of the level that its squares are cut at
    upper : that level in encoded units where it is public; None where the release finds it
    """

    directions: str
    count: int
    share: float
    relative: float
    upper: float | None

    def errors(self, spectrum: Sequence[float]) -> tuple[float, ...] | None:
        """Noise sd of each of the first k variances over the variance itself; None where ``upper`` is not
        known before the release. Infinite for a variance of 0."""
        if self.upper is None:
            return None
        sd = self.relative * self.upper
        return tuple(sd / value if value > 0 else np.inf for value in spectrum[: self.count])

    def to_dict(self) -> dict[str, Any]:
        return vars(self)


def looking(mechanism: Mechanism, plans: Sequence[StepPlan], facts: Facts) -> Looking | None:
    """None for mechanisms that find no variances along directions.

    Decodes a release of zeros: the noise of a variance over the level of its cut is the same in all releases.
    """
    if not isinstance(mechanism, Along) or "scree" not in mechanism.serves:
        return None
    zeros = tuple(Step(plan, np.zeros(plan.size, dtype=np.int64)) for plan in plans)
    means = means_of(
        Released(
            mechanism=mechanism.name,
            theorem=mechanism.theorem,
            facts=facts,
            steps=zeros,
            cost=mechanism.cost(plans),
            guarantee=Guarantee(None, None, None, None, facts.adjacency.value, facts.unit, False),
            parameters=mechanism.parameters(),
        )
    )
    found = any(plan.law in ("first", "largest") or plan.name == "bins" for plan in plans)
    return Looking(
        directions=mechanism.directions,
        count=len(means.values),
        share=float(mechanism.share),
        relative=float(np.max(means.noise_sd / means.upper)),
        upper=None if found else float(np.max(means.upper)),
    )
