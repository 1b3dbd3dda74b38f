"""Dyadic bins [2^r, 2^(r+1)) of squares: which ones are public, and where noisy counts of them say to cut."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..core.facts import Facts

FloatArray = NDArray[np.float64]

LOW, HIGH = -64, 127
"""Bins of squares without a public bound: lengths from 2^-32 to 2^64."""
SPAN = 40
"""Bins below the largest square, where there is a bound: lengths down to 2^-20 of it."""
FALL = 4.0
"""Counts are taken to fall by this factor a bin beyond those that stand out of noise, and to be within it."""
CENTRE = 1.5
"""Mean of the squares of a bin over its lower end."""
BEYOND = 30
"""Bins that the fall is followed: then their part of the mean is below 2^-30 of the first's."""


def default_bins(facts: Facts) -> tuple[int, int]:
    """The r of the first and of the last bin, in encoded units: below 2 B^2, or wide."""
    if not facts.grid.bounded:
        return LOW, HIGH
    top = math.frexp(2 * facts.grid.radius**2)[1] - 1
    return top - SPAN, top


def best_cut(counts: FloatArray, noise_sd: float, pairs: int, relative: float, low: int) -> float:
    """The power of two C at which bias E (w - C)^+ and noise of the mean of min(w, C) are least together.

    Parameters
    ----------
    counts : (R,) noisy counts of the bins from ``low`` on; ``noise_sd`` of each
    pairs : m, to which the exact counts add up
    relative : noise sd of the mean over C

    The bias is that of the bins from the fullest one up to the last that stands out of the noise, and of a
    geometric fall beyond. If none stands out, a bin near r = 0 is the safest guess.
    """
    size = len(counts)
    sure = noise_sd * (1 + math.sqrt(2 * math.log(size)))
    far = noise_sd * np.log1p(np.abs(low + np.arange(size)))
    first = int(np.argmax(counts - far / 2))
    if counts[first] < sure:
        first = int(np.argmax(counts - 2 * far))
    last = first  # counts rise to the fullest bin and fall from there
    while last + 1 < size and counts[last + 1] > noise_sd:
        last += 1
    if counts[first] > sure:  # a second heap, apart
        last = max(last, int(np.flatnonzero(counts > sure)[-1]))
    seen = np.where(counts > noise_sd, counts, 0.0)[first : last + 1]
    beyond = min(seen[-1] / FALL, noise_sd) / FALL ** np.arange(BEYOND)
    part = np.concatenate([seen, beyond]) / pairs
    lower = np.ldexp(1.0, low + first + np.arange(len(part)))
    cuts = lower[: size + 1 - first]  # from the lower end of the fullest bin on
    bias = np.maximum(CENTRE * lower - cuts[:, None], 0.0) @ part
    return float(cuts[int(np.argmin(bias + relative * cuts))])
