"""Render the report as one HTML file that needs no network and no script."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from .pictures import Picture

TEMPLATES = {"map": "score_map.html", "directions": "directions.html", "moments": "second_moment.html"}
"""Pages of a kind of their own."""


def render(summary: dict[str, Any], pictures: Sequence[Picture], files: Sequence[str] = ()) -> str:
    """The HTML of a report.

    Parameters
    ----------
    summary : dict of ``summarise``
    pictures : pictures of ``pictures``, embedded as SVG
    files : names of files beside the report, listed at its end as text

    Returns
    -------
    One self-contained page: no link, script, font or picture from elsewhere.
    """
    embedded = [
        {
            "name": picture.name,
            "title": picture.title,
            "alt": picture.alt,
            "caption": picture.caption,
            "data": base64.b64encode(picture.svg).decode("ascii"),
        }
        for picture in pictures
    ]
    page = _template(TEMPLATES.get(summary["kind"], "report.html"))
    return page.render(report=summary, pictures=embedded, files=files)


@lru_cache(maxsize=4)
def _template(name: str) -> Template:
    environment = Environment(
        loader=PackageLoader("dpspectra.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["number"] = _number
    environment.filters["decimals"] = _decimals
    environment.filters["percent"] = _percent
    environment.filters["interval"] = _interval
    return environment.get_template(name)


def _number(value: float | None, digits: int = 4) -> str:
    return "–" if value is None else f"{value:#.{digits}g}".rstrip(".").replace("-", "−")


def _decimals(value: float | None, places: int = 3) -> str:
    if value is None:
        return "–"
    text = f"{value:.{places}f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "−")


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{_decimals(100 * value, 1)} %"


def _interval(bounds: Sequence[float] | None, percent: bool = False) -> str:
    if bounds is None:
        return "–"
    low, high = bounds
    if percent:
        return f"{_decimals(100 * low, 1)} to {_percent(high)}"
    return f"{_number(low)} to {_number(high)}"
