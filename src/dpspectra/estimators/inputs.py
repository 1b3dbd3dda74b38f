"""What scikit-learn checks of a table before it is opened: shape, names, type. Cells are not looked at."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from ..core.errors import SchemaError
from ..engines import describe, is_stored


def validate(estimator: BaseEstimator, X: Any, *, reset: bool, min_rows: int = 1) -> Any:
    """Check X and set (``reset``) or compare the estimator's ``n_features_in_`` and ``feature_names_in_``.

    Tables in files are left to ``name_columns``: their header is read as the schema says.
    Returns X itself, or its array. Error texts hold no cell and no number of rows, so scikit-learn's own
    messages, which print the array or its shape, are never reached.
    """
    if is_stored(X):
        return X
    if _is_arrow(X):
        shape = describe(X)
        name_columns(estimator, shape.names or (), reset=reset)
        return X
    if type(X).__name__ == "LazyFrame":
        raise SchemaError("X is a lazy frame: give X.collect()")
    if hasattr(X, "columns") and not isinstance(X, np.ndarray):
        _check_names(list(X.columns))
        return validate_data(estimator, X, reset=reset, skip_check_array=True)
    matrix = _as_matrix(X)
    checked = validate_data(
        estimator, matrix, reset=reset, dtype=None, ensure_all_finite=False, ensure_min_samples=min_rows
    )
    return matrix if isinstance(matrix, np.ma.MaskedArray) else checked  # scikit-learn drops the mask


def is_path(X: Any) -> bool:
    """True for a path, whose table is a whole one (not a fold of a search)."""
    return isinstance(X, (str, os.PathLike))


def _is_arrow(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] == "pyarrow"


def name_columns(estimator: BaseEstimator, names: Sequence[str], *, reset: bool) -> None:
    """Set or compare the estimator's columns where scikit-learn cannot."""
    if reset:
        estimator.feature_names_in_ = np.asarray(names, dtype=object)
        estimator.n_features_in_ = len(names)
    elif list(getattr(estimator, "feature_names_in_", names)) != list(names):
        raise SchemaError("the columns differ from those that were fitted, in name or order")


def _check_names(names: list[Any]) -> None:
    """Names must be all text (then different) or all of another type (then columns go by position)."""
    text = [name for name in names if isinstance(name, str)]
    if text and len(text) < len(names):
        raise SchemaError("column names must be all strings or all of another type: X.columns.astype(str)")
    if len(set(text)) < len(text):
        repeated = sorted({name for name in text if text.count(name) > 1})
        raise SchemaError(f"column names repeat: {', '.join(map(repr, repeated))}")


def _as_matrix(X: Any) -> Any:
    """An array or array-like with two dimensions; sparse input goes on to scikit-learn's refusal."""
    if sparse.issparse(X):
        return X
    array = _from_rows(X) if isinstance(X, (list, tuple)) else X
    if not hasattr(array, "ndim"):
        array = np.asanyarray(X)
    if getattr(array.dtype, "kind", "") == "c":
        raise ValueError("Complex data not supported: give real numbers")
    if array.ndim == 2 and array.shape[1] == 0:
        raise ValueError("0 feature(s) (shape=(, 0)) while a minimum of 1 is required.")
    if array.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {array.ndim}D array instead. Reshape your data: array.reshape(-1, 1) "
            "if it has a single feature, array.reshape(1, -1) if it is a single sample."
        )
    return array


def _from_rows(X: list[Any] | tuple[Any, ...]) -> Any:
    """A list of rows as an array. Which cells it holds refuses nothing: with text or rows of other lengths
    it becomes an array of objects, and a row that does not fit one of missing cells."""
    try:
        array = np.asanyarray(X)
    except ValueError:
        array = np.empty(0, dtype=object)
    sized = (list, tuple, np.ndarray)
    if not X or not isinstance(X[0], sized) or (array.ndim > 1 and array.dtype.kind in "biufO"):
        return array
    width = len(X[0])
    cells = np.full((len(X), width), None, dtype=object)
    for place, row in enumerate(X):
        if isinstance(row, sized) and len(row) == width:
            for i, cell in enumerate(row):
                cells[place, i] = cell
    return cells
