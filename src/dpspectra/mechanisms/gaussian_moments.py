"""Second moments by exact integers plus isometric discrete Gaussian noise.

Page, with claim, lemmas and proof: docs/mechanisms/gaussian_moments.md. Three layouts:

- ``center="fixed"``: the scatter about the grid's public centre (and a count under add/remove);
- ``center="private"``: the mean first, then the scatter about the *released* mean (default);
- ``center="joint"``: one pass over z = (c, k), releasing sum z z', which holds count, mean and scatter.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np

from ..core.errors import ParameterError
from ..core.facts import Facts
from ..core.privacy import Adjacency, Budget
from ..noise.base import IntArray
from ..postprocess.decode import augmentation, grid_mean
from ..postprocess.symmetric import pack
from ..rows.maps import Recentre
from ..summaries.moments import Moments, MomentSums
from ..summaries.table import Table
from .steps import Draft, Draws, Stepwise

Center = Literal["private", "joint", "fixed"]
MEAN_SHARE, COUNT_SHARE, TRACE_SHARE = Fraction(1, 10), Fraction(1, 20), Fraction(1, 20)


@dataclass(frozen=True)
class GaussianMoments(Stepwise):
    """Noisy second moments of rows in a public ball; both adjacencies.

    Parameters (all public)
    -----------------------
    budget : the one total; (epsilon, delta), rho or mu. Pure DP is refused.
    center : "private", "joint" or "fixed", see the module.
    trace : also release the trace by itself, for 5 % of mu^2.

    Cost: mu^2 = sum over steps of Delta^2/sigma^2, exactly. Sources: 002 (calibration), lemmas L-sum,
    L-gram, L-augmented, L-trace of the page.
    """

    name: ClassVar[str] = "gaussian_moments"
    theorem: ClassVar[str] = "gaussian_moments.md, theorem 1"
    adjacencies: ClassVar[frozenset[Adjacency]] = frozenset(Adjacency)
    serves: ClassVar[frozenset[str]] = frozenset({"covariance", "directions", "scree"})
    needs_bounds: ClassVar[bool] = True

    budget: Budget
    center: Center = "private"
    trace: bool = False

    def parameters(self) -> dict[str, Any]:
        return {"layout": self.center, "trace": self.trace}

    def draw(self, table: Table, steps: Draws) -> None:
        facts = table.facts
        row_map = None
        if self.center == "private":
            sums = table.reduce(Moments(gram=False))
            mean = steps.gaussian("mean", _vector(sums, facts))
            row_map = Recentre(grid_mean(mean, facts))
        sums = table.reduce(Moments(), row_map)
        if steps.planned("count"):
            steps.gaussian("count", np.array([sums.count], dtype=np.int64))
        if self.center == "joint":
            steps.gaussian("augmented", _augmented(sums, augmentation(facts)))
        else:
            steps.gaussian("scatter", pack(_gram(sums)))
        if steps.planned("trace"):
            steps.gaussian("trace", np.array([np.trace(_gram(sums))], dtype=np.int64))

    def drafts(self, facts: Facts) -> list[Draft]:
        """Shares of mu^2: mean 10 %, count 5 %, trace 5 % where they occur, second moments the rest."""
        if not facts.grid.bounded:
            raise ParameterError(
                f"method={self.name!r} needs a public bound on rows: give bounds or row_norm, or take "
                "a method that needs none (spherical_kendall, spatial_sign)"
            )
        d, square = facts.d, facts.grid.levels**2
        replace = facts.adjacency is Adjacency.REPLACE_ONE
        drafts: list[Draft] = []
        if self.center == "private":
            drafts.append(
                Draft("mean", d, 4 * square, MEAN_SHARE, "L-sum")
                if replace
                else Draft("mean", d + 1, 2 * square, MEAN_SHARE, "L-sum")
            )
        if self.center == "joint":
            norm = (augmentation(facts) ** 2 + square) ** 2
            size = (d + 1) * (d + 2) // 2
            drafts.append(Draft("augmented", size, 2 * norm if replace else norm, None, "L-augmented", True))
        else:
            if self.center == "fixed" and not replace:
                drafts.append(Draft("count", 1, 1, COUNT_SHARE, "L-count"))
            sensitivity = 2 * square**2 if replace else square**2
            drafts.append(Draft("scatter", d * (d + 1) // 2, sensitivity, None, "L-gram", True))
        if self.trace:
            drafts.append(Draft("trace", 1, square**2, TRACE_SHARE, "L-trace"))
        return drafts


def _gram(sums: MomentSums) -> IntArray:
    if sums.gram is None:
        raise ParameterError("the summary holds no second moments")
    return sums.gram


def _vector(sums: MomentSums, facts: Facts) -> IntArray:
    """The sum of rows; under add/remove led by r times the count (z = (r, k))."""
    if facts.adjacency is Adjacency.REPLACE_ONE:
        return sums.total
    return np.concatenate([np.array([sums.count], dtype=np.int64) * facts.grid.levels, sums.total])


def _augmented(sums: MomentSums, c: int) -> IntArray:
    """The packed sum of z z' with z = (c, k)."""
    corner = np.array([sums.count], dtype=np.int64) * np.int64(c * c)
    return np.concatenate([corner, sums.total * c, pack(_gram(sums))])
