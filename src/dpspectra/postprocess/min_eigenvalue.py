"""The cells of smallest eigenvalues, and what a stability histogram over them says. Public."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..core.released import Released

CELLS = 128


def floors(ratio: Fraction) -> list[float]:
    """Lower ends of the cells in units of B^2, falling: ratio, ratio^2, ..., and 0."""
    return [float(ratio**j) for j in range(1, CELLS)] + [0.0]


def decode(released: Released) -> float | None:
    """A lower bound on the smallest eigenvalue of most groups, encoded units: the lower end of the fullest
    cell that was shown; None if none was, which is a private outcome."""
    counts = released.step("cells").values
    if not counts.any():
        return None
    ratio = Fraction(released.parameters["ratio"])
    return floors(ratio)[int(np.argmax(counts))] * released.facts.grid.radius**2
