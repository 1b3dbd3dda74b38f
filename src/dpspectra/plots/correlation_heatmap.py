"""Heatmap of the released correlation matrix."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from .fitted import Fitted, names, need_covariance
from .style import INK, SMALL, axes, cut, head, thin

MOST_NUMBERS = 20  # columns up to which every cell shows its number
MOST_NAMES = 40


def correlation_heatmap(estimator: Fitted, *, ax: Axes | None = None) -> Axes:
    """Correlations on a scale from -1 to 1 centred at 0, with numbers up to 20 columns.

    Parameters
    ----------
    estimator : fitted ``PrivateCovariance`` or ``PrivatePCA``
    ax : Axes to draw on; a new Figure's if None

    Returns
    -------
    Axes. Above 40 columns the names are thinned out.

    Raises
    ------
    ParameterError : a release of directions, without a covariance.
    """
    need_covariance(estimator)
    matrix = np.asarray(estimator.correlation_, dtype=np.float64)
    d = len(matrix)
    side = float(np.clip(0.42 * d + 2.2, 5.2, 8.6))
    ax = axes(ax, side + 0.8, side)
    image = ax.imshow(matrix, cmap="RdBu_r", vmin=-1, vmax=1, interpolation="nearest" if d <= 100 else "auto")
    if d <= MOST_NUMBERS:
        for row, column in np.ndindex(d, d):
            value = matrix[row, column]
            ax.text(
                column,
                row,
                f"{value + 0.0:.2f}".replace("-0.00", "0.00"),
                ha="center",
                va="center",
                fontsize=SMALL if d <= 14 else 6.5,
                color="white" if abs(value) > 0.6 else INK,
            )
    shown = thin(d, MOST_NAMES)
    labels = [cut(names(estimator)[index]) for index in shown]
    ax.set_xticks(shown, labels, rotation=90 if d > 6 else 0, parse_math=False)
    ax.set_yticks(shown, labels, parse_math=False)
    ax.tick_params(labelsize=SMALL, colors=INK, length=2)
    figure = ax.get_figure()
    assert figure is not None
    bar = figure.colorbar(image, ax=ax, shrink=0.8, ticks=[-1, -0.5, 0, 0.5, 1])
    bar.set_label("correlation", fontsize=SMALL, color=INK)
    bar.ax.tick_params(labelsize=SMALL, colors=INK)
    head(ax, estimator.privacy_, f"Correlation of {d} features")
    return ax
