"""How a mechanism sees data: public facts, and exact sums over one pass of the rows."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..core.facts import Facts

Block = NDArray[np.float64]
"""Integer-valued float64 (rows, d): encoded, clipped, quantised rows, inside the ball of radius 2**bits."""

R = TypeVar("R", covariant=True)


class RowMap(Protocol):
    """A public integer map of a block of rows, applied after quantising; the ball clip follows it."""

    def __call__(self, block: Block) -> Block:
        """Map a block; may work in place and must return integer-valued float64."""
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


class Table(Protocol):
    """Rows that a mechanism may sum up, and nothing else of them."""

    @property
    def facts(self) -> Facts: ...

    def reduce(self, summary: Summary[R], row_map: RowMap | None = None) -> R:
        """Visit every row once and return the exact summary."""
        ...
