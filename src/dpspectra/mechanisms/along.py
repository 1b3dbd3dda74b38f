"""Directions first, then statistics along them: one mechanism, one total.

The share of the statistics is ``share``, that of the directions the rest; conditionally on the directions,
which are public once drawn, the statistics are adaptive steps, so the costs add up (base.py, clause 3).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ParameterError
from ..core.facts import Facts
from ..core.privacy import Budget
from ..postprocess.directions import METHODS, directions, on_grid
from ..rows.squares import VECTOR_BITS, Squares
from ..summaries.table import Table
from .registry import mechanism
from .steps import Draft, Draws, Stepwise, filled


class Along(Stepwise):
    """Base of mechanisms that draw directions and then look along them.

    Fields that a subclass declares (all public)
    --------------------------------------------
    budget : the one total
    n_components : k, at most d
    directions : name of the mechanism that finds them
    share : part of the total, in rho, that is not spent on directions; in (0, 1)
    options : settings of the direction mechanism, as (name, value) pairs
    """

    serves: ClassVar[frozenset[str]] = frozenset({"scree"})
    budget: Budget
    n_components: int
    directions: str
    share: Fraction
    options: tuple[tuple[str, Any], ...]

    @abstractmethod
    def along(self, facts: Facts) -> Sequence[Draft]:
        """The drafts that follow the directions; their shares are of the part left to them."""

    @abstractmethod
    def look(self, table: Table, steps: Draws, vectors: NDArray[np.int64]) -> None:
        """Draw those steps; ``vectors`` are the directions (d, k) times 2**VECTOR_BITS."""

    def finder(self) -> Stepwise:
        """The direction mechanism, with the settings of this one."""
        kind = mechanism(self.directions)
        found = kind(budget=self.budget, **dict(self.options))
        if self.directions not in METHODS or not isinstance(found, Stepwise):
            raise ParameterError(f"directions must be one of: {', '.join(METHODS)}; not {self.directions!r}")
        return found

    def drafts(self, facts: Facts) -> list[Draft]:
        if not 0 < self.share < 1:
            raise ParameterError("share must be in (0, 1): the part of the budget that is not for directions")
        if not 1 <= self.n_components <= facts.d:
            raise ParameterError(f"n_components must be in 1..{facts.d}, the number of encoded features")
        found = [draft.part(1 - self.share) for draft in filled(self.finder().drafts(facts))]
        return found + [draft.part(self.share) for draft in filled(self.along(facts))]

    def draw(self, table: Table, steps: Draws) -> None:
        self.finder().draw(table, steps)
        vectors = directions(steps, self.directions, self.n_components)
        self.look(table, steps, on_grid(vectors, VECTOR_BITS))

    def squares(self, table: Table, steps: Draws, vectors: NDArray[np.int64]) -> NDArray[np.float64]:
        """W (m, k): half squared differences of a fresh secret pairing along the directions, in squared
        units of the table's rows (``Grid.step``); private. One replaced row changes one row of W."""
        rows = table.facts.rows
        assert rows is not None
        pairs = table.pairs(steps.noise.permutation(rows))
        return pairs.values(Squares(vectors, table.facts.grid.bounded), vectors.shape[1])
