"""The public facts of a table: all that a calibration may look at."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .privacy import Adjacency


@dataclass(frozen=True)
class Grid:
    """The public integer grid of rows: data = centre + scale * radius * k / 2**bits, |k| <= 2**bits.

    ``radius`` B bounds the L2 norm of an encoded row; ``centre`` and ``scale`` have one entry per
    encoded feature, in data units. Without public bounds the radius is infinite: rows are then encoded
    doubles, and each statistic brings them to integers by a rule of its own.
    """

    bits: int
    radius: float
    centre: tuple[float, ...]
    scale: tuple[float, ...]

    @property
    def bounded(self) -> bool:
        """Whether rows have a public bound, and so are integers."""
        return math.isfinite(self.radius)

    @property
    def levels(self) -> int:
        """r = 2**bits, the radius in grid units."""
        return 1 << self.bits

    @property
    def step(self) -> float:
        """One unit of a row that the table gives, in encoded units: of the grid, or 1 without bounds."""
        return self.radius / self.levels if self.bounded else 1.0

    @property
    def centre_array(self) -> NDArray[np.float64]:
        return np.asarray(self.centre, dtype=np.float64)

    @property
    def scale_array(self) -> NDArray[np.float64]:
        return np.asarray(self.scale, dtype=np.float64)


@dataclass(frozen=True)
class Facts:
    """Public facts. ``rows`` is n under replace-one and None under add/remove (n is private there).

    ``groups``: names of the groups that rows fall into, the last for all values that the schema does not
    list; empty if rows are not grouped.
    """

    rows: int | None
    features: tuple[str, ...]
    grid: Grid
    adjacency: Adjacency
    unit: str = "row"
    groups: tuple[str, ...] = ()

    @property
    def d(self) -> int:
        """Number of encoded features."""
        return len(self.features)
