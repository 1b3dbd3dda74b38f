"""What PrivateCovariance and PrivatePCA share: three ways to fit, and the attributes of the spectrum."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..core.errors import DpspectraError, ParameterError, SchemaError
from ..core.privacy import Adjacency
from ..core.released import UNREADABLE, Released
from ..core.request import Request
from ..core.schema import Column, Schema
from ..engines import is_stored
from ..noise.base import current
from ..pipeline import Source, batch_sums, open_ledger, prepare, resolve, run, run_sums, source_of
from ..postprocess.analysis import Analysis, analyse
from ..postprocess.eigen import rounding
from ..postprocess.matrices import correlation
from ..summaries.moments import MomentSums
from .inputs import is_path, name_columns, validate

FloatArray = NDArray[np.float64]
STREAM_CAPACITY = 2**22
"""Rows that ``partial_fit`` provides for unless ``rows_max`` says more: what the finest grid allows."""
_CHANGED = "settings, bounds or schema changed since the first partial_fit: set them back, or start afresh"


class MomentsEstimator(BaseEstimator):  # type: ignore[misc]
    """Base of the estimators that post-process one release of second moments."""

    def fit(self, X: Any, y: Any = None, *, progress: Callable[[int], None] | None = None) -> Self:
        """Make one private release of the table and set the fitted attributes.

        Parameters
        ----------
        X : array of shape (n, d), DataFrame (pandas, Polars, Arrow), or path of a CSV or Parquet table
        y : ignored
        progress : called with the number of rows visited so far; under replace-one only

        Privacy cost: the whole budget, once per call, in the ledger before a row is read. Raises
        ParameterError, SchemaError, InfeasiblePlan or BudgetExceeded before anything is spent.
        """
        request, before = self._request(), self._columns_in()
        try:
            source, data = self._open(X, request, reset=True)
            released = run(
                data,
                source,
                request,
                ledger=open_ledger(self.ledger),
                label=self._label(source.schema),
                view=self._view(),
                whole=is_path(X),
                progress=progress,
            )
        except BaseException:  # a refused call leaves an earlier fit as it was
            for name in self._columns_in():
                delattr(self, name)
            self.__dict__.update(before)
            raise
        self.__dict__.pop("_sums", None)  # fit starts afresh
        return self._show(released)

    @property
    def partial_fit(self) -> Callable[..., Self]:
        """``partial_fit(X, y=None)``: add a batch of rows to exact sums held in memory.

        Nothing is released until ``finalize``. Open to centres that need one pass ("joint", "public",
        "none", a vector); with others the attribute does not exist, and the error says why. X is as in
        ``fit``. The rows in all must not pass ``rows_max`` (2^22 if it is None).
        """
        if self._request().layout == "private":
            raise _TwoPasses(
                'center="private" reads the rows twice, so a batch cannot be forgotten: with partial_fit use '
                'center="joint", "public", "none" or a public vector; or fit the whole table'
            )
        return self._add_batch

    def _add_batch(self, X: Any, y: Any = None) -> Self:
        request, fresh = self._request(), not hasattr(self, "_sums")
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
        if (schema, self._request()) != (source.schema, sums.request):
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

    @classmethod
    def from_release(cls, release: Released | str | os.PathLike[str]) -> Self:
        """Rebuild a fitted estimator from a release or its JSON file, without data or budget.

        Raises SchemaError if the file is not a release, or an edited one that says what cannot be.
        """
        if not isinstance(release, (Released, str, os.PathLike)):
            raise ParameterError("release must be a Released or the path of its JSON file")
        released = (
            release if isinstance(release, Released) else Released.from_json(Path(release).read_bytes())
        )
        try:
            with np.errstate(over="raise", divide="raise", invalid="raise"):
                return cls._rebuild(released)
        except UNREADABLE as error:
            if isinstance(error, DpspectraError):
                raise
            raise SchemaError("the release does not fit together: its file was edited") from error

    @classmethod
    def _rebuild(cls, released: Released) -> Self:
        used, promise = released.parameters, released.guarantee
        settings: dict[str, Any] = {
            name: used[name]
            for name in ("center", "scaling", "clip", "denoise", "ddof", "trace", "rows_max", "row_norm")
        }
        settings |= {name: used["view"][name] for name in cls._own if name in used["view"]}
        settings |= {name: getattr(promise, name) for name in ("epsilon", "delta", "rho", "mu", "adjacency")}
        schema = Schema(tuple(Column(**column) for column in used["columns"]), label=released.label)
        estimator = cls(**settings, method=released.mechanism, label=released.label, schema=schema)
        estimator.n_features_in_ = used["columns_in"]
        if used["names_in"] is not None:
            estimator.feature_names_in_ = np.asarray(used["names_in"], dtype=object)
        estimator.check_features(released.facts.d)
        return estimator._show(released)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "release_")  # batches or a refused fit set the names of the columns alone

    def _columns_in(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if k in ("n_features_in_", "feature_names_in_")}

    _own: ClassVar[tuple[str, ...]] = ()
    """Settings that act after the release; they are kept on it so that it can be shown once more."""

    def _view(self) -> dict[str, Any]:
        """The estimator's name and own settings, as JSON values."""
        values = {name: getattr(self, name) for name in self._own}
        plain = {k: v.item() if isinstance(v, np.generic) else v for k, v in values.items()}
        return {"estimator": type(self).__name__} | plain

    def _request(self) -> Request:
        return Request.of(**self.get_params(deep=False))

    def _open(self, X: Any, request: Request, *, reset: bool) -> tuple[Source, Any]:
        """The table's public shape, then the encoder."""
        min_rows = 1 if request.adjacency is Adjacency.REPLACE_ONE else 0
        data = validate(self, X, reset=reset, min_rows=min_rows)
        source = prepare(data, request, schema=self.schema, bounds=self.bounds)
        if is_stored(data):
            name_columns(self, source.schema.names, reset=reset)
        self.check_features(len(source.encoder.features))
        return source, data

    def _label(self, schema: Schema) -> str:
        """The caller's label; the schema's where the caller left the default."""
        return str(schema.label if self.label == "table" else self.label)

    def _encode(self, X: Any) -> FloatArray:
        """Rows in data units of the encoded features, float64 (n, d); record-level, never private."""
        check_is_fitted(self)
        data = validate(self, X, reset=False)
        source = source_of(self.release_)
        return source.encoder.transform(data)

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

    def check_features(self, d: int) -> None:
        """Raise ParameterError for settings that do not fit d encoded features; public facts only."""

    @abstractmethod
    def _show(self, released: Released) -> Self:
        """Set the fitted attributes from a release."""

    def _show_common(self, released: Released) -> Analysis:
        analysis = analyse(released)
        spectrum = analysis.spectrum
        self.release_ = released
        self.privacy_ = released.guarantee
        self.feature_names_encoded_ = np.asarray(released.facts.features, dtype=object)
        self.location_ = analysis.location
        self.covariance_ = analysis.covariance
        self.covariance_raw_ = analysis.covariance_raw
        self.correlation_ = correlation(analysis.covariance)
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

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True  # special cells have a rule of their own
        tags.input_tags.string = True  # cells of object arrays that are no numbers are missing
        tags.non_deterministic = not current().silent
        return tags


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
