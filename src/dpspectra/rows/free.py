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

    def difference(self, both: FloatArray, out: FloatArray) -> None:
        """Write the encoded differences of the rows of the first and of the second half of ``both`` (2 m, d),
        in data units, to ``out`` (m, d). Each depends on its own two rows alone; ``both`` is overwritten."""
        left, right = both[: len(out)], both[len(out) :]
        if not self._cancels:
            self(both, both)
            np.subtract(left, right, out=out)
            return
        np.subtract(left, right, out=out)
        if both.min() >= -SHORT and both.max() <= SHORT:  # a missing cell fails every comparison
            return
        largest = np.maximum(np.abs(left).max(axis=1), np.abs(right).max(axis=1))
        odd = np.flatnonzero(~(largest <= SHORT))
        rows = np.concatenate((left[odd], right[odd]))
        self(rows, rows)
        out[odd] = rows[: len(odd)] - rows[len(odd) :]

    def _piece(self, data: NDArray[Any], out: FloatArray) -> None:
        np.copyto(out, data, casting="unsafe")
        out -= self._centre
        out /= self._scale
        np.maximum(out, self._low, out=out)
        np.minimum(out, self._high, out=out)
        if np.isnan(out.sum()):  # of finite cells only a missing one makes a sum NaN
            np.copyto(out, self._missing, where=np.isnan(out))
