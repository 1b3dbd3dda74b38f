"""Rows as directions: integer vectors of length 2**bits, or a little less, whatever their size was."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .clip import squared_norms

FloatArray = NDArray[np.float64]

_SAFE = 2.0**900
"""Squared norms between this and its inverse neither overflowed nor lost digits to underflow."""


@dataclass(frozen=True, eq=False)
class Signs:
    """The row map x -> 2**bits (x - shift)/|x - shift|, truncated toward zero, and 0 for 0.

    Parameters
    ----------
    bits : int
    shift : ndarray (d,) or None
        A public point, in the units of the rows.

    Every result lies in the ball of radius 2**bits exactly: it is checked in integers, and a row that
    rounding left outside shrinks by the factor 1 - 2**-bits sqrt(d). It depends on its own row alone.
    """

    bits: int
    shift: FloatArray | None = None

    def __call__(self, block: FloatArray) -> FloatArray:
        if self.shift is not None:
            block -= self.shift
        norms = np.einsum("ij,ij->i", block, block)
        odd = np.flatnonzero(~((norms < _SAFE) & (norms > 1 / _SAFE)))
        if odd.size:
            rows = block[odd]
            _, exponent = np.frexp(np.abs(rows).max(axis=1, initial=0.0))
            np.ldexp(rows, -exponent[:, None], out=rows)
            norms[odd] = np.einsum("ij,ij->i", rows, rows)
            block[odd] = rows
        norms[norms == 0] = np.inf
        block *= (2.0**self.bits / np.sqrt(norms))[:, None]
        np.trunc(block, out=block)
        outside = np.flatnonzero(squared_norms(block, self.bits) > 4.0**self.bits)
        if outside.size:
            block[outside] = np.trunc(block[outside] * (1.0 - math.sqrt(block.shape[1]) / 2.0**self.bits))
        return block
