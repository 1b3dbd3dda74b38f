"""Options shared by ``pca``, ``cov`` and ``plan``: a field of a dataclass is an option.

Numbers of the budget stay text, because the library reads decimals exactly.
"""

# Annotations are read when the commands are built, so they must not be postponed in this file.
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from .guard import guarded

S = TypeVar("S")


def _option(*names: str, panel: str, **details: Any) -> Any:
    return typer.Option(*names, rich_help_panel=panel, show_default=False, **details)


@dataclass(frozen=True, kw_only=True)
class TableSettings:
    """Which table, and its public description."""

    table: Annotated[
        Path | None,
        typer.Argument(metavar="TABLE", help="CSV or Parquet file, or a folder of Parquet files."),
    ] = None
    example: Annotated[
        str | None,
        _option(metavar="NAME", panel="Table", help="A bundled table and its schema (see `datasets list`)."),
    ] = None
    schema: Annotated[
        Path | None,
        _option(metavar="FILE", panel="Table", help="Public schema (TOML); `schema init` writes a template."),
    ] = None
    columns: Annotated[
        str | None, _option(metavar="A,B,C", panel="Table", help="Only these columns of the schema.")
    ] = None
    rows: Annotated[
        int | None,
        _option(metavar="N", panel="Table", help="Public number of rows (replaces the schema's)."),
    ] = None
    rows_max: Annotated[
        int | None,
        _option(metavar="N", panel="Table", help="Public capacity, for --adjacency add-remove."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class BudgetSettings:
    """The one total, for whom it holds, and where it is recorded."""

    epsilon: Annotated[
        str | None, _option(metavar="NUMBER", panel="Budget", help="Total epsilon; with --delta.")
    ] = None
    delta: Annotated[
        str | None, _option(metavar="NUMBER", panel="Budget", help="Total delta; usually well below 1/n.")
    ] = None
    rho: Annotated[
        str | None, _option(metavar="NUMBER", panel="Budget", help="Total rho (zCDP), instead of epsilon.")
    ] = None
    mu: Annotated[
        str | None, _option(metavar="NUMBER", panel="Budget", help="Total mu (Gaussian DP), instead.")
    ] = None
    adjacency: Annotated[
        str,
        _option(
            metavar="NAME",
            panel="Budget",
            help="replace-one (default; the number of rows is public) or add-remove (it is private).",
        ),
    ] = "replace-one"


@dataclass(frozen=True, kw_only=True)
class GeometrySettings:
    """How rows are measured."""

    center: Annotated[
        str,
        _option(
            metavar="HOW",
            panel="Method",
            help="private (default), joint, public, none, or a public vector: 0.5,1,2.",
        ),
    ] = "private"
    scaling: Annotated[
        str,
        _option(
            metavar="HOW",
            panel="Method",
            help="none (default), bounds (columns over their half-ranges), or private (correlation).",
        ),
    ] = "none"
    clip: Annotated[
        str, _option(metavar="HOW", panel="Method", help="none (default) or a public threshold.")
    ] = "none"
    row_norm: Annotated[
        float | None,
        _option(
            metavar="B",
            panel="Method",
            help="Public bound on the norm of an encoded row; the bounds' largest otherwise.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ModelSettings(GeometrySettings):
    """How the statistic is made."""

    method: Annotated[
        str,
        _option(metavar="NAME", panel="Method", help="auto (default) or a name of `dpspectra mechanisms`."),
    ] = "auto"
    ddof: Annotated[int, _option(metavar="N", panel="Method", help="Divide by n - N (default 1).")] = 1
    denoise: Annotated[
        bool,
        _option("--denoise/--no-denoise", panel="Method", help="Remove noise from the spectrum (default)."),
    ] = True
    trace: Annotated[
        bool,
        _option(
            "--trace",
            panel="Method",
            help="Release the trace by itself too, for 5 % of mu^2 (rarely worth).",
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class ReadingSettings:
    """How CSV text is read; each replaces the schema's own."""

    delimiter: Annotated[str | None, _option(metavar="CHAR", panel="Reading CSV", help="Between cells.")] = (
        None
    )
    decimal: Annotated[str | None, _option(metavar="CHAR", panel="Reading CSV", help="Decimal mark.")] = None
    thousands: Annotated[
        str | None, _option(metavar="CHAR", panel="Reading CSV", help="Separator removed from numbers.")
    ] = None
    na_value: Annotated[
        list[str] | None,
        _option(metavar="TEXT", panel="Reading CSV", help="A cell that means missing; may be repeated."),
    ] = None
    encoding: Annotated[
        str | None, _option(metavar="NAME", panel="Reading CSV", help="Encoding of the text.")
    ] = None


@dataclass(frozen=True, kw_only=True)
class OutputSettings:
    """Where the spend is recorded and the report is written."""

    out: Annotated[Path | None, _option(metavar="DIR", panel="Output", help="Folder of the report.")] = None
    overwrite: Annotated[
        bool, _option("--overwrite", panel="Output", help="Replace an earlier report in DIR.")
    ] = False
    format: Annotated[
        str,
        _option(metavar="NAME", panel="Output", help="Format of the tables: csv (default), parquet, json."),
    ] = "csv"
    dry_run: Annotated[
        bool,
        _option("--dry-run", panel="Output", help="Show the plan; open no table and spend nothing."),
    ] = False
    ledger: Annotated[
        Path | None,
        _option(metavar="FILE", panel="Budget", help="Ledger that records the spend (see `ledger init`)."),
    ] = None
    label: Annotated[
        str | None,
        _option(
            metavar="NAME", panel="Budget", help="Name of the table in the ledger; the schema's otherwise."
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ComponentSettings:
    """How many components."""

    components: Annotated[
        str | None,
        _option(
            metavar="K", panel="Method", help="Number of components (5), or a share of the variance (0.9)."
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class VarianceSettings:
    """What finds variances along robust directions."""

    variances: Annotated[
        str,
        _option(
            metavar="NAME",
            panel="Method",
            help="With robust directions: auto (default), none, or what finds the variance along each.",
        ),
    ] = "auto"
    variance_share: Annotated[
        str | None,
        _option(
            metavar="SHARE",
            panel="Method",
            help="Part of the budget for variances along directions (pca: 0.1, scree: 0.5).",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class AlongSettings:
    """How few eigenvalues are found."""

    directions: Annotated[
        str,
        _option(metavar="NAME", panel="Method", help="What finds directions: auto (default) or a method."),
    ] = "auto"
    preset: Annotated[
        str, _option(metavar="NAME", panel="Method", help="tight (default) or published constants.")
    ] = "tight"
    cut: Annotated[
        str | None,
        _option(
            metavar="C",
            panel="Method",
            help="clipped_mean: public level that squares are cut at, squared encoded units; or dyadic.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class PlanSettings(
    BudgetSettings,
    ReadingSettings,
    ModelSettings,
    VarianceSettings,
    AlongSettings,
    ComponentSettings,
    TableSettings,
):
    """What a plan looks at: public facts."""

    format: Annotated[str, _option(metavar="NAME", panel="Output", help="text (default) or json.")] = "text"
    share: Annotated[
        float | None,
        _option(
            metavar="SHARE",
            panel="Goal",
            help="Also tell the rows and budget that a component with this share of the variance needs.",
        ),
    ] = None
    total_variance: Annotated[
        float | None,
        _option(
            metavar="V",
            panel="Goal",
            help="Total variance you expect, encoded units; the largest possible otherwise.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class CovSettings(OutputSettings, BudgetSettings, ReadingSettings, ModelSettings, TableSettings):
    """What ``cov`` looks at."""


@dataclass(frozen=True, kw_only=True)
class PcaSettings(
    OutputSettings,
    BudgetSettings,
    ReadingSettings,
    ModelSettings,
    VarianceSettings,
    ComponentSettings,
    TableSettings,
):
    """What ``pca`` looks at."""

    whiten: Annotated[bool, _option("--whiten", panel="Method", help="Scale scores to unit variance.")] = (
        False
    )
    scores: Annotated[
        Path | None,
        _option(
            metavar="FILE",
            panel="Output",
            help="Also write the projected rows (CSV or Parquet). They are record-level: each is one row of "
            "the table seen along public directions, carries no noise and is NOT private. Needs "
            "--allow-record-level.",
        ),
    ] = None
    allow_record_level: Annotated[
        bool,
        _option(
            "--allow-record-level",
            panel="Output",
            help="I know that projected rows are not private, and that no budget covers them.",
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class ScreeSettings(
    OutputSettings,
    BudgetSettings,
    ReadingSettings,
    GeometrySettings,
    AlongSettings,
    ComponentSettings,
    TableSettings,
):
    """What ``scree`` looks at."""

    method: Annotated[
        str,
        _option(
            metavar="NAME",
            panel="Method",
            help="auto (default), winsorized_mean, huber_mean, clipped_mean or gaussian_moments.",
        ),
    ] = "auto"
    variance_share: Annotated[
        str | None,
        _option(metavar="SHARE", panel="Method", help="Part of the budget not for directions (0.5)."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ScoresSettings(OutputSettings, BudgetSettings, ReadingSettings, GeometrySettings, TableSettings):
    """What ``scores`` looks at."""

    groups: Annotated[
        str | None,
        _option(
            metavar="COLUMN",
            panel="Map",
            help="A category column of the schema: one map a value, and it is not among the features.",
        ),
    ] = None
    bins: Annotated[int, _option(metavar="N", panel="Map", help="Cells a side (default 16).")] = 16
    pair: Annotated[
        str, _option(metavar="I,J", panel="Map", help="The two components, counted from 1 (default 1,2).")
    ] = "1,2"
    histogram: Annotated[
        str,
        _option(
            metavar="HOW",
            panel="Map",
            help="additive (default), or sparse: only cells with many rows, for fine grids.",
        ),
    ] = "additive"
    frame: Annotated[
        str,
        _option(
            metavar="HOW",
            panel="Map",
            help="How far cells reach: auto (default), public (the bound on rows), private (paid quantiles), "
            "or a public half-width.",
        ),
    ] = "auto"
    directions: Annotated[
        str, _option(metavar="NAME", panel="Map", help="What finds directions: auto (default) or a method.")
    ] = "auto"
    share: Annotated[
        str,
        _option(
            metavar="SHARE",
            panel="Map",
            help="Part of the budget for frame and cells, not for directions (0.5).",
        ),
    ] = "0.5"
    smooth: Annotated[
        bool,
        _option("--smooth", panel="Map", help="Spread each cell over its neighbours, after the release."),
    ] = False


def from_options(settings: type[S]) -> Callable[[Callable[[S], None]], Callable[..., None]]:
    """Turn ``function(settings)`` into a command whose options are the fields of ``settings``."""

    def decorate(function: Callable[[S], None]) -> Callable[..., None]:
        def command(**values: Any) -> None:
            function(settings(**values))

        command.__doc__ = function.__doc__
        command.__signature__ = inspect.signature(settings).replace(  # type: ignore[attr-defined]
            return_annotation=None
        )
        return guarded(command)

    return decorate
