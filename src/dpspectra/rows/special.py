"""Cells that are not plain numbers: NaN, null, infinities, text. None of them ever raises."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

UNLISTED = -1.0
"""Code of a category value that the schema does not list (NaN is the code of a missing one)."""


def number(cell: Any) -> float:
    """A cell of an object array as a double; whatever is not a number is missing (NaN)."""
    if isinstance(cell, (complex, np.complexfloating, np.ndarray)):
        return math.nan  # NumPy would warn, and no warning may depend on a cell
    try:
        return float(cell)
    except OverflowError:  # an int beyond the doubles: it will be clamped like an infinity
        return math.inf if cell > 0 else -math.inf
    except Exception:  # a cell's own conversion may raise anything; the cell is missing, no more
        return math.nan


def numbers(cells: NDArray[Any]) -> FloatArray:
    """Coerce an object array cell by cell, same shape."""
    flat = np.fromiter((number(cell) for cell in cells.flat), dtype=np.float64, count=cells.size)
    return flat.reshape(cells.shape)


def listed_numbers(categories: Sequence[str]) -> FloatArray:
    """The listed values as numbers, for numeric and boolean columns; NaN where a value is a word."""
    words = {"true": 1.0, "false": 0.0}
    return np.array([words.get(value.lower(), number(value)) for value in categories], dtype=np.float64)


def number_codes(values: NDArray[Any], categories: Sequence[str]) -> FloatArray:
    """Position of each number in the listed values; UNLISTED if absent, NaN if missing."""
    codes = np.full(values.shape, UNLISTED)
    for code, listed in enumerate(listed_numbers(categories)):
        codes[values == listed] = code
    codes[np.isnan(values)] = np.nan
    return codes


def object_codes(cells: NDArray[Any], categories: Sequence[str]) -> FloatArray:
    """The same for Python objects: strings by their stripped text, numbers by value."""
    by_text = {value: float(code) for code, value in enumerate(categories)}
    by_number = {
        value: float(code) for code, value in enumerate(listed_numbers(categories)) if not math.isnan(value)
    }

    def code(cell: Any) -> float:
        if isinstance(cell, str):
            return by_text.get(cell.strip(), UNLISTED)
        value = number(cell)
        return math.nan if math.isnan(value) else by_number.get(value, UNLISTED)

    return np.fromiter((code(cell) for cell in cells.flat), dtype=np.float64, count=cells.size)


def fill(block: FloatArray, missing: FloatArray) -> None:
    """Put the public value of each feature, ``missing`` (d,), where ``block`` (n, d) is NaN, in place."""
    np.copyto(block, missing, where=np.isnan(block))


def clamp_infinities(block: FloatArray, lower: FloatArray, upper: FloatArray) -> None:
    """Put ``lower``/``upper`` (d,) in place of -inf/+inf; finite cells stay as they are."""
    np.copyto(block, lower, where=np.isneginf(block))
    np.copyto(block, upper, where=np.isposinf(block))
