"""The public description of a table: columns, kinds, bounds, categories, and how its text is read.

Nothing here is ever learnt from cells. A schema comes from domain knowledge or public data, is written
to a TOML file, and may be shared.
"""

from __future__ import annotations

import codecs
import math
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from .errors import ParameterError, SchemaError

Kind = Literal["number", "category"]
Missing = Literal["center", "indicator"]

FILL_IN = (
    "fill in [lo, hi] from domain knowledge or public data (never from this table), "
    "or remove the column from the schema: a column left out is not read"
)

_PROBE = b"\xff\xfe\0\0" + bytes(range(256))
"""Byte-order marks, then every byte: a codec that replaces what it cannot decode takes it."""


def _is_text(value: Any) -> bool:
    """True for a string that UTF-8 can write: half a surrogate pair could be neither matched nor saved."""
    return isinstance(value, str) and not any("\ud800" <= mark <= "\udfff" for mark in value)


@dataclass(frozen=True)
class Reading:
    """How the text of a CSV file is read; all of it is public.

    Parameters
    ----------
    delimiter, quote : str
        One ASCII character each.
    decimal : str
        The decimal mark, "." or ",".
    thousands : str or None
        A separator that is removed from numbers; None: a number with one is not a number.
    na_values : sequence of str
        Cells that mean "missing". A cell that is not a number is missing in any case.
    encoding : str
        A Python codec name; bytes that it cannot decode are replaced, never an error.
    """

    delimiter: str = ","
    decimal: str = "."
    thousands: str | None = None
    na_values: tuple[str, ...] = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", "-")
    encoding: str = "utf-8"
    quote: str = '"'

    def __post_init__(self) -> None:
        for name in ("delimiter", "quote"):
            value = getattr(self, name)
            if not (isinstance(value, str) and len(value) == 1 and value.isascii() and value not in "\0\r\n"):
                raise SchemaError(f"[reading] {name} must be one ASCII character")
        if self.delimiter == self.quote:
            raise SchemaError("[reading] delimiter and quote must differ")
        if self.decimal not in (".", ","):
            raise SchemaError('[reading] decimal must be "." or ","')
        if self.thousands is not None:
            mark = self.thousands
            if not isinstance(mark, str) or len(mark) != 1 or mark.isalnum() or mark in "+-\r\n":
                raise SchemaError("[reading] thousands must be one character that no number needs")
            if self.thousands == self.decimal:
                raise SchemaError("[reading] thousands and decimal must differ")
        listed = isinstance(self.na_values, Iterable) and not isinstance(self.na_values, str)
        if not listed or not all(_is_text(value) for value in self.na_values):
            raise SchemaError("[reading] na_values must be a list of strings")
        object.__setattr__(self, "na_values", tuple(self.na_values))
        try:
            text = codecs.getincrementaldecoder(self.encoding)(errors="replace").decode(_PROBE)
        except Exception:  # a codec may raise anything if it is not one of text
            text = None
        if not isinstance(text, str):
            raise SchemaError("[reading] encoding is not a known codec name of a text encoding")


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Parameters
    ----------
    name : str
    kind : {"number", "category"}
    bounds : (lo, hi) or None
        Public bounds of a number, lo <= hi, finite. lo == hi declares a constant column: its rows all
        encode to the same value. None is for use with a row norm only.
    categories : sequence of str or int, or None
        The listed values of a category (kept as text); any other value encodes to all zeros.
    missing : {"center", "indicator"}
        Missing cells become a fixed public value; "indicator" adds a 0/1 feature that marks them.
    """

    name: str
    kind: Kind = "number"
    bounds: tuple[float, float] | None = None
    categories: tuple[str, ...] | None = None
    missing: Missing = "center"

    def __post_init__(self) -> None:
        if not _is_text(self.name) or not self.name:
            raise SchemaError("a column needs a name: a non-empty string")
        if self.kind not in ("number", "category"):
            raise SchemaError(f'column {self.name!r}: kind must be "number" or "category"')
        if self.missing not in ("center", "indicator"):
            raise SchemaError(f'column {self.name!r}: missing must be "center" or "indicator"')
        if self.kind == "number":
            if self.categories is not None:
                raise SchemaError(f'column {self.name!r}: categories need kind = "category"')
            if self.bounds is not None:
                object.__setattr__(self, "bounds", _bounds(self.name, self.bounds))
        else:
            if self.bounds is not None:
                raise SchemaError(f'column {self.name!r}: bounds need kind = "number"')
            object.__setattr__(self, "categories", _categories(self.name, self.categories))

    def to_dict(self) -> dict[str, Any]:
        """JSON values, for the card of a release; ``Column(**values)`` reads them back."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

    @property
    def features(self) -> tuple[str, ...]:
        """Names of its encoded features."""
        marks = (f"{self.name}_missing",) if self.missing == "indicator" else ()
        if self.categories is None:
            return (self.name, *marks)
        return tuple(f"{self.name}={value}" for value in self.categories) + marks


def _bounds(name: str, bounds: Any) -> tuple[float, float]:
    if isinstance(bounds, str) or not isinstance(bounds, Iterable):
        raise SchemaError(f"column {name!r}: bounds must be [lo, hi]")
    pair = list(bounds)
    if not pair:
        raise SchemaError(f"column {name!r}: bounds are empty: {FILL_IN}")
    if len(pair) != 2:
        raise SchemaError(f"column {name!r}: bounds must be [lo, hi]")
    try:
        lo, hi = (float(value) for value in pair)
    except (TypeError, ValueError, OverflowError):
        raise SchemaError(f"column {name!r}: bounds must be two numbers") from None
    if any(isinstance(value, (str, bool)) for value in pair):
        raise SchemaError(f"column {name!r}: bounds must be two numbers")
    if not math.isfinite(lo) or not math.isfinite(hi) or not math.isfinite(hi - lo):
        raise SchemaError(f"column {name!r}: bounds and their difference must be finite")
    if lo > hi:
        raise SchemaError(f"column {name!r}: bounds must be in order, lo <= hi")
    return lo + 0.0, hi + 0.0  # -0.0 becomes 0.0


def _categories(name: str, categories: Any) -> tuple[str, ...]:
    if categories is None or isinstance(categories, str) or not isinstance(categories, Iterable):
        raise SchemaError(f"column {name!r}: a category needs categories, a list of its public values")
    listed = list(categories)
    if not listed:
        raise SchemaError(f"column {name!r}: categories are empty: list its public values, or remove it")
    if any(isinstance(value, bool) or not (_is_text(value) or isinstance(value, int)) for value in listed):
        raise SchemaError(f"column {name!r}: categories must be strings or integers")
    texts = tuple(str(value).strip() for value in listed)
    if len(set(texts)) != len(texts):
        raise SchemaError(f"column {name!r}: categories repeat a value")
    return texts


@dataclass(frozen=True)
class Schema:
    """A table's public description.

    Parameters
    ----------
    columns : sequence of Column
        In the order of the encoded features; at least one, names all different.
    label : str
        The table's name in a ledger.
    unit : str
        What one row stands for in the guarantee.
    rows : int or None
        Public number of rows (replace-one adjacency), checked for whole tables.
    rows_max : int or None
        Public capacity under add/remove adjacency, where the number of rows is private.
    reading : Reading
        How CSV text is read.

    Raises
    ------
    SchemaError
        Names the column and the field.
    """

    columns: tuple[Column, ...]
    label: str = "table"
    unit: str = "row"
    rows: int | None = None
    rows_max: int | None = None
    reading: Reading = field(default_factory=Reading)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        if not self.columns:
            raise SchemaError("a schema needs at least one column")
        repeated = sorted(name for name, times in Counter(self.names).items() if times > 1)
        if repeated:
            raise SchemaError(f"column names repeat: {', '.join(map(repr, repeated))}")
        features = [name for column in self.columns for name in column.features]
        if len(set(features)) != len(features):
            raise SchemaError("two columns encode to one feature name: rename a column or a category")
        for name in ("label", "unit"):
            if not _is_text(getattr(self, name)) or not getattr(self, name):
                raise SchemaError(f"[table] {name} must be a non-empty string")
        for name in ("rows", "rows_max"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise SchemaError(f"[table] {name} must be a positive integer")

    @property
    def names(self) -> tuple[str, ...]:
        """Column names, in order."""
        return tuple(column.name for column in self.columns)

    def select(self, names: Sequence[str]) -> Schema:
        """The same schema with these columns only, in this order."""
        by_name = {column.name: column for column in self.columns}
        unknown = [name for name in names if name not in by_name]
        if unknown:
            raise SchemaError(f"columns not in the schema: {', '.join(map(repr, unknown))}")
        return replace(self, columns=tuple(by_name[name] for name in names))

    @classmethod
    def from_bounds(cls, bounds: Any, names: Sequence[str] | int, **table: Any) -> Schema:
        """A schema of number columns.

        Parameters
        ----------
        bounds : (lo, hi), {column: (lo, hi)} or None
            lo and hi are scalars for all columns, or vectors with one entry a column. A dict gives
            each column its own pair and must name all of them. None: no bounds, for row_norm only.
        names : sequence of str, or int
            Column names, or their number d (then "x0", "x1", ...).
        **table
            Other fields of ``Schema``.
        """
        named = tuple(f"x{i}" for i in range(names)) if isinstance(names, int) else tuple(names)
        if bounds is None:
            return cls(tuple(Column(name) for name in named), **table)
        if isinstance(bounds, Mapping):
            absent = [name for name in named if name not in bounds]
            unknown = [str(name) for name in bounds if name not in named]
            if absent:
                raise SchemaError(f"bounds name no pair for columns {', '.join(map(repr, absent))}")
            if unknown:
                raise SchemaError(f"bounds name unknown columns {', '.join(map(repr, unknown))}")
            return cls(tuple(Column(name, bounds=bounds[name]) for name in named), **table)
        if isinstance(bounds, str) or not isinstance(bounds, Iterable) or len(sides := list(bounds)) != 2:
            raise ParameterError("bounds must be (lo, hi) with scalars or vectors, or {column: (lo, hi)}")
        lower, upper = (_side(side, len(named)) for side in sides)
        pairs = zip(named, lower, upper, strict=True)
        return cls(tuple(Column(name, bounds=(lo, hi)) for name, lo, hi in pairs), **table)

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Schema:
        """Read a schema file (TOML); SchemaError names what does not fit."""
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            raise SchemaError(f"schema file {str(path)!r} cannot be read: no such file") from None
        except (OSError, UnicodeDecodeError):
            raise SchemaError(f"schema file {str(path)!r} cannot be read as UTF-8 text") from None
        return cls.from_toml(text)

    @classmethod
    def from_toml(cls, text: str) -> Schema:
        """Read the text of a schema file."""
        try:
            data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise SchemaError(f"schema file is not valid TOML: {error}") from None
        _known(data, ("table", "columns", "reading"), "the schema file")
        for section in data:
            if not isinstance(data[section], dict):
                raise SchemaError(f"[{section}] must be a TOML table")
        table, reading = data.get("table", {}), data.get("reading", {})
        _known(table, ("label", "unit", "rows", "rows_max"), "[table]")
        _known(reading, tuple(item.name for item in fields(Reading)), "[reading]")
        columns = []
        for name, entry in data.get("columns", {}).items():
            if not isinstance(entry, dict):
                raise SchemaError(f"column {name!r}: write it as [columns.{name}] with kind and bounds")
            _known(entry, ("kind", "bounds", "categories", "missing"), f"column {name!r}")
            columns.append(Column(name, **entry))
        return cls(tuple(columns), reading=Reading(**reading), **table)

    def to_toml(self) -> str:
        """The text of a schema file; ``from_toml`` reads it back to an equal schema."""
        table = {"label": self.label, "unit": self.unit, "rows": self.rows, "rows_max": self.rows_max}
        parts = ["[table]\n" + _lines(table)]
        for column in self.columns:
            entry = {item.name: getattr(column, item.name) for item in fields(Column)[1:]}
            if column.missing == "center":
                del entry["missing"]
            parts.append(f"[columns.{toml(column.name)}]\n" + _lines(entry))
        if self.reading != Reading():
            entry = {item.name: getattr(self.reading, item.name) for item in fields(Reading)}
            parts.append("[reading]\n" + _lines(entry))
        return "\n".join(parts)

    def write(self, path: str | PathLike[str]) -> None:
        """Write the schema file."""
        Path(path).write_text(self.to_toml(), encoding="utf-8")


def _side(side: Any, d: int) -> list[Any]:
    if isinstance(side, Iterable) and not isinstance(side, str):
        entries = list(side)
        if len(entries) != d:
            raise ParameterError("bounds: a vector of lower or upper bounds needs one entry per column")
        return entries
    return [side] * d


def _known(data: Mapping[str, Any], names: Sequence[str], where: str) -> None:
    unknown = [key for key in data if key not in names]
    if unknown:
        raise SchemaError(
            f"{where}: unknown keys {', '.join(map(repr, unknown))}; known are {', '.join(names)}"
        )


def _lines(entries: Mapping[str, Any]) -> str:
    return "".join(f"{key} = {toml(value)}\n" for key, value in entries.items() if value is not None)


def toml(value: Any) -> str:
    """A string, number or flat sequence of them as a TOML value (strings always quoted)."""
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return '"' + "".join(c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}" for c in escaped) + '"'
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(map(toml, value)) + "]"
    return repr(value)
