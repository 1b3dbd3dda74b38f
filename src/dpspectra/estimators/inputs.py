"""What scikit-learn checks of a table before it is opened: shape, names, type. Cells are not looked at."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from ..core.errors import SchemaError
from ..engines import describe


def validate(estimator: BaseEstimator, X: Any, *, reset: bool, min_rows: int = 1) -> Any:
    """Check X and set (``reset``) or compare the estimator's ``n_features_in_`` and ``feature_names_in_``.

    Returns X itself, or its array. Error texts hold no cell, so scikit-learn's own message for arrays that
    are not two-dimensional, which prints the array, is never reached.
    """
    if isinstance(X, (str, os.PathLike)) or _is_arrow(X):
        return _validate_source(estimator, X, reset)
    if hasattr(X, "columns") and not isinstance(X, np.ndarray):
        return validate_data(estimator, X, reset=reset, skip_check_array=True)
    return validate_data(
        estimator,
        _as_matrix(X),
        reset=reset,
        dtype=None,
        ensure_all_finite=False,
        ensure_min_samples=min_rows,
    )


def is_path(X: Any) -> bool:
    """True for a path, whose table is a whole one (not a fold of a search)."""
    return isinstance(X, (str, os.PathLike))


def _is_arrow(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] == "pyarrow"


def _validate_source(estimator: BaseEstimator, X: Any, reset: bool) -> Any:
    names, columns, _ = describe(X)
    if names is None:
        raise SchemaError("the table's columns have no names")
    if reset:
        estimator.feature_names_in_ = np.asarray(names, dtype=object)
        estimator.n_features_in_ = columns
    elif list(getattr(estimator, "feature_names_in_", names)) != list(names):
        raise SchemaError("the columns differ from those that were fitted, in name or order")
    return X


def _as_matrix(X: Any) -> Any:
    """An array or array-like with two dimensions; sparse input goes on to scikit-learn's refusal."""
    if sparse.issparse(X) or hasattr(X, "__array_namespace__"):
        return X
    array = np.asanyarray(X)
    if array.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {array.ndim}D array instead. Reshape your data: array.reshape(-1, 1) "
            "if it has a single feature, array.reshape(1, -1) if it is a single sample."
        )
    return array
