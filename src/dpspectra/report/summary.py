"""Everything the report says, as one plain dict; the renderer adds nothing of its own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..plots.fitted import Fitted, names
from .card import card
from .words import headline, limits, meaning

FORMAT, FORMAT_VERSION = "dpspectra.report", 1
MOST_COMPONENTS = 30  # rows of the table of eigenvalues
MOST_DIRECTIONS = 9  # components whose loadings are listed
MOST_LOADINGS = 8  # features listed for each
MOST_FEATURES = 12  # rows and columns of a matrix shown in the page


def summarise(estimator: Fitted) -> dict[str, Any]:
    """The report of a fitted ``PrivatePCA`` or ``PrivateCovariance`` as strict-JSON values.

    Returns
    -------
    dict with ``private``, ``guarantee`` (one sentence), ``headline``, ``meaning`` (paragraphs), ``spectrum``
    (rows of the eigenvalue table), ``loadings`` (of components that stand out), ``covariance`` and
    ``correlation`` (cut to 12 features), ``card`` and ``limits``. Unknown numbers are None. All of it is a
    function of the release, so it is public.
    """
    release = estimator.release_
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "kind": "pca" if hasattr(estimator, "components_") else "covariance",
        "label": release.label,
        "private": bool(release.private),
        "guarantee": release.guarantee.sentence(),
        "headline": headline(estimator),
        "meaning": meaning(estimator),
        "d": len(estimator.eigenvalues_),
        "n_resolved": int(estimator.n_resolved_),
        "level": float(estimator.level_),
        "total_variance": plain(estimator.total_variance_),
        "noise_edge": plain(estimator.noise_edge_),
        "spectrum": spectrum_of(estimator),
        "loadings": loadings_of(estimator),
        "covariance": _matrix(estimator, estimator.covariance_, estimator.standard_errors_),
        "correlation": _matrix(estimator, estimator.correlation_),
        "card": card(estimator),
        "limits": limits(estimator),
        "version": release.version,
    }


def plain(value: Any) -> Any:
    """NumPy numbers and arrays as JSON values; NaN and infinities become None."""
    if isinstance(value, np.ndarray):
        listed = value.tolist()
        # A large matrix of known numbers needs no second look at each of them.
        return listed if value.dtype.kind == "f" and np.isfinite(value).all() else plain(listed)
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    return value


def spectrum_of(estimator: Fitted) -> list[dict[str, Any]]:
    """Rows of the table of eigenvalues."""
    alignment = getattr(estimator, "alignment_", ())
    cumulative = np.cumsum(np.asarray(estimator.ratio_))
    return [
        {
            "name": f"PC{index + 1}",
            "resolved": bool(estimator.resolved_[index]),
            "eigenvalue": plain(estimator.eigenvalues_[index]),
            "interval": _interval(estimator.eigenvalue_intervals_[index]),
            "ratio": plain(estimator.ratio_[index]),
            "ratio_interval": _interval(estimator.ratio_intervals_[index]),
            "cumulative": plain(cumulative[index]),
            "alignment": plain(alignment[index])
            if estimator.resolved_[index] and index < len(alignment)
            else None,
        }
        for index in range(min(len(estimator.eigenvalues_), MOST_COMPONENTS))
    ]


def _interval(bounds: NDArray[np.float64]) -> list[float] | None:
    return [float(bounds[0]), float(bounds[1])] if np.isfinite(bounds).all() else None


def loadings_of(estimator: Any, shown: Any = None) -> list[dict[str, Any]]:
    """The features with the largest weights of each kept component that stands out; ties in their order.

    ``shown``: (k,) which components, by default those of ``resolved_``.
    """
    if not hasattr(estimator, "components_"):
        return []
    features = names(estimator)
    chosen = []
    stands = estimator.resolved_ if shown is None else shown
    for index in np.flatnonzero(stands[: len(estimator.components_)])[:MOST_DIRECTIONS]:
        weights = estimator.components_[index]
        order = np.argsort(-np.abs(weights), kind="stable")[:MOST_LOADINGS]
        chosen.append(
            {
                "name": f"PC{index + 1}",
                "ratio": plain(estimator.ratio_[index]),
                "features": [
                    {"feature": features[position], "weight": plain(weights[position])} for position in order
                ],
            }
        )
    return chosen


def _matrix(
    estimator: Fitted, matrix: NDArray[np.float64], errors: NDArray[np.float64] | None = None
) -> dict[str, Any]:
    shown = slice(0, MOST_FEATURES)
    whole = errors is not None and np.shape(errors) == np.shape(matrix)
    return {
        "features": names(estimator)[shown],
        "values": plain(np.asarray(matrix)[shown, shown]),
        "errors": plain(np.asarray(errors)[shown, shown]) if whole else None,
        "of": len(matrix),
    }
