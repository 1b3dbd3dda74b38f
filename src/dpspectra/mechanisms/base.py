"""The contract of a mechanism, which is a theorem.

**Theorem (to be proved on each mechanism's page).** Let ``plans = mechanism.calibrate(facts)``. For all
neighbouring tables with these public facts,

1. ``sample(table, noise, plans)`` raises, warns and logs alike, and calls ``noise`` the same number of
   times with arrays of the same shapes (errors and control flow depend on public facts and on earlier
   *noisy* outputs only);
2. it returns one ``Step`` a plan, of int64 arrays of ``plan.size`` entries (output domain);
3. given equal earlier outputs, the exact integers handed to the i-th noise call differ by at most
   ``sqrt(plans[i].sensitivity_squared)`` in the Frobenius norm that ``plans[i].sigma`` whitens, so the step
   costs ``plans[i].mu_squared``; the whole costs ``mechanism.cost(plans)``.

Fields of a mechanism are public parameters; data and noise arrive only as arguments. The release door
(``release.py``) commits the cost to the ledger before ``sample`` is called.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

from ..core.facts import Facts
from ..core.privacy import Adjacency, Budget, Cost
from ..core.released import Step, StepPlan
from ..noise.base import Noise
from ..summaries.table import Table


class Mechanism(Protocol):
    """A frozen dataclass of public parameters with the three methods below."""

    name: ClassVar[str]
    theorem: ClassVar[str]
    adjacencies: ClassVar[frozenset[Adjacency]]
    serves: ClassVar[frozenset[str]]
    needs_bounds: ClassVar[bool]

    @property
    def budget(self) -> Budget: ...

    def calibrate(self, facts: Facts) -> tuple[StepPlan, ...]:
        """Every draw of noise, from public facts; raises ParameterError or InfeasiblePlan."""
        ...

    def cost(self, plans: Sequence[StepPlan]) -> Cost:
        """The total of a calibrated plan, with the claim in the units it was asked in."""
        ...

    def slack(self, facts: Facts) -> float:
        """The part of epsilon that covers discrete against continuous noise (0 if the proof needs none)."""
        ...

    def sample(self, table: Table, noise: Noise, plans: Sequence[StepPlan]) -> tuple[Step, ...]:
        """Read the table and draw: the only method that sees private data."""
        ...

    def parameters(self) -> dict[str, Any]:
        """Public parameters as JSON values, for the card and the ledger."""
        ...
