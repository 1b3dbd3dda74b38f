"""PrivateScoreMap: a differentially private picture of where rows lie along two components."""

from __future__ import annotations

import os
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..accounting.ledger import Ledger
from ..core.errors import ParameterError
from ..core.privacy import Adjacency, Number
from ..core.released import Released
from ..core.schema import Schema
from ..postprocess.analysis import analyse
from ..postprocess.score_map import decode, points
from .base import PrivateEstimator

FloatArray = NDArray[np.float64]

EVERYONE = "all"
"""Name of the one group of a map without groups."""


class PrivateScoreMap(PrivateEstimator):
    """A noisy histogram of the scores of all rows on two private components, in groups if asked.

    Parameters
    ----------
    components : two different components, counted from 0
    bins : cells a side
    groups : name of a category column of the schema: one map for each listed value, and one for all others;
        the column is not among the features
    histogram : "additive" (noise on all cells), or "sparse" (only cells that hold rows, from a threshold on;
        for fine grids; needs epsilon and delta)
    frame : how far the cells reach: "public" (the bound on rows), "private" (quantiles of the scores,
        paid for), "auto" (private where there is no bound), or a public half-width in score units. Rows
        beyond it are counted in the cells at its ends.
    smooth : spread each cell over its neighbours, after the release
    share : part of the budget for frame and histogram; the rest is for the directions
    directions : "auto", "gaussian_moments", "spherical_kendall" or "spatial_sign"
    epsilon, delta, rho, mu, bounds, schema, row_norm, center, scaling, clip, adjacency, rows_max, method,
    ledger, label : as in ``PrivateCovariance``; ``scaling`` is "none" or "bounds"

    Attributes
    ----------
    counts_ : (groups, bins, bins) noisy counts, not negative; the first component goes along the second axis
    counts_raw_ : the same as released
    noise_sd_ : sd of the noise of an entry of ``counts_raw_``
    least_ : smallest count that a sparse map shows (0: additive)
    edges_ : (2, bins + 1) edges of the cells, units of the scaled columns
    groups_ : (groups,) names; group_totals_ : (groups,) sums of the released cells
    components_ : (2, d) released directions; location_, scale_ : (d,) scores are
        ``((x - location_) / scale_) @ components_.T``
    explained_variance_ratio_ : (2,) released shares of the variance, NaN where the directions tell none
    n_samples_ : number of rows; under add/remove the sum of the noisy cells
    release_ : Released; privacy_ : Guarantee

    All attributes are public. Privacy cost: the whole budget per ``fit`` (``score_map.md``).

    Examples
    --------
    >>> import numpy as np
    >>> from dpspectra import PrivateScoreMap
    >>> table = np.linspace(0, 1, 4000).reshape(-1, 4)
    >>> model = PrivateScoreMap(epsilon=1, delta=1e-6, bounds=(0, 1), bins=8).fit(table)
    >>> model.counts_.shape
    (1, 8, 8)
    """

    def __init__(
        self,
        components: tuple[int, int] = (0, 1),
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        bounds: Any = None,
        schema: Schema | str | os.PathLike[str] | None = None,
        row_norm: float | None = None,
        center: Any = "private",
        scaling: str = "none",
        clip: str | float = "none",
        adjacency: Adjacency | str = "replace-one",
        rows_max: int | None = None,
        method: str = "auto",
        directions: str = "auto",
        share: Number = 0.5,
        bins: int = 16,
        histogram: str = "additive",
        frame: str | float = "auto",
        groups: str | None = None,
        smooth: bool = False,
        ledger: Ledger | str | os.PathLike[str] | None = None,
        label: str = "table",
    ) -> None:
        self.components = components
        self.epsilon = epsilon
        self.delta = delta
        self.rho = rho
        self.mu = mu
        self.bounds = bounds
        self.schema = schema
        self.row_norm = row_norm
        self.center = center
        self.scaling = scaling
        self.clip = clip
        self.adjacency = adjacency
        self.rows_max = rows_max
        self.method = method
        self.directions = directions
        self.share = share
        self.bins = bins
        self.histogram = histogram
        self.frame = frame
        self.groups = groups
        self.smooth = smooth
        self.ledger = ledger
        self.label = label

    purpose = "map"
    passed = ("components", "bins", "histogram", "frame", "groups")
    _own = ("smooth",)

    @classmethod
    def _methods(cls, released: Released) -> dict[str, Any]:
        return super()._methods(released) | {"share": Fraction(released.parameters["share"])}

    def check_features(self, d: int) -> None:
        if not isinstance(self.smooth, (bool, np.bool_)):
            raise ParameterError("smooth must be True or False")

    def sample(self) -> tuple[FloatArray, NDArray[np.int64]]:
        """Synthetic points drawn from ``counts_``, evenly within each cell: places (m, 2), places of their
        groups in ``groups_`` (m,). They are no rows of the table; the same release gives the same points."""
        check_is_fitted(self)
        return points(self.counts_, self.edges_)

    def _show(self, released: Released) -> Self:
        found = decode(released, smooth=bool(self.smooth))
        facts, used = released.facts, released.parameters
        self.release_ = released
        self.privacy_ = released.guarantee
        self.feature_names_encoded_ = np.asarray(facts.features, dtype=object)
        self.counts_, self.counts_raw_ = found.counts, found.raw
        self.noise_sd_, self.least_ = found.noise_sd, found.least
        self.edges_ = found.edges
        self.groups_ = np.asarray(facts.groups or (EVERYONE,), dtype=object)
        self.group_totals_ = found.counts.sum(axis=(1, 2))
        self.n_samples_ = max(found.total, 0.0)
        self.components_ = np.ascontiguousarray(found.vectors.T)
        self.scale_ = facts.grid.scale_array
        self.location_ = facts.grid.centre_array + self.scale_ * found.centre
        self.explained_variance_ratio_ = np.full(2, np.nan)
        if used["directions"] == "gaussian_moments":
            self.explained_variance_ratio_ = analyse(released).spectrum.ratios[list(used["components"])]
        return self
