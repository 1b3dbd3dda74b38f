"""PrivateScree: differentially private eigenvalues, few and along released directions."""

from __future__ import annotations

import math
import os
from numbers import Real
from typing import Any, Self

import numpy as np

from ..accounting.ledger import Ledger
from ..core.errors import ParameterError
from ..core.privacy import Adjacency, Number
from ..core.released import Released
from ..core.schema import Schema
from .base import PrivateEstimator, whole_components
from .lowrank import show_lowrank

PRESETS = ("tight", "published")
FEW = 5
"""Components that are kept unless the caller says, or all of a narrower table."""


class PrivateScree(PrivateEstimator):
    """The first eigenvalues of a covariance under differential privacy.

    Directions are found first, then the variance along each is released. Unlike a whole covariance it
    needs no bounds (winsorized_mean, huber_mean) and no centre.

    Parameters
    ----------
    n_components : int in 1..d, default 5 (or d, if that is less)
    epsilon, delta, rho, mu : the one total, as (epsilon, delta), or rho (zCDP), or mu (Gaussian DP; for
        "gaussian_moments" and "clipped_mean" along it)
    bounds : (lo, hi) scalars or vectors, or {column: (lo, hi)}; public; None where the method needs none
    schema : Schema or path of its TOML file, in place of bounds
    row_norm, center, scaling, clip, adjacency, rows_max : as in ``PrivateCovariance``
    method : "auto", "clipped_mean", "winsorized_mean", "huber_mean" or "gaussian_moments"
    directions : "auto", "gaussian_moments", "spherical_kendall" or "spatial_sign": what finds directions
        for a mean along them
    share : part of the budget for the variances; the rest is for the directions
    preset : "tight" or "published" constants
    cut : public level that squares along directions are cut at ("clipped_mean"), in squared encoded units, or
        "dyadic": found for each component, and paid for; default: the most that the bounds allow, at which
        nothing is cut
    denoise : clean the spectrum of the noise ("gaussian_moments")
    ledger : Ledger or path of its file
    label : name of the table in the ledger

    Attributes
    ----------
    eigenvalues_, eigenvalues_raw_ : (k,) not negative and not rising, and as released
    explained_variance_ratio_ : (k,) share among these k (0 if they are all 0)
    standard_errors_, noise_sd_ : (k,) sd of the noise in ``eigenvalues_raw_``
    noise_edge_ : (k,) height that noise alone passes in one of a hundred releases; resolved_ : (k,)
    intervals_ : (k, 2) for the value before noise at ``level_``; NaN where squares may have been cut
    components_ : (k, d) released directions; alignment_ : (k,) expected squared cosine with the directions
        that the same method finds without noise
    total_variance_ : released total variance, NaN unless the method is "gaussian_moments"
    release_ : Released; privacy_ : Guarantee

    All attributes are public. Privacy cost: the whole budget per ``fit``. Errors and intervals speak of the
    noise added for privacy alone.

    Examples
    --------
    >>> import numpy as np
    >>> from dpspectra import PrivateScree
    >>> table = np.linspace(0, 1, 4000).reshape(-1, 4)
    >>> model = PrivateScree(2, epsilon=1, delta=1e-6, bounds=(0, 1), method="gaussian_moments").fit(table)
    >>> model.eigenvalues_.shape
    (2,)
    """

    def __init__(
        self,
        n_components: int | None = None,
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
        preset: str = "tight",
        cut: Any = None,
        denoise: bool = True,
        ledger: Ledger | str | os.PathLike[str] | None = None,
        label: str = "table",
    ) -> None:
        self.n_components = n_components
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
        self.preset = preset
        self.cut = cut
        self.denoise = denoise
        self.ledger = ledger
        self.label = label

    purpose = "scree"
    passed = ("preset",)
    _own = ("n_components",)

    @classmethod
    def fields(cls) -> dict[str, str]:
        return super().fields() | {"cut": "clip"}

    @classmethod
    def _methods(cls, released: Released) -> dict[str, Any]:
        found = super()._methods(released)
        if released.mechanism == "clipped_mean":
            found["cut"] = released.parameters["clip"]
        return found

    def check_features(self, d: int) -> None:
        if self.n_components is not None:
            whole_components(self.n_components, d)
        if self.preset not in PRESETS:
            raise ParameterError(f"preset must be one of {', '.join(map(repr, PRESETS))}")
        if self.cut is None or (isinstance(self.cut, str) and self.cut == "dyadic"):
            return
        number = isinstance(self.cut, Real) and not isinstance(self.cut, (bool, np.bool_))
        if not (number and 0 < float(self.cut) < math.inf):
            raise ParameterError(
                "cut must be None, 'dyadic' or a positive finite number, in squared encoded units"
            )

    def _show(self, released: Released) -> Self:
        d = released.facts.d
        show_lowrank(self, released, min(FEW, d) if self.n_components is None else int(self.n_components))
        self.explained_variance_ratio_ = self.ratio_.copy()
        self.intervals_ = self.eigenvalue_intervals_.copy()
        self.cumulative_ratio_ = np.cumsum(self.ratio_)
        return self
