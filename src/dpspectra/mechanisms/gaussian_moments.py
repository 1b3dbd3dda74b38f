"""Second moments by exact integers plus isometric discrete Gaussian noise.

Page, with claim, lemmas and proof: docs/mechanisms/gaussian_moments.md. Three layouts:

- ``center="fixed"``: the scatter about the grid's public centre (and a count under add/remove);
- ``center="private"``: the mean first, then the scatter about the *released* mean (default);
- ``center="joint"``: one pass over z = (c, k), releasing sum z z', which holds count, mean and scatter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np

from ..core.facts import Facts
from ..core.privacy import Adjacency, Budget
from ..noise.base import IntArray
from ..postprocess.decode import augmentation
from ..postprocess.symmetric import pack
from ..summaries.moments import Moments, MomentSums
from ..summaries.table import Table
from ._moments import bounded, draw_count, gram, opening, row_map
from .steps import Draft, Draws, Stepwise

Center = Literal["private", "joint", "fixed"]
Clip = Literal["none", "private"]
TRACE_SHARE = Fraction(1, 20)


@dataclass(frozen=True)
class GaussianMoments(Stepwise):
    """Noisy second moments of rows in a public ball; both adjacencies.

    Parameters (all public)
    -----------------------
    budget : the one total; (epsilon, delta), rho or mu. Pure DP is refused.
    center : "private", "joint" or "fixed", see the module.
    trace : also release the trace by itself, for 5 % of mu^2.
    clip : "private" clips rows at a radius that a noisy histogram of their norms chooses, for 5 % of mu^2.

    Cost: mu^2 = sum over steps of Delta^2/sigma^2, exactly. Sources: 002 (calibration), lemmas L-sum,
    L-gram, L-augmented, L-trace, L-norms of the page.
    """

    name: ClassVar[str] = "gaussian_moments"
    theorem: ClassVar[str] = "gaussian_moments.md, theorem 1"
    adjacencies: ClassVar[frozenset[Adjacency]] = frozenset(Adjacency)
    serves: ClassVar[frozenset[str]] = frozenset({"covariance", "directions", "scree", "second moment"})
    needs_bounds: ClassVar[bool] = True

    budget: Budget
    center: Center = "private"
    trace: bool = False
    clip: Clip = "none"

    @classmethod
    def audited(cls, budget: Budget) -> Iterator[Self]:
        """The configurations that the suites of ``testing`` run."""
        for center, trace in product(get_args(Center), (False, True)):
            yield cls(budget, center, trace)
            if not trace:
                yield cls(budget, center, clip="private")

    def parameters(self) -> dict[str, Any]:
        return {"layout": self.center, "trace": self.trace, "threshold": self.clip}

    def draw(self, table: Table, steps: Draws) -> None:
        name = "augmented" if self.center == "joint" else "scatter"
        sums = table.reduce(Moments(), row_map(table, steps, name))
        draw_count(steps, sums)
        if self.center == "joint":
            steps.gaussian(name, _augmented(sums, augmentation(table.facts)))
        else:
            steps.gaussian(name, pack(gram(sums)))
        if steps.planned("trace"):
            steps.gaussian("trace", np.array([np.trace(gram(sums))], dtype=np.int64))

    def drafts(self, facts: Facts) -> list[Draft]:
        """Shares of mu^2: histograms 5 %, mean 10 %, count 5 %, trace 5 % where they occur, second moments
        the rest."""
        bounded(facts, self.name)
        d, square = facts.d, facts.grid.levels**2
        replace = facts.adjacency is Adjacency.REPLACE_ONE
        drafts = opening(facts, self.center, self.clip, "gaussian")
        if self.center == "joint":
            norm = (augmentation(facts) ** 2 + square) ** 2
            size = (d + 1) * (d + 2) // 2
            drafts.append(Draft("augmented", size, 2 * norm if replace else norm, None, "L-augmented", True))
        else:
            sensitivity = 2 * square**2 if replace else square**2
            drafts.append(Draft("scatter", d * (d + 1) // 2, sensitivity, None, "L-gram", True))
        if self.trace:
            drafts.append(Draft("trace", 1, square**2, TRACE_SHARE, "L-trace"))
        return drafts


def _augmented(sums: MomentSums, c: int) -> IntArray:
    """The packed sum of z z' with z = (c, k)."""
    corner = np.array([sums.count], dtype=np.int64) * np.int64(c * c)
    return np.concatenate([corner, sums.total * c, pack(gram(sums))])
