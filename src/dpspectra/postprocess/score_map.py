"""A noisy histogram of scores: where its cells lie, and what can be shown of it. Public.

Scores are s = v'(x - c) with released directions v and a public or released centre c; both, and so the
cells, are functions of earlier outputs and of public facts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.facts import Facts
from ..core.released import Drawn, Released
from .decode import decode as decode_moments
from .directions import directions
from .quantile import geometric, reached
from .simulate import jitter
from .spatial_sign import location

FloatArray = NDArray[np.float64]

FRAMES = ("frame_1", "frame_2")
"""Steps that hold the private half-widths of the frame."""
WIDEST, OCTAVES, STEPS = 2.0**40, 80, 400
"""Ladder of half-widths where no bound is known, encoded units: from 2^-40 to 2^40, 15 % a step."""


def centre_of(drawn: Drawn, method: str, radii: Sequence[float]) -> FloatArray:
    """The point that scores are measured from, (d,), in units of the table's rows: what the direction
    mechanism released as their centre, the grid's public centre otherwise.

    ``radii``: the limits of the ladder of ``spatial_sign``. With a bound on rows the point is a whole one of
    their ball.
    """
    facts = drawn.facts
    if method == "gaussian_moments":
        point = decode_moments(drawn).mean / facts.grid.step
    elif method == "spatial_sign":
        point = location(drawn, *radii) / facts.grid.step
    else:
        return np.zeros(facts.d)
    if not facts.grid.bounded:
        return point
    size, most = float(np.linalg.norm(point)), facts.grid.levels - math.sqrt(facts.d)
    return np.floor(point * min(1.0, most / size if size > 0 else 1.0) + 0.5)


def public_reach(facts: Facts, centre: FloatArray) -> float:
    """No score is larger than this, in units of the rows: B about the public centre, B + |c| about another
    point; infinite without a bound."""
    if not facts.grid.bounded:
        return math.inf
    return float(facts.grid.levels) + float(np.linalg.norm(centre))


def ladder(facts: Facts, centre: FloatArray) -> FloatArray:
    """Half-widths that a private frame may have, ascending, in units of the rows."""
    if facts.grid.bounded:
        return geometric(public_reach(facts, centre))
    return geometric(WIDEST, STEPS, OCTAVES)


def half_widths(drawn: Drawn, frame: str | float, centre: FloatArray) -> FloatArray:
    """Half-widths of the frame about 0, (2,), in units of the rows."""
    if isinstance(frame, str) and frame == "private":
        rungs = ladder(drawn.facts, centre)
        return np.array([reached(rungs, int(drawn.step(name).values[0])) for name in FRAMES])
    half = public_reach(drawn.facts, centre) if isinstance(frame, str) else frame / drawn.facts.grid.step
    return np.full(2, half)


def meant(frame: str | float, facts: Facts) -> str | float:
    """The frame that is meant: "auto" is public where a bound is, private otherwise."""
    if isinstance(frame, str) and frame == "auto":
        return "public" if facts.grid.bounded else "private"
    return frame


def edges(half: float, bins: int) -> FloatArray:
    """Edges of equal cells over [-half, half], (bins + 1,)."""
    return half * (2 * np.arange(bins + 1) - bins) / bins


@dataclass(frozen=True)
class ScoreCells:
    """A decoded score map.

    Attributes
    ----------
    counts : (groups, bins, bins) at least 0; the first score goes along the second axis
    raw : the same as released
    noise_sd : sd of the noise of an entry of ``raw`` (of a released one, if cells below a threshold are 0)
    edges : (2, bins + 1), encoded units; rows beyond the ends are counted in the cells at the ends
    vectors : (d, 2) directions
    centre : (d,) encoded units
    total : number of rows: public, or the sum of the noisy cells
    least : smallest count that a sparse histogram shows; 0 for an additive one
    """

    counts: FloatArray
    raw: FloatArray
    noise_sd: float
    edges: FloatArray
    vectors: FloatArray
    centre: FloatArray
    total: float
    least: int


def decode(released: Released, *, smooth: bool = False) -> ScoreCells:
    """Read a release of ``score_map``; ``smooth`` spreads each cell over its neighbours first."""
    used, facts = released.parameters, released.facts
    method, bins = used["directions"], used["bins"]
    pair = [int(index) for index in used["components"]]
    centre = centre_of(released, method, used["radii"])
    half = half_widths(released, meant(used["frame"], facts), centre)
    plan = released.step("cells").plan
    raw = np.ldexp(released.step("cells").values.astype(np.float64), -plan.shift).reshape(-1, bins, bins)
    sparse = plan.law == "threshold"
    total = float(raw.sum()) if facts.rows is None else float(facts.rows)
    shown = smoothed(raw) if smooth else raw
    vectors = directions(released, method, max(pair) + 1)[:, pair]
    scale = math.ldexp(plan.sigma[0], -plan.shift)
    return ScoreCells(
        counts=np.maximum(shown, 0.0) if sparse else by_group(shown, max(total, 0.0)),
        raw=raw,
        noise_sd=laplace_sd(scale) if sparse else scale,
        edges=np.array([edges(width, bins) for width in half * facts.grid.step]),
        vectors=vectors,
        centre=centre * facts.grid.step,
        total=total,
        least=int(plan.sigma[1]) if sparse else 0,
    )


def laplace_sd(scale: float) -> float:
    """sd of the discrete Laplace law with P(k) proportional to exp(-|k|/scale); 0 for scale 0."""
    if scale == 0:
        return 0.0
    fall = math.exp(-1 / scale)
    return math.sqrt(2 * fall) / -math.expm1(-1 / scale)


def nonnegative(values: FloatArray, total: float) -> FloatArray:
    """The nearest array with entries >= 0 that add up to ``total`` >= 0: a common amount is taken off and
    what is then negative becomes 0."""
    ordered = np.sort(values, axis=None)[::-1]
    excess = (np.cumsum(ordered) - total) / np.arange(1, ordered.size + 1)
    kept = np.flatnonzero(ordered > excess)
    off = float(excess[kept[-1]]) if kept.size else float(ordered[0])
    return np.maximum(values - off, 0.0)


def by_group(values: FloatArray, total: float) -> FloatArray:
    """Counts (groups, bins, bins) that are not negative: first the groups' sums are brought to add up to
    ``total``, then each group's cells to its sum. Groups with few rows keep few."""
    sums = nonnegative(values.sum(axis=(1, 2)), total)
    return np.array([nonnegative(cells, float(own)) for cells, own in zip(values, sums, strict=True)])


def smoothed(values: FloatArray) -> FloatArray:
    """Each cell spread over its neighbours by weights 1/4, 1/2, 1/4 along both axes; what would leave the
    frame stays. The sums of the groups are kept."""
    for axis in (1, 2):
        rows = np.moveaxis(values, axis, 0)
        spread = rows / 2
        spread[1:] += rows[:-1] / 4
        spread[:-1] += rows[1:] / 4
        spread[0] += rows[0] / 4
        spread[-1] += rows[-1] / 4
        values = np.moveaxis(spread, 0, axis)
    return np.ascontiguousarray(values)


def points(counts: FloatArray, ends: FloatArray) -> tuple[FloatArray, NDArray[np.int64]]:
    """Synthetic points: as many in each cell as its count says, evenly spread; no row of any table.

    Parameters
    ----------
    counts : (groups, bins, bins), at least 0
    ends : (2, bins + 1), edges of the cells

    Returns
    -------
    (m, 2) places and (m,) groups, with m the rounded sum of ``counts``; the same for the same counts
    """
    flat = counts.ravel()
    whole = np.floor(flat).astype(np.int64)
    missing = int(np.floor(flat.sum() + 0.5)) - int(whole.sum())
    whole[np.argsort(whole - flat, kind="stable")[:missing]] += 1  # largest remainders first
    group, first, second = (np.repeat(place.ravel(), whole) for place in np.indices(counts.shape))
    low, width = ends[:, :-1], np.diff(ends, axis=1)
    within = jitter(len(group))
    places = np.column_stack(
        [low[axis, cell] + within[:, axis] * width[axis, cell] for axis, cell in ((0, first), (1, second))]
    )
    return places, group.astype(np.int64)


def total_variation(one: FloatArray, other: FloatArray) -> float:
    """Half the sum of absolute differences of the two arrays' shares; an array of zeros has even shares."""
    first, second = (_shares(np.asarray(values, dtype=np.float64)) for values in (one, other))
    return float(np.abs(first - second).sum() / 2)


def _shares(values: FloatArray) -> FloatArray:
    total = values.sum()
    return values / total if total > 0 else np.full(values.shape, 1 / values.size)
