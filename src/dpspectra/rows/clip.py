"""Rows into the ball of radius 2**bits, exactly, in integers."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .special import clamp_infinities, fill

FloatArray = NDArray[np.float64]

CHUNK = 1 << 14
"""Numbers of rows to clip at a time, so that scratch is small even if all rows are outside."""


def squared_norms(block: FloatArray, bits: int) -> FloatArray:
    """Sum of squares of each row of integers (n, d).

    Sums run over at most 2**(51 - 2 bits) columns, where a double is exact for entries up to
    2**(bits + 1); wider rows add such sums in a fixed order. So for such entries the result never depends
    on memory order, threads or the machine. The comparison with 4**bits is exact for all entries and
    every d: a row inside the ball has only exact partial sums, and rounding is monotone.
    """
    width = max(1, 1 << max(0, 51 - 2 * bits))
    total: FloatArray = np.zeros(len(block))
    for start in range(0, block.shape[1], width):
        part = block[:, start : start + width]
        total += np.einsum("ij,ij->i", part, part)
    return total


def ball(rows: FloatArray, bits: int) -> FloatArray:
    """Clip rows of finite integers (n, d) into the ball of radius 2**bits, in place; returns ``rows``.

    A row outside keeps its direction: it is scaled by the double 2**bits/norm and truncated toward zero.
    Rounding of that factor may leave it outside by less than one grid unit a coordinate: then it is
    scaled by 1 - 2**-bits sqrt(d), which the exact check makes the last step. Far rows are first brought
    near by a power of two, so that their norm is exact as well.
    """
    limit = 4.0**bits
    _, exponent = np.frexp(np.abs(rows).max(axis=1, initial=0.0) / 2.0 ** (bits + 1))
    np.ldexp(rows, -np.maximum(exponent, 0)[:, None], out=rows)
    np.trunc(rows, out=rows)
    norms = squared_norms(rows, bits)
    rows *= np.where(norms > limit, 2.0**bits / np.sqrt(np.maximum(norms, limit)), 1.0)[:, None]
    np.trunc(rows, out=rows)
    again = squared_norms(rows, bits) > limit
    rows *= np.where(again, 1.0 - math.sqrt(rows.shape[1]) / 2.0**bits, 1.0)[:, None]
    np.trunc(rows, out=rows)
    return rows


def settle(block: FloatArray, norms: FloatArray, bits: int, missing: FloatArray) -> None:
    """Fill missing cells with ``missing`` (d,), put infinities at the radius, and clip rows, in place.

    Such a cell makes its row's entry of ``norms`` (squared, n) NaN or infinite, so one norm finds all rows
    with work to do.
    """
    odd = np.flatnonzero(~(norms <= 4.0**bits))
    step, level = max(1, CHUNK // block.shape[1]), np.full(block.shape[1], 2.0**bits)
    for start in range(0, len(odd), step):
        here = odd[start : start + step]
        rows = block[here]
        fill(rows, missing)
        clamp_infinities(rows, -level, level)
        block[here] = ball(rows, bits)
