"""The public side of winsorized means: levels, ladders and cutoffs of a release, and what it decodes to.

The mechanism calls the same functions between its steps, so what it cuts at is what is decoded here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfinv

from ..core.errors import ParameterError
from ..core.facts import Facts
from ..core.released import Drawn, Released, StepPlan
from .clipped_mean import bits_of, pairs_of
from .means import Means
from .quantile import STEPS, geometric, reached, shifted, stopped

FloatArray = NDArray[np.float64]

LEVEL, HIGHEST = 0.9, 0.99
"""Levels: what the budget of the searches aims at, and the most that is taken where they can do more."""
MARGIN = 4
"""Noise scales that a level stays below the top: past it a search climbs until it stops by chance."""
STRETCH = 0.28
"""Power of 1 over the relative noise by which cutoffs are stretched."""
WIDE = 60
"""Powers of two about 1 that a ladder spans both ways without a public bound: data of size 1e-9 to 1e9."""
TRIM_COUNT, TRIM_SHARE = 16, Fraction(1, 100)
"""c_trim and eta_trim of the published levels."""


@dataclass(frozen=True)
class Settings:
    """Public settings of a release of ``winsorized_mean``, read from a mechanism or from a card.

    ``limits`` are those of the cutoffs, [a, b] in squared encoded units.
    """

    published: bool
    disjoint: bool
    limits: tuple[float, float] | None
    stretch: float | None

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Settings:
        limits = parameters["limits"]
        return cls(
            published=parameters["preset"] == "published",
            disjoint=parameters["rows"] == "disjoint",
            limits=None if limits is None else (float(limits[0]), float(limits[1])),
            stretch=parameters["stretch"],
        )

    def rows(self, facts: Facts) -> tuple[int, int]:
        """Pairs whose quantiles are taken, and pairs whose mean is."""
        m = pairs_of(facts)
        if not self.disjoint:
            return m, m
        if m < 2:
            raise ParameterError("rows='disjoint' needs two pairs of rows, four rows at least")
        return m // 2, m - m // 2

    def bounds(self, facts: Facts) -> tuple[float, float]:
        """Limits of the cutoffs in squared units of the table's rows.

        By default 0, and the largest square of rows in a ball; without a public bound the ladder's end.
        """
        if self.limits is not None:
            low, high = (limit / facts.grid.step**2 for limit in self.limits)
            if not 0 <= low < high < math.inf:
                raise ParameterError("limits must be 0 <= a < b, finite and in the range of doubles")
            return low, high
        return 0.0, 2.0 * 4.0**facts.grid.bits if facts.grid.bounded else 2.0**WIDE

    def ladder(self, facts: Facts) -> FloatArray:
        """The values that a search visits, in squared units of the table's rows."""
        if self.published:
            return shifted() / facts.grid.step**2
        _, high = self.bounds(facts)
        if facts.grid.bounded or self.limits is not None:
            return geometric(high)
        return geometric(high, 2 * STEPS, 2 * WIDE)

    def levels(self, plans: Mapping[str, StepPlan], facts: Facts) -> dict[str, Fraction]:
        """What fraction of values each search is for, by its step."""
        m, _ = self.rows(facts)
        if self.published:
            trim = min(max(Fraction(TRIM_COUNT, m), TRIM_SHARE), Fraction(49, 100))
            return {name: trim if name.startswith("lower") else 1 - trim for name in plans}
        return {name: Fraction(level_of(plan, m)) for name, plan in plans.items()}

    def cutoffs(self, drawn: Drawn, mean: StepPlan, facts: Facts) -> tuple[FloatArray, FloatArray]:
        """Lower and upper cutoffs (k,) of a release, in squared units of the table's rows.

        ``mean`` is the plan of the means: the less noise they carry, the farther the cutoffs are stretched.
        """
        k, rungs, (low, high) = mean.size, self.ladder(facts), self.bounds(facts)
        upper = self._read(drawn, "upper", rungs, k)
        if self.published:
            lower = np.clip(self._read(drawn, "lower", rungs, k), low, high)
            upper = np.clip(upper, low, high)
            crossed = upper < lower
            return np.where(crossed, low, lower), np.where(crossed, high, upper)
        m, means = self.rows(facts)
        for i in range(k):
            plan = drawn.step(f"upper {i + 1}").plan
            upper[i] *= chi_square(LEVEL) / chi_square(level_of(plan, m))
        stretch = stretch_of(mean, means) if self.stretch is None else self.stretch
        return np.full(k, low), np.clip(upper * stretch, math.nextafter(low, math.inf), high)

    def _read(self, drawn: Drawn, end: str, rungs: FloatArray, k: int) -> FloatArray:
        places = [int(drawn.step(f"{end} {i + 1}").values[0]) for i in range(k)]
        return np.array([reached(rungs, place) for place in places])


def level_of(plan: StepPlan, m: int) -> float:
    """Level of a search among m values: the higher, the less the tail must be guessed; as high as the scale
    of its noise allows, from .5 to .99."""
    assert plan.cost is not None and plan.cost.epsilon is not None
    scale = 2 / float(plan.cost.epsilon)
    return max(0.5, min(HIGHEST, 1 - MARGIN * scale / m))


def chi_square(level: float) -> float:
    """The quantile of the square of a standard normal: what a level is to .9, for squares of normal data."""
    return 2 * float(erfinv(level)) ** 2


def stretch_of(mean: StepPlan, m: int) -> float:
    """How far beyond the .9 quantile to cut, for the relative noise of the means.

    The best cutoff has as large a part of the values above it as the relative noise is: it grows with the
    inverse of that like a power of .25 for normal data, and of .5 for tails like those of t_3.
    """
    noise = math.sqrt(mean.size / float(mean.mu_squared)) / m
    return float(max(1.0, noise**-STRETCH))


def unstopped(released: Released) -> tuple[str, ...]:
    """Searches that ran past their ladder: its last value stands in, which is too low, or the level too high
    for so much noise. A public outcome."""
    settings = Settings.of(released.parameters)
    rungs = settings.ladder(released.facts)
    return tuple(
        step.plan.name
        for step in released.steps
        if step.plan.name.startswith(("lower ", "upper ")) and not stopped(rungs, int(step.values[0]))
    )


def decode(released: Released) -> Means:
    """Variances of a release of ``winsorized_mean``, encoded units."""
    facts, step = released.facts, released.step("means")
    settings, square = Settings.of(released.parameters), facts.grid.step**2
    lower, upper = settings.cutoffs(released, step.plan, facts)
    unit = (upper - lower) * math.ldexp(1 / settings.rows(facts)[1], -bits_of(facts) - step.plan.shift)
    return Means(
        values=(lower + step.values.astype(np.float64) * unit) * square,
        noise_sd=step.plan.sigma[0] * unit * square,
        upper=upper * square,
    )
