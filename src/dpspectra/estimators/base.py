"""What all estimators share: one release a fit, and back from a release without data."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable
from fractions import Fraction
from inspect import signature
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar, Self

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
from ..pipeline import Source, open_ledger, prepare, run, source_of
from .inputs import is_path, name_columns, validate

FloatArray = NDArray[np.float64]
SHARED = ("scaling", "denoise", "ddof", "trace", "rows_max", "row_norm")
"""Settings of a request that a release keeps under their own names."""


class PrivateEstimator(BaseEstimator):  # type: ignore[misc]
    """Base of the estimators: they post-process one release.

    Class attributes
    ----------------
    purpose : what the release is for, one of ``core.request.PURPOSES``
    passed : names of settings that go to the mechanism's fields of the same names
    """

    purpose: ClassVar[str]
    passed: ClassVar[tuple[str, ...]] = ()

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
        known = signature(cls).parameters
        settings: dict[str, Any] = {name: used[name] for name in SHARED if name in known}
        settings |= {name: used[name] for name in cls.passed if name in used}
        settings |= {name: used["view"][name] for name in ("center", "clip", *cls._own) if name in known}
        settings |= {name: getattr(promise, name) for name in ("epsilon", "delta", "rho", "mu", "adjacency")}
        settings |= cls._methods(released)
        schema = Schema(tuple(Column(**column) for column in used["columns"]), label=released.label)
        estimator = cls(**settings, label=released.label, schema=schema)
        estimator.n_features_in_ = used["columns_in"]
        if used["names_in"] is not None:
            estimator.feature_names_in_ = np.asarray(used["names_in"], dtype=object)
        estimator.check_features(released.facts.d)
        return estimator._show(released)

    @classmethod
    def _methods(cls, released: Released) -> dict[str, Any]:
        """The settings that name the mechanisms of a release, and the share between them."""
        known, used = signature(cls).parameters, released.parameters
        own: dict[str, Any] = {"method": released.mechanism}
        if "directions" in used and "directions" in known:
            own |= {"directions": used["directions"], "share": Fraction(used["share"])}
        return own

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "release_")  # batches or a refused fit set the names of the columns alone

    def _columns_in(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if k in ("n_features_in_", "feature_names_in_")}

    _own: ClassVar[tuple[str, ...]] = ()
    """Settings that act after the release; they are kept on it so that it can be shown once more, with those
    whose names a mechanism may use for something else."""

    def _view(self) -> dict[str, Any]:
        """The estimator's name and own settings, as JSON values."""
        asked = self._request().parameters()
        shared = {name: asked[name] for name in ("center", "clip")}
        values = {name: getattr(self, name) for name in self._own}
        plain = {k: v.item() if isinstance(v, np.generic) else v for k, v in values.items()}
        return {"estimator": type(self).__name__} | shared | plain

    def _request(self) -> Request:
        return request_of(self)

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

    @classmethod
    def fields(cls) -> dict[str, str]:
        """Settings that go to a mechanism's fields, by name, and the names of the fields."""
        return {name: name for name in cls.passed}

    @classmethod
    def settled(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Settings, after those that follow from others."""
        return given

    def check_features(self, d: int) -> None:
        """Raise ParameterError for settings that do not fit d encoded features; public facts only."""

    @abstractmethod
    def _show(self, released: Released) -> Self:
        """Set the fitted attributes from a release."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True  # special cells have a rule of their own
        tags.input_tags.string = True  # cells of object arrays that are no numbers are missing
        tags.non_deterministic = not current().silent
        return tags


def whole_components(count: Any, d: int) -> None:
    """Refuse a number of components that is not whole or not in 1..d."""
    if isinstance(count, (bool, np.bool_)) or not (isinstance(count, Integral) and 1 <= int(count) <= d):
        raise ParameterError(f"n_components must be in 1..{d}, the number of encoded features")


def request_of(estimator: Any, **changes: Any) -> Request:
    """The checked settings of an estimator, with changes on top."""
    given = estimator.settled(estimator.get_params(deep=False) | changes)
    settings = {field: given[name] for name, field in estimator.fields().items()}
    return Request.of(**given, purpose=estimator.purpose, settings=settings)
