"""Correlation circle: correlation of every feature with two components."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle
from numpy.typing import NDArray

from . import arrows
from .fitted import names, need_covariance, pair
from .loadings import finish
from .style import GREY, axes


def correlation_circle(
    estimator: Any, components: tuple[int, int] = (0, 1), *, ax: Axes | None = None
) -> Axes:
    """Arrows in the unit circle: the closer to the circle, the better the two components show the feature.

    Parameters
    ----------
    estimator : fitted ``PrivatePCA``
    components : two kept components, counted from 0
    ax : Axes to draw on; a new Figure's if None

    Returns
    -------
    Axes with equal aspect and the unit circle; the 16 longest arrows are named.

    Raises
    ------
    ParameterError : components out of range or equal, or an estimator without components or covariance.
    """
    first, second = pair(estimator, components)
    need_covariance(estimator)
    ax = axes(ax, 8.4, 5.2)
    tips = correlations(estimator)[:, [first, second]]
    resolved = bool(estimator.resolved_[first] and estimator.resolved_[second])
    ax.add_patch(Circle((0, 0), 1, fill=False, edgecolor=GREY, linewidth=1))
    arrows.draw(ax, tips, names(estimator), 1.0, strong=resolved)
    finish(ax, estimator, "Correlation circle", first, second, resolved)
    return ax


def correlations(estimator: Any) -> NDArray[np.float64]:
    """Correlation of each feature with each kept component, (d, k), from released numbers.

    A feature's loading over its released standard deviation, both in the scaled units of the
    components; 0 for a feature of no released variance. Noise can push a row's length over 1: it is then
    shortened to 1.
    """
    variances = np.diagonal(estimator.covariance_) / np.square(estimator.scale_)
    sd = np.sqrt(np.maximum(variances, 0))[:, None]
    scaled = estimator.components_.T * np.sqrt(np.maximum(estimator.explained_variance_, 0))
    shares = np.divide(scaled, sd, out=np.zeros_like(scaled), where=sd > 0)
    length = np.linalg.norm(shares, axis=1, keepdims=True)
    return np.asarray(shares / np.maximum(length, 1), dtype=np.float64)
