"""``dpspectra report``: the report of a release file, without data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .folder import check_output
from .guard import guarded
from .run import finish
from .view import estimator_of


@guarded
def command(
    release: Annotated[
        Path, typer.Argument(metavar="RELEASE.json", help="A release file of an earlier run.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the report.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier report in DIR.")] = False,
    format: Annotated[  # noqa: A002
        str, typer.Option(metavar="NAME", help="Format of the tables: csv, parquet or json.")
    ] = "csv",
) -> None:
    """Make the report of a release once more. Needs no table and costs nothing: a release is public."""
    from ..core.released import Released

    released = Released.from_json(release.read_bytes())
    check_output(out, overwrite, format)
    finish(estimator_of(released), out, overwrite=overwrite, file_format=format)
