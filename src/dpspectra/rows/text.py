"""Text of CSV cells to numbers and codes, many at a time, by the declared reading."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..core.schema import Column, Reading
from .arrow import text_codes

FloatArray = NDArray[np.float64]


def cells(texts: Any, column: Column, reading: Reading) -> FloatArray:
    """Cells of one column, an Arrow string array, as doubles (n,).

    Numbers by the declared decimal and thousands marks; category codes by the stripped text. A cell among
    ``na_values``, or that is not a number, is missing (NaN). A listed category wins over ``na_values``.
    """
    texts = pc.ascii_trim_whitespace(texts)
    absent = pc.is_in(texts, value_set=pa.array(reading.na_values, type=texts.type))
    if column.categories is not None:
        codes = text_codes(texts, column.categories)
        codes[np.asarray(absent) & (codes < 0)] = np.nan
        return codes
    valid = pc.and_(pc.match_substring_regex(texts, pattern(reading)), pc.invert(absent))
    texts = pc.if_else(valid, texts, pa.scalar(None, texts.type))
    if reading.thousands is not None:
        texts = pc.replace_substring(texts, reading.thousands, "")
    if reading.decimal != ".":
        texts = pc.replace_substring(texts, reading.decimal, ".")
    numbers: FloatArray = texts.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return numbers


def pattern(reading: Reading) -> str:
    """What a number looks like: all that matches is readable as a double, so the cast never fails."""
    mark = re.escape(reading.decimal)
    group = re.escape(reading.thousands) if reading.thousands else ""
    digits = f"[0-9][0-9{group}]*"
    return f"^[+-]?((({digits})({mark}[0-9]*)?|{mark}[0-9]+)([eE][+-]?[0-9]+)?|(?i:inf|infinity))$"
