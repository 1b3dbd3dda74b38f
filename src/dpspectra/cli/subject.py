"""From options to the table, its schema and a budgeted estimator; nothing is opened but the schema file."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..core.errors import ParameterError
from .settings import (
    BudgetSettings,
    GeometrySettings,
    ModelSettings,
    PlanSettings,
    ReadingSettings,
    ScreeSettings,
    TableSettings,
    VarianceSettings,
)

if TYPE_CHECKING:
    from ..core.schema import Schema

NO_BOUNDS = (
    "bounds are needed and are never read from the table. Three ways out: (1) domain knowledge: `dpspectra "
    "schema init TABLE --out schema.toml` writes a template whose bounds you fill in; (2) public data of the "
    "same kind: take the bounds from there; (3) a paid estimate: spend part of the budget on a private "
    "estimate made by another tool, and count it. Then give --schema schema.toml. `dpspectra pca` and "
    "`dpspectra scree` have methods that need none: leave the bounds lines out of the schema"
)


def public_schema(settings: TableSettings) -> Schema:
    """The schema of the options, with the columns, rows and reading that replace its own."""
    from ..core.schema import Schema

    if settings.example is not None:
        if settings.table is not None or settings.schema is not None:
            raise ParameterError("--example brings its own table and schema: leave out TABLE and --schema")
        from .. import datasets

        schema = datasets.load(settings.example).schema
    elif settings.schema is None:
        raise ParameterError(NO_BOUNDS)
    else:
        schema = Schema.read(settings.schema)
    if settings.columns is not None:
        schema = schema.select(column_names(settings.columns))
    if settings.rows is not None:
        schema = replace(schema, rows=_whole(settings.rows, "--rows"))
    if settings.rows_max is not None:
        schema = replace(schema, rows_max=_whole(settings.rows_max, "--rows-max"))
    if isinstance(settings, ReadingSettings):
        schema = replace(schema, reading=reading(settings, schema.reading))
    return schema


def reading(settings: ReadingSettings, base: Any) -> Any:
    """How CSV text is read: the schema's [reading] with the options on top."""
    given: dict[str, Any] = {
        name: value
        for name in ("delimiter", "decimal", "thousands", "encoding")
        if (value := getattr(settings, name)) is not None
    }
    if given.get("delimiter") in ("\\t", "tab"):
        given["delimiter"] = "\t"
    if settings.na_value:
        given["na_values"] = tuple(settings.na_value)
    return replace(base, **given)


def column_names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise ParameterError("--columns must be names with commas between them")
    return names


def source(settings: TableSettings, schema: Schema) -> Any:
    """What ``fit`` takes: the path of a table that is there, or the cells of a bundled one. Opens no file."""
    if settings.example is not None:
        from .. import datasets

        dataset = datasets.load(settings.example)
        return dataset.data[:, [dataset.schema.names.index(name) for name in schema.names]]
    if settings.table is None:
        raise ParameterError("TABLE is missing: name a CSV or Parquet file, or --example NAME")
    from ..engines.files import find_files

    find_files(settings.table)
    return settings.table


def model_arguments(budget: BudgetSettings, model: GeometrySettings, schema: Schema) -> dict[str, Any]:
    """Arguments that the estimators take, checked by the estimators themselves."""
    given = {
        "epsilon": budget.epsilon,
        "delta": budget.delta,
        "rho": budget.rho,
        "mu": budget.mu,
        "adjacency": budget.adjacency,
        "schema": schema,
        "rows_max": schema.rows_max if budget.adjacency == "add-remove" else None,
        "row_norm": model.row_norm,
        "center": _center(model.center),
        "scaling": model.scaling,
        "clip": _clip(model.clip),
    }
    if isinstance(model, ModelSettings):
        given |= {name: getattr(model, name) for name in ("method", "ddof", "denoise", "trace")}
    return given


def components(text: str | None) -> Any:
    """``--components``: a whole number, a share with a point in it, or text that the estimator refuses."""
    if text is None:
        return None
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def variance_arguments(settings: VarianceSettings) -> dict[str, Any]:
    """Arguments of PrivatePCA for variances along robust directions."""
    share = {} if settings.variance_share is None else {"share": settings.variance_share}
    return {"variances": settings.variances} | share


def scree_arguments(settings: ScreeSettings | PlanSettings) -> dict[str, Any]:
    """Arguments of PrivateScree beside those that all estimators take."""
    share = {} if settings.variance_share is None else {"share": settings.variance_share}
    cut = float(settings.cut) if settings.cut is not None and is_number(settings.cut) else settings.cut
    given = {"method": settings.method, "directions": settings.directions, "preset": settings.preset}
    return given | {"cut": cut, "n_components": components(settings.components)} | share


def _center(text: str) -> str | list[float]:
    parts = text.split(",")
    if len(parts) == 1 and not is_number(text):
        return text
    if not all(map(is_number, parts)):
        raise ParameterError("--center: a public vector must be numbers with commas between them")
    return [float(part) for part in parts]


def _clip(text: str) -> str | float:
    if is_number(text):
        return float(text)
    if text not in ("none", "private"):
        raise ParameterError("--clip must be none or a positive number")
    return text


def is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _whole(value: int, name: str) -> int:
    if value < 1:
        raise ParameterError(f"{name} must be a whole number, at least 1")
    return value
