"""A private lower bound on the smallest eigenvalue of a second moment, by a stability histogram.

Page, with claim, lemmas and proof: docs/mechanisms/min_eigenvalue.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ParameterError
from ..core.facts import Facts
from ..core.privacy import Budget
from ..postprocess.min_eigenvalue import CELLS, floors
from ..summaries.table import Table
from .steps import Draft, Draws, Stepwise

ROWS_A_COLUMN = 8
"""Rows of a group for each column, unless told: their smallest eigenvalue is about half of the table's."""


@dataclass(frozen=True)
class MinEigenvalue(Stepwise):
    """The smallest eigenvalue of secret disjoint groups of rows, counted in public geometric cells.

    Parameters (all public)
    -----------------------
    budget : epsilon and delta
    group : rows of a group; None: 8 d, or all rows if they are fewer
    ratio : of neighbouring cells, in (0, 1)

    Cost: (epsilon, delta). Source: 003, with the integer threshold (lemma L-sparse).
    """

    name: ClassVar[str] = "min_eigenvalue"
    theorem: ClassVar[str] = "min_eigenvalue.md, theorem 1"
    serves: ClassVar[frozenset[str]] = frozenset({"smallest eigenvalue"})
    needs_bounds: ClassVar[bool] = True

    budget: Budget
    group: int | None = None
    ratio: Fraction = Fraction(1, 2)

    @classmethod
    def audited(cls, budget: Budget) -> Iterator[MinEigenvalue]:
        """Configurations for the suites: groups of a few rows, so that small tables have several."""
        yield cls(budget if budget.delta else Budget.of(epsilon=1, delta="1e-6"), group=2)

    def parameters(self) -> dict[str, Any]:
        return {"group": self.group, "ratio": str(self.ratio)}

    def drafts(self, facts: Facts) -> list[Draft]:
        if not facts.grid.bounded:
            raise ParameterError(
                f"method={self.name!r} needs a public bound on rows: give bounds or row_norm"
            )
        if not 0 < self.ratio < 1:
            raise ParameterError("ratio must be in (0, 1)")
        if self.group is not None and self.group < 1:
            raise ParameterError("group must be a positive number of rows")
        return [Draft("cells", CELLS, 1, None, "L-cells", law="threshold", spread=2)]

    def draw(self, table: Table, steps: Draws) -> None:
        facts, rows = table.facts, table.matrix() / table.facts.grid.levels
        size = min(len(rows), ROWS_A_COLUMN * facts.d if self.group is None else self.group)
        count = len(rows) // size
        order = steps.noise.permutation(len(rows))[: count * size].reshape(count, size)
        ends = -np.array(floors(self.ratio))[:-1]
        smallest = np.array([_smallest(rows[chosen]) for chosen in order])
        places = np.searchsorted(ends, -smallest, side="right")
        steps.threshold("cells", np.bincount(places, minlength=CELLS))


def _smallest(rows: NDArray[np.float64]) -> float:
    """Smallest eigenvalue of the second moment of one group; no other group has a part in it."""
    return float(np.linalg.eigvalsh(rows.T @ rows / len(rows))[0])
