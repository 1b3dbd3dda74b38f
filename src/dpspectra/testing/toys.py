"""Small honest mechanisms of one step, one for each law and way to look at rows: what faults are planted in.

Each is a draft and a function that draws it. A broken one differs in a line, so that what a check catches is
that line.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..core.facts import Facts
from ..core.privacy import Budget
from ..mechanisms.steps import Draft, Draws, Stepwise
from ..noise.base import IntArray
from ..postprocess.symmetric import pack
from ..rows.signs import Signs
from ..rows.squares import VECTOR_BITS, Squares
from ..summaries.table import Table
from .subject import BUDGET

Values = NDArray[np.float64]
Look = Callable[[Table, Draws], object]
UNIT = 1 << 10
"""What 1 is in the integers of the toys."""
_SIGN_BITS = 10
_LADDER = 2.0 ** np.arange(-12, 5)


@dataclass(frozen=True)
class Toy(Stepwise):
    """A mechanism of the one step "toy"; replace-one, rows of any kind, no page and no decoder.

    Parameters (all public)
    -----------------------
    draft : facts -> the step
    look : draws it
    """

    name: ClassVar[str] = "toy"
    theorem: ClassVar[str] = "none"

    draft: Callable[[Facts], Draft]
    look: Look
    budget: Budget = BUDGET

    def drafts(self, facts: Facts) -> list[Draft]:
        return [self.draft(facts)]

    def draw(self, table: Table, steps: Draws) -> None:
        self.look(table, steps)

    def parameters(self) -> dict[str, Any]:
        return {}


def toy(look: Look, size: int = 1, sensitivity: int = 1, **law: Any) -> Toy:
    """A toy whose draft is the same for all tables; ``sensitivity`` is not squared."""
    return Toy(lambda _: Draft("toy", size, sensitivity**2, None, "L-toy", **law), look)


def paired(table: Table, order: IntArray) -> Values:
    """w = half squared differences of the first feature over the pairs of this order, encoded units."""
    facts = table.facts
    vectors = np.zeros((facts.d, 1), dtype=np.int64)
    vectors[0] = 1 << VECTOR_BITS
    return table.pairs(order).values(Squares(vectors, facts.grid.bounded), 1)[:, 0] * facts.grid.step**2


def squares(table: Table, steps: Draws) -> Values:
    """w over a fresh secret pairing."""
    return paired(table, steps.noise.permutation(table.facts.rows or 0))


def clipped(w: Values) -> IntArray:
    """The sum of min(w, 1), (1,): one changed w moves it by at most ``UNIT``."""
    units = np.floor(UNIT * np.minimum(w, 1.0)).astype(np.int64)
    return np.array([units.sum()])


def bins(w: Values) -> IntArray:
    """Counts of w by its power of two, ends included in the first and last: a changed w moves one count from
    one bin to another."""
    places = np.frexp(w)[1].clip(-8, 8) + 8
    return np.bincount(np.where(w > 0, places, 0), minlength=17).astype(np.int64)


def climbed(w: Values) -> IntArray:
    """How many w are at most each rung of a public ladder: one changed w moves them one way, by at most 1."""
    counts: IntArray = (w[:, None] <= _LADDER).sum(axis=0)
    return counts


def quadrants(rows: Values) -> IntArray:
    """Counts of rows by the signs of the first two features, (9,): a changed row moves two counts."""
    signs = np.sign(rows[:, :2]).astype(np.int64) + 1
    return np.bincount(signs[:, 0] * 3 + signs[:, 1], minlength=9).astype(np.int64)


def turned(rows: Values) -> IntArray:
    """Packed sum of u u' over all pairs of rows, u the direction of their difference, 0 for equal rows."""
    left, right = np.triu_indices(len(rows), 1)
    u = Signs(_SIGN_BITS)(rows[left] - rows[right]).astype(np.int64)
    return pack(u.T @ u)


def _turning(facts: Facts) -> Draft:
    """A changed row is in rows - 1 pairs, each of which moves u u' by at most sqrt(2) 4**bits."""
    change = 2 * ((facts.rows or 1) - 1) ** 2 * 16**_SIGN_BITS
    return Draft("toy", facts.d * (facts.d + 1) // 2, change, None, "L-toy", symmetric=True)


def _positive(rows: Values) -> IntArray:
    return np.array([(rows[:, 0] > 0).sum()])


MEAN = toy(lambda table, steps: steps.gaussian("toy", clipped(squares(table, steps))), sensitivity=UNIT)
COUNT = toy(lambda table, steps: steps.laplace("toy", _positive(table.matrix())), law="laplace")
MODE = toy(lambda table, steps: steps.largest("toy", bins(squares(table, steps))), law="largest", spread=2)
QUANTILE = toy(
    lambda table, steps: steps.first("toy", climbed(squares(table, steps)), nine_tenths(table)), law="first"
)
SPARSE = toy(
    lambda table, steps: steps.threshold("toy", quadrants(table.matrix())), size=9, law="threshold", spread=2
)
TURNS = Toy(_turning, lambda table, steps: steps.gaussian("toy", turned(table.matrix())))
TOYS = {"mean": MEAN, "count": COUNT, "mode": MODE, "quantile": QUANTILE, "sparse": SPARSE, "turns": TURNS}
"""All honest ones: every check of the contract holds for them, with bounds and without."""


def nine_tenths(table: Table) -> int:
    """A public target: nine tenths of the number of pairs."""
    return math.ceil(0.9 * ((table.facts.rows or 0) // 2))
