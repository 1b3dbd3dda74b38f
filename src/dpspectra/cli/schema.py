"""``dpspectra schema init``: a template of the public description of a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ..core.errors import ParameterError, SchemaError
from .folder import check_writable
from .settings import ReadingSettings, from_options
from .subject import is_number, reading
from .talk import note, result, say

# Annotations are read when the command is built, so they are not postponed in this file.
app = typer.Typer(help="The public description of a table.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """The public description of a table."""


@dataclass(frozen=True, kw_only=True)
class InitSettings(ReadingSettings):
    """What ``schema init`` looks at."""

    table: Annotated[Path, typer.Argument(metavar="TABLE", help="CSV or Parquet, file or folder.")]
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="File to write; stdout without it.")] = None
    header: Annotated[
        bool, typer.Option("--header", help="The first line holds names, even if some read as numbers.")
    ] = False
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace FILE.")] = False


@app.command("init")
@from_options(InitSettings)
def init(settings: InitSettings) -> None:
    """Write a schema with the table's names and kinds, every bound left blank for you to fill in.

    Bounds come from domain knowledge or public data. They are never read from the table, since bounds that
    follow the data would tell of single rows.
    """
    from ..core.schema import Reading
    from ..engines import describe, template

    rules = reading(settings, Reading())
    if settings.out is not None:
        if settings.out.exists() and not settings.overwrite:
            raise ParameterError("--out names a file that is there already (--overwrite)")
        check_writable(settings.out.parent)
    _check_header(describe(settings.table, rules).names or (), settings.header)
    text = template(settings.table, rules)
    if settings.out is None:
        result(text)
        return
    settings.out.write_text(text, encoding="utf-8")
    result(str(settings.out))
    say(
        f"next: fill in the bounds in {settings.out}, then `dpspectra plan --schema {settings.out} ...`",
        "dim",
    )


def _check_header(names: Sequence[str], sure: bool) -> None:
    """A CSV without a header row shows cells where names should be: they must not get into a schema.

    Texts name no column, for the same reason.
    """
    if not sure and any(is_number(name.replace(",", ".")) for name in names):
        raise SchemaError(
            "the first line must hold the column names, and some read as numbers, so it may be a row: "
            "add a line of names, or say --header if they are names"
        )
    if "" in names or len(set(names)) != len(names):
        raise SchemaError("some column names are empty or repeat: rename them, since a schema goes by name")
    if len(names) == 1:
        note("the table has one column: is --delimiter right?")
