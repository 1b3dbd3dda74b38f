"""How a mechanism sees data: public facts, and exact sums over one pass of the rows."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..core.facts import Facts

Block = NDArray[np.float64]
"""float64 (rows, d). With a public bound: integers, encoded, clipped and quantised, in the ball of radius
2**bits. Without: encoded finite doubles, of size at most 2**500 (``Grid.bounded`` tells)."""

R = TypeVar("R", covariant=True)


class RowMap(Protocol):
    """A public map of a block of rows, each by itself, applied after quantising.

    Of rows with a public bound it makes integers, and the ball clip follows it; other rows, and differences
    of pairs, are left as it gives them. A map with an attribute ``encoded = True`` is given encoded doubles
    instead of integers, for digits below the grid, and makes integers of the ball itself.
    """

    def __call__(self, block: Block) -> Block:
        """Map a block; may work in place."""
        ...


class Accumulator(Protocol[R]):
    """Exact sums over blocks. Adding blocks in any order and merging in any grouping gives equal results."""

    def add(self, block: Block) -> None: ...

    def merge(self, other: Any) -> None: ...

    def result(self) -> R: ...


class Summary(Protocol[R]):
    """A frozen description of an exact, additive statistic."""

    def start(self, d: int, bits: int) -> Accumulator[R]:
        """An empty accumulator for rows of d integers in the ball of radius 2**bits."""
        ...


class Reducible(Protocol):
    """Rows to visit."""

    def reduce(self, summary: Summary[R], row_map: RowMap | None = None) -> R:
        """Visit every row once and return the exact summary."""
        ...


class Paired(Reducible, Protocol):
    """Differences of disjoint pairs of rows."""

    def values(self, row_map: RowMap, width: int) -> NDArray[np.float64]:
        """What ``row_map`` makes of every difference, (pairs, width), in the order of the pairs; private."""
        ...


class Table(Reducible, Protocol):
    """Rows that a mechanism may sum up, and nothing else of them."""

    @property
    def facts(self) -> Facts: ...

    def reduce(self, summary: Summary[R], row_map: RowMap | None = None, *, groups: bool = False) -> R:
        """Visit every row once and return the exact summary.

        With ``groups`` a block has one more column at its end: the place of the row's group in
        ``facts.groups``, or 0 if there are none. It is a function of the row alone.
        """
        ...

    def pairs(self, order: NDArray[np.int64]) -> Paired:
        """The differences of the pairs (order[0], order[1]), (order[2], order[3]), ... of rows, each once.

        ``order`` is a permutation of the rows from the noise source, kept secret, so that a replaced row
        changes one difference wherever the table's order puts it; of an odd number of rows one is left out.
        Differences of integer rows are integers in the ball of radius 2**(bits + 1). Replace-one only.
        """
        ...

    def matrix(self) -> Block:
        """All rows (n, d) at once, private, for statistics of pairs of rows; replace-one only."""
        ...
