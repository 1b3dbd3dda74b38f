"""Colours, title, the privacy mark and label thinning: what all pictures share.

The mark under the title is the one place that says whether a picture is private: people read it in the
picture, and ``save`` reads the same text back for the file's metadata, so the two cannot disagree.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import Normal, Stroke
from numpy.typing import NDArray

from ..core.privacy import Guarantee

# Okabe and Ito's palette: told apart with all common kinds of colour blindness.
BLUE, VERMILLION, ORANGE, GREEN = "#0072B2", "#D55E00", "#E69F00", "#007A5A"
INK, GREY, PALE = "#222222", "#6B6B6B", "#D6D6D6"
SMALL, NORMAL, LARGE = 8.0, 9.0, 11.5  # points

NOT_PRIVATE = "NOT PRIVATE (test noise)"
NOT_PRIVATE_REFERENCE = "reference: not private"
PRIVATE_GID, NOT_PRIVATE_GID = "dpspectra-private", "dpspectra-not-private"


def axes(ax: Axes | None, width: float, height: float) -> Axes:
    """The caller's Axes, or a new Figure's (inches), made without pyplot."""
    return Figure(figsize=(width, height), layout="constrained").add_subplot() if ax is None else ax


def short(guarantee: Guarantee) -> str:
    """The guarantee in a few words for a line under the title."""
    if guarantee.epsilon is not None:
        strength = f"(ε, δ) = ({guarantee.epsilon:.6g}, {guarantee.delta:.6g})"
    elif guarantee.rho is not None:
        strength = f"ρ = {guarantee.rho:.6g} (zCDP)"
    else:
        strength = f"μ = {guarantee.mu:.6g} (Gaussian DP)"
    return f"differentially private: {strength}, {guarantee.adjacency}, unit: {guarantee.unit}"


def head(
    ax: Axes,
    guarantee: Guarantee,
    title: str,
    *,
    reference: bool = False,
    above: float = 0.0,
    said: str | None = None,
) -> None:
    """Title and privacy mark; ``above`` points are left free over the axes (for a legend); ``said`` stands in
    for the guarantee in words where there are several."""
    private = guarantee.private and not reference
    text = (said or short(guarantee)) if guarantee.private else NOT_PRIVATE
    if reference:
        text += f"   |   {NOT_PRIVATE_REFERENCE}"
    ax.set_title(title, loc="left", fontsize=LARGE, fontweight="bold", color=INK, pad=above + 20)
    ax.annotate(
        text,
        xy=(0, 1),
        xycoords="axes fraction",
        xytext=(0, above + 5),
        textcoords="offset points",
        va="bottom",
        fontsize=SMALL,
        color=GREY if private else VERMILLION,
        fontweight="normal" if private else "bold",
        gid=PRIVATE_GID if private else NOT_PRIVATE_GID,
    )
    if not guarantee.private:
        ax.text(
            0.5,
            0.5,
            NOT_PRIVATE,
            transform=ax.transAxes,
            ha="center",
            va="center",
            rotation=25,
            fontsize=24,
            fontweight="bold",
            color=VERMILLION,
            alpha=0.7,
            zorder=20,
            path_effects=[Stroke(linewidth=5, foreground="white", alpha=0.7), Normal()],
        )


def tidy(ax: Axes) -> None:
    """Small tick labels and no box."""
    ax.tick_params(labelsize=SMALL, colors=INK)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def thin(count: int, most: int) -> NDArray[np.int64]:
    """At most ``most`` of the positions 0..count-1, evenly spaced by 1, 2, 5, 10, 20, 50, ..."""
    steps = (factor * 10**power for power in range(10) for factor in (1, 2, 5))
    step = next(step for step in steps if -(-count // step) <= most)
    return np.arange(0, count, step)


def cut(name: str, length: int = 20) -> str:
    """A name of at most ``length`` characters; both its ends stay, as names often differ in the last."""
    tail = length // 3
    return name if len(name) <= length else name[: length - tail - 1] + "…" + name[-tail:]
