"""The frame: which commands there are. Nothing heavy is imported, so that ``--help`` is quick."""

from __future__ import annotations

from typing import Annotated

import typer

from . import audit, cov, datasets, ledger, mechanisms, moments, pca, plan, report, schema, scores, scree
from .guard import TRACEBACK_VARIABLE, show_traceback

EPILOG = (
    "Exit codes: 0 done, 2 usage, 3 schema or input, 4 budget refused, 5 infeasible plan, "
    "6 private test failed, 70 internal error, 130 interrupted. Results go to stdout, talk to stderr."
)

app = typer.Typer(
    name="dpspectra",
    help="Differentially private covariance, eigenvalues and principal components of a table.",
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # a pretty traceback shows variables, and they may hold cells
    rich_markup_mode="rich",
)


def _version(wanted: bool) -> None:
    if wanted:
        from ..core.version import library_version

        print(f"dpspectra {library_version()}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    traceback: Annotated[
        bool,
        typer.Option(
            "--traceback",
            envvar=TRACEBACK_VARIABLE,
            help="Show where an unexpected error arose. Its text may hold cells: keep it private.",
        ),
    ] = False,
) -> None:
    """Differentially private covariance, eigenvalues and principal components of a table."""
    show_traceback.set(traceback)


app.command("pca")(pca.command)
app.command("cov")(cov.command)
app.command("scree")(scree.command)
app.command("moments")(moments.command)
app.command("scores")(scores.command)
app.command("plan")(plan.command)
app.command("report")(report.command)
app.add_typer(schema.app, name="schema")
app.add_typer(ledger.app, name="ledger")
app.add_typer(datasets.app, name="datasets")
app.command("mechanisms")(mechanisms.command)
app.command("audit")(audit.command)


def main() -> None:
    """Entry point of ``dpspectra``."""
    app(prog_name="dpspectra")
