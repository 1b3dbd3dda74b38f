"""From a schema to the public geometry of encoded rows: features, centre, scale, radius, grid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ParameterError, SchemaError
from ..core.facts import Grid
from ..core.schema import Column, Schema
from . import special
from .free import LIMIT, Free
from .memory import read_all
from .quantise import PIECE, Quantiser

FloatArray = NDArray[np.float64]

MAX_BITS = 20
DOMINANT = 0.9
FAR = 1e-120
"""Scales lie between this and its inverse, so that squares, noise and inverses of them stay doubles."""

OTHER = "(other)"
"""The group of all rows whose value is not listed."""

WAYS_OUT = (
    "bounds are missing for {columns}. They are never read from the table. Three ways out: "
    "(1) give bounds from domain knowledge; (2) take them from public data of the same kind; "
    "(3) make a paid, recorded private estimate of the scale and give it as row_norm. Components "
    '(PrivatePCA, method="spherical_kendall" or "spatial_sign") and eigenvalues (PrivateScree) need none'
)


@dataclass(frozen=True)
class Encoder:
    """How rows become vectors, from public facts alone. Made by ``Encoder.build``.

    Attributes
    ----------
    schema : Schema
    features : tuple of str, length d
        Encoded names, such as "age", "age_missing", "sector=public".
    centre, scale : tuple of float, length d
        Data units; an encoded value is (x - centre) / scale.
    lower, upper : tuple of float, length d
        The box in data units, infinite where there are no bounds.
    missing : tuple of float, length d
        Data units; the value of a missing cell.
    radius : float
        B, the L2 norm that no encoded row exceeds after clipping; infinite without bounds.
    groups : str or None
        A category column that tells the group of a row and is none of its features.
    """

    schema: Schema
    features: tuple[str, ...]
    centre: tuple[float, ...]
    scale: tuple[float, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    missing: tuple[float, ...]
    radius: float
    groups: str | None = None

    @classmethod
    def build(
        cls,
        schema: Schema,
        *,
        origin: Any = "bounds",
        scaling: str = "none",
        row_norm: float | None = None,
        clip: float | None = None,
        open_ended: bool = False,
        groups: str | None = None,
    ) -> Encoder:
        """Derive the geometry.

        Parameters
        ----------
        schema : Schema
        origin : "bounds", "zero" or vector
            Where rows are measured from: the middle of the bounds (0 without bounds and for categories),
            the data's zero, or a public vector in data units (d features, or one entry a column if no
            column has several features).
        scaling : {"none", "bounds"}
            "bounds" divides a number by the half-range of its bounds (1 for a constant column).
        row_norm, clip : float or None
            Public bounds on the norm of an encoded row about the origin; the smallest bound holds.
        open_ended : bool
            Let columns go without bounds: the radius is then infinite, and only methods that need
            no bound take such rows.
        groups : str or None
            Name of a category column that is read and not encoded.

        Raises
        ------
        SchemaError, ParameterError
            Without bounds and row_norm (the text names the three ways out), or if a parameter is out of
            its domain. No error depends on data.
        """
        if scaling not in ("none", "bounds"):
            raise ParameterError('scaling must be "none" or "bounds" to encode rows')
        read, schema = schema, _without(schema, groups)
        limits = [_positive(row_norm, "row_norm"), _positive(clip, "clip")]
        open_columns = [c.name for c in schema.columns if c.kind == "number" and c.bounds is None]
        if open_columns and row_norm is None and not open_ended:
            raise SchemaError(WAYS_OUT.format(columns=_listed(open_columns)))
        if open_columns and scaling == "bounds":
            raise SchemaError(f'scaling="bounds" needs bounds for {_listed(open_columns)}')

        features = tuple(name for column in schema.columns for name in column.features)
        edges = np.array([edge for column in schema.columns for edge in _box(column)])
        lower, upper = edges[:, 0], edges[:, 1]
        numbers = np.array([c.kind == "number" and not i for c in schema.columns for i in _places(c)])
        bounded = np.isfinite(lower)
        ends = np.where(bounded, edges.T, 0.0)
        middle = np.where(numbers, ends[0] / 2 + ends[1] / 2, 0.0)
        centre = _origin(origin, middle, schema)
        half = ends[1] / 2 - ends[0] / 2
        scale = np.where(numbers & (half > 0), half, 1.0) if scaling == "bounds" else np.ones(len(features))
        missing = np.where(numbers & ~bounded, centre, middle)
        box = math.hypot(*[reach for _, reach in _reaches(schema, centre, scale)])
        radius = min([box, *(limit for limit in limits if limit is not None)])
        free = bool(open_columns) and row_norm is None and clip is None
        if (math.isinf(radius) and not free) or math.isnan(radius):
            raise SchemaError("bounds are too wide: the norm of a row would not be finite; rescale the data")
        radius = radius or 1.0  # every column is constant: all rows encode to zero on any grid
        sizes = np.array([*([] if free else [radius]), *scale, *(scale * min(radius, 1 / FAR))])
        if not np.all((sizes >= FAR) & (sizes <= 1 / FAR)):
            raise SchemaError("bounds or row_norm are out of the range of doubles; rescale the data")
        return cls(
            schema=read,
            features=features,
            centre=tuple(centre.tolist()),
            scale=tuple(scale.tolist()),
            lower=tuple(lower.tolist()),
            upper=tuple(upper.tolist()),
            missing=tuple(missing.tolist()),
            radius=radius,
            groups=groups,
        )

    @property
    def d(self) -> int:
        """Number of encoded features."""
        return len(self.features)

    def dominant_column(self) -> str | None:
        """The column that carries over 90 % of B**2 by its bounds, if there is one and d > 1."""
        schema = _without(self.schema, self.groups)
        reaches = _reaches(schema, np.array(self.centre), np.array(self.scale))
        box = math.hypot(*[reach for _, reach in reaches])
        if len(reaches) < 2 or not 0 < box < math.inf:
            return None
        return next((name for name, reach in reaches if (reach / box) ** 2 > DOMINANT), None)

    def bits_for(self, rows: int | None) -> int:
        """Bits q of the grid for a public number of rows or capacity (None: no public number).

        q = min(20, floor((62 - ceil(log2 rows)) / 2)) keeps sums in int64; refused when sqrt(d) >= 2**(q-1).
        """
        bits = MAX_BITS
        if rows is not None and rows > 1:
            bits = min(MAX_BITS, (62 - (rows - 1).bit_length()) // 2)
        if bits < 1 or self.d >= 4 ** (bits - 1):
            raise SchemaError(
                "the integer grid is too coarse for this many encoded features and rows: "
                "release fewer columns or declare fewer rows"
            )
        return bits

    def grid(self, bits: int) -> Grid:
        """The public grid of 2**bits levels."""
        return Grid(bits, self.radius, self.centre, self.scale)

    def quantiser(self, bits: int, piece: int = PIECE, encoded: bool = False) -> Quantiser | Free:
        """The map from rows in data units to integer rows, one per thread; without a bound or if ``encoded``
        to doubles, which are in the box and not clipped to the ball."""
        centre, scale, lower, upper, missing = map(
            np.array, (self.centre, self.scale, self.lower, self.upper, self.missing)
        )
        if encoded or math.isinf(self.radius):
            return Free(centre, scale, lower, upper, missing, piece)
        return Quantiser(bits, centre, 2.0**bits / (scale * self.radius), lower, upper, missing, piece)

    def expand(self, cells: NDArray[Any]) -> NDArray[Any]:
        """Cells (n, columns) with codes for categories -> features (n, d) in data units.

        Missing numbers stay NaN. Returns ``cells`` itself if every column is one feature.
        """
        if self.plain:
            return cells
        out: FloatArray = np.zeros((len(cells), self.d))
        place = 0
        for i, column in enumerate(self.schema.columns):
            if column.name == self.groups:
                continue
            values = np.asarray(cells[:, i], dtype=np.float64)
            if column.categories is None:
                out[:, place] = values
            else:
                out[:, place : place + len(column.categories)] = values[:, None] == np.arange(
                    len(column.categories)
                )
            place += len(column.features)
            if column.missing == "indicator":
                out[:, place - 1] = np.isnan(values)
        return out

    def codes(self, cells: NDArray[Any]) -> FloatArray:
        """Place of each row's group in ``levels`` (n,), from cells (n, columns); 0 without groups."""
        if self.groups is None:
            return np.zeros(len(cells))
        codes = np.asarray(cells[:, self.schema.names.index(self.groups)], dtype=np.float64)
        return np.where(codes >= 0, codes, len(self.levels) - 1.0)  # missing or not listed

    @property
    def levels(self) -> tuple[str, ...]:
        """Names of the groups: the listed values, then OTHER; empty without groups."""
        column = next((column for column in self.schema.columns if column.name == self.groups), None)
        return () if column is None else (*(column.categories or ()), OTHER)

    @property
    def plain(self) -> bool:
        """True if every column is one number feature, so cells are features as they are."""
        return all(c.kind == "number" and c.missing == "center" for c in self.schema.columns)

    def transform(self, data: Any) -> FloatArray:
        """Rows of in-memory ``data`` as features (n, d) in data units: record-level, not private.

        Special values become their public values (infinities the bounds, or row_norm about the centre
        without bounds); finite cells are not clipped.
        """
        with np.errstate(all="ignore"):  # no warning may depend on a cell
            features = np.array(self.expand(read_all(data, self.schema)), dtype=np.float64, order="C")
        centre, reach = np.array(self.centre), np.array(self.scale) * min(self.radius, LIMIT)
        lower, upper = np.array(self.lower), np.array(self.upper)
        special.fill(features, np.array(self.missing))
        special.clamp_infinities(
            features,
            np.where(np.isinf(lower), centre - reach, lower),
            np.where(np.isinf(upper), centre + reach, upper),
        )
        return features


def _without(schema: Schema, groups: str | None) -> Schema:
    """The schema of what is encoded."""
    if groups is None:
        return schema
    kinds = {column.name: column.kind for column in schema.columns}
    if kinds.get(groups) != "category":
        raise SchemaError(f'groups: the schema has no column {groups!r} of kind = "category"')
    if len(kinds) == 1:
        raise SchemaError(f"groups: the schema has no other column than {groups!r}")
    return schema.select([name for name in schema.names if name != groups])


def _positive(value: Any, name: str) -> float | None:
    if value is None:
        return None
    try:
        number = math.nan if isinstance(value, (bool, str)) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not (number > 0 and math.isfinite(number)):
        raise ParameterError(f"{name} must be a positive, finite number")
    return number


def _listed(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:8]))
    return f"columns {shown}" + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def _places(column: Column) -> range:
    return range(len(column.features))


def _box(column: Column) -> list[tuple[float, float]]:
    """Bounds of each feature of a column, data units."""
    if column.kind == "category":
        return [(0.0, 1.0)] * len(column.features)
    bounds = column.bounds or (-math.inf, math.inf)
    return [bounds, *[(0.0, 1.0)] * (len(column.features) - 1)]


def _origin(origin: Any, middle: FloatArray, schema: Schema) -> FloatArray:
    if isinstance(origin, str):
        if origin not in ("bounds", "zero"):
            raise ParameterError('origin must be "bounds", "zero" or a public vector')
        return middle if origin == "bounds" else np.zeros(len(middle))
    try:
        vector = np.array(origin, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError("center: a public vector must hold numbers") from None
    if vector.shape != middle.shape:
        raise ParameterError(
            "center: a public vector needs one entry per encoded feature"
            if len(middle) != len(schema.columns)
            else "center: a public vector needs one entry per column"
        )
    if not np.all(np.isfinite(vector)):
        raise ParameterError("center: a public vector must be finite")
    return vector + 0.0


def _reaches(schema: Schema, centre: FloatArray, scale: FloatArray) -> list[tuple[str, float]]:
    """Largest encoded distance from the centre that each column's box allows.

    A one-hot block holds at most one 1, so its largest is over the all-zero row and the unit vectors.
    """
    reaches, place, centres, scales = [], 0, centre.tolist(), scale.tolist()
    for column in schema.columns:
        here = slice(place, place + len(column.features))
        if column.kind == "category":
            c, s = centre[here], scale[here]
            corners = np.vstack([np.zeros(len(c)), np.eye(len(c))])
            reach = max(math.hypot(*corner) for corner in ((corners - c) / s).tolist())
        else:
            sides = zip(_box(column), centres[here], scales[here], strict=True)
            reach = math.hypot(*(max(abs(lo - at), abs(hi - at)) / by for (lo, hi), at, by in sides))
        reaches.append((column.name, reach))
        place = here.stop
    return reaches
