"""From a caller's words to the public facts that the run would have."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sized
from dataclasses import replace
from typing import Any

from ..core.errors import ParameterError
from ..core.facts import Facts
from ..core.privacy import Adjacency
from ..core.request import Request
from ..core.schema import Schema
from ..rows.encode import Encoder
from .auto import open_ended
from .resources import check_memory


def schema_of(schema: Schema | str | os.PathLike[str] | None, bounds: Any, d: int | None) -> Schema:
    """The schema given, read, made from bounds, or d columns without bounds."""
    if schema is not None and bounds is not None:
        raise ParameterError("give schema or bounds, not both")
    if d is not None and (isinstance(d, bool) or int(d) != d or d < 1):
        raise ParameterError("d must be a whole number, at least 1")
    if d is not None:
        check_memory(int(d))  # before as many names are made
    if schema is None:
        return Schema.from_bounds(bounds, _columns(bounds) if d is None else int(d))
    read = Schema.read(schema) if isinstance(schema, (str, os.PathLike)) else schema
    if d is not None and d != len(read.columns):
        raise ParameterError("d: the schema has another number of columns")
    return read


def encoder_of(schema: Schema, request: Request) -> Encoder:
    """The encoder of the run."""
    return Encoder.build(
        schema,
        origin=request.origin,
        scaling=encoding_of(schema, request),
        row_norm=request.row_norm,
        clip=None if isinstance(request.clip, str) else request.clip,
        open_ended=open_ended(request),
        groups=request.groups,
    )


def encoding_of(schema: Schema, request: Request) -> str:
    """What rows are divided by: a correlation is the same in all units, and half-ranges balance its noise."""
    if request.scaling != "private":
        return request.scaling
    open_ended = any(column.kind == "number" and column.bounds is None for column in schema.columns)
    return "none" if open_ended else "bounds"


def _columns(bounds: Any) -> Any:
    """Names or number of columns that the bounds tell."""
    if isinstance(bounds, Mapping):
        return list(bounds)
    for side in () if bounds is None else bounds:
        if isinstance(side, Sized) and not isinstance(side, str):
            return len(side)
    raise ParameterError("d is missing: give the number of columns, or a schema")


def rows_of(n: int | None, schema: Schema, request: Request) -> int:
    """n, from the call, the declared capacity or the schema."""
    private = request.adjacency is Adjacency.ADD_REMOVE
    rows = n if n is not None else (capacity(schema, request) if private else schema.rows)
    if rows is None:
        raise ParameterError(
            "n is missing: give a guess of the number of rows (--rows or n=), which is used for planning only"
            if private
            else "n is missing: give the public number of rows: rows = ... in the schema, --rows, or n="
        )
    if isinstance(rows, bool) or int(rows) != rows or rows < 1:
        raise ParameterError("n must be a whole number, at least 1")
    return int(rows)


def capacity(schema: Schema, request: Request) -> int | None:
    """The declared largest number of rows under add/remove."""
    return schema.rows_max if request.rows_max is None else request.rows_max


def facts_of(rows: int, schema: Schema, encoder: Encoder, request: Request) -> Facts:
    """The public facts; InfeasiblePlan if they cannot fit in memory."""
    check_memory(len(encoder.features))
    private = request.adjacency is Adjacency.ADD_REMOVE
    grid = encoder.grid(encoder.bits_for(capacity(schema, request) if private else rows))
    features = tuple(encoder.features)
    return Facts(None if private else rows, features, grid, request.adjacency, schema.unit, encoder.levels)


def regrid(facts: Facts, rows: int, encoder: Encoder) -> Facts:
    """The same facts for another number of rows."""
    if facts.adjacency is Adjacency.ADD_REMOVE:
        return facts
    return replace(facts, rows=rows, grid=encoder.grid(encoder.bits_for(rows)))
