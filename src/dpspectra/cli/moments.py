"""``dpspectra moments``: a second moment that is right in every direction, as a report."""

# Annotations are read when the command is built, so they must not be postponed in this file.
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from .run import run
from .settings import (
    BudgetSettings,
    GeometrySettings,
    OutputSettings,
    ReadingSettings,
    TableSettings,
    from_options,
)


def _method(metavar: str, text: str) -> Any:
    return typer.Option(metavar=metavar, rich_help_panel="Method", show_default=False, help=text)


@dataclass(frozen=True, kw_only=True)
class MomentsSettings(OutputSettings, BudgetSettings, ReadingSettings, GeometrySettings, TableSettings):
    """What ``moments`` looks at."""

    accuracy: Annotated[
        str,
        _method("NAME", "spectral (default; every direction within a factor) or norm (large entries first)."),
    ] = "spectral"
    method: Annotated[str, _method("NAME", "auto (default), recursive or gaussian_moments.")] = "auto"
    center: Annotated[
        str,
        _method("HOW", "public (default; the middle of the bounds), none, or a public vector: 0.5,1,2."),
    ] = "public"
    scaling: Annotated[str, _method("HOW", "none (default) or bounds (columns over their half-ranges).")] = (
        "none"
    )


@from_options(MomentsSettings)
def command(settings: MomentsSettings) -> None:
    """Private second moment of TABLE about a public centre, and its inverse, as a report in the folder --out.

    With --accuracy spectral every direction has the same relative error, the smallest too. Order of checks
    and exit codes are those of `dpspectra pca`.
    """
    from ..estimators import PrivateSecondMoment

    run(settings, PrivateSecondMoment, method=settings.method, accuracy=settings.accuracy)
