"""PrivateSecondMoment: a differentially private second moment that is right in every direction."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from ..accounting.ledger import Ledger
from ..core.errors import ParameterError
from ..core.privacy import Adjacency, Number
from ..core.released import Released
from ..core.schema import Schema
from ..postprocess.second_moment import second_moment
from .base import PrivateEstimator

FloatArray = NDArray[np.float64]

ACCURACIES = ("spectral", "norm")
PRESETS = ("practical", "theory", "published")


class PrivateSecondMoment(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PrivateEstimator):  # type: ignore[misc]
    """Second moment of a table about a public centre, its inverse and a whitening map.

    For what needs small directions as much as large ones: precision matrices, whitening, Mahalanobis
    distances, regression. For the largest components alone take ``PrivatePCA``.

    Parameters
    ----------
    accuracy : "spectral" (the same relative error in every direction), or "norm" (the least error of the
        largest entries)
    method : "auto", "recursive" or "gaussian_moments"; "auto" takes recursion for spectral accuracy where
        the number of rows lets it start
    center : "public" (mid-range of the bounds), "none" (origin) or a public vector: none is released
    scaling : "none" or "bounds"
    releases : most releases that recursion may make before the last one, each for 3 % of the budget
    preset : "practical"; "theory" or "published" for the recursion of the source, which needs
    floor, subsample, alpha : a public lower bound on the smallest eigenvalue in squared encoded units, and
        the m and alpha of a subsamplable table
    epsilon, delta, rho, mu, bounds, schema, row_norm, clip, adjacency, rows_max, ledger, label : as in
        ``PrivateCovariance``

    Attributes
    ----------
    second_moment_ : (d, d) positive definite, data units, about ``location_``
    precision_ : (d, d) its inverse
    whitener_ : (d, d) W with ``W @ second_moment_ @ W.T`` the identity
    eigenvalues_ : (d,) of ``second_moment_``, falling
    noise_sd_ : largest sd of the noise of an entry of ``W @ second_moment_ @ W.T`` off the diagonal
    spectral_error_ : 2 sqrt(d) times that: the relative error that noise may cause along any direction; from
        about 1 on the smallest direction is noise. Rows that were shortened are not in it.
    location_ : (d,) the public centre; n_samples_ : n, or its noisy release
    release_ : Released; privacy_ : Guarantee

    All attributes are public. Privacy cost: the whole budget per ``fit`` (``recursive.md``,
    ``gaussian_moments.md``). ``precision_`` has no intervals; noise moves its entry (i, j) by about
    ``spectral_error_`` times the root of entries (i, i) and (j, j) at most.

    Examples
    --------
    >>> import numpy as np
    >>> from dpspectra import PrivateSecondMoment
    >>> table = np.linspace(-1, 1, 4000).reshape(-1, 2)
    >>> model = PrivateSecondMoment(epsilon=1, delta=1e-6, bounds=(-1, 1)).fit(table)
    >>> model.precision_.shape
    (2, 2)
    """

    purpose = "second moment"
    passed = ("releases", "preset", "floor", "subsample", "alpha")
    _own = ("accuracy",)

    def __init__(
        self,
        epsilon: Number | None = None,
        *,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        accuracy: str = "spectral",
        bounds: Any = None,
        schema: Schema | str | os.PathLike[str] | None = None,
        row_norm: float | None = None,
        center: Any = "public",
        scaling: str = "none",
        clip: str | float = "none",
        adjacency: Adjacency | str = "replace-one",
        rows_max: int | None = None,
        method: str = "auto",
        releases: int = 8,
        preset: str = "practical",
        floor: float | None = None,
        subsample: int = 100,
        alpha: float = 0.1,
        ledger: Ledger | str | os.PathLike[str] | None = None,
        label: str = "table",
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.rho = rho
        self.mu = mu
        self.accuracy = accuracy
        self.bounds = bounds
        self.schema = schema
        self.row_norm = row_norm
        self.center = center
        self.scaling = scaling
        self.clip = clip
        self.adjacency = adjacency
        self.rows_max = rows_max
        self.method = method
        self.releases = releases
        self.preset = preset
        self.floor = floor
        self.subsample = subsample
        self.alpha = alpha
        self.ledger = ledger
        self.label = label

    @classmethod
    def fields(cls) -> dict[str, str]:
        return super().fields() | {"accuracy": "accuracy"}

    @classmethod
    def settled(cls, given: dict[str, Any]) -> dict[str, Any]:
        """The same settings; ParameterError for those that would release a centre or a scale."""
        for name, known in (("accuracy", ACCURACIES), ("preset", PRESETS)):
            if not (isinstance(given[name], str) and given[name] in known):
                raise ParameterError(f"{name} must be one of {', '.join(map(repr, known))}")
        if isinstance(given["center"], str) and given["center"] in ("private", "joint"):
            raise ParameterError(
                'center must be "public", "none" or a public vector: a second moment is about a public '
                "centre (PrivateCovariance releases one)"
            )
        if given["scaling"] == "private":
            raise ParameterError('scaling must be "none" or "bounds": no standard deviations are released')
        return given

    def transform(self, X: Any) -> FloatArray:
        """Whitened rows, (n, d), of second moment about the identity. Record-level: never private."""
        whitened: FloatArray = (self._encode(X) - self.location_) @ self.whitener_.T
        return whitened

    def _show(self, released: Released) -> Self:
        found, facts = second_moment(released), released.facts
        self.release_ = released
        self.privacy_ = released.guarantee
        self.feature_names_encoded_ = np.asarray(facts.features, dtype=object)
        self.second_moment_, self.precision_ = found.matrix, found.precision
        self.whitener_, self.eigenvalues_ = found.whitener, found.eigenvalues
        self.noise_sd_, self.spectral_error_ = found.noise_sd, found.spectral_error
        self.location_ = facts.grid.centre_array.copy()
        self.n_samples_ = found.rows
        return self

    @property
    def _n_features_out(self) -> int:
        return len(self.whitener_)
