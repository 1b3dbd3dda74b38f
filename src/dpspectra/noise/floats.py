"""Wishart noise from float64 normals of the operating system's randomness, with its numerical slack proved.

No exact sampler of the law of W = scale (G G' - H H') is known (G, H: side x (side + 1) standard normals).
Floats stand in for it, are rounded to integers before they meet a statistic, and exact discrete Laplace noise
of scale b = ``smoothing`` follows, which is what makes the slack provable:

**Claim.** Outside an event of probability below 1e-60, the law of ``wishart`` plus that Laplace noise and the
same with the exact W, rounded, differ pointwise by factors within exp(+-slack/2), ``slack`` of
``wishart_slack``. So a release that is epsilon-DP with exact noise is (epsilon + slack)-DP with this one.

*Proof.* Both come from the same uniform reals. (1) A draw's uniform is kept with relative error below 4 u,
u = 2^-53, however small it is, which moves its normal by less than 1.26 times that (Mills ratio); the
library's quantile function is taken to be right within ``QUANTILE_ERROR`` max(1, |x|), its documented error
with a margin that tests measure. (2) Rows of G have norm at most R = sqrt(side + 1) + 18, but for a
probability of 2 side exp(-162). There the product moves by at most 4.3 QUANTILE_ERROR R^2, and a
floating-point inner product of k = side + 1 terms in any order by 1.1 (k + 4) u R^2. (3) So an entry of
scale W moves by at most e = 2 scale R^2 (4.3 QUANTILE_ERROR + 1.1 (k + 4) u), and its rounding by e + 1.
(4) Given both, the Laplace noise answers each integer with probabilities within exp(+-N (e + 1)/b),
N = side (side + 1)/2 entries; averaging keeps that bound, once for each of the two tables. []
"""

from __future__ import annotations

import math
import os

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ..core.errors import InfeasiblePlan
from .base import FloatArray, IntArray

QUANTILE_ERROR = 2.0**-46
"""Assumed error of a normal quantile, relative above 1 and absolute below: 64 units in the last place."""
REACH = 18.0
"""How far a row's norm may pass sqrt(side + 1)."""
SMOOTHING = 1 / 16
"""Laplace scale in units of scale sqrt(side + 1): it adds 0.2 % to the sd of an entry."""
UNIT = 2.0**-53
_EXTENSIONS = 4


def smoothing(side: int, scale: float) -> float:
    """b: scale of the discrete Laplace noise that goes with Wishart noise of ``scale``."""
    return SMOOTHING * math.sqrt(side + 1) * scale


def wishart_slack(side: int, scale: float) -> float:
    """The part of epsilon that covers float noise, rounded up. It falls as ``scale`` grows."""
    entries, k = side * (side + 1) / 2, side + 1
    moved = scale * _entry(side) * (4.3 * QUANTILE_ERROR + 1.1 * (k + 4) * UNIT)
    return 2 * entries * (1 + moved) / smoothing(side, scale) * (1 + 1e-9)


def wishart(side: int, scale: float) -> IntArray:
    """scale (G G' - H H') rounded to integers, the packed upper triangle; raises as ``rounded``."""
    first, second = (normals(side * (side + 1)).reshape(side, side + 1) for _ in range(2))
    return rounded(first, second, scale)


def rounded(first: FloatArray, second: FloatArray, scale: float) -> IntArray:
    """The noise of these two matrices of normals, (side, side + 1) each.

    Raises
    ------
    InfeasiblePlan
        If it may not fit 64-bit integers (from the public side and scale).
    """
    side = len(first)
    if not fits(side, scale):
        raise InfeasiblePlan(
            "the budget is too small: the noise does not fit 64-bit integers; ask for a larger epsilon"
        )
    noise = first @ first.T
    noise -= second @ second.T
    noise *= scale
    np.rint(noise, out=noise)
    return np.concatenate([row[i:] for i, row in enumerate(noise)]).astype(np.int64)


def normals(size: int) -> FloatArray:
    """Standard normals, each the quantile of its own uniform."""
    signs = np.where(_words(size) >> np.uint64(63), 1.0, -1.0)
    drawn: FloatArray = signs * ndtri(_half_uniforms(size))
    return drawn


def _half_uniforms(size: int) -> FloatArray:
    """Uniform on (0, 1/2], each with relative error below 4 u: small ones get further bits."""
    kept = (_words(size) >> np.uint64(1)).astype(np.float64)
    values, small = np.ldexp(kept + 0.5, -64), np.arange(size)
    for words in range(2, 2 + _EXTENSIONS):  # after them small has probability below 2^-260
        few = kept < 2.0**52
        small, kept = small[few], kept[few]
        kept = kept * 2.0**64 + _words(small.size).astype(np.float64)
        values[small] = np.ldexp(kept + 0.5, -64 * words)
    return values


def _words(size: int) -> NDArray[np.uint64]:
    return np.frombuffer(os.urandom(8 * size), dtype=np.uint64)


def fits(side: int, scale: float) -> bool:
    """Whether noise of this scale fits 64-bit integers, from public facts."""
    return 0 < scale * _entry(side) < 2.0**62


def _entry(side: int) -> float:
    """2 R^2, which bounds an entry of G G' - H H' but for the event of the claim."""
    return 2 * (math.sqrt(side + 1) + REACH) ** 2
