"""Scree plot: the released spectrum, its intervals, and the height that noise alone reaches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from ..core.errors import ParameterError
from ..postprocess.uncertainty import normal_quantile
from .comparison import compare, draw_reference
from .fitted import Fitted, base, component_label
from .style import BLUE, GREEN, GREY, INK, NORMAL, ORANGE, PALE, SMALL, VERMILLION, axes, head, thin, tidy

MOST_BARS = 30  # shown if the caller does not say how many
BAND: dict[str, Any] = {"color": ORANGE, "alpha": 0.22, "linewidth": 0, "zorder": 0, "label": "noise band"}
MOST_LABELS = 30  # percentages under the bars; above that, numbers alone, thinned out


def scree(
    estimator: Fitted | Sequence[Fitted],
    *,
    ax: Axes | None = None,
    n_components: int | None = None,
    reference: ArrayLike | None = None,
    labels: Sequence[str] | None = None,
    shares: bool = False,
) -> Axes:
    """Bars of the denoised eigenvalues, with noise band, intervals and cumulative share.

    Parameters
    ----------
    estimator : fitted ``PrivatePCA``, ``PrivateCovariance`` or ``PrivateScree``; or a list of them, which
        are then drawn as points side by side, each with the noise that 90 % of its releases stay within
    ax : Axes to draw on; a new Figure's if None
    n_components : bars to show (1..d); by default the first 30, or all d if fewer
    reference : a spectrum that is *not* private, (m,) in the units of ``eigenvalues_``, for
        comparison on data that may be shown. The picture and its metadata then say "not private".
    labels : names of a list's estimators; by default their mechanisms
    shares : of a list, draw the shares of the variance in percent, with ``reference`` in shares

    Returns
    -------
    Axes : of one estimator, left axis in eigenvalue units. Bars that cannot be told from noise are grey and
    hatched; caps are intervals of the exact eigenvalue at ``level_``; the orange band ends at
    ``noise_edge_``, which the small marks (eigenvalues before denoising) must pass to stand out. The right
    axis is the cumulative share of the full released trace, or of the k components that were released, 0 to
    100 %.

    Raises
    ------
    ParameterError : ``n_components`` outside 1..d, or a reference that is not a finite vector.
    """
    if isinstance(estimator, Sequence):
        return compare(
            estimator, ax=ax, n_components=n_components, reference=reference, labels=labels, shares=shares
        )
    if labels is not None or shares:
        raise ParameterError("labels and shares are for a list of estimators")
    d = len(estimator.eigenvalues_)
    shown = min(d, MOST_BARS) if n_components is None else n_components
    if isinstance(shown, bool) or not 1 <= shown <= d:
        raise ParameterError(f"n_components must be in 1..{d}")
    ax = axes(ax, 8.4, 5.2)
    _bars(ax, estimator, shown)
    if reference is not None:
        draw_reference(ax, reference, shown)
    right = _cumulative(ax, estimator, shown)
    _ticks(ax, estimator, shown)

    handles, texts = ax.get_legend_handles_labels()
    more_handles, more_texts = right.get_legend_handles_labels()
    handles, texts = handles + more_handles, texts + more_texts
    rows = -(-len(texts) // 3)
    ax.legend(
        handles,
        texts,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=3,
        fontsize=SMALL,
        frameon=False,
        borderaxespad=0.2,
        borderpad=0.2,
    )
    of = f"first {shown} of {d} components" if shown < d else f"{d} component{'s' if d > 1 else ''}"
    head(
        ax,
        estimator.privacy_,
        f"Scree plot, {of}: {estimator.n_resolved_} stand{'s' if estimator.n_resolved_ == 1 else ''}"
        " out of the noise",
        reference=reference is not None,
        above=12.5 * rows + 4,
    )
    return ax


def _bars(ax: Axes, estimator: Fitted, shown: int) -> None:
    """Bars, intervals, values before denoising and the noise band."""
    position = np.arange(1, shown + 1)
    heights = np.asarray(estimator.eigenvalues_)[:shown]
    resolved = np.asarray(estimator.resolved_, dtype=bool)[:shown]
    intervals = np.asarray(estimator.eigenvalue_intervals_)[:shown]
    raw = np.asarray(estimator.eigenvalues_raw_)[:shown]
    edge = np.broadcast_to(np.asarray(estimator.noise_edge_, dtype=np.float64), len(estimator.ratio_))[:shown]
    fine = shown > 60  # bars too thin for hatching
    if resolved.any():
        ax.bar(position[resolved], heights[resolved], color=BLUE, width=0.8, label="stands out of the noise")
    if not resolved.all():
        ax.bar(
            position[~resolved],
            heights[~resolved],
            color=PALE,
            edgecolor=GREY,
            linewidth=0.0 if fine else 0.5,
            hatch=None if fine else "////",
            width=1.0 if fine else 0.8,
            label="cannot be told from noise",
        )
    if np.isfinite(edge).all():
        if np.ptp(edge) > 0:
            sides = np.arange(shown + 1) + 0.5
            ax.stairs(edge, sides, fill=True, **BAND)
            ax.stairs(edge, sides, baseline=None, color=ORANGE, linewidth=1, zorder=0.5)
        else:
            ax.axhspan(0, edge[0], **BAND)
            ax.axhline(edge[0], color=ORANGE, linewidth=1, zorder=0.5)
    known = np.isfinite(intervals).all(axis=1)
    reach = np.zeros(shown)
    if known.any():
        low, high = intervals[known].T
        ax.errorbar(
            position[known],
            (low + high) / 2,
            yerr=(high - low) / 2,
            fmt="none",
            ecolor=INK,
            elinewidth=1.2,
            capsize=0 if fine else 3,
            label=f"{100 * estimator.level_:.0f} % interval",
        )
    elif np.ndim(estimator.noise_sd_) and np.isfinite(raw).all():  # squares were cut: only the noise is known
        reach = normal_quantile(estimator.level_) * np.asarray(estimator.noise_sd_)[:shown]
        ax.errorbar(
            position,
            raw,
            yerr=reach,
            fmt="none",
            ecolor=INK,
            elinewidth=1.2,
            capsize=0 if fine else 3,
            label=f"noise of {100 * estimator.level_:.0f} % of releases",
        )
    ax.plot(
        position,
        raw,
        linestyle="none",
        marker="_",
        markersize=3 if fine else 7,
        color=VERMILLION,
        label="before denoising",
    )
    tops = np.concatenate([heights, raw + reach, edge, intervals[known].ravel(), [0.0]])
    top = float(np.nanmax(tops))
    ax.set_ylim(0, 1.06 * top if top > 0 else 1.0)
    ax.set_ylabel("variance (eigenvalue)", fontsize=NORMAL, color=INK)


def _cumulative(ax: Axes, estimator: Fitted, shown: int) -> Axes:
    """The right axis: cumulative share in percent of the full released trace, drawn up to 100."""
    right: Axes = ax.twinx()
    share = 100 * np.cumsum(np.asarray(estimator.ratio_))[:shown]
    if np.isfinite(share).all():
        right.plot(
            np.arange(1, shown + 1),
            np.clip(share, 0, 100),
            color=GREEN,
            linewidth=1.6,
            marker="o" if shown <= 60 else None,
            markersize=3,
            label="cumulative share (right axis)",
        )
    right.set_ylim(0, 106)
    right.set_yticks(range(0, 101, 20))
    right.set_ylabel(f"cumulative share of {base(estimator)} (%)", fontsize=NORMAL, color=GREEN)
    right.tick_params(labelsize=SMALL, colors=GREEN)
    right.spines["top"].set_visible(False)
    return right


def _ticks(ax: Axes, estimator: Fitted, shown: int) -> None:
    tidy(ax)
    ax.set_xlim(0.4, shown + 0.6)
    if shown <= MOST_LABELS:
        ax.set_xticks(
            range(1, shown + 1),
            [component_label(estimator, index) for index in range(shown)],
            rotation=0 if shown <= 6 else 90,
        )
        for label, stands_out in zip(ax.get_xticklabels(), estimator.resolved_, strict=False):
            label.set_color(INK if stands_out else GREY)
        ax.set_xlabel(f"component (share of {base(estimator)})", fontsize=NORMAL, color=INK)
    else:
        every = thin(shown, 20)
        ticks = [1, *(int(index) for index in every if index >= 2)]
        ax.set_xticks(ticks, [str(tick) for tick in ticks])
        ax.set_xlabel("component", fontsize=NORMAL, color=INK)
