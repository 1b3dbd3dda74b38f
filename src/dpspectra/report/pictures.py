"""The pictures of a report, each with a title and a text that says the same without seeing it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from .. import plots
from ..plots.fitted import Fitted, base, component_label, names
from ..plots.save import encode
from .words import headline


@dataclass(frozen=True)
class Picture:
    """One picture: file name without suffix, what it shows in words, and its bytes."""

    name: str
    title: str
    alt: str
    caption: str
    svg: bytes
    png: bytes


def pictures(estimator: Fitted) -> list[Picture]:
    """Scree plot and heatmap; with at least two components also loadings and correlation circle."""
    alt = scree_alt(estimator, headline(estimator), base(estimator))
    made = [picture("Scree plot", plots.scree, estimator, alt, SCREE)]
    if len(getattr(estimator, "components_", ())) >= 2:
        pair = f"{component_label(estimator, 0)} and {component_label(estimator, 1)}"
        alt = f"Arrows of the loadings on {pair}."
        made.append(picture("Loadings", plots.loadings, estimator, alt, LOADINGS))
        alt = f"Arrows in the unit circle: correlation of each feature with {pair}."
        made.append(picture("Correlation circle", plots.correlation_circle, estimator, alt, CIRCLE))
    alt = _heatmap_alt(estimator)
    made.append(picture("Correlation heatmap", plots.correlation_heatmap, estimator, alt, HEATMAP))
    return made


SCREE = (
    "Bars: variance along each released component, after denoising. Caps: interval of the exact eigenvalue,"
    " which is a little higher, as a released direction is a little off. Orange band: heights that the added"
    " noise reaches by itself; a small mark (value before denoising) must lie clearly above it, and apart"
    " from the crowd, to stand out. Green: cumulative share of the released total variance."
)
LOADINGS = "How far each feature moves with one standard deviation of the two components. No row is drawn."
CIRCLE = (
    "An arrow that reaches the circle belongs to a feature that the two components show fully; a short one to"
    " a feature that mostly varies elsewhere. No row is drawn."
)
HEATMAP = (
    "Released correlations, blue for -1, white for 0, red for 1. Features with little variance show noise."
)


def picture(title: str, plot: Callable[[Any], Axes], estimator: Fitted, alt: str, caption: str) -> Picture:
    """Draw one picture of an estimator, named after its function."""
    drawn = plot(estimator)
    return Picture(plot.__name__, title, alt, caption, encode(drawn, "svg"), encode(drawn, "png"))


def scree_alt(estimator: Fitted, said: str, shares_of: str) -> str:
    """The scree plot in words."""
    labels = ", ".join(component_label(estimator, index) for index in range(min(3, len(estimator.ratio_))))
    return f"Scree plot. {said}. Shares of {shares_of}: {labels}."


def _heatmap_alt(estimator: Fitted) -> str:
    matrix = np.asarray(estimator.correlation_)
    features = names(estimator)
    text = f"Heatmap of the correlations of {len(features)} features."
    if len(features) > 1:
        size = np.abs(np.triu(matrix, 1))
        row, column = np.unravel_index(np.argmax(size), size.shape)
        text += f" Largest: {features[row]} and {features[column]}, {matrix[row, column]:.2f}."
    return text
