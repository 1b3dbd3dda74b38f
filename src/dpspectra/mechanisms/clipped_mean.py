"""Means of half squared paired differences along private directions, each cut at a constant.

Page, with claim, lemmas and proof: docs/mechanisms/clipped_mean.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..accounting.gaussian import calibrate
from ..core.errors import ParameterError
from ..core.facts import Facts
from ..core.privacy import Budget
from ..noise.base import FloatArray, IntArray
from ..postprocess.clipped_mean import bits_of, cut_of, cuts, pairs_of
from ..postprocess.dyadic import default_bins
from ..rows.squares import VECTOR_BITS
from ..summaries.dyadic import counts
from ..summaries.table import Table
from .allocation import Allocated
from .steps import Draft, Draws, parameters_of

REACH = Fraction(5, 4)
"""Rows of squares are cut at this times C: less noise from four components on, for hardly more bias."""
FROM = Fraction(1, 20)
"""Rows are cut where noise would else pass this part of C; below it bias may weigh more."""
LEAST, MOST = Fraction(1, 10), Fraction(1, 2)
"""Of the part for the means, what goes to the counts of "dyadic": between these, as much as they need."""
MARGIN = 30
"""Noise sds of a count in m: so that the fullest bin, of m/7 and more, passes the noise of the others."""


@dataclass(frozen=True)
class Rule:
    """Squared sensitivity in units of C/2**bits, where rows are cut over C if they are, and the lemma."""

    square: int
    reach: Fraction | None
    lemma: str


@dataclass(frozen=True)
class ClippedMean(Allocated):
    """Means of min(w, C) along private directions; replace-one.

    Parameters (all public)
    -----------------------
    budget : the one total; (epsilon, delta), rho or mu.
    n_components, directions, share, options : as ``Along``.
    clip : C, squared encoded units. None takes 2 B^2, the largest w of rows in a ball of radius B, at which
        nothing is cut; without a public bound C is required. "dyadic" finds one for each component from
        noisy counts of its squares in the bins [2^r, 2^(r+1)), so that bias and noise are least together.
    joint : cut the length of a row (w_1, ..., w_k) as well, at 5/4 C, where noise is above 5 % of C.
    preset : "published" has the source's constants: columns alone are cut, the sensitivity is sqrt(k) C, and
        directions and means are calibrated apart.

    Sensitivity of the sum: the least of sqrt(k) C, 5/4 sqrt(2) C if ``joint``, and 2 B^2 with a public bound
    (lemmas L-column, L-orthant and L-chord of the page); of the counts sqrt(2 k) (L-bins).
    Sources: the R package dppca.
    """

    name: ClassVar[str] = "clipped_mean"
    theorem: ClassVar[str] = "clipped_mean.md, theorem 1"
    loose: ClassVar[frozenset[str]] = frozenset({"means"})

    budget: Budget
    n_components: int = 2
    directions: str = "gaussian_moments"
    share: Fraction = Fraction(1, 2)
    clip: float | Literal["dyadic"] | None = None
    joint: bool = True
    preset: Literal["tight", "published"] = "tight"
    options: tuple[tuple[str, Any], ...] = ()

    def parameters(self) -> dict[str, Any]:
        return parameters_of(self, "n_components", "directions", "share", "clip", "joint", "preset")

    @classmethod
    def audited(cls, budget: Budget) -> Iterator[ClippedMean]:
        """What the suites run: both presets, and private cuts."""
        for joint in (True, False):
            yield cls(budget, joint=joint)
        yield cls(budget, preset="published")
        yield cls(budget, clip="dyadic")

    def along(self, facts: Facts) -> list[Draft]:
        rule, k = self._rule(facts), self.n_components
        means = Draft("means", k, rule.square, None, rule.lemma)
        if self.clip != "dyadic":
            return [means]
        low, high = default_bins(facts)
        return [Draft("bins", k * (high - low + 1), 2 * k, self._for_counts(facts), "L-bins"), means]

    def look(self, table: Table, steps: Draws, vectors: NDArray[np.int64]) -> None:
        facts = table.facts
        if facts.grid.bounded:
            check_orthonormal(vectors)
        squares = self.squares(table, steps, vectors)
        cut: FloatArray | float | None = self._public_cut(facts)
        if cut is None:
            square = facts.grid.step**2
            steps.gaussian("bins", counts(squares * square, *default_bins(facts)).ravel())
            cut = cuts(steps, self.clip, steps.plan("means")) / square
        integers = cut_to_grid(squares, cut, bits_of(facts), self._rule(facts).reach)
        steps.gaussian("means", integers.sum(axis=0))

    def _rule(self, facts: Facts) -> Rule:
        """The rule of the least sensitivity."""
        k, level, public = self.n_components, 1 << bits_of(facts), self._public_cut(facts)
        found = [Rule(k * level**2, None, "L-column")]
        if self.preset == "published":
            return found[0]
        if facts.grid.bounded and public is not None:
            chord = 2 * 4**facts.grid.bits * (1 + orthonormal_within(facts.d, k))
            rounded = 3 * (math.isqrt(k) + 1)
            found.append(Rule((math.ceil(chord * level / Fraction(public)) + rounded) ** 2, None, "L-chord"))
        mu_squared = self._mu_squared * (1 if public is not None else 1 - self._for_counts(facts))
        if self.joint and k > (FROM * pairs_of(facts)) ** 2 * mu_squared:
            found.append(Rule(math.ceil(2 * REACH**2 * level**2), REACH, "L-orthant"))
        return min(found, key=lambda rule: rule.square)

    def _public_cut(self, facts: Facts) -> float | None:
        """C in squared units of the table's rows; None where the release finds it."""
        if self.clip == "dyadic":
            if self.preset == "published":
                raise ParameterError("clip='dyadic' has no published constants: take preset='tight'")
            return None
        if isinstance(self.clip, str):
            raise ParameterError("clip must be None, 'dyadic' or a positive finite number")
        return cut_of(self.clip, facts)

    @property
    def _mu_squared(self) -> Fraction:
        """Of all that follows the directions."""
        return calibrate(self.budget, 1, 2.0**200).mu_squared * self.share

    def _for_counts(self, facts: Facts) -> Fraction:
        """Their part of what the directions leave."""
        wanted = 2 * self.n_components * (MARGIN / pairs_of(facts)) ** 2 / float(self._mu_squared)
        return min(max(Fraction(math.ceil(100 * min(wanted, 1.0)), 100), LEAST), MOST)


def cut_to_grid(
    squares: FloatArray, cut: FloatArray | float, bits: int, reach: Fraction | None = None
) -> IntArray:
    """floor(2**bits w) of squares over C: w = min(1, square/C), and rows of w cut at the length ``reach``.

    Parameters
    ----------
    squares : (m, k), not negative, private; overwritten
    cut : C, in their units; one, or one a column

    Returns
    -------
    int64 (m, k) in 0..2**bits; the length of a row is at most ``reach`` 2**bits, exactly: the length that is
    computed errs by a factor below 1 + k 2**-52, and what rows are cut at is less by more than that.
    """
    np.minimum(squares, cut, out=squares)
    squares /= cut
    if reach is not None:
        k = squares.shape[1]
        norms = np.zeros(len(squares))
        for column in squares.T:  # in a fixed order: a result depends on its own row alone
            norms += column * column
        np.sqrt(norms, out=norms)
        most = float(reach) * (1 - (k + 16) * 2.0**-50)
        squares *= (most / np.maximum(norms, most))[:, None]
    squares *= 2.0**bits
    return np.floor(squares).astype(np.int64)


def orthonormal_within(d: int, k: int) -> Fraction:
    """How far in the Frobenius norm V'V of k directions on the grid may be from I: twice what truncating to
    the grid can do."""
    return Fraction(math.isqrt(d * k) + 1, 2 ** (VECTOR_BITS - 2))


def check_orthonormal(vectors: NDArray[np.int64]) -> None:
    """Public directions are what the sensitivity takes them for, exactly; else ArithmeticError.

    The linear algebra that makes them errs by far less; this makes privacy independent of it.
    """
    d, k = vectors.shape
    gram = vectors.T @ vectors  # below 2**41 in size
    excess = (gram - (1 << 2 * VECTOR_BITS) * np.eye(k, dtype=np.int64)).ravel()
    within = orthonormal_within(d, k) * 4**VECTOR_BITS
    if sum(int(entry) ** 2 for entry in excess) > within**2 or int(gram.diagonal().max()) > 4**VECTOR_BITS:
        raise ArithmeticError("the directions are not orthonormal to the precision of their grid")
