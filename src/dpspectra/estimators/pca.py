"""PrivatePCA: differentially private principal components."""

from __future__ import annotations

import math
import os
from fractions import Fraction
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..accounting.ledger import Ledger
from ..core.errors import ParameterError
from ..core.privacy import Adjacency, Number
from ..core.released import Released
from ..core.schema import Schema
from ..planning.auto import MOMENTS, VARIANCES
from ..postprocess.matrices import floored, precision
from .lowrank import show_lowrank
from .moments import MomentsEstimator

FloatArray = NDArray[np.float64]

COVARIANCES = ("covariance_", "covariance_raw_", "correlation_")


class PrivatePCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, MomentsEstimator):  # type: ignore[misc]
    """Principal components of a table under differential privacy.

    Parameters
    ----------
    n_components : int in 1..d, or a share in (0, 1): the fewest components whose released shares add to
        strictly more; default all d
    whiten : divide scores by the released standard deviations, floored at half the noise edge
    method : "auto", "gaussian_moments" (a whole covariance, needs bounds), or robust directions that need
        none: "spherical_kendall", "spatial_sign"
    variances : with robust directions, what finds the variance along each: "auto" (winsorized_mean),
        "winsorized_mean", "huber_mean", "clipped_mean" or "none"
    share : part of the budget for those variances; directions need most of it
    epsilon, delta, rho, mu, bounds, schema, row_norm, center, scaling, clip, adjacency, rows_max, denoise,
    ddof, trace, ledger, label : as in ``PrivateCovariance``; ``scaling="private"`` gives the components of
        the correlation matrix within the same budget

    Attributes
    ----------
    components_ : (k, d) rows are components of the scaled columns, by falling variance; in each the loading
        of largest size is positive (the first of them on ties)
    explained_variance_, explained_variance_ratio_, singular_values_ : (k,); ratio to the released trace
    eigenvalues_, eigenvalue_intervals_, ratio_, ratio_intervals_, resolved_ : all d of them
    n_resolved_ : how many components stand out of the noise
    alignment_ : (k,) expected squared cosine with the exact component (0: not told from noise)
    standard_errors_ : (d,) of the eigenvalues (nan: not resolved)
    noise_edge_ : eigenvalues below it cannot be told from noise
    loadings_ : (d, k); mean_, scale_ : (d,); noise_variance_ : float
    covariance_, covariance_raw_, correlation_ : (d, d), data units
    release_ : Released; privacy_ : Guarantee

    Robust directions release no covariance: there are no ``covariance_`` and ``correlation_``; attributes of
    the spectrum have k entries, all NaN with ``variances="none"``; ``noise_sd_`` and ``noise_edge_`` are
    (k,); ratios are shares among the k; ``total_variance_`` is NaN and ``noise_variance_`` 0, as nothing is
    known of the rest; ``alignment_`` is with the directions that the method finds without noise; ``mean_`` is
    the centre that was used.

    All attributes are public. Privacy cost: the whole budget per ``fit``. ``transform`` projects single
    rows and ``score`` reads rows: their results are record-level and not private.

    Examples
    --------
    >>> import numpy as np
    >>> from dpspectra import PrivatePCA
    >>> table = np.linspace(0, 1, 4000).reshape(-1, 4)
    >>> model = PrivatePCA(2, epsilon=1, delta=1e-6, bounds=(0, 1)).fit(table)
    >>> model.components_.shape
    (2, 4)
    """

    def __init__(
        self,
        n_components: int | float | None = None,
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
        denoise: bool = True,
        ddof: int = 1,
        trace: bool = False,
        variances: str = "auto",
        share: Number = 0.1,
        whiten: bool = False,
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
        self.denoise = denoise
        self.ddof = ddof
        self.trace = trace
        self.variances = variances
        self.share = share
        self.whiten = whiten
        self.ledger = ledger
        self.label = label

    n_components_: int
    components_: FloatArray
    alignment_: FloatArray
    noise_sd_: Any  # (k,) along directions

    purpose = "directions"
    _own = ("n_components", "whiten")

    @classmethod
    def settled(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Scores of unit variance, and components by their share, need variances whatever they cost."""
        count = given["n_components"]
        needed = given["whiten"] is True or not isinstance(count, Integral | None)
        forced = needed and given["variances"] == "auto"
        return given | {"variances": VARIANCES} if forced else given

    def transform(self, X: Any) -> FloatArray:
        """Scores of rows, (n, k). Record-level: never private, however the components were found."""
        scores = ((self._encode(X) - self.mean_) / self.scale_) @ self.components_.T
        return scores / self._whitening() if self.whiten else scores

    def inverse_transform(self, X: Any) -> FloatArray:
        """Rows in data units of the encoded features, (n, d), from scores (n, k)."""
        check_is_fitted(self)
        scores = np.asarray(X, dtype=np.float64)
        if scores.ndim != 2 or scores.shape[1] != self.n_components_:
            raise ParameterError(f"X must have two dimensions and {self.n_components_} columns")
        if self.whiten:
            scores = scores * self._whitening()
        return scores @ self.components_ * self.scale_ + self.mean_

    def get_covariance(self) -> FloatArray:
        """The released model's covariance, (d, d), data units: k components and noise_variance_ * I.

        ParameterError if no variances were released.
        """
        check_is_fitted(self)
        self._need_variances()
        excess = np.maximum(self.explained_variance_ - self.noise_variance_, 0.0)
        scaled = (self.components_.T * excess) @ self.components_
        scaled[np.diag_indices(len(scaled))] += self.noise_variance_
        return scaled * np.outer(self.scale_, self.scale_)

    def get_precision(self) -> FloatArray:
        """Pseudo-inverse of ``get_covariance()`` with a cutoff tied to the noise, (d, d)."""
        scaled = self.get_covariance() / np.outer(self.scale_, self.scale_)
        cutoff = math.sqrt(2.0) * self.noise_sd_ if self._moments else float(np.max(self.noise_sd_))
        return precision(scaled, cutoff) / np.outer(self.scale_, self.scale_)

    def score_samples(self, X: Any) -> FloatArray:
        """Log-likelihood of each row under the released model, (n,); NaN if it has no variances.
        Record-level, not private."""
        return self._log_likelihoods(X)

    def _log_likelihoods(self, X: Any) -> FloatArray:
        if not self._moments and np.isnan(self.eigenvalues_).any():
            return np.full(len(self._encode(X)), np.nan)
        return super()._log_likelihoods(X)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def _whitening(self) -> FloatArray:
        """Released standard deviations of the scores, floored at half the noise edge, or at a noise sd."""
        if not self._moments:
            self._need_variances()
            safe = np.maximum(self.explained_variance_, self.noise_sd_[: self.n_components_])
            return np.sqrt(np.where(safe > 0, safe, 1.0))
        return np.sqrt(floored(self.eigenvalues_, self.noise_sd_)[: self.n_components_])

    def check_features(self, d: int) -> None:
        count = self.n_components
        if not isinstance(self.whiten, (bool, np.bool_)):
            raise ParameterError("whiten must be True or False")
        if self.variances == "none" and (self.whiten or not isinstance(count, Integral | None)):
            raise ParameterError('variances="none" has none for whiten, nor for n_components as their share')
        if count is None:
            return
        if isinstance(count, (bool, np.bool_)) or not isinstance(count, Real):
            raise ParameterError(
                'n_components must be a whole number or a share in (0, 1); "mle" needs the exact likelihood '
                "and is not offered"
            )
        if isinstance(count, Integral):
            if not 1 <= count <= d:
                raise ParameterError(f"n_components must be in 1..{d}, the number of encoded features")
        elif float(count) == 1.0:
            raise ParameterError("n_components=1.0 is ambiguous: give 1 for one component, None for all")
        elif not 0 < float(count) < 1:
            raise ParameterError("n_components: a share must lie strictly between 0 and 1")

    def _count(self, d: int) -> int:
        """k; a share is met strictly, on the released spectrum."""
        if self.n_components is None:
            return d
        if isinstance(self.n_components, Integral):
            return int(self.n_components)
        reached = np.cumsum(self.ratio_)
        return min(d, int(np.searchsorted(reached, self.n_components, side="right")) + 1)

    @classmethod
    def _methods(cls, released: Released) -> dict[str, Any]:
        used, name = released.parameters, released.mechanism
        if "directions" in used:
            return {"method": used["directions"], "variances": name, "share": Fraction(used["share"])}
        return {"method": name} | ({} if name == MOMENTS else {"variances": "none"})

    @property
    def _moments(self) -> bool:
        """Whether a whole covariance was released."""
        return self.release_.mechanism == MOMENTS

    def _need_variances(self) -> None:
        if not self._moments and np.isnan(self.eigenvalues_).any():
            raise ParameterError('no variances were released: fit with variances="auto"')

    def _show_directions(self, released: Released) -> Self:
        """Attributes of robust directions, and of variances along them."""
        d = released.facts.d
        count = self.n_components
        show_lowrank(self, released, int(count) if isinstance(count, Integral) else d)
        k = self.n_components_ if self.n_components is None else self._count(self.n_components_)
        self.n_components_ = k
        self.mean_ = self.location_
        self.components_, self.alignment_ = self.components_[:k], self.alignment_[:k]
        self.explained_variance_ = self.eigenvalues_[:k].copy()
        self.explained_variance_ratio_ = self.ratio_[:k].copy()
        self.singular_values_ = np.sqrt(self.explained_variance_ * max(self.n_samples_ - self.ddof, 1.0))
        self.noise_variance_ = 0.0
        self.loadings_ = self.components_.T * np.sqrt(self.explained_variance_)
        return self

    def _show(self, released: Released) -> Self:
        for name in COVARIANCES:  # of an earlier fit by another method
            self.__dict__.pop(name, None)
        if released.mechanism != MOMENTS:
            return self._show_directions(released)
        spectrum = self._show_common(released).spectrum
        d = len(self.eigenvalues_)
        k = self.n_components_ = self._count(d)
        self.mean_ = self.location_
        self.components_ = np.ascontiguousarray(spectrum.vectors[:, :k].T)
        self.explained_variance_ = self.eigenvalues_[:k].copy()
        self.explained_variance_ratio_ = self.ratio_[:k].copy()
        self.singular_values_ = np.sqrt(self.explained_variance_ * max(self.n_samples_ - self.ddof, 1.0))
        self.noise_variance_ = float(self.eigenvalues_[k:].mean()) if k < d else 0.0
        self.loadings_ = self.components_.T * np.sqrt(self.explained_variance_)
        self.alignment_ = spectrum.alignment[:k].copy()
        self.standard_errors_ = spectrum.standard_errors
        return self
