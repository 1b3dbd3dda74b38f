"""The contract of a mechanism, which is a theorem.

**Theorem (to be proved on each mechanism's page).** Let ``plans = mechanism.calibrate(facts)``. For all
neighbouring tables with these public facts,

1. ``sample(table, noise, plans)`` raises, warns and logs alike, and calls ``noise`` the same number of
   times, by the same methods, with arrays of the same shapes and with the scales of the plans (errors,
   control flow, targets and scales depend on public facts and on earlier *noisy* outputs only);
2. it returns one ``Step`` a plan, of int64 arrays of ``plan.size`` entries (output domain);
3. given equal earlier outputs, and equal secret permutations, the exact integers handed to the i-th noise
   call differ by at most the sensitivity that goes with ``plans[i].law``, so that the step costs
   ``plans[i].charge``. With a, b the integers on the two tables and c = b - a:

   - "gaussian": the norm of c that ``sigma`` whitens is at most ``sqrt(sensitivity_squared)``; the step costs
     ``mu_squared``;
   - "laplace": sum |c_j|/scale_j is at most the stated epsilon;
   - "wishart": the nuclear norm of the symmetric matrix c is at most twice the scale times the stated
     epsilon, less the slack of float noise;
   - "first" (the first count that reaches a target): all counts move one way, by at most 1; the scales
     ``(s1, s2)`` of target and counts are public, as is the target. The step is (1/s1 + 1/s2)-DP, and its
     loss has range 1/s1 + 2/s2, on which its zCDP rests;
   - "largest" (the exponential mechanism): max c - min c is at most the stated epsilon times the scale; that
     is the range of the loss, on which its zCDP rests;
   - "threshold": sum |c_j|/scale is at most the stated epsilon, and counts that are 0 on one table only are
     shown on the other with probability at most the stated delta, all together;
4. the placement of rows tells nothing: sums do not depend on it, and rows are grouped by a permutation from
   ``noise`` alone, so that a moved table with the permutation moved along gives the same integers;
5. ``mechanism.cost(plans)`` bounds the adaptive composition of the charges, and claims at most the budget.

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
