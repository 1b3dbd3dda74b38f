"""Directions, and variances along them, as one pure function of a release. Public."""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib import import_module

import numpy as np
from numpy.typing import NDArray

from ..core.errors import SchemaError
from ..core.released import Drawn, Released
from .analysis import Analysis, analyse
from .decode import decode
from .directions import MATRICES, direction_matrix
from .means import Means
from .scree import Scree, scree, shares
from .spatial_sign import location
from .uncertainty import Spectrum, spectrum

FloatArray = NDArray[np.float64]

MOMENTS = "gaussian_moments"
RADII = 2.0**-20, 2.0**40
"""Where spatial_sign looks for a radius unless its settings, which a card keeps, say more."""


@dataclass(frozen=True)
class LowRank:
    """What a release of k directions shows, in encoded units.

    Attributes
    ----------
    method : the mechanism that found the directions
    vectors : (d, k) directions as columns, orthonormal
    spectrum : of the noisy matrix whose first eigenvectors they are; its eigenvalues are variances for
        "gaussian_moments" alone
    scree : variances along the directions; None if none were released
    location : (d,) data units: a released mean or centre, or the public centre
    rows : number of rows, or its noisy release
    total : released total variance; NaN if there is none
    """

    method: str
    vectors: FloatArray
    spectrum: Spectrum
    scree: Scree | None
    location: FloatArray
    rows: float
    total: float = math.nan


def directions_of(released: Released) -> str:
    """The mechanism that found the directions of a release."""
    return str(released.parameters.get("directions", released.mechanism))


def lowrank(released: Released, count: int, *, level: float = 0.9) -> LowRank:
    """Post-process a release of directions, of variances along directions, or of moments.

    ``count``: how many directions; a release of variances has its own number.
    """
    method = directions_of(released)
    if released.mechanism == MOMENTS:
        return _of_moments(analyse(released, level=level), count)
    noise_sd = noise_of(released, method)
    found = spectrum(direction_matrix(released, method), noise_sd, level=level, denoise=False)
    location, rows = location_of(released, method), float(released.facts.rows or 0)
    if released.mechanism in MATRICES:
        return LowRank(method, found.vectors[:, :count], found, None, location, rows)
    means = means_of(released)
    # Squares are at most 2 B^2: where they are cut higher up, nothing is cut.
    whole = means.upper >= 2 * released.facts.grid.radius**2
    seen = scree(means.values, means.noise_sd, whole, level)
    return LowRank(method, found.vectors[:, : len(means.values)], found, seen, location, rows)


def _of_moments(analysis: Analysis, count: int) -> LowRank:
    """The first eigenvalues of a whole covariance, which are denoised rather than made monotone."""
    found, first = analysis.spectrum, slice(count)
    seen = Scree(
        values_raw=found.values[first],
        values=found.denoised[first],
        noise_sd=np.full(count, math.sqrt(2.0) * analysis.noise_sd),
        edge=np.full(count, analysis.noise_edge),
        resolved=~(found.alignment[first] == 0),
        intervals=found.intervals[first],
        ratios=shares(found.denoised[first]),
        ratio_intervals=np.full((count, 2), np.nan),
        level=found.level,
    )
    return LowRank(
        MOMENTS,
        found.vectors[:, first],
        found,
        seen,
        analysis.location,
        analysis.estimate.rows,
        analysis.total,
    )


def means_of(released: Released) -> Means:
    """Decode variances along directions by ``decode`` of the module of the mechanism's name here."""
    name = released.mechanism
    if not name.isidentifier():
        raise SchemaError("the release's mechanism is not known to this version")
    try:
        found = import_module(f".{name}", __package__).decode(released)
    except (ImportError, AttributeError):
        raise SchemaError("the release's mechanism is not known to this version") from None
    if not isinstance(found, Means):
        raise SchemaError("the release's mechanism gives no variances along directions")
    return found


def noise_of(drawn: Drawn, method: str) -> float:
    """Noise sd of an off-diagonal entry of ``direction_matrix``."""
    if method == MOMENTS:
        return decode(drawn).noise_sd
    plan = drawn.step(MATRICES[method]).plan
    return float(np.ldexp(plan.sigma[-1], -plan.shift))


def location_of(released: Released, method: str) -> FloatArray:
    """The released mean or centre of a method, data units; the public centre of the grid if there is none."""
    grid, used = released.facts.grid, released.parameters
    if method == MOMENTS:
        return grid.centre_array + grid.scale_array * decode(released).mean
    if method == "spatial_sign":
        limits = used.get("smallest", RADII[0]), used.get("largest", RADII[1])
        return grid.centre_array + grid.scale_array * location(released, *limits)
    return grid.centre_array
