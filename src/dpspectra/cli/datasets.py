"""``dpspectra datasets``: the bundled real tables, as names and as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..core.errors import ParameterError
from .guard import guarded
from .talk import result, say

app = typer.Typer(help="Real tables that are bundled, with their public schemas.", no_args_is_help=True)


@app.command("list")
@guarded
def list_tables() -> None:
    """List the bundled tables."""
    from .. import datasets

    for name in datasets.names():
        dataset = datasets.load(name)
        result(f"{name}\n    {dataset.description}\n    {dataset.source}")


@app.command()
@guarded
def export(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name of `datasets list`.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder to write into; made if it is not there.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files of these names.")] = False,
) -> None:
    """Write a bundled table and its schema as NAME.csv, NAME.parquet and NAME.toml."""
    from .. import datasets

    try:
        paths = datasets.export(name, out, overwrite=overwrite)
    except FileExistsError as error:
        raise ParameterError(f"{error} (--overwrite)") from None
    for path in paths:
        result(str(path))
    table, schema = paths[0], paths[2]
    say(f"next: dpspectra pca {table} --schema {schema} --epsilon 4 --delta 1e-6 --out report", "dim")
