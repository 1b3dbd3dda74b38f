"""Pairs of neighbouring tables: random ones, and those that have broken implementations.

Most rows are meant for the unit ball about the origin; those far out are clipped to it where there is one,
and put methods without a bound to the test. The row that differs stands first, where a permutation that
does nothing gives it a partner.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..core.privacy import Adjacency
from ..postprocess.decode import augmentation
from .subject import Cells, Subject

ROWS = 400
"""Rows of an adversarial table: enough that its mean stays within 0.3 % of the origin."""
HUGE, FAR, TINY = 1e308, 1e6, 5e-324


@dataclass(frozen=True)
class Pair:
    """Two tables that differ in one row (or by one row under add/remove)."""

    name: str
    left: Cells
    right: Cells


def pairs(subject: Subject, adjacency: Adjacency, d: int = 3, seed: int = 0) -> Iterator[Pair]:
    """All pairs, adversarial first.

    Yields
    ------
    Pair
        ``left`` has at least one row (two under replace-one); under add/remove ``right`` has one more.
    """
    for name, rest, old, new in _changes(subject, adjacency, d, seed):
        if adjacency is Adjacency.REPLACE_ONE:
            yield Pair(name, np.vstack([old, rest]), np.vstack([new, rest]))
        else:
            yield Pair(name, rest, np.vstack([new, rest]))


def _changes(
    subject: Subject, adjacency: Adjacency, d: int, seed: int
) -> Iterator[tuple[str, Cells, Cells, Cells]]:
    """(name, rows that stay, row before, row after)."""
    zero, first, second = np.zeros(d), np.eye(d)[0], np.eye(d)[-1]
    still = np.zeros((ROWS, d))
    yield "orthogonal extremes", still, first, second
    yield "sign flip", still, first, -first
    yield "appears", still, zero, first
    facts = subject.open(still, adjacency).facts
    cosine = -((augmentation(facts) / facts.grid.levels) ** 2)  # the worst angle of the joint layout
    yield "worst angle", still, first, cosine * first + math.sqrt(1 - cosine**2) * second
    yield "equal rows", np.tile(first, (ROWS, 1)), first, -first
    yield "equal rows, orthogonal", np.tile(first, (20, 1)), first, second
    yield "single row", first[None, :] * 0.5, second, -first
    yield "far and orthogonal", still, FAR * first, FAR * second
    yield "far and back", np.tile(first, (ROWS, 1)), first, -FAR * first
    yield "zero rows", still[:9], zero, first
    yield "all coordinates", np.tile(np.full(d, d**-0.5), (ROWS, 1)), np.full(d, d**-0.5), np.full(d, -FAR)
    powers = 2.0 ** -np.arange(9)[:, None] * first
    yield "bin jump", powers, 0.25 * first, np.nextafter(0.25, 0) * first
    yield "bin to bin", powers, powers[1], 2.0**-20 * first
    yield "first bin to last", still[:99], TINY * first, FAR * first
    yield "nearly equal rows", np.tile(first, (9, 1)), first, (1 - 2.0**-52) * first
    level = np.vstack([zero, *[zero, 1e-3 * first] * 18, zero, first])  # one pair of twenty is large
    yield "at a quantile", level, 1e-3 * first, first
    special = [HUGE, -HUGE, TINY, np.nan, np.inf, -np.inf, -0.0]
    for i, value in enumerate(special):
        odd = first * 0.3
        odd[i % d] = value
        yield f"cell {value}", np.vstack([still[:5], odd, odd]), first, odd
        yield f"row of {value}", still[:5], second, np.full(d, value)
    generator = np.random.default_rng(seed)
    for i in range(4):
        scale = 10.0 ** generator.integers(-3, 4)
        rows = generator.normal(size=(12, d)) * scale
        yield f"random {i}", rows[:10], rows[10], rows[11]
    yield "far from a cloud", rows[:10], rows[10], FAR * first
    for i in range(2):
        rows = generator.standard_t(1, size=(62, d)) * 10.0 ** (i - 1)
        yield f"heavy tails {i}", rows[:60], rows[60], rows[61]
