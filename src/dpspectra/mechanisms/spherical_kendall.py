"""Directions from the signs of differences of rows: no centre, no bound, no moment is needed.

Page, with claim, lemmas and proof: docs/mechanisms/spherical_kendall.md. The statistic is the mean of u u'
over pairs of rows, u = (x_i - x_j)/|x_i - x_j| and u = 0 for equal rows. Its trace is 1 or less: the
eigenvalues are not variances.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ParameterError
from ..core.facts import Facts
from ..core.privacy import Budget
from ..noise.base import IntArray
from ..postprocess.symmetric import pack
from ..rows.signs import Signs
from ..summaries.kendall import error, kendall
from ..summaries.moments import Moments, MomentSums
from ..summaries.table import Table
from .steps import Draft, Draws, Stepwise, parameters_of

GRID = 44
"""The matrix of all pairs, of size at most 1, is rounded to multiples of 2**-GRID."""


@dataclass(frozen=True)
class SphericalKendall(Stepwise):
    """The noisy spherical Kendall matrix; replace-one.

    Parameters (all public)
    -----------------------
    budget : the one total; (epsilon, delta), rho or mu. Pure DP is refused.
    pairs : "all" pairs, in doubles with a bounded error, for tables in memory; "disjoint" pairs of a secret
        pairing, exact; or the number of pairs that a row is in (at most), of as many secret pairings without
        a common pair. The noise is the same; fewer pairs are faster and have more sampling error.

    Cost: mu^2 = Delta^2/sigma^2. Sources: 000; lemmas L-pairs, L-pairings, L-round of the page.
    """

    name: ClassVar[str] = "spherical_kendall"
    theorem: ClassVar[str] = "spherical_kendall.md, theorem 1"

    budget: Budget
    pairs: str | int = "all"

    @classmethod
    def audited(cls, budget: Budget) -> Iterator[SphericalKendall]:
        """What the suites run: all pairs, one pairing, and several."""
        first = cls(budget)
        return (replace(first, pairs=pairs) for pairs in ("all", "disjoint", 3))

    @property
    def rounded(self) -> frozenset[str]:
        """Steps whose statistic is summed in doubles before it is rounded."""
        return frozenset({"kendall"}) if self.pairs == "all" else frozenset()

    def parameters(self) -> dict[str, Any]:
        return parameters_of(self, "pairs")

    def drafts(self, facts: Facts) -> list[Draft]:
        rounds, d = self._rounds(facts), facts.d
        if rounds is None:
            squared, lemma = _all_pairs(_rows(facts), d) ** 2, "L-round"
        else:
            squared, lemma = 2 * rounds**2 * 16**facts.grid.bits, "L-pairings"
        return [Draft("kendall", d * (d + 1) // 2, squared, None, lemma, symmetric=True)]

    def draw(self, table: Table, steps: Draws) -> None:
        facts, rounds = table.facts, self._rounds(table.facts)
        if rounds is None:
            matrix = np.rint(np.ldexp(kendall(table.matrix()), GRID)).astype(np.int64)
        else:
            order = steps.noise.permutation(_rows(facts))
            signs = Signs(facts.grid.bits)
            matrix = sum(
                (_gram(table.pairs(pairing(order, k)).reduce(Moments(), signs)) for k in range(rounds)),
                np.zeros((facts.d, facts.d), dtype=np.int64),
            )
        steps.gaussian("kendall", pack(matrix))

    def _rounds(self, facts: Facts) -> int | None:
        """Number of pairings; None for all pairs."""
        rows = _rows(facts)
        if self.pairs == "all":
            return None
        if self.pairs == "disjoint":
            return 1
        if isinstance(self.pairs, bool) or not (isinstance(self.pairs, Integral) and self.pairs >= 1):
            raise ParameterError('pairs must be "all", "disjoint" or a whole number, at least 1')
        return min(int(self.pairs), rows - 1 + rows % 2)


def pairing(order: NDArray[np.int64], number: int) -> NDArray[np.int64]:
    """The ``number``-th of len(order) - 1 pairings (len(order) for odd lengths) without a common pair.

    A round of a tournament by the circle method: the first stays, the others move on by one place a round,
    and opposite places meet; of an odd number all move on and one rests.

    Parameters
    ----------
    order : int64 (n,) a permutation; number : 0, 1, ...

    Returns
    -------
    int64 (n,), the same rows: places 0 and 1 are a pair, 2 and 3, and so on; the last of an odd number rests
    """
    fixed = 1 - len(order) % 2
    circle = np.concatenate([order[:fixed], np.roll(order[fixed:], number)])
    half = len(order) // 2
    turned = np.empty_like(circle)
    turned[0 : 2 * half : 2], turned[1 : 2 * half : 2] = circle[:half], circle[::-1][:half]
    turned[2 * half :] = circle[half : len(circle) - half]
    return turned


def _all_pairs(rows: int, d: int) -> int:
    """Sensitivity of the matrix of all pairs on the grid of 2**-GRID: 2 sqrt(2)/n, twice the error of the
    computation, and half a unit of rounding in every entry of both tables' matrices."""
    exact = math.isqrt(8 * 4**GRID // rows**2) + 1
    return exact + math.ceil(math.ldexp(2 * error(rows, d), GRID)) + d


def _rows(facts: Facts) -> int:
    if facts.rows is None or facts.rows < 2:
        raise ParameterError(
            'method="spherical_kendall" needs two rows at least, and their number must be public '
            '(adjacency="replace-one")'
        )
    return facts.rows


def _gram(sums: MomentSums) -> IntArray:
    assert sums.gram is not None
    return sums.gram
