"""From data units to the integer grid: k = floor((x - c) * 2**q / (s B) + 1/2), then the box, then the ball.

The box is that of the whole points inside the bounds, so that corners of the box are in the ball as well.
Works through pieces that stay in the cache, with every step in place.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .clip import settle, squared_norms

FloatArray = NDArray[np.float64]

PIECE = 1 << 15
"""Numbers in a piece (256 KiB): fits a core's second-level cache together with its output."""

SHARED_PIECE = 1 << 18
"""Numbers in a piece where threads share the interpreter: handing it over then costs little."""

LANE = 1024
"""Narrow rows are laid side by side up to this many numbers, so that inner loops are long."""


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
        self.lanes = max(1, LANE // d)
        self.rows = max(1, piece // (self.lanes * d)) * self.lanes
        with np.errstate(all="ignore"):
            start = centre - 0.5 / factor  # floor((x - c) f + 1/2) = floor((x - start) f), one pass less
            low, high = np.ceil((lower - centre) * factor), np.floor((upper - centre) * factor)
            self._missing = np.floor((missing - start) * factor)
        self._vectors = (start, factor, low, high)
        self._tiled = tuple(np.tile(vector, self.lanes) for vector in self._vectors)
        # Whole points of a box that lies in the ball are in the ball: no norm is needed to know it.
        self._boxed = float(np.maximum(low**2, high**2).sum()) * (1 + d * 2.0**-52) <= 4.0**bits

    def __call__(self, data: NDArray[Any], out: FloatArray, row_map: Map | None = None) -> None:
        """Write the integer rows of ``data`` (n, d), any real dtype, to ``out`` (n, d), C order.

        A ``row_map`` is applied to clipped rows, and the ball clip once more after it.
        """
        # Of rows known to lie in the ball only missing cells must be found, and a plain sum shows them.
        ones, norms = np.ones(out.shape[1]), np.empty(len(out))
        pieces = [slice(start, start + self.rows) for start in range(0, len(out), self.rows)]
        with np.errstate(all="ignore"):  # no warning may depend on a cell
            for piece in pieces:
                self._elementwise(data[piece], out[piece])
                norms[piece] = out[piece] @ ones if self._boxed else squared_norms(out[piece], self.bits)
            settle(out, norms, self.bits, self._missing)
            if row_map is not None:
                mapped = row_map(out)
                if mapped is not out:
                    np.copyto(out, mapped)
                for piece in pieces:
                    norms[piece] = squared_norms(out[piece], self.bits)
                settle(out, norms, self.bits, self._missing)

    def _elementwise(self, data: NDArray[Any], out: FloatArray) -> None:
        n, d = out.shape
        if data.dtype != np.float64 or not data.flags.c_contiguous:
            np.copyto(out, data, casting="unsafe")
            data = out
        whole = n - n % self.lanes
        wide = (-1, self.lanes * d)
        _to_grid(data[:whole].reshape(wide), out[:whole].reshape(wide), self._tiled)
        _to_grid(data[whole:], out[whole:], self._vectors)


def _to_grid(data: FloatArray, out: FloatArray, vectors: tuple[FloatArray, ...]) -> None:
    """The elementwise part; NaN stays NaN. The centre is subtracted first, so far data lose nothing."""
    start, factor, low, high = vectors
    np.subtract(data, start, out=out)
    np.multiply(out, factor, out=out)
    np.floor(out, out=out)
    np.maximum(out, low, out=out)
    np.minimum(out, high, out=out)
