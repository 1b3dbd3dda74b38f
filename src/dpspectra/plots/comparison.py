"""Several releases of one spectrum side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from ..core.errors import ParameterError
from ..core.privacy import Guarantee
from .fitted import Fitted
from .style import BLUE, GREEN, GREY, INK, NORMAL, ORANGE, PALE, SMALL, VERMILLION, axes, head, short, tidy

COLOURS = (BLUE, VERMILLION, GREEN, ORANGE, GREY)
MARKERS = ("o", "s", "^", "v", "P")
NINE_IN_TEN = 1.6448536269514722
"""Noise sds within which 90 % of releases stay."""


def compare(
    estimators: Sequence[Fitted],
    *,
    ax: Axes | None,
    n_components: int | None,
    reference: ArrayLike | None,
    labels: Sequence[str] | None,
    shares: bool,
) -> Axes:
    """``scree`` of a list: arguments and errors as there."""
    if not 1 <= len(estimators) <= len(COLOURS):
        raise ParameterError(f"give 1 to {len(COLOURS)} estimators")
    named = [model.release_.mechanism for model in estimators] if labels is None else list(labels)
    if len(named) != len(estimators):
        raise ParameterError("labels must name every estimator")
    least = min(len(model.eigenvalues_) for model in estimators)
    shown = least if n_components is None else n_components
    if isinstance(shown, bool) or not 1 <= shown <= least:
        raise ParameterError(f"n_components must be in 1..{least}")
    ax = axes(ax, 8.4, 5.2)
    ax.set_ylim(0, 1e-12)
    alike = len({short(model.privacy_) for model in estimators}) == 1
    for place, (model, name) in enumerate(zip(estimators, named, strict=True)):
        shift = (place - (len(estimators) - 1) / 2) * 0.7 / len(estimators)
        said = name if alike else f"{name}: {short(model.privacy_)}"
        _points(ax, model, np.arange(1, shown + 1) + shift, place, said, shares)
    if reference is not None:
        draw_reference(ax, reference, shown, 100.0 if shares else 1.0)
    tidy(ax)
    ax.set_xlim(0.4, shown + 0.6)
    ax.set_xticks(range(1, shown + 1), [f"PC{index}" for index in range(1, shown + 1)])
    for edge in np.arange(1, shown) + 0.5:
        ax.axvline(edge, color=PALE, linewidth=0.6, zorder=0)
    what = "share of the variance of these components (%)" if shares else "variance (eigenvalue)"
    ax.set_ylabel(what, fontsize=NORMAL, color=INK)
    columns = 3 if alike else 1
    rows = -(-len(ax.get_legend_handles_labels()[1]) // columns)
    above: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2}
    ax.legend(ncols=columns, fontsize=SMALL, frameon=False, **above)
    title = "Shares of the variance" if shares else "Scree plots"
    head(
        ax,
        _worst([model.privacy_ for model in estimators]),
        f"{title} of {len(estimators)} releases; bars: noise of 90 % of releases",
        reference=reference is not None,
        above=12.5 * rows + 4,
        said=None if alike else "differentially private, each release for itself",
    )
    return ax


def _points(ax: Axes, model: Fitted, places: ArrayLike, place: int, label: str, shares: bool) -> None:
    count = len(np.asarray(places))
    values = np.asarray(model.eigenvalues_, dtype=np.float64)[:count]
    noise = np.broadcast_to(_noise_sd(model), len(model.eigenvalues_))[:count]
    total = float(values.sum()) if shares else 1.0
    factor = (100.0 / total if total > 0 else 0.0) if shares else 1.0
    values, reach = values * factor, NINE_IN_TEN * noise * factor
    low = np.maximum(values - reach, 0.0)
    ax.errorbar(
        places,
        values,
        yerr=[values - low, reach],
        fmt=MARKERS[place],
        color=COLOURS[place],
        ecolor=COLOURS[place],
        elinewidth=1.4,
        capsize=3,
        markersize=6,
        label=label,
    )
    top = float(np.nanmax([*(values + reach), 0.0]))
    most = 106.0 if shares else np.inf
    ax.set_ylim(0, min(max(ax.get_ylim()[1], 1.06 * top), most))


def _noise_sd(model: Fitted) -> NDArray[np.float64]:
    """Noise sd of the eigenvalues; of a covariance it is sqrt(2) times that of an entry."""
    sd = np.asarray(model.noise_sd_, dtype=np.float64)
    return sd if sd.ndim else np.asarray(np.sqrt(2.0) * sd)


def _worst(guarantees: Sequence[Guarantee]) -> Guarantee:
    """One that is not private, if there is one: the picture is then not private."""
    return next((one for one in guarantees if not one.private), guarantees[0])


def draw_reference(ax: Axes, reference: ArrayLike, shown: int, factor: float = 1.0) -> None:
    """A spectrum that is not private, in black."""
    values = np.asarray(reference, dtype=np.float64)
    if values.ndim != 1 or not values.size or not np.isfinite(values).all():
        raise ParameterError("reference must be a finite vector of eigenvalues")
    values = values[:shown] * factor
    ax.plot(
        np.arange(1, values.size + 1),
        values,
        color=INK,
        linestyle=":",
        linewidth=1,
        marker="D",
        markersize=4,
        markerfacecolor="white",
        label="reference (not private)",
    )
    ax.set_ylim(0, max(ax.get_ylim()[1], 1.06 * float(values.max())))
