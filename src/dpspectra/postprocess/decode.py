"""From the noisy integers of a moments release to means and second moments in encoded units. Public.

Encoded units are those of ``Facts.grid``: a row is (x - centre)/scale, in the ball of radius B.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..core.facts import Facts
from ..core.privacy import Adjacency
from ..core.released import Drawn, Step
from .denoise_wishart import entry_sd
from .symmetric import unpack
from .threshold import halvings

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """Decoded moments, encoded units.

    Attributes
    ----------
    rows : n, or its noisy release under add/remove (at least 1); ``rows_sd`` its noise sd (0 if public)
    mean : (d,) mean of the encoded rows, or the public centre (zeros) if none was released
    mean_sd : noise sd of an entry of the mean (0 if the centre is public)
    covariance : (d, d) noisy second moments about the mean, unbiased for the noise, before any clean-up
    noise_sd : sd of an off-diagonal entry; a diagonal one has sqrt(2) times that
    isotropic : False for the joint release, whose noise has a false component beside the edge
    false_edge : height that the false component can reach (0 if isotropic)
    trace, trace_sd : the trace, if it was released by itself
    law : of the noise of the covariance, "gaussian", "laplace" or "wishart"
    """

    rows: float
    rows_sd: float
    mean: FloatArray
    mean_sd: float
    covariance: FloatArray
    noise_sd: float
    isotropic: bool
    false_edge: float = 0.0
    trace: float | None = None
    trace_sd: float = 0.0
    law: str = "gaussian"


def augmentation(facts: Facts) -> int:
    """c, the integer that stands before each row in the joint layout: c^2/r^2 about 0.45/sqrt(d + 4)."""
    r = facts.grid.levels
    return max(1, math.isqrt(int(r * r * 0.45 / math.sqrt(facts.d + 4))))


def grid_mean(drawn: Drawn) -> NDArray[np.int64]:
    """The released mean of a "mean" step as a row of the grid: int64 (d,), in the ball of radius r."""
    step = drawn.step("mean")
    raw, _ = _raw_mean(step, drawn.facts)
    mean = raw * _kept(raw, drawn.facts) * _radius(drawn, step)
    return np.floor(mean + 0.5).astype(np.int64)


def decode(released: Drawn, ddof: int = 1) -> Estimate:
    """Read a release of moments: of ``gaussian_moments``, ``laplace`` or ``wishart_difference``.

    ``ddof``: the covariance is divided by n - ddof where its centre was estimated; about a public centre
    the second moment is divided by n.
    """
    facts = released.facts
    estimate = (_joint if released.has("augmented") else _about_centre)(released, ddof)
    if not released.has("trace"):
        return estimate
    step = released.step("trace")
    excess = facts.d * estimate.mean_sd**2 if released.has("mean") else 0.0
    if released.has("augmented"):
        excess = float(estimate.mean @ estimate.mean) - facts.d * estimate.mean_sd**2
    factor = _unbias(estimate.rows, ddof) if released.has("mean") or released.has("augmented") else 1.0
    second = released.step("augmented" if released.has("augmented") else "scatter")
    square = (facts.grid.step * _radius(released, second)) ** 2
    return replace(
        estimate,
        trace=(float(_scaled(step)[0]) * square / estimate.rows - excess) * factor,
        trace_sd=_sigma(step)[0] * square / estimate.rows * factor,
    )


@dataclass(frozen=True)
class Start:
    """What comes before the second moments: rows and their sd, mean and its sd (encoded units) as in
    ``Estimate``, and the factor that makes up for an estimated centre."""

    rows: float
    rows_sd: float
    mean: FloatArray
    mean_sd: float
    factor: float


def start(released: Drawn, ddof: int) -> Start:
    """Decode the steps "count" and "mean", each where it was drawn."""
    facts = released.facts
    rows, rows_sd = float(facts.rows or 0), 0.0
    if released.has("count"):
        step = released.step("count")
        rows, rows_sd = max(1.0, float(_scaled(step)[0])), _sigma(step)[0]
    if not released.has("mean"):
        return Start(rows, rows_sd, np.zeros(facts.d), 0.0, 1.0)
    step = released.step("mean")
    raw, rows = _raw_mean(step, facts)
    kept = _kept(raw, facts) * facts.grid.step * _radius(released, step)
    rows_sd = 0.0 if facts.adjacency is Adjacency.REPLACE_ONE else _sigma(step)[0] / facts.grid.levels
    return Start(rows, rows_sd, raw * kept, _sigma(step)[0] * kept / rows, _unbias(rows, ddof))


def _about_centre(released: Drawn, ddof: int) -> Estimate:
    first = start(released, ddof)
    scatter = released.step("scatter")
    unit = (released.facts.grid.step * _radius(released, scatter)) ** 2 / first.rows
    covariance = unpack(_scaled(scatter), released.facts.d) * unit
    return about(first, covariance, _sigma(scatter)[-1] * unit, scatter.plan.law)


def about(first: Start, covariance: FloatArray, noise_sd: float, law: str) -> Estimate:
    """The estimate of noisy second moments (d, d) about the released mean, changed in place."""
    # Rows were centred at the noisy mean: its error adds (m - mean)(m - mean)', on average mean_sd^2 I.
    covariance[np.diag_indices(len(covariance))] -= first.mean_sd**2
    covariance *= first.factor
    noise_sd *= first.factor
    return Estimate(first.rows, first.rows_sd, first.mean, first.mean_sd, covariance, noise_sd, True, law=law)


def _joint(released: Drawn, ddof: int) -> Estimate:
    step, facts = released.step("augmented"), released.facts
    c, d = augmentation(facts), facts.d
    matrix, (diagonal, off) = unpack(_scaled(step), d + 1), _sigma(step)
    rows, rows_sd = float(facts.rows or 0), 0.0
    if facts.adjacency is Adjacency.ADD_REMOVE:
        rows, rows_sd = max(1.0, float(matrix[0, 0]) / c**2), diagonal / c**2
    length, factor = facts.grid.step * _radius(released, step), _unbias(rows, ddof)
    unit = length / rows
    mean, mean_sd = matrix[0, 1:] / c * unit, off / c * unit
    noise_sd = off * unit * length
    covariance = matrix[1:, 1:] * (unit * length) - np.outer(mean, mean)
    covariance[np.diag_indices(d)] += mean_sd**2  # m m' is too large by this, on average
    theta = float(np.linalg.norm(mean)) / (c * length)
    false_edge = noise_sd * math.sqrt(d) * (theta + 1 / theta) if theta > 1 else 0.0
    return Estimate(
        rows, rows_sd, mean, mean_sd, covariance * factor, noise_sd * factor, False, false_edge * factor
    )


def _raw_mean(step: Step, facts: Facts) -> tuple[FloatArray, float]:
    rows, sums = float(facts.rows or 0), _scaled(step)
    if facts.adjacency is Adjacency.ADD_REMOVE:
        rows, sums = max(1.0, float(sums[0]) / facts.grid.levels), sums[1:]
    return sums / rows, rows


def _kept(raw: FloatArray, facts: Facts) -> float:
    """The factor that brings a noisy mean into the ball; its noise shrinks by the same factor."""
    norm = float(np.linalg.norm(raw))
    return 1.0 if norm <= facts.grid.levels else facts.grid.levels / norm


def _scaled(step: Step) -> FloatArray:
    """The noisy integers without their public power of two."""
    return np.ldexp(step.values.astype(np.float64), -step.plan.shift)


def _sigma(step: Step) -> tuple[float, ...]:
    """Noise sds of the statistic, diagonal first, off-diagonal last."""
    plan = step.plan
    if plan.law == "wishart":
        off = entry_sd((math.isqrt(8 * plan.size + 1) - 1) // 2, plan.sigma[0])
        return math.sqrt(2) * off, off
    factor = math.sqrt(2) if plan.law == "laplace" else 1.0
    return tuple(math.ldexp(factor * sigma, -plan.shift) for sigma in plan.sigma)


def _radius(released: Drawn, step: Step) -> float:
    """The radius to which rows were clipped for a step, in units of r: they were blown up by its inverse."""
    return math.sqrt(math.ldexp(1.0, -halvings(released, step.plan)))


def _unbias(rows: float, ddof: int) -> float:
    return rows / (rows - ddof) if rows > ddof else 1.0
