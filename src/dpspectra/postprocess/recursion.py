"""How recursive preconditioning goes on from one noisy release to the next, and what it ends with. Public.

Units: a row seen by a step is y = C k on the integer grid, in the ball of radius r = 2**q; matrices are in
units of r^2, so that their trace is at most 1. C = I at first, which is the public radius of the table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.facts import Facts
from ..core.released import Released, Step, StepPlan
from .symmetric import unpack

FloatArray = NDArray[np.float64]

TRUST = 1.2
"""An eigenvalue is trusted from this multiple of the noise edge on."""
TOP = 64.0
"""Largest norm counted by the histogram, in standard deviations sqrt(d) of whitened rows."""
WIDER = 8.0
"""By what the ball of an unfinished recursion is widened before norms are counted."""
BLUR = 6
"""Bits that the shortest direction of an integer matrix keeps at least, so that it has an inverse."""
BINS = 40
"""Bins of the histogram, a fourth root of 2 apart."""


@dataclass(frozen=True)
class View:
    """How rows are seen: matrix k / 2**shift, rounded, then the ball.

    ``matrix`` int64 (d, d), its rows shorter than 2**reach; ``final`` if no further preconditioning
    would help.
    """

    matrix: NDArray[np.int64]
    shift: int
    reach: int
    final: bool = False

    @property
    def linear(self) -> FloatArray:
        """C as doubles, (d, d)."""
        return np.ldexp(self.matrix.astype(np.float64), -self.shift)

    @classmethod
    def of(cls, linear: FloatArray, reach: int, final: bool = False) -> View:
        """C rounded to integers."""
        longest = float(np.sqrt((linear * linear).sum(axis=1)).max())
        shift = reach - 1 - math.frexp(longest)[1]
        return cls(np.rint(np.ldexp(linear, shift)).astype(np.int64), shift, reach, final)


def reach(facts: Facts) -> int:
    """Binary logarithm of the length that rows of the integer matrix may have: rows of the table, of length
    up to 2**bits sqrt(d) before the ball, then have exact products in doubles."""
    return 51 - facts.grid.bits - math.ceil(math.log2(facts.d) / 2)


@dataclass(frozen=True)
class SecondMoment:
    """The end of a recursion, encoded units.

    Attributes
    ----------
    rows : n, or its noisy release
    matrix : (d, d) second moment about the grid's centre
    whitener : (d, d) C of the last release in inverse encoded units: ``whitener @ matrix @ whitener.T`` is
        what was released, near a multiple of the identity where every direction was resolved
    seen : (d, d) that release, before anything was done about noise
    noise_sd : sd of an off-diagonal entry of that matrix
    """

    rows: float
    matrix: FloatArray
    whitener: FloatArray
    seen: FloatArray
    noise_sd: float


def advance(view: View, seen: FloatArray, noise_sd: float) -> View:
    """The next view: trusted directions shrink to the level of the noise, so that the radius can fall.

    ``seen`` : noisy second moment of the rows under ``view``, units of r^2; ``noise_sd`` of its off-diagonal.
    """
    d = len(seen)
    level = TRUST * 2 * noise_sd * math.sqrt(d)
    values, vectors = np.linalg.eigh(seen)
    trusted = values >= level
    if view.final or d * level >= 1:
        return replace(view, final=True)
    if trusted.all():
        return _onward(
            view, (vectors * values**-0.5) @ vectors.T @ view.linear / (TOP * math.sqrt(d)), final=True
        )
    stretch = np.where(trusted, np.sqrt(level / np.where(trusted, values, 1.0)), 1.0)
    return _onward(view, (vectors * stretch) @ vectors.T @ view.linear / math.sqrt(d * level))


def advance_by_theory(view: View, seen: FloatArray, psi: float) -> View:
    """The source's next view: directions of an eigenvalue of at least ``psi`` r^2 shrink by 1/2, all grow by
    sqrt(8/7), and the radius falls by sqrt(3/7)."""
    if view.final:
        return view
    values, vectors = np.linalg.eigh(seen)
    stretch = np.where(values >= psi, 0.5, 1.0) * math.sqrt(8 / 3)
    return _onward(view, (vectors * stretch) @ vectors.T @ view.linear)


def _onward(view: View, linear: FloatArray, final: bool = False) -> View:
    """The view of ``linear``; or the end of the recursion, in a wider ball, if integers cannot hold that.

    A direction without variance (a constant column, a sum of others) is stretched by every step.
    """
    lengths = np.linalg.svd(linear, compute_uv=False)
    if lengths[0] > math.ldexp(lengths[-1], view.reach - BLUR):
        return View.of(view.linear / WIDER, view.reach, True)
    return View.of(linear, view.reach, final)


def limits(bits: int) -> tuple[float, ...]:
    """Falling squared norms, in grid units, between the bins of the histogram: radius 2**(-j/4) r."""
    return tuple(math.floor(4.0 ** (bits - j / 4)) for j in range(BINS))


def last_view(view: View, counts: FloatArray, counts_sd: float, noise_sd: float, rows: float) -> View:
    """The view of the last release, with the radius that balances clipping against noise.

    ``counts`` : noisy histogram of norms under ``view``, largest first, each with noise of ``counts_sd``;
    ``noise_sd`` of an off-diagonal entry at the full radius, units of r^2.

    A bin counts only if one of the windows of 1, 2 or 4 neighbours that hold it stands out of its noise by
    4 sds: a false count in an empty top bin would cost in proportion to its squared radius.
    """
    kept = np.zeros(BINS, dtype=bool)
    for length in (1, 2, 4):
        sums = np.convolve(counts, np.ones(length), mode="valid")
        for start in np.flatnonzero(sums > 4 * counts_sd * math.sqrt(length)):
            kept[start : start + length] = True
    share = np.where(kept, np.maximum(counts, 0.0), 0.0) / rows
    squares = 4.0 ** (-np.arange(BINS) / 4)
    lost = share @ np.maximum(squares[:, None] - squares, 0.0)
    best = int(np.argmin(lost + 2 * noise_sd * squares * len(view.matrix) ** 1.5))
    return View.of(view.linear * 2.0 ** (best / 4), view.reach, True)


@dataclass
class Recursion:
    """Follows the steps of a recursion, in the mechanism as they are drawn and afterwards from a release.

    ``last`` : the plan of the last release. The noise that decisions count on is the planned one.
    ``psi`` : the source's threshold, or None for ours.
    """

    facts: Facts
    last: StepPlan
    rows: float
    psi: float | None
    view: View

    @classmethod
    def start(cls, facts: Facts, last: StepPlan, rows: float, parameters: Mapping[str, Any]) -> Recursion:
        """Rows as the table gives them; ``parameters`` of the mechanism."""
        psi = None if parameters["preset"] == "practical" else 1 / (10 * parameters["subsample"])
        return cls(facts, last, rows, psi, View.of(np.eye(facts.d), reach(facts)))

    @property
    def unit(self) -> float:
        """What sums of products are divided by to be means in units of r^2."""
        return self.rows * 4.0**self.facts.grid.bits

    def seen(self, step: Step) -> FloatArray:
        """The noisy second moment of a step, (d, d), units of r^2."""
        return unpack(scaled(step), self.facts.d) / self.unit

    def settle(self) -> None:
        """No early release follows: widen a ball that may be tight, so that norms can be counted."""
        if not self.view.final:
            self.view = View.of(self.view.linear / WIDER, self.view.reach, True)

    def take(self, step: Step) -> None:
        """Go on to the view that follows this step."""
        name = step.plan.name
        if name == "norms":
            self.settle()
            noise_sd = planned_sd(self.last) / math.sqrt(2.0) / self.unit
            self.view = last_view(self.view, scaled(step), planned_sd(step.plan), noise_sd, self.rows)
        elif name != "last" and self.psi is not None:
            self.view = advance_by_theory(self.view, self.seen(step), self.psi)
        elif name != "last":
            noise_sd = planned_sd(step.plan) / math.sqrt(2.0) / self.unit
            self.view = advance(self.view, self.seen(step), noise_sd)


def scaled(step: Step) -> FloatArray:
    """The noisy integers of a step without their public power of two."""
    return np.ldexp(step.values.astype(np.float64), -step.plan.shift)


def planned_sd(plan: StepPlan) -> float:
    """Noise sd of a step as planned (of a diagonal entry of a matrix), units of the statistic."""
    return math.ldexp(math.sqrt(plan.sensitivity_squared / plan.mu_squared), -plan.shift)


def rows_of(facts: Facts, count: Step | None) -> float:
    """n, or its noisy release under add/remove (at least 1)."""
    return float(facts.rows or 0) if count is None else max(1.0, float(scaled(count)[0]))


def decode(drawn: Released) -> SecondMoment:
    """The second moment of a whole release."""
    facts = drawn.facts
    rows = rows_of(facts, drawn.step("count") if drawn.has("count") else None)
    recursion = Recursion.start(facts, drawn.step("last").plan, rows, drawn.parameters)
    for step in drawn.steps:
        if step.plan.name != "count":
            recursion.take(step)
    last, linear = drawn.step("last"), recursion.view.linear
    seen, noise_sd = recursion.seen(last), math.ldexp(last.plan.sigma[-1], -last.plan.shift) / recursion.unit
    values, vectors = np.linalg.eigh(seen)
    kept = (vectors * np.maximum(values, noise_sd)) @ vectors.T
    back = np.linalg.inv(linear) * facts.grid.radius
    return SecondMoment(rows, back @ kept @ back.T, linear / facts.grid.radius, seen, noise_sd)
