"""The spherical Kendall matrix of all pairs of rows, in doubles, with an a-priori bound on its error.

K = mean over i < j of u u', u = (x_i - x_j)/|x_i - x_j|, and u = 0 for equal rows. With
W_ij = 1/|x_i - x_j|^2 and D the diagonal of row sums of W, the sum over pairs is X'(D - W)X:
two matrix products a pair of blocks.

====================  ============  =========
statistic             replace-one   lemma
====================  ============  =========
K, Frobenius norm     2 sqrt(2)/n   L-pairs
====================  ============  =========
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.threads import share
from ..rows.signs import unit
from .table import Block

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

BLOCK = 512
"""Rows of a block: a block of distances is 2 MiB."""
NEAR = 2.0**-10
"""Pairs with |y_i - y_j|^2 at most this part of |y_i|^2 + |y_j|^2 lose digits in the products: they are
subtracted and normalised one by one instead."""
REACH = 2.0**400
"""Squared norms within this factor of the scale of the table take part in the products: nothing overflows."""
DIRECT = 1 << 16
"""Numbers of a go of pairs that are normalised one by one."""
SMALL = 1 << 19
"""Pairs of rows below which a second thread costs more than it saves."""


def kendall(rows: Block) -> FloatArray:
    """K of the rows (n, d), any finite doubles of size at most 2**500; (d, d), private.

    The Frobenius error is at most ``error(n, d)`` for every table.
    """
    n = len(rows)
    centred, norms, usual = _centred(rows)
    with np.errstate(all="ignore"):  # no warning may depend on a cell
        total = _products(np.ascontiguousarray(rows[usual]), centred[usual], norms[usual])
        total += _others(rows, usual)
    return total / (n * (n - 1) / 2)


def error(n: int, d: int) -> float:
    """A bound on the Frobenius error of ``kendall``, from public facts (lemma L-round of the page)."""
    blocks = math.ceil(n / BLOCK)
    products = 4 * (d + 2) + 3 * (2 * BLOCK + 3 * blocks + 12)
    direct = d + 10 + _go(d) + n * n / _go(d) + blocks**2 + 2 * n
    return 2.0**-53 * (products / NEAR + 4 / math.sqrt(NEAR) + direct)


def _go(d: int) -> int:
    """Pairs of a go."""
    return max(64, DIRECT // d)


def _centred(rows: Block) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Rows about the median of each column, over a power of two; their squared norms; which are usual.

    Any point and any scale give the same K: they are chosen to lose few digits, so they need not be public.
    """
    with np.errstate(all="ignore"):
        y = rows - np.median(rows, axis=0)
        size = np.abs(y).max(axis=1)
        apart = size[size > 0]
        if apart.size:
            y = np.ldexp(y, -np.frexp(np.median(apart))[1])
        norms = np.einsum("ij,ij->i", y, y)
        usual = (size == 0) | ((norms >= 1 / REACH) & (norms <= REACH))
    return y, norms, usual


@dataclass
class _Sums:
    """What a thread adds up: degrees (n,), the cross term and the pairs one by one (d, d)."""

    degree: FloatArray
    cross: FloatArray
    direct: FloatArray


def _products(rows: Block, y: FloatArray, norms: FloatArray) -> FloatArray:
    """Sum of u u' over all pairs of usual rows: y'(D - W)y, and near pairs one by one."""
    n, d = y.shape
    ones = np.ones(n)
    left, right = np.column_stack([-2 * y, norms, ones]), np.column_stack([y, ones, norms])
    blocks = [slice(start, min(start + BLOCK, n)) for start in range(0, n, BLOCK)]

    def work(feed: Iterator[int]) -> _Sums:
        sums, scratch = _Sums(np.zeros(n), np.zeros((d, d)), np.zeros((d, d))), np.empty(BLOCK * BLOCK)
        for number in feed:
            here = blocks[number]
            moved = np.zeros((here.stop - here.start, d + 1))
            for there in blocks[number:]:
                # A block against itself meets every pair twice.
                weight = 0.5 if there == here else 1.0
                shape = here.stop - here.start, there.stop - there.start
                inverse = scratch[: shape[0] * shape[1]].reshape(shape)
                np.matmul(left[here], right[there].T, out=inverse)
                if there == here:
                    np.fill_diagonal(inverse, np.inf)
                i, j = _near(inverse, norms[here], norms[there])
                if i.size:
                    sums.direct += weight * _one_by_one(rows, i + here.start, j + there.start)
                np.divide(weight, inverse, out=inverse)
                moved += inverse @ right[there, : d + 1]
                sums.degree[there] += np.ones(len(inverse)) @ inverse
            sums.degree[here] += moved[:, d]
            sums.cross += y[here].T @ moved[:, :d]
        return sums

    parts = share(work, range(len(blocks)), worth=n * n > SMALL)
    degree, cross, direct = (
        sum(getattr(part, name) for part in parts) for name in ("degree", "cross", "direct")
    )
    for here in blocks:
        direct = direct + y[here].T @ (degree[here, None] * y[here])
    return np.asarray(direct - cross - cross.T)


def _near(squares: FloatArray, left: FloatArray, right: FloatArray) -> tuple[IntArray, IntArray]:
    """The near pairs of a block of squared distances, which become infinite there."""
    doubtful = np.flatnonzero(squares.min(axis=1) <= NEAR * (left + right.max()))
    i, j = np.nonzero(squares[doubtful] <= NEAR * (left[doubtful, None] + right))
    i = doubtful[i]
    squares[i, j] = np.inf
    return i, j


def _one_by_one(rows: Block, i: IntArray, j: IntArray) -> FloatArray:
    """Sum of u u' of the pairs (i, j), each subtracted and normalised by itself."""
    d = rows.shape[1]
    total = np.zeros((d, d))
    for start in range(0, len(i), _go(d)):
        go = slice(start, start + _go(d))
        directions = unit(rows[i[go]] - rows[j[go]])
        total += directions.T @ directions
    return total


def _others(rows: Block, usual: NDArray[np.bool_]) -> FloatArray:
    """Sum of u u' over the pairs with a row that is not usual."""
    d = rows.shape[1]
    total = np.zeros((d, d))
    others, partners = np.flatnonzero(~usual), np.flatnonzero(usual)
    for place, i in enumerate(others):
        j = np.concatenate([partners, others[place + 1 :]])
        total += _one_by_one(rows, np.full(len(j), i), j)
    return total
