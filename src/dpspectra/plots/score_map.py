"""Score map: noisy counts of rows over two components, as cells and, if wanted, as synthetic points."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure

from ..core.errors import ParameterError
from ..core.released import Released
from ..estimators.score_map import PrivateScoreMap
from ..postprocess.score_map import points as synthetic
from .style import INK, NORMAL, SMALL, VERMILLION, axes, head, tidy

COLOURS = "Blues"
MOST_PANELS = 12
ACROSS = 3
SYNTHETIC = "synthetic points, drawn from the cells"


def score_map(
    model: PrivateScoreMap | Released,
    *,
    ax: Axes | None = None,
    group: str | None = None,
    points: bool = False,
) -> Axes:
    """Cells of a private score map; no row is drawn.

    Parameters
    ----------
    model : fitted ``PrivateScoreMap``, or its release
    ax : Axes to draw on; a new Figure's if None
    group : one group by name. None: all rows together on ``ax``; without ``ax`` one panel a group (the first
        12), on one colour scale
    points : draw as many synthetic points in each cell as its count says, and say that they are synthetic

    Returns
    -------
    Axes : the only panel, or the first of ``ax.figure``. Axes are in units of the scaled columns and end with
    the frame; the cells at its ends also count rows beyond it. White cells have a count of 0.

    Raises
    ------
    ParameterError : a group that the map does not have.
    """
    fitted = PrivateScoreMap.from_release(model) if isinstance(model, Released) else model
    names = [str(name) for name in fitted.groups_]
    if group is not None and group not in names:
        raise ParameterError(f"group must be one of {', '.join(map(repr, names))}")
    if group is None and ax is None and len(names) > 1:
        return _panels(fitted, names[:MOST_PANELS], points)
    counts = fitted.counts_ if group is None else fitted.counts_[[names.index(group)]]
    ax = axes(ax, 7.2, 6.2)
    mesh = _panel(ax, fitted, counts, float(counts.sum(axis=0).max()), group, points)
    figure = ax.get_figure(root=True)
    assert figure is not None
    _scale(figure, mesh, [ax])
    return ax


def _panels(fitted: PrivateScoreMap, names: list[str], points: bool) -> Axes:
    """One panel a group, with one scale for all."""
    across = min(ACROSS, len(names))
    down = math.ceil(len(names) / across)
    figure = Figure(figsize=(4.6 * across + 0.8, 4.5 * down), layout="constrained")
    grid = figure.subplots(down, across, squeeze=False).ravel()
    top = float(fitted.counts_[: len(names)].max())
    for place, name in enumerate(names):
        mesh = _panel(grid[place], fitted, fitted.counts_[[place]], top, name, points)
    for spare in grid[len(names) :]:
        spare.set_axis_off()
    _scale(figure, mesh, list(grid))
    first: Axes = grid[0]
    return first


def _panel(
    ax: Axes, fitted: PrivateScoreMap, counts: Any, top: float, group: str | None, points: bool
) -> QuadMesh:
    cells = counts.sum(axis=0).T  # the first component goes to the right
    mesh = ax.pcolormesh(
        *fitted.edges_,
        np.ma.masked_equal(cells, 0.0),
        cmap=COLOURS,
        norm=PowerNorm(0.5, vmin=0, vmax=top or 1.0),  # the noise is alike in all cells: show the thin ones
        alpha=0.45 if points else None,
        edgecolors="none",
    )
    if points:
        places, _ = synthetic(counts, fitted.edges_)
        ax.plot(*places.T, ".", color=VERMILLION, markersize=2, alpha=0.6, markeredgewidth=0, label=SYNTHETIC)
        ax.legend(loc="upper right", fontsize=SMALL, framealpha=0.8, markerscale=4)
    tidy(ax)
    ax.set_aspect("equal", adjustable="box")
    ax.set_xlim(fitted.edges_[0][[0, -1]])
    ax.set_ylim(fitted.edges_[1][[0, -1]])
    ax.set_xlabel(axis_label(fitted, 0), fontsize=NORMAL, color=INK)
    ax.set_ylabel(axis_label(fitted, 1), fontsize=NORMAL, color=INK)
    about = f"about {counts.sum():,.0f} rows" if fitted.least_ == 0 else f"{counts.sum():,.0f} rows shown"
    head(ax, fitted.privacy_, f"{group}: {about}" if group is not None else f"Score map, {about}")
    return mesh


def axis_label(fitted: PrivateScoreMap, place: int) -> str:
    """``PC1 (31.0 %)`` with the released share; without it where the directions tell none."""
    number = int(fitted.release_.parameters["components"][place]) + 1
    share = float(fitted.explained_variance_ratio_[place])
    return f"PC{number} ({100 * share:.1f} %)" if math.isfinite(share) else f"PC{number}"


def _scale(figure: Figure, mesh: QuadMesh, where: list[Axes]) -> None:
    bar = figure.colorbar(mesh, ax=where, shrink=0.8)
    bar.set_label("rows in a cell (noisy)", fontsize=NORMAL, color=INK)
    bar.ax.tick_params(labelsize=SMALL, colors=INK)
    bar.outline.set_visible(False)
