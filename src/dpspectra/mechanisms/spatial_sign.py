"""Directions from the signs of rows about a centre: half of the noise of pairs, but a centre must be found.

Page, with claim, lemmas and proof: docs/mechanisms/spatial_sign.md. The statistic is the mean of u u',
u = (x - c)/|x - c| and u = 0 at the centre c, which is public or released in the same total: a private median
norm R about the origin of the rows, then clipped means about one another.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

from ..core.errors import ParameterError
from ..core.facts import Facts
from ..core.privacy import Budget
from ..postprocess.spatial_sign import RADII, centre, ladder, radius
from ..postprocess.symmetric import pack
from ..rows.signs import Signs
from ..summaries.histogram import climb
from ..summaries.lengths import Lengths
from ..summaries.moments import Moments
from ..summaries.table import Table
from .steps import Draft, Draws, Stepwise, parameters_of

RADIUS_SHARE = Fraction(7, 100)
CENTRE_SHARES = (Fraction(10, 100), Fraction(6, 100), Fraction(10, 100), Fraction(10, 100))
"""Parts of the total for the radius, and for each mean; found with ``RADII`` by search on real tables."""
FURTHEST = 2.0**100
"""Limits of the ladder lie between this and its inverse."""


@dataclass(frozen=True)
class SpatialSign(Stepwise):
    """The noisy spatial sign matrix; replace-one.

    Parameters (all public)
    -----------------------
    budget : the one total; (epsilon, delta) or rho, and with a public centre mu. Pure DP is refused.
    center : "private": found within the total; "fixed": the public origin of the encoded rows.
    smallest, largest : encoded units, where a private radius is looked for if rows have no public bound

    Cost: mu^2 = sum over Gaussian steps of Delta^2/sigma^2, and a selection. Lemmas L-climb, L-sum, L-gram.
    """

    name: ClassVar[str] = "spatial_sign"
    theorem: ClassVar[str] = "spatial_sign.md, theorem 1"

    budget: Budget
    center: Literal["private", "fixed"] = "private"
    smallest: float = 2.0**-20
    largest: float = 2.0**40

    def parameters(self) -> dict[str, Any]:
        return parameters_of(self, "center", "smallest", "largest")

    def drafts(self, facts: Facts) -> list[Draft]:
        if facts.rows is None:
            raise ParameterError(
                'method="spatial_sign" needs a public number of rows: adjacency="replace-one"'
            )
        if self.center not in ("private", "fixed"):
            raise ParameterError('center of spatial_sign must be "private" or "fixed"')
        if not 1 / FURTHEST <= self.smallest < self.largest <= FURTHEST:
            raise ParameterError("smallest and largest must be in order, between 2**-100 and 2**100")
        d, square = facts.d, facts.grid.levels**2
        drafts = [Draft("signs", d * (d + 1) // 2, 2 * square**2, None, "L-gram", symmetric=True)]
        if self.center == "fixed":
            return drafts
        means = [
            Draft(f"centre_{number}", d, 4 * square, share, "L-sum")
            for number, share in enumerate(CENTRE_SHARES, 1)
        ]
        return [Draft("radius", 1, 1, RADIUS_SHARE, "L-climb", law="first"), *means, *drafts]

    def draw(self, table: Table, steps: Draws) -> None:
        facts = table.facts
        rungs, bits = ladder(facts, self.smallest, self.largest), facts.grid.bits
        if steps.planned("radius"):
            assert facts.rows is not None
            counts = climb(table.reduce(Lengths(rungs)), 1)[0]
            steps.first("radius", counts, (facts.rows + 1) // 2)
            for number, part in enumerate(RADII, 1):
                clipped = Signs(bits, centre(steps, rungs), part * radius(steps, rungs))
                steps.gaussian(f"centre_{number}", table.reduce(Moments(gram=False), clipped).total)
        gram = table.reduce(Moments(), Signs(bits, centre(steps, rungs))).gram
        assert gram is not None
        steps.gaussian("signs", pack(gram))
