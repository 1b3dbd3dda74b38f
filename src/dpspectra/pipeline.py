"""Read first: the whole flow on one page.

    table -> Encoder (clip, quantise: integer rows in a public ball) -> Table (exact sums)
          -> release (ledger commits, then the mechanism draws exact integer noise) -> Released
          -> analyse (public post-processing) -> attributes, pictures, report

The joint guarantee. Let A be the mechanism with its calibrated plan. (1) ``open_table`` maps each row by
itself to an integer row of the ball of radius 2^q, by a rule made of public facts; so neighbouring tables
stay neighbours and the sensitivities on the mechanism's page hold. (2) ``release`` writes the whole cost of
A into the ledger before it reads a row; the steps of A compose to that cost, also adaptively. (3) Whatever
comes after ``release`` is a function of its output and of public facts. Hence each call of ``run`` costs
what its ``Released.cost`` says, and nothing else depends on a cell: errors, warnings and shapes above come
from the request, the schema and the table's public shape.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from .accounting.ledger import Ledger
from .core.errors import ParameterError, PlanWarning, SchemaError, UnrecordedRelease
from .core.facts import Facts
from .core.privacy import Adjacency
from .core.released import Released
from .core.request import Request
from .core.schema import Column, Schema
from .engines import describe, is_stored, open_table
from .noise.base import current
from .planning.choose import choose
from .planning.facts import encoder_of, encoding_of
from .planning.resources import check_memory
from .planning.warn import plan_warnings
from .release import release
from .rows.encode import Encoder
from .summaries.moments import Moments, MomentSums
from .summaries.table import RowMap, Summary, Table


@dataclass(frozen=True)
class Source:
    """Where rows come from, in public terms: names (None for plain arrays), columns, and how to encode."""

    names: tuple[str, ...] | None
    columns: int
    schema: Schema
    encoder: Encoder


def prepare(
    data: Any, request: Request, *, schema: Schema | str | os.PathLike[str] | None = None, bounds: Any = None
) -> Source:
    """Resolve schema or bounds against the table's public shape and build the encoder. Reads no cell."""
    read = _read(schema, bounds)
    names, columns, rows = describe(data, None if read is None else read.reading)
    if rows == 0 and request.adjacency is Adjacency.REPLACE_ONE:
        raise SchemaError("the table has no rows")
    check_memory(columns)  # before as many names are made
    if read is None:
        read = resolve(None, bounds, names, columns)
    elif names is None and columns != len(read.columns):
        raise SchemaError(f"the table has {columns} columns, the schema declares {len(read.columns)}")
    if is_stored(data):  # of a file only the schema's columns are read, so no other name goes any further
        names, columns = read.names, len(read.columns)
    encoder = encoder_of(read, request)
    check_memory(len(encoder.features))
    return Source(None if names is None else tuple(names), columns, read, encoder)


def resolve(schema: Any, bounds: Any, names: Sequence[str] | None, columns: int) -> Schema:
    """The schema given, read, or made from bounds for these columns."""
    read = _read(schema, bounds)
    return Schema.from_bounds(bounds, columns if names is None else names) if read is None else read


def _read(schema: Any, bounds: Any) -> Schema | None:
    if schema is not None and bounds is not None:
        raise ParameterError("give schema or bounds, not both")
    read = Schema.read(schema) if isinstance(schema, (str, os.PathLike)) else schema
    if not (read is None or isinstance(read, Schema)):
        raise ParameterError("schema must be a Schema or the path of its TOML file")
    return read


def run(
    data: Any,
    source: Source,
    request: Request,
    *,
    ledger: Ledger | None = None,
    label: str = "table",
    view: dict[str, Any] | None = None,
    whole: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Released:
    """One release of one table.

    ``view``: JSON values that tell how the release is shown, kept with it. ``whole``: the table is all that
    the schema speaks of, so its declared number of rows is checked.
    """
    capacity = request.rows_max if request.rows_max is not None else source.schema.rows_max
    table = open_table(
        data,
        source.encoder,
        request.adjacency,
        rows_max=capacity,
        progress=progress,
        whole=whole,
    )
    return _release(table, source, request, ledger, label, view)


def run_sums(
    sums: MomentSums,
    source: Source,
    request: Request,
    bits: int,
    *,
    ledger: Ledger | None = None,
    label: str = "table",
    view: dict[str, Any] | None = None,
) -> Released:
    """One release of exact sums that were gathered batch by batch."""
    return _release(_Summed(sums, source, request, bits), source, request, ledger, label, view)


def _release(
    table: Table,
    source: Source,
    request: Request,
    ledger: Ledger | None,
    label: str,
    view: dict[str, Any] | None,
) -> Released:
    mechanism = choose(request, table.facts)
    for text in plan_warnings(table.facts, request, source.encoder):
        warnings.warn(text, PlanWarning, stacklevel=4)
    if ledger is None and current().private:
        _warn_unrecorded()
    used = {
        "columns": [column.to_dict() for column in source.schema.columns],
        "columns_in": source.columns,
        "row_clip": _row_clip(request),
        "origin": list(request.origin) if isinstance(request.origin, tuple) else request.origin,
        "encoding": encoding_of(source.schema, request),
        "groups": request.groups,
        "names_in": None if source.names is None else list(source.names),
        "view": view or {},
    }
    return release(table, mechanism, ledger=ledger, label=label, parameters=request.parameters() | used)


_warned: set[str] = set()


def _warn_unrecorded() -> None:
    """Once per process: a warning at every fit would teach people to filter it out."""
    if not _warned:
        _warned.add("unrecorded")
        warnings.warn(
            "no ledger: nobody adds up what this table has spent; to record it, pass ledger=PATH (--ledger)",
            UnrecordedRelease,
            stacklevel=5,
        )


_ONCE = "this method reads its rows more than once; use fit instead of partial_fit"


class _Summed:
    """A table of which only its exact moments are left."""

    def __init__(self, sums: MomentSums, source: Source, request: Request, bits: int) -> None:
        self._sums = sums
        replace = request.adjacency is Adjacency.REPLACE_ONE
        self.facts = Facts(
            rows=sums.count if replace else None,
            features=tuple(source.encoder.features),
            grid=source.encoder.grid(bits),
            adjacency=request.adjacency,
            unit=source.schema.unit,
        )

    def reduce(self, summary: Summary[Any], row_map: RowMap | None = None, *, groups: bool = False) -> Any:
        if not isinstance(summary, Moments) or row_map is not None or groups:
            raise ParameterError(_ONCE)
        return self._sums

    def pairs(self, order: Any) -> NoReturn:
        raise ParameterError(_ONCE)

    def matrix(self) -> NoReturn:
        raise ParameterError(_ONCE)


def open_ledger(ledger: Ledger | str | os.PathLike[str] | None) -> Ledger | None:
    """A ledger from a handle or a path."""
    if ledger is None or isinstance(ledger, Ledger):
        return ledger
    if not isinstance(ledger, (str, os.PathLike)):
        raise ParameterError("ledger must be a Ledger or the path of its file")
    return Ledger(ledger)


def batch_sums(data: Any, source: Source, request: Request, bits: int) -> MomentSums:
    """Exact sums of one batch on the grid of ``bits``; add them up with ``+``."""
    table = open_table(data, source.encoder, request.adjacency, bits=bits)
    return table.reduce(Moments())


def _row_clip(request: Request) -> float | None:
    """The public clip of rows under a name of its own: a mechanism's ``clip`` may be another one."""
    return None if isinstance(request.clip, str) else request.clip


def source_of(released: Released) -> Source:
    """The source that a release was made from, rebuilt from its public settings."""
    used = released.parameters
    names = None if used["names_in"] is None else tuple(used["names_in"])
    schema = Schema(tuple(Column(**column) for column in used["columns"]), label=released.label)
    encoder = Encoder.build(
        schema,
        origin=tuple(used["origin"]) if isinstance(used["origin"], list) else used["origin"],
        scaling=used["encoding"],
        row_norm=used["row_norm"],
        clip=used["row_clip"],
        open_ended=not released.facts.grid.bounded,
        groups=used.get("groups"),
    )
    return Source(names, used["columns_in"], schema, encoder)
