"""Gaussian noise: the exact (epsilon, delta) curve, its inverses, and the slack of discrete noise.

**Curve.**  A Gaussian step with mu = Delta/sigma is (epsilon, delta)-DP exactly for delta at least
Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu) (Balle and Wang 2018).  With
x = epsilon/mu - mu/2, phi the normal density and R(x) = (1 - Phi(x))/phi(x) the Mills ratio,
e^epsilon phi(x + mu) = phi(x), so delta = phi(x) (R(x) - R(x + mu)), the integral of phi(x) g(s) over s from
x to x + mu with g(s) = 1 - s R(s) > 0.  Up to mu = 1 that integral is taken (ten Gauss nodes on a function
whose derivatives are bounded on this length leave below 1e-14), above it the difference, which has no
cancellation worse than 1/x.  The logarithm of delta is therefore right within ``log_error``; tests compare
with mpmath.  Inverses meet the target after that margin is taken off, so they err on the safe side.

**Lemma DG** (discrete against continuous).  For sigma >= 1 and |z| <= K sigma, the log-ratio of the
rounded N(0, sigma^2) to the discrete Gaussian at the integer z is ln Z + ln I, where
I = integral over |t| <= 1/2 of exp(-t^2/2 sigma^2) cosh(z t/sigma^2), and Z = sum_k of the density, hence
1 <= Z <= 1 + 3 exp(-2 pi^2 sigma^2).  Below: cosh >= 1 and Jensen give >= -1/(24 sigma^2).  Above: the
two factors are ordered oppositely in |t|, so I is at most the product of their integrals (Chebyshev);
sinh(a/2)/(a/2) <= exp(a^2/24) at a = z/sigma^2 gives K^2/(24 sigma^2), and the other factor, at most
1 - 1/(24 sigma^2) + 1/(640 sigma^4), pays for ln Z.  Consequence for N coordinates in all, with
mu^2 = sum (Delta_i/sigma_i)^2: outside an event of probability at most 2 N exp(-t^2/2) (a discrete Gaussian
is sub-Gaussian) every noise is within t sigma_i, and within (t + mu) sigma_i under the neighbour.  There
the likelihoods change by at most exp(N/(24 sigma^2)) and exp(N K^2/(24 sigma^2)), K = t + mu.  The rounded
Gaussian is post-processing of the continuous one, so if the continuous steps are (epsilon', delta')-DP, the
discrete ones are (epsilon' + eta, e^(eta/(K^2+1)) delta' + 2 N exp(-t^2/2))-DP with
eta = N (K^2 + 1)/(24 sigma^2).
``calibrate`` takes off 2 eta, and one part in 10^9 of delta, of which each of the two terms may use half.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import erfcx, log_ndtr, ndtri_exp

from dpspectra.core.errors import ParameterError
from dpspectra.core.privacy import Budget

from .exact import float_down, float_up, log, sqrt_up

FloatArray = NDArray[np.float64]

SIGMA_FLOOR = 2.0**27
"""Smallest noise sd, in grid units, of a statistic that is accounted by mu."""
DELTA_SHARE = Fraction(1, 10**9)
"""Part of delta set aside for discrete noise."""
RELATIVE_SLACK = 1e-8
"""Part of rho = mu^2/2 that 2 eta stays below once ``sigma_floor_for`` is met."""
TAIL = 12.0
"""Standard deviations of noise within which lemma DG is applied, unless a tiny delta asks for more."""
_EPSILON_TOP = Fraction(10**12)
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)
_HALF_LOG_TAU = 0.5 * math.log(2.0 * math.pi)


@dataclass(frozen=True)
class Calibration:
    """How much Gaussian noise a budget buys.

    ``mu_squared``: total Delta^2/sigma^2 the steps may use together. ``slack``: eta of lemma DG, the part
    of epsilon that covers discrete noise whose every sigma is at least the floor given (0 under rho).
    """

    mu_squared: Fraction
    slack: float


def log_gaussian_delta(mu: float, epsilon: float) -> float:
    """ln of ``gaussian_delta``; finite for every mu > 0 and epsilon >= 0."""
    return _log_delta(epsilon / mu - mu / 2, mu)


def log_error(mu: float, epsilon: float) -> float:
    """Bound on the rounding error of ``log_gaussian_delta``: some ulps of x's parts, times 1 + |x|."""
    parts = epsilon / mu + mu
    return 1e-10 + 1e-15 * parts * (1 + abs(epsilon / mu - mu / 2))


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Smallest delta at which mu-Gaussian DP is (epsilon, delta)-DP, nearest double (not rounded).

    Parameters
    ----------
    mu : float
        Delta/sigma, positive. Public.
    epsilon : float
        Non-negative. Public.
    """
    return math.exp(log_gaussian_delta(mu, epsilon))


def mu_for(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Largest mu (within 1e-6 of delta) that is (epsilon, delta)-DP, rounded to the safe side.

    Parameters
    ----------
    epsilon : Fraction
        Positive; above 10^12 it is read as 10^12.
    delta : Fraction
        In (0, 1), of any size.

    Raises
    ------
    ParameterError
        If epsilon or delta is out of its domain.
    """
    if epsilon <= 0:
        raise ParameterError("epsilon must be positive and finite")
    target = _target(delta)
    bound = float_down(min(epsilon, _EPSILON_TOP))

    def mu_at(x: float) -> float:
        root = math.sqrt(x * x + 2 * bound)
        return 2 * bound / (x + root) if x > 0 else root - x

    def excess(x: float) -> float:
        mu = mu_at(x)
        return _log_delta(x, mu) + 2 * log_error(mu, bound) - target

    mu, step = mu_at(_root(excess, target)), 1e-14
    while not _covers(mu, bound, target):
        mu, step = mu * (1 - step), 2 * step
    return Fraction(mu)


def epsilon_for(mu_squared: Fraction, delta: Fraction) -> Fraction:
    """Smallest epsilon at which Gaussian steps of total ``mu_squared`` are (epsilon, delta)-DP, rounded up.

    0 if delta alone covers them. Discrete noise costs twice its slack in addition.
    """
    target = _target(delta)
    if mu_squared <= 0:
        return Fraction(0)
    mu = float_up(sqrt_up(mu_squared))

    if _covers(mu, 0.0, target):
        return Fraction(0)

    def excess(x: float) -> float:
        return _log_delta(x, mu) + 2 * log_error(mu, mu * (x + mu / 2)) - target

    epsilon = max(0.0, mu * (_root(excess, target) + mu / 2))
    step = 1e-14 * (epsilon + mu)
    while not _covers(mu, epsilon, target):
        epsilon, step = epsilon + step, 2 * step
    return Fraction(epsilon)


def discrete_slack(coordinates: int, sigma_min: float, mu: float, tail: float = TAIL) -> float:
    """eta of lemma DG, rounded up: the epsilon that discrete in place of continuous noise may cost.

    Parameters
    ----------
    coordinates : int
        Number of noisy integers in all Gaussian steps composed.
    sigma_min : float
        Smallest sd among them, grid units, at least 1.
    mu : float
        Total mu of these steps.
    tail : float
        Standard deviations of noise inside which the ratio is bounded.
    """
    if coordinates < 1 or not sigma_min >= 1 or not mu >= 0:
        raise ParameterError("the slack needs coordinates >= 1, sigma_min >= 1 and mu >= 0")
    reach = tail + mu
    return coordinates * (reach * reach + 1) / (24 * sigma_min * sigma_min) * (1 + 1e-14)


def sigma_floor_for(coordinates: int, mu: float, tail: float = TAIL) -> float:
    """Smallest power of two, at least 2^27, so that 2 eta <= 1e-8 mu^2/2 and delta's share suffices.

    A statistic whose natural sigma is smaller is first multiplied by a power of two. At every delta at most
    Phi-curve(mu, mu^2/2), about 0.4 mu for small mu, the epsilon of these steps is at least mu^2/2, so the
    slack is below 1e-8 of epsilon; and since K^2/mu^2 falls with mu, a larger mu needs no more than that.
    """
    if not mu > 0:
        raise ParameterError("mu must be positive and finite")
    reach = tail + mu
    for_epsilon = coordinates * (reach * reach + 1) / (12 * RELATIVE_SLACK * mu * mu / 2)
    for_delta = coordinates / (24 * float(DELTA_SHARE) / 2)
    needed = max(SIGMA_FLOOR, math.sqrt(max(for_epsilon, for_delta)) * (1 + 1e-14))
    return math.ldexp(1.0, math.ceil(math.log2(needed)))


@lru_cache(maxsize=256)  # a release asks several times: for its steps, slack and plan
def calibrate(budget: Budget, coordinates: int, sigma_floor: float = SIGMA_FLOOR) -> Calibration:
    """How large mu^2 the Gaussian steps of one release may be, together, under one total.

    Parameters
    ----------
    budget : Budget
        (epsilon, delta): mu at (epsilon - 2 eta, delta (1 - 1e-9)). rho: mu^2 = 2 rho, exact for discrete
        Gaussians without lemma or scaling. mu: mu^2, with the slack to be stated.
    coordinates : int
        Number of noisy integers in all these steps.
    sigma_floor : float
        The smallest sd, in grid units, that the caller will use (see ``sigma_floor_for``).

    Raises
    ------
    ParameterError
        If delta = 0, or if the slack leaves nothing of epsilon or delta.
    """
    if budget.rho is not None:
        return Calibration(2 * budget.rho, 0.0)
    if budget.mu is not None:
        mu_squared = budget.mu**2
        return Calibration(mu_squared, discrete_slack(coordinates, sigma_floor, float_up(budget.mu)))
    epsilon, delta, slack = after_slack(budget, coordinates, sigma_floor)
    return Calibration(mu_for(epsilon, delta) ** 2, slack)


def after_slack(budget: Budget, coordinates: int, sigma_floor: float) -> tuple[Fraction, Fraction, float]:
    """epsilon - 2 eta, delta (1 - 1e-9) and eta: what continuous noise must meet so that discrete noise fits.

    eta is taken at the largest mu that the budget could allow. Raises as ``calibrate``.
    """
    if budget.epsilon is None or budget.delta is None or budget.pure:
        raise ParameterError(
            "delta = 0 cannot be met by Gaussian noise: give delta > 0 (below 1/n is usual), "
            "or choose a method that offers pure DP"
        )
    tail = _tail_for(coordinates, budget.delta)
    delta = budget.delta * (1 - DELTA_SHARE)
    largest = float_up(mu_for(budget.epsilon, delta))
    slack = discrete_slack(coordinates, sigma_floor, largest, tail)
    left = budget.epsilon - 2 * Fraction(slack)
    if left <= 0 or coordinates / (24 * sigma_floor * sigma_floor) > float(DELTA_SHARE) / 2:
        raise ParameterError(
            "epsilon is too small for noise on so coarse a grid: multiply the statistic by a larger power of "
            f"two (noise sd of {sigma_floor_for(coordinates, largest, tail):.4g} grid units), "
            "release fewer numbers, or give a larger epsilon"
        )
    return left, delta, slack


def _tail_for(coordinates: int, delta: Fraction) -> float:
    """t >= 12 with 2 N exp(-t^2/2) below half of delta's share."""
    return max(TAIL, math.sqrt(2 * (math.log(4 * coordinates) - log(delta * DELTA_SHARE))) + 1e-9)


def _target(delta: Fraction) -> float:
    if not 0 < delta < 1:
        raise ParameterError("delta must be in (0, 1) for Gaussian noise; a value below 1/n is usual")
    return log(delta)


def _covers(mu: float, epsilon: float, target: float) -> bool:
    """True if ln delta(mu, epsilon) is at most ``target`` whatever the rounding."""
    return log_gaussian_delta(mu, epsilon) + log_error(mu, epsilon) <= target


def _root(excess: Callable[[float], float], target: float) -> float:
    """Where the decreasing ``excess`` crosses 0; delta <= 1 - Phi(x) bounds it above."""
    high = -float(ndtri_exp(target)) + 1
    low, step = high - 2, 2.0
    while excess(low) < 0:
        low, step = low - step, 2 * step
    return float(brentq(excess, low, high, xtol=1e-14, rtol=1e-14))


def _log_delta(x: float, mu: float) -> float:
    """ln of phi(x) (R(x) - R(x + mu)) for x >= -mu/2; far out, of the bound phi(x)/x - phi(x)/(x + mu)."""
    log_density = -0.5 * x * x - _HALF_LOG_TAU
    if mu <= 1:
        return log_density + math.log(mu / 2 * float(_WEIGHTS @ _gap(x + mu / 2 * (1 + _NODES))))
    if x > 1e4:
        return log_density + math.log(mu / (x + mu)) - math.log(x)
    if x < 0:
        return float(log_ndtr(-x)) + math.log1p(-math.exp(log_density - float(log_ndtr(-x))) * _mills(x + mu))
    return log_density + math.log(_mills(x) - _mills(x + mu))


def _mills(s: float) -> float:
    """(1 - Phi(s))/phi(s)."""
    return math.sqrt(math.pi / 2) * float(erfcx(s / math.sqrt(2)))


def _gap(s: FloatArray) -> FloatArray:
    """g(s) = 1 - s R(s); for large s by the continued fraction R = 1/(s + T), g = T/(s + T)."""
    if s[0] < 30:
        return 1 - s * math.sqrt(math.pi / 2) * erfcx(s / math.sqrt(2))
    below = s
    for numerator in range(12, 1, -1):
        below = s + numerator / below
    return 1 / (s * below + 1)
