"""Privacy-loss distribution of fixed steps, in closed form or, for many different steps, by dp-accounting.

Claim: ``Losses.epsilon_at`` and ``Losses.room`` err on the safe side.  Dominating pairs compose, also
adaptively (Zhu, Dong and Wang 2022).  Gaussian steps are dominated by one Gaussian of mu^2 = sum mu_i^2; a
pure epsilon step by randomised response, losses epsilon and -epsilon with probabilities 1/(1 + e^-epsilon)
and 1/(1 + e^epsilon); an (epsilon, delta) step by an infinite loss of probability delta and that otherwise.
So if the finite losses l_j of the other steps have probabilities w_j, and P = prod (1 - delta_i),

    delta(epsilon) = 1 - P + P sum_j w_j delta_mu(epsilon - l_j),

where delta_mu is the Gaussian curve, continued by delta_mu(-e) = 1 - e^-e + e^-e delta_mu(e) (symmetry of
the pair).  k steps of equal epsilon are a binomial.  Every term is positive, so the relative error is that
of the Gaussian curve (``log_error``); epsilon is shifted by a few ulps for the rounded losses, and
bisection returns the end where the inequality was seen to hold.  Above ``ATOMS`` different losses
dp-accounting convolves on a grid, rounding losses up; 1e-12 of delta is kept for its Fourier transforms.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpspectra.core.privacy import Cost

from .exact import float_down, float_up, sqrt_up
from .gaussian import log_error, log_gaussian_delta

ATOMS = 512
"""Largest number of different privacy losses composed in closed form."""
_GRID_ERROR = Fraction(1, 10**12)
_GRID_POINTS = 2**18
_HALVINGS = 60
_TINY = Fraction(1, 10**290)
"""Deltas below it are left to zCDP, which works with their logarithm."""


@dataclass(frozen=True)
class Losses:
    """Dominating pair of fixed steps: a Gaussian, pure steps by epsilon, an infinite loss.

    ``mu_squared``: of all Gaussian steps. ``epsilons``: how many steps have which epsilon. ``delta``:
    probability of the infinite loss.
    """

    mu_squared: Fraction
    epsilons: Counter[Fraction]
    delta: Fraction

    @classmethod
    def of(cls, steps: Sequence[Cost]) -> Losses | None:
        """None if a step is known by its zCDP alone."""
        mu_squared, finite, epsilons = Fraction(0), Fraction(1), Counter[Fraction]()
        for step in steps:
            if step.mu_squared is not None:
                mu_squared += step.mu_squared
            elif step.epsilon is not None and step.delta is not None:
                epsilons[step.epsilon] += 1
                finite *= 1 - step.delta
            else:
                return None
        return cls(mu_squared, epsilons, 1 - finite)

    @property
    def closed(self) -> bool:
        """True if the closed form applies."""
        return math.prod(count + 1 for count in self.epsilons.values()) <= ATOMS

    def epsilon_at(self, delta: Fraction) -> Fraction | None:
        """Smallest epsilon at ``delta``, rounded up; None where it is not available."""
        if delta - self.delta < _TINY:
            return None
        if not self.closed:
            return self._on_grid(delta)
        mu, atoms, finite = float_up(sqrt_up(self.mu_squared)), self._atoms(), self._finite(delta)

        def holds(epsilon: float) -> bool:
            return _delta(mu, atoms, epsilon) <= finite

        high = 1.0
        while not holds(high):
            high *= 2
        return Fraction(_smallest(holds, 0.0, high))

    def room(self, epsilon: Fraction, delta: Fraction, mu_top: Fraction) -> Fraction | None:
        """mu^2 of Gaussian steps that still fit beside these in (epsilon, delta), rounded down.

        ``mu_top``: a mu at least the answer. None if nothing fits.
        """
        if not self.closed or delta - self.delta < _TINY:
            return None
        atoms, finite = self._atoms(), self._finite(delta)
        bound, top = float_down(epsilon), float_up(mu_top)

        def holds(reduction: float) -> bool:
            return _delta(top - reduction, atoms, bound) <= finite

        if not holds(top):
            return None
        left = Fraction(top - _smallest(holds, 0.0, top)) ** 2 - self.mu_squared
        return left if left > 0 else None

    def _finite(self, delta: Fraction) -> float:
        """The part of ``delta`` left to the finite losses, given that the loss is finite."""
        return float_down((delta - self.delta) / (1 - self.delta))

    def _atoms(self) -> list[tuple[float, float]]:
        """(loss, probability) of the steps that are not Gaussian, given a finite loss."""
        atoms = [(0.0, 1.0)]
        for epsilon, count in self.epsilons.items():
            step = float_up(epsilon)
            up, down = 1 / (1 + math.exp(-step)), math.exp(-step) / (1 + math.exp(-step))
            atoms = [
                (
                    loss + (count - 2 * low) * step,
                    weight * math.comb(count, low) * up ** (count - low) * down**low,
                )
                for loss, weight in atoms
                for low in range(count + 1)
            ]
        return atoms

    def _on_grid(self, delta: Fraction) -> Fraction | None:
        if delta - self.delta <= 2 * _GRID_ERROR:
            return None
        from dp_accounting.pld import common
        from dp_accounting.pld import privacy_loss_distribution as pld

        mu = float_up(sqrt_up(self.mu_squared))
        width = float(sum(epsilon * count for epsilon, count in self.epsilons.items())) + mu * (mu + 20)
        interval = width / _GRID_POINTS
        composed = pld.identity(interval)
        for epsilon, count in self.epsilons.items():
            step = common.DifferentialPrivacyParameters(float_up(epsilon), 0.0)
            composed = composed.compose(pld.from_privacy_parameters(step, interval).self_compose(count))
        if mu > 0:
            gaussian = pld.from_gaussian_mechanism(1 / mu, value_discretization_interval=interval)
            composed = composed.compose(gaussian)
        return Fraction(composed.get_epsilon_for_delta(float_down((delta - self.delta) - _GRID_ERROR)))


def _delta(mu: float, atoms: list[tuple[float, float]], epsilon: float) -> float:
    """Upper bound on sum_j w_j delta_mu(epsilon - l_j)."""
    shift = 1e-15 * (epsilon + max(abs(loss) for loss, _ in atoms))
    return (1 + 1e-12) * math.fsum(
        weight * _curve(mu, epsilon - loss - shift) for loss, weight in atoms if weight > 0
    )


def _curve(mu: float, epsilon: float) -> float:
    """Upper bound on the Gaussian curve, for any sign of epsilon and mu >= 0."""
    size = abs(epsilon)
    above = math.exp(log_gaussian_delta(mu, size) + log_error(mu, size)) if mu > 0 else 0.0
    return above if epsilon >= 0 else -math.expm1(epsilon) + math.exp(epsilon) * above


def _smallest(holds: Callable[[float], bool], low: float, high: float) -> float:
    """A point in (low, high] where ``holds`` (increasing, true at ``high``) was seen true, by bisection."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
