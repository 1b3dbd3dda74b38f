"""The public facts of a table: all that a calibration may look at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .privacy import Adjacency


@dataclass(frozen=True)
class Grid:
    """The public integer grid of rows: data = centre + scale * radius * k / 2**bits, |k| <= 2**bits.

    ``radius`` B bounds the L2 norm of an encoded row; ``centre`` and ``scale`` have one entry per
    encoded feature, in data units.
    """

    bits: int
    radius: float
    centre: tuple[float, ...]
    scale: tuple[float, ...]

    @property
    def levels(self) -> int:
        """r = 2**bits, the radius in grid units."""
        return 1 << self.bits

    @property
    def step(self) -> float:
        """One grid unit in encoded units."""
        return self.radius / self.levels

    @property
    def centre_array(self) -> NDArray[np.float64]:
        return np.asarray(self.centre, dtype=np.float64)

    @property
    def scale_array(self) -> NDArray[np.float64]:
        return np.asarray(self.scale, dtype=np.float64)


@dataclass(frozen=True)
class Facts:
    """Public facts. ``rows`` is n under replace-one and None under add/remove (n is private there)."""

    rows: int | None
    features: tuple[str, ...]
    grid: Grid
    adjacency: Adjacency
    unit: str = "row"

    @property
    def d(self) -> int:
        """Number of encoded features."""
        return len(self.features)
