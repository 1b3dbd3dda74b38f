"""A clipping radius chosen privately, then second moments of the clipped rows.

Page, with claim, lemmas and proof: docs/mechanisms/adaptive.md. Preset "tight" is ``gaussian_moments`` or,
for pure DP, ``wishart_difference`` with ``clip="private"``: a noisy histogram of norms, then arithmetic.
Preset "published" is the source's (002): a noisy trace, a sparse-vector search for the radius at which the
bias of clipping passes the noise, and the better of a noisy scatter and of eigenvectors and eigenvalues.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, Self

import numpy as np

from ..core.errors import InfeasiblePlan
from ..core.facts import Facts
from ..core.privacy import Budget
from ..noise.base import IntArray
from ..postprocess.adaptive import choice, noise, weights
from ..postprocess.symmetric import pack
from ..rows.maps import Magnify
from ..summaries.moments import Moments
from ..summaries.norm_histogram import NormHistogram
from ..summaries.table import Table
from ._moments import bounded, gram, noisy, opening, row_map
from ._spectrum import eigenvalues, error
from .gaussian_moments import GaussianMoments
from .steps import Draft, Draws, Stepwise
from .wishart_difference import WishartDifference


@dataclass(frozen=True)
class Adaptive(Stepwise):
    """Clip privately, then release second moments; replace-one.

    Parameters (all public)
    -----------------------
    budget : the one total; with delta = 0 every step is pure. Preset "published" has no price in mu.
    center : "private" releases the mean first, "fixed" takes the grid's centre
    preset : "tight" or "published", see the module
    """

    name: ClassVar[str] = "adaptive"
    theorem: ClassVar[str] = "adaptive.md, theorem 1"
    serves: ClassVar[frozenset[str]] = frozenset()  # estimators do not read its noise law yet
    needs_bounds: ClassVar[bool] = True
    loose: ClassVar[frozenset[str]] = frozenset({"moments", "threshold", "mean"})

    budget: Budget
    center: Literal["private", "fixed"] = "private"
    preset: Literal["tight", "published"] = "tight"

    @classmethod
    def audited(cls, budget: Budget) -> Iterator[Self]:
        """The configurations that the suites of ``testing`` run."""
        yield cls(budget)
        yield cls(budget, center="fixed", preset="published")
        pure = Budget(epsilon=Fraction(1), delta=Fraction(0))
        yield cls(pure, center="fixed", preset="published")

    def parameters(self) -> dict[str, Any]:
        return {"layout": self.center, "preset": self.preset}

    def drafts(self, facts: Facts) -> list[Draft]:
        """Preset "published": trace 1/8 of rho (of epsilon if pure), search 1/8, moments the rest."""
        if self.preset == "tight":
            return self._tight().drafts(facts)
        bounded(facts, self.name)
        law, d, fourth = ("laplace" if self.budget.pure else "gaussian"), facts.d, facts.grid.levels**4
        first = opening(facts, self.center, "none", law)
        left = 1 - sum((draft.share or Fraction(0) for draft in first), Fraction(0))
        squared = 2 * fourth * (d * d if law == "laplace" else 1)
        _check_room(facts, law)
        return [
            *first,
            Draft("trace", 1, fourth, left / 8, "L-trace", law=law),
            Draft("threshold", facts.grid.bits + 1, 1, left / 8, "L-search", law="first"),
            Draft("moments", d * (d + 1) // 2 + d, squared, None, "L-weights", law=law),
        ]

    def draw(self, table: Table, steps: Draws) -> None:
        if self.preset == "tight":
            self._tight().draw(table, steps)
            return
        shift = row_map(table, steps, "moments")
        final, bits = steps.plan("moments"), table.facts.grid.bits
        squares = int(np.trace(gram(table.reduce(Moments(), shift))))
        noisy(steps, "trace", np.array([squares], dtype=np.int64))
        bounds = noise(steps, final)
        most = [math.ceil(min(bounds.at(j)) * (table.facts.rows or 1) * 4.0**j) for j in range(bits + 1)]
        steps.first("threshold", queries(table.reduce(NormHistogram(), shift), most), 0)
        found = choice(steps, final)
        near = Magnify(found.halvings, shift.shift) if isinstance(shift, Magnify) else Magnify(found.halvings)
        exact = gram(table.reduce(Moments(), near))
        noisy(steps, "moments", _weighted(exact, weights(final.law, table.facts.d, found.apart)))

    def _tight(self) -> GaussianMoments | WishartDifference:
        if self.budget.pure:
            return WishartDifference(self.budget, self.center, clip="private")
        return GaussianMoments(self.budget, self.center, clip="private")


def queries(counts: IntArray, most: list[int]) -> IntArray:
    """floor(bias_j - most_j/4^j) at the radii r/2^j: bias_j = sum n_l (4^(1 - l) - 4^-j) over l <= j, where
    n_l rows have norms in (r/2^l, r/2^(l - 1)]. Sensitivity 1, all one way (lemma L-search).

    Parameters
    ----------
    counts : of ``NormHistogram``, (2 bits + 1,)
    most : public bounds of the noise, times 4^j
    """
    shells = counts[:-1].reshape(-1, 2).sum(axis=1).tolist()
    found = []
    for j, bound in enumerate(most):
        bias = sum(n * (4 ** (j - i) - 1) for i, n in enumerate(shells[:j]))  # times 4^j, exact
        found.append((bias - bound) >> 2 * j)
    return np.array(found, dtype=np.int64)


def _weighted(exact: IntArray, parts: tuple[int, int, int]) -> IntArray:
    """The final statistic: floor(a scatter/2^b) packed, then floor(c spectrum/2^b) or zeros."""
    a, c, whole = parts
    if not c:
        return np.concatenate([pack(exact), np.zeros(len(exact), dtype=np.int64)])
    # Wraps in 64 bits like every sum of integers, so that no table makes it fail.
    spectrum = [(c * value // whole + 2**63) % 2**64 - 2**63 for value in eigenvalues(exact).tolist()]
    return np.concatenate([(pack(exact) // whole) * a, np.array(spectrum, dtype=np.int64)])


def _check_room(facts: Facts, law: str) -> None:
    """Refuse, from public facts, where rounding would not fit into what ``weights`` leave of the budget."""
    d, square, miss = facts.d, float(facts.grid.levels) ** 2, 2.0 * error(facts)
    a, c, whole = weights(law, d, apart=True)
    size = d * (d + 1) / 2
    if law == "gaussian":
        scatter = a / whole * math.sqrt(2) * square + a * math.sqrt(size)
        spectrum = c / whole * (math.sqrt(2) * square + math.sqrt(d) * miss) + math.sqrt(d)
        fits = math.hypot(scatter, spectrum) <= (1 - 1e-9) * math.sqrt(2) * square
    else:
        scatter = a / whole * math.sqrt((d * d + 3 * d) / 2) * square + a * size
        spectrum = c / whole * (2 * square + d * miss) + d
        fits = scatter + spectrum <= (1 - 1e-9) * math.sqrt(2) * d * square
    if not fits:
        raise InfeasiblePlan("so many rows or columns leave no room for rounding: take preset='tight'")
