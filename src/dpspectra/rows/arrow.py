"""Arrow columns to numbers. Types are checked by name beforehand; conversions never fail on a cell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..core.errors import SchemaError
from ..core.schema import Column
from . import special

FloatArray = NDArray[np.float64]


def is_text(kind: Any) -> bool:
    """True for Arrow's text types."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_number(kind: Any) -> bool:
    """True for Arrow types that hold numbers, booleans or nothing."""
    types = pa.types
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_decimal(kind)
        or types.is_boolean(kind)
        or types.is_null(kind)
    )


def check(column: Column, kind: Any) -> None:
    """Refuse, by name and type, a column that cannot be what the schema says."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if not is_number(kind) and not is_text(kind):
        raise SchemaError(f"column {column.name!r} has type {kind}, which is neither numbers nor text")
    if is_text(kind) and column.kind == "number":
        raise SchemaError(text_refused(column.name))


def text_refused(name: str) -> str:
    return (
        f"column {name!r} holds text or objects but the schema says number: convert it to numbers, "
        'or give it kind = "category" and list its public categories'
    )


def cells(values: Any, column: Column) -> FloatArray:
    """An Arrow array or chunked array as doubles: numbers, or category codes; null is NaN."""
    if isinstance(values, pa.ChunkedArray):
        return np.concatenate([np.empty(0), *(cells(chunk, column) for chunk in values.chunks)])
    kind = values.type
    if pa.types.is_dictionary(kind):
        levels = np.append(cells(values.dictionary, column), np.nan)
        places = pc.fill_null(values.indices.cast(pa.int64()), len(levels) - 1)
        return np.asarray(levels[places.to_numpy()])
    if is_number(kind):
        numbers = np.asarray(values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
        return numbers if column.categories is None else special.number_codes(numbers, column.categories)
    assert column.categories is not None  # check() let text pass for categories only
    return text_codes(values.cast(pa.large_string()), column.categories)


def text_codes(texts: Any, categories: tuple[str, ...]) -> FloatArray:
    """Position of each stripped text in the listed values; UNLISTED if absent, NaN for null."""
    listed = pa.array(categories, type=texts.type)
    found = pc.index_in(pc.ascii_trim_whitespace(texts), value_set=listed).cast(pa.float64())
    codes = np.asarray(pc.fill_null(found, special.UNLISTED)).copy()
    codes[np.asarray(pc.is_null(texts))] = np.nan
    return codes
