"""The report of a score map: its dict, its tables and its pictures."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import plots
from ..estimators.score_map import PrivateScoreMap
from ..plots.fitted import names
from ..plots.save import encode
from ..plots.score_map import axis_label
from .card import card_of, number
from .pictures import Picture
from .summary import FORMAT, FORMAT_VERSION
from .tables import Table
from .words import limits

KIND = "map"


def summarise(model: PrivateScoreMap) -> dict[str, Any]:
    """The report of a fitted ``PrivateScoreMap`` as strict-JSON values; all of it is public."""
    release = model.release_
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "kind": KIND,
        "label": release.label,
        "private": bool(release.private),
        "guarantee": release.guarantee.sentence(),
        "headline": headline(model),
        "meaning": meaning(model),
        "d": release.facts.d,
        "groups": [
            {"name": str(name), "total": float(total), "largest": float(cells.max())}
            for name, total, cells in zip(model.groups_, model.group_totals_, model.counts_, strict=True)
        ],
        "noise_sd": model.noise_sd_,
        "total_sd": total_sd(model),
        "least": model.least_,
        "bins": int(model.counts_.shape[1]),
        "axes": [axis_label(model, place) for place in (0, 1)],
        "frame": [[float(ends[0]), float(ends[-1])] for ends in model.edges_],
        "card": card_of(release, [("Noise sd of a cell, in rows", number(model.noise_sd_))]),
        "limits": limits(model),
        "version": release.version,
    }


def total_sd(model: PrivateScoreMap) -> float | None:
    """Noise sd of the sum of a group's cells as released; None for a sparse map, whose sums miss rows."""
    return None if model.least_ else float(model.noise_sd_ * model.counts_.shape[1])


def headline(model: PrivateScoreMap) -> str:
    groups, bins = len(model.groups_), model.counts_.shape[1]
    parts = f" in {groups} groups" if groups > 1 else ""
    noise = f"the noise of a cell has an sd of {number(model.noise_sd_)}"
    return f"Score map of {bins} x {bins} cells{parts}; {noise}"


def meaning(model: PrivateScoreMap) -> list[str]:
    """Paragraphs for a reader who does not know differential privacy."""
    first, second = (axis_label(model, place) for place in (0, 1))
    texts = [
        f"Each row of the table has a place in the plane of {first} and {second}, two released directions."
        " The map says how many rows lie in each cell of that plane. No row is shown: counts carry noise,"
        " which hides whether any one row is in a cell.",
        _cells(model),
        "Cells at the border of the map also count the rows beyond it. Synthetic points are spread evenly"
        " within each cell, as many as its noisy count says; they are no rows.",
    ]
    if len(model.groups_) > 1:
        sd = total_sd(model)
        noise = (
            ""
            if sd is None
            else f" The cells of a group, as released, add up to its size with noise of sd {number(sd)}."
        )
        texts.append(
            "Groups come from the public list of values; rows with any other value, or none, are in "
            f"{str(model.groups_[-1])!r}. Totals of groups are sums of noisy cells, not exact sizes.{noise}"
        )
    return texts


def _cells(model: PrivateScoreMap) -> str:
    sd = number(model.noise_sd_)
    if model.least_:
        return (
            f"Cells are shown from a noisy count of {model.least_} on, with noise of sd {sd}. A white cell"
            " may hold rows, up to about that many, so totals are too small."
        )
    return (
        f"Every cell got noise of sd {sd}: a count below about {number(2 * model.noise_sd_)} says little by"
        " itself. After the noise a common amount is taken off all cells of a group and what is negative"
        " becomes 0, so that groups add up to the number of rows; the file score_map has the counts before"
        " it too."
    )


def tables(model: PrivateScoreMap) -> list[Table]:
    """Directions, and one row a group and cell."""
    labels = [f"PC{index + 1}" for index in model.release_.parameters["components"]]
    return [
        Table("components", ("component", *names(model)), (labels, *model.components_.T)),
        _map(model, labels),
    ]


def _map(model: PrivateScoreMap, labels: list[str]) -> Table:
    group, first, second = (place.ravel() for place in np.indices(model.counts_.shape))
    (low, high), (bottom, top) = ((ends[:-1], ends[1:]) for ends in model.edges_)
    columns: dict[str, Any] = {
        "group": [str(model.groups_[place]) for place in group],
        f"{labels[0]}_low": low[first],
        f"{labels[0]}_high": high[first],
        f"{labels[1]}_low": bottom[second],
        f"{labels[1]}_high": top[second],
        "count": model.counts_.ravel(),
        "count_raw": model.counts_raw_.ravel(),
    }
    return Table("score_map", tuple(columns), tuple(columns.values()))


def pictures(model: PrivateScoreMap) -> list[Picture]:
    """The map as cells and as synthetic points; with groups also one panel a group."""
    together = "Darker cells hold more rows. " + CAPTION
    made = [
        _picture("score_map", "Score map", model, _alt(model), together, all_groups=True),
        _picture(
            "score_points",
            "Synthetic points",
            model,
            _alt(model),
            CAPTION + POINTS,
            all_groups=True,
            points=True,
        ),
    ]
    if len(model.groups_) > 1:
        alt = "One score map for each of " + ", ".join(map(str, model.groups_)) + "."
        made.append(
            _picture("score_groups", "Score map by group", model, alt, "One colour scale. " + CAPTION)
        )
    return made


CAPTION = "Counts are noisy; cells at the border also count rows beyond it."
POINTS = " Points are drawn from the noisy counts, evenly within each cell: none is a row."


def _picture(
    name: str,
    title: str,
    model: PrivateScoreMap,
    alt: str,
    caption: str,
    *,
    all_groups: bool = False,
    points: bool = False,
) -> Picture:
    ax = plots.style.axes(None, 7.2, 6.2) if all_groups else None
    drawn = plots.score_map(model, ax=ax, points=points)
    return Picture(name, title, alt, caption, encode(drawn, "svg"), encode(drawn, "png"))


def _alt(model: PrivateScoreMap) -> str:
    cells = model.counts_.sum(axis=0)
    first, second = np.unravel_index(int(np.argmax(cells)), cells.shape)
    (left, right), (low, high) = (
        (ends[place], ends[place + 1]) for ends, place in zip(model.edges_, (first, second), strict=True)
    )
    labels = " and ".join(axis_label(model, place) for place in (0, 1))
    return (
        f"Map of noisy counts over {labels}. Most rows, {cells.max():.0f}, are in the cell from {left:.3g}"
        f" to {right:.3g} and {low:.3g} to {high:.3g}."
    )
