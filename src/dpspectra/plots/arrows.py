"""Arrows from the origin with names in two columns: shared by the loadings plot and the circle."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

from .style import BLUE, GREY, INK, PALE, SMALL, cut

MOST_NAMES = 16
GAP = 0.145  # between two names, as a share of the reach of the plot


def draw(ax: Axes, tips: NDArray[np.float64], names: list[str], reach: float, *, strong: bool = True) -> None:
    """Draw arrows to ``tips`` (d, 2) in a square of half-width ``reach`` and name the longest.

    The longest 16 are dark and named; the others are pale. ``strong`` False draws all in grey (the
    directions cannot be told from noise).
    """
    length = np.hypot(*tips.T)
    order = np.argsort(-length, kind="stable")
    order = order[length[order] > 1e-9 * reach]  # an arrow of no length would show as a dot
    named, others = order[:MOST_NAMES], order[MOST_NAMES:]
    for chosen, colour, layer in ((others, PALE, 2), (named, BLUE if strong else GREY, 3)):
        if chosen.size:
            ax.quiver(
                np.zeros(chosen.size),
                np.zeros(chosen.size),
                *tips[chosen].T,
                angles="xy",
                scale_units="xy",
                scale=1,
                width=0.0035 if layer == 3 else 0.0016,
                color=colour,
                zorder=layer,
            )
    for side in (-1, 1):
        column = named[(tips[named, 0] >= 0) == (side > 0)]
        _names(ax, tips, names, column[np.argsort(tips[column, 1], kind="stable")], side, reach)
    ax.axhline(0, color=PALE, linewidth=0.8, zorder=1)
    ax.axvline(0, color=PALE, linewidth=0.8, zorder=1)
    ticks = np.asarray(MaxNLocator(6, steps=[1, 2, 5, 10]).tick_values(-reach, reach))
    ax.set_xticks(ticks[np.abs(ticks) <= 1.01 * reach])
    ax.set_yticks(ticks[np.abs(ticks) <= 1.01 * reach])
    ax.set_aspect("equal", adjustable="box")
    ax.set_xlim(-2.15 * reach, 2.15 * reach)
    ax.set_ylim(-1.2 * reach, 1.2 * reach)


def _names(
    ax: Axes,
    tips: NDArray[np.float64],
    names: list[str],
    column: NDArray[np.intp],
    side: int,
    reach: float,
) -> None:
    """Names beside the plot, from bottom to top, no two closer than the gap, each tied to its tip."""
    if not column.size:
        return
    steps = GAP * reach * np.arange(column.size)
    heights = isotonic_regression(tips[column, 1] - steps) + steps
    limit = 1.12 * reach
    heights += max(0.0, -limit - heights[0])
    heights -= max(0.0, heights[-1] - limit)
    for index, height in zip(column, heights, strict=True):
        start = side * 1.22 * reach
        ax.plot(
            [tips[index, 0], start],
            [tips[index, 1], height],
            color=GREY,
            linewidth=0.5,
            alpha=0.6,
            zorder=1.5,
        )
        ax.text(
            start + side * 0.03 * reach,
            height,
            cut(names[index]),
            ha="left" if side > 0 else "right",
            va="center",
            fontsize=SMALL,
            color=INK,
            parse_math=False,
        )
