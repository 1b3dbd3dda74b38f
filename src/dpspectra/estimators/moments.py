"""What PrivateCovariance and PrivatePCA share: exact sums of batches, and the attributes of the spectrum."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ParameterError
from ..core.released import Released
from ..core.request import Request
from ..pipeline import Source, batch_sums, open_ledger, resolve, run_sums
from ..planning.auto import MOMENTS
from ..postprocess.analysis import Analysis, analyse
from ..postprocess.eigen import rounding
from ..postprocess.matrices import correlation
from ..summaries.moments import MomentSums
from .base import PrivateEstimator

FloatArray = NDArray[np.float64]
STREAM_CAPACITY = 2**22
"""Rows that ``partial_fit`` provides for unless ``rows_max`` says more: what the finest grid allows."""
_CHANGED = "settings, bounds or schema changed since the first partial_fit: set them back, or start afresh"


class MomentsEstimator(PrivateEstimator):
    """Base of the estimators that show a release of second moments."""

    def fit(self, X: Any, y: Any = None, *, progress: Callable[[int], None] | None = None) -> Self:
        fitted = super().fit(X, y, progress=progress)
        self.__dict__.pop("_sums", None)  # fit starts afresh
        return fitted

    fit.__doc__ = PrivateEstimator.fit.__doc__

    @property
    def partial_fit(self) -> Callable[..., Self]:
        """``partial_fit(X, y=None)``: add a batch of rows to exact sums held in memory.

        Nothing is released until ``finalize``. Open to centres that need one pass ("joint", "public",
        "none", a vector); with others the attribute does not exist, and the error says why. X is as in
        ``fit``. The rows in all must not pass ``rows_max`` (2^22 if it is None).
        """
        request = self._streamed()
        if request.method != MOMENTS:
            raise _TwoPasses(
                f"method={request.method!r} reads the rows more than once, so a batch cannot be forgotten: "
                f'fit the whole table, or take method="{MOMENTS}"'
            )
        if request.layout == "private":
            raise _TwoPasses(
                'center="private" reads the rows twice, so a batch cannot be forgotten: with partial_fit use '
                'center="joint", "public", "none" or a public vector; or fit the whole table'
            )
        return self._add_batch

    def _add_batch(self, X: Any, y: Any = None) -> Self:
        request, fresh = self._streamed(), not hasattr(self, "_sums")
        source, data = self._open(X, request, reset=fresh)
        if fresh:
            capacity = request.rows_max or source.schema.rows_max or STREAM_CAPACITY
            self._sums = _Sums(source, request, source.encoder.bits_for(capacity))
        elif (source.schema, request) != (self._sums.source.schema, self._sums.request):
            raise ParameterError(_CHANGED)
        self._sums.add(data)
        return self

    def merge(self, other: Self) -> Self:
        """Add the exact sums of another estimator with the same settings and columns; ``other`` is left.

        Refuses batches that are in these sums already: a row counted twice would weigh twice.
        """
        if not (hasattr(self, "_sums") and hasattr(other, "_sums")):
            raise ParameterError("merge needs two estimators that have seen rows through partial_fit")
        self._sums.merge(other._sums)
        return self

    def finalize(self) -> Self:
        """Make the one private release of all rows given to ``partial_fit``, and drop the exact sums.

        Privacy cost: the whole budget. If the ledger refuses, the sums are kept.
        """
        if not hasattr(self, "_sums"):
            raise ParameterError("finalize needs rows: call partial_fit first")
        sums, source = self._sums, self._sums.source
        schema = resolve(self.schema, self.bounds, source.names, source.columns)
        if (schema, self._streamed()) != (source.schema, sums.request):
            raise ParameterError(_CHANGED)
        self.check_features(len(source.encoder.features))
        released = run_sums(
            sums.moments(),
            sums.source,
            sums.request,
            sums.bits,
            ledger=open_ledger(self.ledger),
            label=self._label(sums.source.schema),
            view=self._view(),
        )
        del self._sums
        return self._show(released)

    def _streamed(self) -> Request:
        """The request of a stream, whose rows are read once: "auto" takes what allows that."""
        request = self._request()
        method = MOMENTS if request.method == "auto" else request.method
        return replace(request, method=method, variances="auto")

    def score(self, X: Any, y: Any = None) -> float:
        """Mean Gaussian log-likelihood of rows under the released model. Reads rows: not private."""
        return float(np.mean(self._log_likelihoods(X)))

    @abstractmethod
    def get_precision(self) -> FloatArray:
        """The released model's precision matrix, (d, d), inverse data units."""

    def _log_likelihoods(self, X: Any) -> FloatArray:
        """Of each row, (n,); where the precision is singular, the density on its range."""
        rows, matrix = self._encode(X) - self.location_, self.get_precision()
        values = np.asarray(np.linalg.eigvalsh(matrix), dtype=np.float64)
        kept = values[values > rounding(values)]
        distance = ((rows @ matrix) * rows).sum(axis=1)
        return np.asarray(0.5 * (np.log(kept).sum() - len(kept) * np.log(2 * np.pi) - distance))

    def _show_common(self, released: Released) -> Analysis:
        analysis = analyse(released)
        spectrum = analysis.spectrum
        self.release_ = released
        self.privacy_ = released.guarantee
        self.feature_names_encoded_ = np.asarray(released.facts.features, dtype=object)
        self.location_ = analysis.location
        self.covariance_ = analysis.covariance
        self.covariance_raw_ = analysis.covariance_raw
        self.correlation_ = correlation(analysis.covariance, semidefinite=True)
        self.scale_ = analysis.scale
        self.eigenvalues_ = spectrum.denoised
        self.eigenvalues_raw_ = spectrum.values
        # Stands out of the noise; the alignment of a joint release is not known and nan.
        self.resolved_ = ~(spectrum.alignment == 0)
        self.n_resolved_ = int(self.resolved_.sum())
        self.eigenvalue_intervals_ = spectrum.intervals
        self.ratio_ = spectrum.ratios
        self.ratio_intervals_ = spectrum.ratio_intervals
        self.total_variance_ = analysis.total
        self.noise_edge_ = analysis.noise_edge
        self.noise_sd_ = analysis.noise_sd
        self.level_ = spectrum.level
        # Under add/remove the number of rows is private: this is its noisy release.
        self.n_samples_ = analysis.estimate.rows
        return analysis


class _TwoPasses(ParameterError, AttributeError):
    """A method that this setting does not have: scikit-learn looks for it with ``hasattr``."""


class _Sums:
    """Exact sums of the rows so far: private, in memory only, never pickled."""

    def __init__(self, source: Source, request: Request, bits: int) -> None:
        self.source, self.request, self.bits = source, request, bits
        self._moments: MomentSums | None = None
        self._batches: set[object] = set()

    def add(self, data: Any) -> None:
        self._take(batch_sums(data, self.source, self.request, self.bits), {object()})

    def merge(self, other: _Sums) -> None:
        if (self.source.encoder, self.request) != (other.source.encoder, other.request):
            raise ParameterError("merge needs equal settings, bounds and columns on both sides")
        if self._batches & other._batches:
            raise ParameterError("merge: these sums hold some of the other's batches already")
        self._take(other.moments(), other._batches)

    def moments(self) -> MomentSums:
        if self._moments is None:
            raise ParameterError("no batch was taken yet: call partial_fit first")
        return self._moments

    def _take(self, moments: MomentSums, batches: set[object]) -> None:
        self._moments = moments if self._moments is None else self._moments + moments
        self._batches |= batches

    def __repr__(self) -> str:
        return "<exact sums, private>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("exact sums are private and are not pickled or copied: call finalize() first")
