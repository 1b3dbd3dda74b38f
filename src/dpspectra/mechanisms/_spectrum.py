"""Sorted eigenvalues of an exact integer matrix as integers, with the numerical error that is allowed for."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ..core.facts import Facts
from ..noise.base import IntArray

STABILITY = 32
"""Assumed constant p of the symmetric eigensolver: eigenvalues are within p d u ||G|| of the exact ones."""


def eigenvalues(gram: IntArray) -> IntArray:
    """Rounded eigenvalues of a symmetric matrix of int64, descending."""
    return np.rint(np.linalg.eigvalsh(gram.astype(np.float64))[::-1]).astype(np.int64)


def error(facts: Facts) -> int:
    """Whole grid units by which one of ``eigenvalues`` may miss the exact one; from public facts.

    The scatter of n rows has norm at most n r^2. Casting it to doubles moves eigenvalues by at most
    d u n r^2, u = 2^-53, the solver by STABILITY d u n r^2, rounding by 1/2.
    """
    assert facts.rows is not None
    norm = facts.rows * facts.grid.levels**2
    return math.ceil(Fraction((STABILITY + 1) * facts.d * norm, 2**53) + Fraction(1, 2))


def widened(squared: int, factor: int, facts: Facts) -> int:
    """(sqrt(squared) + 2 sqrt(factor) error)^2, rounded up: a squared sensitivity of computed eigenvalues.

    ``factor`` is d for the L2 norm and d^2 for L1.
    """
    extra = 2 * (math.isqrt(factor - 1) + 1) * error(facts)
    return squared + 2 * extra * (math.isqrt(squared) + 1) + extra**2
