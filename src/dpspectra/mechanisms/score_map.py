"""A map of scores: directions, a frame, then a noisy histogram over groups and cells of the plane.

Page, with claim, lemmas and proof: docs/mechanisms/score_map.md. Scores are s = v'(x - c) with released
directions v and a public or released centre c. The frame is public where the rows have a bound; else its
half-widths are private quantiles of |s|. Rows beyond it are counted in the cells at its ends, so that every
row is counted once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..core.errors import InfeasiblePlan, ParameterError
from ..core.facts import Facts
from ..core.privacy import Adjacency, Budget
from ..postprocess.quantile import target
from ..postprocess.score_map import FRAMES, centre_of, edges, half_widths, ladder, meant
from ..rows.scores import Scores
from ..summaries.histogram import Cells, Sizes, climb
from ..summaries.table import Table
from .along import Along
from .spatial_sign import SpatialSign
from .steps import Draft, Draws, parameters_of

HISTOGRAMS = ("additive", "sparse")
FRAME_SHARE = Fraction(1, 20)
"""Of what follows the directions, for each of the two half-widths of a private frame."""
MOST_CELLS = 2**20


@dataclass(frozen=True)
class ScoreMap(Along):
    """Noisy counts of rows by group and by cell of a grid over two scores; both adjacencies.

    Parameters (all public)
    -----------------------
    budget : the one total; a sparse histogram needs epsilon and delta
    n_components, directions, share, options : as in ``along.py``
    components : the two directions, counted from 0
    bins : cells a side, over the frame
    histogram : "additive": all cells get integer Gaussian noise; "sparse": cells that hold rows get discrete
        Laplace noise and are shown from a threshold on
    frame : "public" (the bound on rows), "private" (quantiles), "auto" (private without a bound), or a
        public half-width in encoded units
    level : of the quantiles of |s| that a private frame looks for

    Lemmas L-cells, L-climb, L-sparse of the page.
    """

    name: ClassVar[str] = "score_map"
    theorem: ClassVar[str] = "score_map.md, theorem 1"
    adjacencies: ClassVar[frozenset[Adjacency]] = frozenset(Adjacency)
    serves: ClassVar[frozenset[str]] = frozenset({"map"})

    budget: Budget
    n_components: int = 2
    directions: str = "gaussian_moments"
    share: Fraction = Fraction(1, 2)
    options: tuple[tuple[str, Any], ...] = ()
    components: tuple[int, int] = (0, 1)
    bins: int = 16
    histogram: Literal["additive", "sparse"] = "additive"
    frame: str | float = "auto"
    level: Fraction = Fraction(49, 50)

    @classmethod
    def audited(cls, budget: Budget) -> Iterator[ScoreMap]:
        """The configurations that the test suites run."""
        yield cls(budget)
        yield cls(budget, histogram="sparse", bins=5)
        yield cls(budget, frame="private", bins=5)
        yield cls(budget, directions="spatial_sign", frame="auto", bins=5)

    def parameters(self) -> dict[str, Any]:
        names = ("directions", "share", "histogram", "frame", "level")
        whole = {"components": [int(index) for index in self.components], "bins": int(self.bins)}
        return parameters_of(self, *names) | whole | {"radii": self._radii()}

    def drafts(self, facts: Facts) -> list[Draft]:
        self._check(facts)
        return super().drafts(facts)

    def along(self, facts: Facts) -> Sequence[Draft]:
        replace = facts.adjacency is Adjacency.REPLACE_ONE
        drafts = []
        if meant(self.frame, facts) == "private":
            if not replace:
                raise ParameterError(
                    "frame: a private frame is a quantile, whose target is the number of rows: with "
                    'adjacency="add-remove" give bounds or row_norm, or a public half-width as frame'
                )
            drafts += [Draft(name, 1, 1, FRAME_SHARE, "L-climb", law="first") for name in FRAMES]
        size = max(1, len(facts.groups)) * self.bins**2
        if size > MOST_CELLS:
            raise InfeasiblePlan(f"groups and cells are more than {MOST_CELLS} in all: take fewer bins")
        if self.histogram == "sparse":
            moved = 2 if replace else 1
            drafts.append(Draft("cells", size, 1, None, "L-sparse", law="threshold", spread=moved))
        else:
            drafts.append(Draft("cells", size, 2 if replace else 1, None, "L-cells"))
        return drafts

    def look(self, table: Table, steps: Draws, vectors: NDArray[np.int64]) -> None:
        facts = table.facts
        centre = centre_of(steps, self.directions, self._radii())
        scores = Scores(vectors[:, list(self.components)], centre, facts.grid.bounded)
        if steps.planned(FRAMES[0]):
            assert facts.rows is not None
            rungs = ladder(facts, centre)
            counts = climb(table.reduce(Sizes(scores, rungs)), len(FRAMES))
            for name, count in zip(FRAMES, counts, strict=True):
                steps.first(name, count, target(self.level, facts.rows))
        first, second = (
            edges(float(half), self.bins)[1:-1]
            for half in half_widths(steps, meant(self.frame, facts), centre)
        )
        cells = table.reduce(Cells(scores, (first, second), max(1, len(facts.groups))), groups=True)
        draw = steps.threshold if self.histogram == "sparse" else steps.gaussian
        draw("cells", cells)

    def _radii(self) -> list[float]:
        """Where a private centre's radius is looked for, if directions are spatial signs."""
        finder = self.finder()
        return [finder.smallest, finder.largest] if isinstance(finder, SpatialSign) else []

    def _check(self, facts: Facts) -> None:
        if self.histogram not in HISTOGRAMS:
            raise ParameterError(f"histogram must be one of {', '.join(map(repr, HISTOGRAMS))}")
        if isinstance(self.frame, str):
            if self.frame not in ("auto", "public", "private"):
                raise ParameterError('frame must be "auto", "public", "private" or a positive number')
            if meant(self.frame, facts) == "public" and not facts.grid.bounded:
                raise ParameterError('frame="public" needs a public bound on rows: give bounds or row_norm')
        elif isinstance(self.frame, bool) or not (isinstance(self.frame, Real) and 0 < self.frame < math.inf):
            raise ParameterError('frame must be "auto", "public", "private" or a positive number')
        if isinstance(self.bins, bool) or not (isinstance(self.bins, Integral) and self.bins >= 2):
            raise ParameterError("bins must be a whole number, at least 2")
        if facts.d < 2:
            raise ParameterError("a score map needs two components, and the table has 1 feature(s)")
        if not _pair(self.components, self.n_components):
            raise ParameterError(
                f"components must name two different components in 0..{self.n_components - 1}"
            )
        if facts.adjacency not in self.finder().adjacencies:
            raise ParameterError(
                f"directions={self.directions!r} does not support adjacency={facts.adjacency.value!r}"
            )


def _pair(components: Any, count: int) -> bool:
    """Whether these are two different whole numbers in 0..count - 1."""
    if not isinstance(components, (tuple, list)) or len(components) != 2:
        return False
    whole = all(isinstance(index, Integral) and not isinstance(index, bool) for index in components)
    return whole and all(0 <= index < count for index in components) and components[0] != components[1]
