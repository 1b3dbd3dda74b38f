"""From data units to the integer grid: k = floor((x - c) * 2**q / (s B) + 1/2), then the box, then the ball.

The box is that of the whole points inside the bounds, so that corners of the box are in the ball as well.
Works through pieces that stay in the cache, with every step in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .clip import settle, squared_norms

FloatArray = NDArray[np.float64]

PIECE = 1 << 15
"""Numbers in a piece (256 KiB): fits a core's second-level cache together with its output."""

SHARED_PIECE = 1 << 17
"""Numbers in a piece where threads share the interpreter: handing it over then costs little."""

LANE = 1 << 12
"""Narrow rows are laid side by side past this many numbers, half of a ufunc's buffer: a vector that two of
them would share is copied to that buffer each time, at the cost of one more pass."""


class Map(Protocol):
    """A public integer map of a piece of rows; may work in place."""

    def __call__(self, block: FloatArray, /) -> FloatArray: ...


class Quantiser:
    """Puts rows (n, d) in data units on the grid of 2**bits levels. All its vectors (d,) are public.

    Parameters
    ----------
    bits : int
    centre, factor : ndarray (d,)
        Data units; factor = 2**bits / (scale * radius).
    lower, upper, missing : ndarray (d,)
        Data units; the box (infinite where there are no bounds) and the value of missing cells.
    piece : int
        Numbers to work on at a time; any value gives the same integers.
    """

    def __init__(
        self,
        bits: int,
        centre: FloatArray,
        factor: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
        missing: FloatArray,
        piece: int = PIECE,
    ) -> None:
        d = len(centre)
        self.bits = bits
        self.lanes = LANE // d + 1
        self.rows = -(-piece // (self.lanes * d)) * self.lanes
        with np.errstate(all="ignore"):
            start = centre - 0.5 / factor  # floor((x - c) f + 1/2) = floor((x - start) f), one pass less
            low, high = np.ceil((lower - centre) * factor), np.floor((upper - centre) * factor)
            self._missing = np.floor((missing - start) * factor)
        self._tiled = tuple(np.tile(vector, self.lanes) for vector in (start, factor, low, high))
        self._open = bool(np.isinf(low).all() and np.isinf(high).all())
        # Whole points of a box that lies in the ball are in the ball: no norm is needed to know it.
        self._boxed = float(np.maximum(low**2, high**2).sum()) * (1 + d * 2.0**-52) <= 4.0**bits
        # If all columns have one box, the least and the greatest number of a piece tell if it is inside.
        cube = self._boxed and bool((low == low[0]).all() and (high == high[0]).all())
        self._cube = (low[0], high[0]) if cube else None

    def __call__(self, data: NDArray[Any], out: FloatArray, row_map: Map | None = None) -> None:
        """Write the integer rows of ``data`` (n, d), any real dtype, to ``out`` (n, d), C order.

        A ``row_map`` is applied to clipped rows, and the ball clip once more after it.
        """
        pieces = [slice(start, start + self.rows) for start in range(0, len(out), self.rows)]
        with np.errstate(all="ignore"):  # no warning may depend on a cell
            for piece in pieces:
                self._elementwise(data[piece], out[piece])
                if not self._cubed(out[piece]):
                    self._settle(out[piece])
            if row_map is not None:
                mapped = row_map(out)
                if mapped is not out:
                    np.copyto(out, mapped)
                for piece in pieces:
                    settle(out[piece], squared_norms(out[piece], self.bits), self.bits, self._missing)

    def _elementwise(self, data: NDArray[Any], out: FloatArray) -> None:
        """All but the box, missing cells and the ball. The centre goes first, so far data lose nothing."""
        if data.dtype != np.float64 or not data.flags.c_contiguous:
            np.copyto(out, data, casting="unsafe")
            data = out
        parts = zip(self._wide(data), self._wide(out), self._vectors(out), strict=True)
        for cells, wide, (start, factor, _, _) in parts:
            np.subtract(cells, start, out=wide)
            np.multiply(wide, factor, out=wide)
            np.floor(wide, out=wide)

    def _cubed(self, out: FloatArray) -> bool:
        """True if all are known to be numbers in the box, and so in the ball; a NaN fails."""
        return self._cube is not None and bool(self._cube[0] <= out.min() and out.max() <= self._cube[1])

    def _settle(self, out: FloatArray) -> None:
        """The box (NaN stays NaN), missing cells and the ball."""
        if not self._open:
            for wide, (_, _, low, high) in zip(self._wide(out), self._vectors(out), strict=True):
                np.maximum(wide, low, out=wide)
                np.minimum(wide, high, out=wide)
        # Of rows known to lie in the ball only missing cells must be found, and a plain sum shows them.
        norms = out @ np.ones(out.shape[1]) if self._boxed else squared_norms(out, self.bits)
        settle(out, norms, self.bits, self._missing)

    def _wide(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Rows laid side by side, and the few that are left over in one line."""
        whole = len(rows) - len(rows) % self.lanes
        return rows[:whole].reshape(-1, self.lanes * rows.shape[1]), rows[whole:].reshape(-1)

    def _vectors(self, rows: FloatArray) -> tuple[Sequence[FloatArray], Sequence[FloatArray]]:
        """The public vectors in the shape of both parts."""
        rest = (len(rows) % self.lanes) * rows.shape[1]
        return self._tiled, [vector[:rest] for vector in self._tiled]
