"""Rows without a public bound: encoded doubles, finite whatever the cells are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .quantise import Map

FloatArray = NDArray[np.float64]

LIMIT = 2.0**500
"""Largest size of an encoded cell: squares of differences are finite, up to 2^20 columns."""

SHORT = LIMIT / 4
"""Cells up to this size are encoded without being clipped, wherever the centre lies up to it."""


class Free:
    """Encodes rows (n, d) in data units as (x - centre)/scale. All its vectors (d,) are public.

    Columns with bounds are clipped to them, others to ``LIMIT``; missing cells become ``missing``.
    """

    def __init__(
        self,
        centre: FloatArray,
        scale: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
        missing: FloatArray,
        piece: int,
    ) -> None:
        self._centre, self._scale = centre, scale
        self._low = np.maximum((lower - centre) / scale, -LIMIT)
        self._high = np.minimum((upper - centre) / scale, LIMIT)
        self._missing = (missing - centre) / scale
        # Rows that are not scaled, nor clipped this side of SHORT: in differences the centre cancels.
        wide = min(self._high.min(), -self._low.max()) >= 2 * SHORT and np.abs(centre).max() <= SHORT
        self._cancels = bool(wide and (scale == 1).all())
        self.rows = max(1, piece // len(centre))

    def __call__(self, data: NDArray[Any], out: FloatArray, row_map: Map | None = None) -> None:
        """Write the encoded rows of ``data`` (n, d), any real dtype, to ``out`` (n, d), C order."""
        with np.errstate(all="ignore"):  # no warning may depend on a cell
            for start in range(0, len(out), self.rows):
                here = slice(start, start + self.rows)
                self._piece(data[here], out[here])
            if row_map is not None:
                mapped = row_map(out)
                if mapped is not out:
                    np.copyto(out, mapped)

    def difference(self, left: FloatArray, right: FloatArray, out: FloatArray) -> None:
        """Write the differences of the rows of two arrays in data units, encoded; each depends on its own
        two rows alone. Overwrites ``left`` and ``right``."""
        if not self._cancels:
            self(left, left)
            self(right, right)
            np.subtract(left, right, out=out)
            return
        np.subtract(left, right, out=out)
        # A missing cell fails every comparison.
        if all(side.min() >= -SHORT and side.max() <= SHORT for side in (left, right)):
            return
        largest = np.maximum(np.abs(left).max(axis=1), np.abs(right).max(axis=1))
        odd = np.flatnonzero(~(largest <= SHORT))
        sides = left[odd], right[odd]
        for side in sides:
            self(side, side)
        out[odd] = sides[0] - sides[1]

    def _piece(self, data: NDArray[Any], out: FloatArray) -> None:
        np.copyto(out, data, casting="unsafe")
        out -= self._centre
        out /= self._scale
        np.maximum(out, self._low, out=out)
        np.minimum(out, self._high, out=out)
        if np.isnan(out.sum()):  # of finite cells only a missing one makes a sum NaN
            np.copyto(out, self._missing, where=np.isnan(out))
