"""A clipping radius from one noisy histogram of row norms: arithmetic of released counts. Public.

Radii are r/2**(j/2), r the public bound; j = 0 leaves rows as they are. The smallest predicted error wins.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..core.released import Drawn, StepPlan
from .denoise_wishart import entry_sd

FloatArray = NDArray[np.float64]

GAUSSIAN_LEVEL, LAPLACE_LEVEL = 4.0, 10.0
"""Counts below this many sds (Gaussian) or scales (Laplace) are taken for noise."""
WINDOWS = (1, 2, 4)
MIDDLE = 0.75
"""Mean squared norm of a bin's rows over the largest, taken as even between half of it and it."""
MOST = 1.5
"""Most by which clipped moments are scaled up: beyond it too little of the matrix was seen to say more."""


def halvings(drawn: Drawn, plan: StepPlan) -> int:
    """j of the radius r/2**(j/2) to which rows are clipped for a step; 0 where none was chosen.

    Parameters
    ----------
    drawn : a release, or the steps drawn so far
    plan : of the step, "mean", "scatter" or "augmented"
    """
    counts = _counts(drawn, plan.name)
    if counts is None:
        return 0
    square = float(drawn.facts.grid.levels) ** 2
    if plan.name == "mean":
        return mean_edge(counts, declared(plan, drawn.facts.d)[0] / math.sqrt(square), drawn.facts.d)
    return edge(counts, declared(plan, drawn.facts.d)[1] / square, drawn.facts.d)


def restored(drawn: Drawn, plan: StepPlan) -> float:
    """The trace of all rows over that of the clipped ones, by the kept counts; at least 1, at most ``MOST``.

    What clipping takes away is long rows' length, not their direction: where that does not depend on the
    length, second moments of clipped rows times this number are those of all rows.
    """
    counts = _counts(drawn, plan.name)
    if counts is None or not counts.any():
        return 1.0
    squares = MIDDLE * 0.5 ** np.arange(len(counts))
    return min(
        float(counts @ squares) / float(counts @ np.minimum(squares, 0.5 ** halvings(drawn, plan))), MOST
    )


def _counts(drawn: Drawn, name: str) -> FloatArray | None:
    """The kept counts of the histogram that chose the radius for a step; None if none did."""
    names = ("norms",) if name in ("mean", "augmented") else ("radii", "norms")
    found = [drawn.step(name) for name in names if drawn.has(name)]
    if not found:
        return None
    plan, values = found[0].plan, found[0].values
    level = (GAUSSIAN_LEVEL if plan.law == "gaussian" else LAPLACE_LEVEL) * declared(plan, 1)[0]
    return kept(np.ldexp(values.astype(np.float64), -plan.shift), level)


def declared(plan: StepPlan, d: int) -> tuple[float, float]:
    """Sds of the noise (diagonal, off-diagonal) by what a step costs, in units of its statistic; of
    "laplace" counts the scale. A run without noise makes the same choices by them."""
    root = math.sqrt(plan.sensitivity_squared)
    if plan.law == "gaussian":
        sd = math.ldexp(root / math.sqrt(plan.mu_squared), -plan.shift)
        return sd, sd / math.sqrt(2) if len(plan.sigma) == 2 else sd
    epsilon = float(plan.charge.epsilon or 0)
    if plan.law == "wishart":
        off = entry_sd(d, root / (2 * epsilon))
        return math.sqrt(2) * off, off
    return root / epsilon, root / epsilon


def kept(counts: FloatArray, level: float) -> FloatArray:
    """Counts that are not noise: of bins in some window of 1, 2 or 4 neighbours that sums above
    ``level`` sqrt(length); the others 0, as are counts below it. Rows in an empty top bin cost B^2 each.

    What a shorter window keeps is left out of the longer ones, or a full bin would keep its noisy neighbours.
    """
    seen = np.zeros(len(counts), dtype=bool)
    for length in WINDOWS:
        sums = np.convolve(np.where(seen, 0.0, counts), np.ones(length), "valid")
        for start in np.flatnonzero(sums > level * math.sqrt(length)):
            seen[start : start + length] = True
    return np.where(seen, np.maximum(counts, 0.0), 0.0)


def edge(counts: FloatArray, noise: float, d: int) -> int:
    """j with the least predicted error of a denoised scatter of rows clipped to r/2**(j/2).

    Parameters
    ----------
    counts : (bins,) rows by norm, bin i up to r/2**(i/2)
    noise : off-diagonal sd of the sum of k k', in units of r^2, without clipping
    d : number of features

    With t^2 = 2^-j: error^2 = [sum n_i (b_i^2 - t^2)_+]^2 + min(d (d + 1) tau^2, e^2 + e T/4) with
    tau = noise t^2, e = 2 tau sqrt(d) and T = sum n_i min(b_i^2, t^2); the second is the denoiser's gain.
    """
    squares = 0.5 ** np.arange(len(counts))

    def error(t: float) -> float:
        tau = noise * t
        top = 2 * tau * math.sqrt(d)
        gain = top**2 + top * float(counts @ np.minimum(squares, t)) / 4
        return float(counts @ np.maximum(squares - t, 0)) ** 2 + min(d * (d + 1) * tau**2, gain)

    return _least([error(t) for t in squares])


def mean_edge(counts: FloatArray, noise: float, d: int) -> int:
    """j with the least predicted error of a mean of rows clipped to r/2**(j/2): [sum n_i (b_i - t)_+]^2 +
    d (noise t)^2, ``noise`` the sd of an entry of the sum in units of r."""
    norms = 0.5 ** (np.arange(len(counts)) / 2)
    return _least([float(counts @ np.maximum(norms - t, 0)) ** 2 + d * (noise * t) ** 2 for t in norms])


def _least(errors: Sequence[float]) -> int:
    """The first place of the least: the largest radius among equals."""
    return int(np.argmin(errors))
