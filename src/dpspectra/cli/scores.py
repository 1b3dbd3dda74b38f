"""``dpspectra scores``: a private map of where the rows of a table lie, as a report."""

from __future__ import annotations

from ..core.errors import ParameterError
from .run import run
from .settings import ScoresSettings, from_options
from .subject import is_number


@from_options(ScoresSettings)
def command(settings: ScoresSettings) -> None:
    """Private score map of TABLE, in groups if asked, as a report in the folder --out.

    Noisy counts of rows over two components; no row is shown. The report holds report.html, release.json,
    score_map.csv and pictures. Order of checks and exit codes are those of `dpspectra pca`.
    """
    from ..estimators import PrivateScoreMap

    run(
        settings,
        PrivateScoreMap,
        components=_pair(settings.pair),
        bins=settings.bins,
        groups=settings.groups,
        histogram=settings.histogram,
        frame=float(settings.frame) if is_number(settings.frame) else settings.frame,
        directions=settings.directions,
        share=settings.share,
        smooth=settings.smooth,
    )


def _pair(text: str) -> tuple[int, int]:
    parts = text.split(",")
    if len(parts) != 2 or not all(part.strip().isdecimal() for part in parts):
        raise ParameterError("--pair must be two components, counted from 1, with a comma between: 1,2")
    first, second = (int(part) - 1 for part in parts)
    return first, second
