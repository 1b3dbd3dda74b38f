"""Rows as directions: vectors of one length, or a little less, whatever their size was."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

_SAFE = 2.0**900
"""Squared norms between this and its inverse neither overflowed nor lost digits to underflow."""


@dataclass(frozen=True, eq=False)
class Signs:
    """The row map x -> 2**bits (x - shift)/max(|x - shift|, radius), truncated toward zero, and 0 for 0.

    Parameters
    ----------
    bits : int
    shift : ndarray (d,) or None
        A public point, in the units of the rows.
    radius : float
        Rows are clipped to it in place of divided by their length; 0: unit rows. At most 2**510.

    Every result lies in the ball of radius 2**bits exactly: the factor is smaller by more than all that
    rounding can add to a length (lemma L-unit). It depends on its own row alone.
    """

    bits: int
    shift: FloatArray | None = None
    radius: float = 0.0

    def __call__(self, block: FloatArray) -> FloatArray:
        if self.shift is not None:
            block -= self.shift
        norms, exponents = _squares(block)
        with np.errstate(over="ignore"):  # beside a row that small the radius is infinite
            lengths = np.maximum(np.sqrt(norms), np.ldexp(self.radius, -exponents))
        lengths[lengths == 0] = np.inf
        block *= (2.0**self.bits * (1 - (block.shape[1] + 8) * 2.0**-52) / lengths)[:, None]
        np.trunc(block, out=block)
        return block


def unit(block: FloatArray) -> FloatArray:
    """Rows (m, d) of finite numbers divided by their lengths, in place; 0 stays 0."""
    norms, _ = _squares(block)
    norms[norms == 0] = np.inf
    block /= np.sqrt(norms)[:, None]
    return block


def _squares(block: FloatArray) -> tuple[FloatArray, NDArray[np.intc]]:
    """Squared norms of the rows; those too far or too near for them are multiplied by 2**-exponent first,
    in place."""
    norms = np.einsum("ij,ij->i", block, block)
    exponents = np.zeros(len(block), dtype=np.intc)
    odd = np.flatnonzero(~((norms < _SAFE) & (norms > 1 / _SAFE)))
    if odd.size:
        rows = block[odd]
        _, exponents[odd] = np.frexp(np.abs(rows).max(axis=1, initial=0.0))
        block[odd] = rows = np.ldexp(rows, -exponents[odd, None])
        norms[odd] = np.einsum("ij,ij->i", rows, rows)
    return norms, exponents
