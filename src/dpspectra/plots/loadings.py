"""Loadings plot: how much each feature moves with two components, in the features' own units."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from . import arrows
from .fitted import component_label, names, pair
from .style import INK, NORMAL, axes, head, tidy


def loadings(estimator: Any, components: tuple[int, int] = (0, 1), *, ax: Axes | None = None) -> Axes:
    """Arrows of the loadings (unit direction times the component's standard deviation).

    Parameters
    ----------
    estimator : fitted ``PrivatePCA``
    components : two kept components, counted from 0
    ax : Axes to draw on; a new Figure's if None

    Returns
    -------
    Axes with equal aspect; the 16 longest arrows are named. Grey arrows: at least one of the two
    components cannot be told from noise.

    Raises
    ------
    ParameterError : components out of range or equal, or an estimator without components.
    """
    first, second = pair(estimator, components)
    tips = np.asarray(estimator.loadings_, dtype=np.float64)[:, [first, second]]
    ax = axes(ax, 8.4, 5.2)
    reach = float(np.abs(tips).max()) * 1.05 or 1.0
    resolved = bool(estimator.resolved_[first] and estimator.resolved_[second])
    arrows.draw(ax, tips, names(estimator), reach, strong=resolved)
    finish(ax, estimator, "Loadings", first, second, resolved)
    return ax


def finish(ax: Axes, estimator: Any, title: str, first: int, second: int, resolved: bool) -> None:
    """Axis labels with shares, title, and how many of many features are named."""
    tidy(ax)
    ax.set_xlabel(component_label(estimator, first), fontsize=NORMAL, color=INK)
    ax.set_ylabel(component_label(estimator, second), fontsize=NORMAL, color=INK)
    d = len(estimator.feature_names_encoded_)
    notes = [] if resolved else ["grey: not told from noise"]
    if d > arrows.MOST_NAMES:
        notes.append(f"{arrows.MOST_NAMES} longest of {d} named")
    head(ax, estimator.privacy_, title + (f" ({'; '.join(notes)})" if notes else ""))
