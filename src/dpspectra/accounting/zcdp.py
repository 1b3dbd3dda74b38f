"""Zero-concentrated DP: rho of pure and of bounded-range steps, and conversion from and to (epsilon, delta).

**Pure epsilon** is (epsilon tanh(epsilon/2))-zCDP, and no smaller rho holds.  Randomised response dominates
every epsilon-DP step.  Its Renyi divergence is D_a = ln(cosh((a - 1/2) epsilon)/cosh(epsilon/2))/(a - 1),
so with v = u^2, u = a - 1/2, D_a/a is the slope of v -> ln cosh(sqrt(v) epsilon) between v = 1/4 and u^2.
That function is concave (its derivative epsilon tanh(w)/(2 u), w = u epsilon, falls), so the slope is
largest as a -> 1, where it is epsilon tanh(epsilon/2) <= min(epsilon, epsilon^2/2).

**Range epsilon** (the exponential mechanism with Gumbel noise: the privacy loss L lies in an interval of
length epsilon) is (r - 1 - ln r)-zCDP with r = epsilon/(e^epsilon - 1), at most epsilon^2/8, and no smaller
rho holds.  Given E_Q e^L = 1, E_Q e^(aL) is largest for L on the two ends.  Then D_a/a is
(epsilon^2/2) E h(epsilon s (1 + (a - 1) V) + c), by Hermite-Genocchi, where h is the logistic density
(symmetric, unimodal, at most 1/4), s has density 2 s on [0, 1], V is uniform on [0, 1], c is free.  For any
k' < k and c, |k' s + c k'/k| <= |k s + c|, so A(k) = sup_c E h(k s + c) falls with k.  Since
1 + (a - 1) V >= 1, D_a/a <= (epsilon^2/2) A(epsilon), its value as a -> 1, which is the largest
Kullback-Leibler divergence: r - 1 - ln r, at e^max(L) = (e^epsilon - 1)/epsilon.

**Conversion.**  For every order a > 1, rho-zCDP gives
delta = e^((a-1)(a rho - epsilon)) (1 - 1/a)^a/(a - 1) (Canonne, Kamath and Steinke 2020, Proposition 12).
Any order is valid, so the search for the best one need not be exact; only the last evaluation is rounded,
outward.  A delta_0-approximate zCDP step adds its delta_0.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpspectra.core.errors import ParameterError

from .exact import float_down, float_up, log

FloatArray = NDArray[np.float64]

_SMALL = Fraction(1, 1000)
"""Up to it the quadratic bounds are within 1e-7 of the sharp ones and are used instead."""
_DECIMAL = Context(prec=60, Emin=-(10**15), Emax=10**15)
_ZOOMS, _ORDERS = 6, 120
_ROUNDING = 64 * sys.float_info.epsilon


def rho_of_pure(epsilon: Fraction) -> Fraction:
    """Smallest rho that holds for every pure epsilon-DP step, epsilon tanh(epsilon/2), rounded up."""
    if epsilon <= _SMALL:
        return epsilon**2 / 2
    with localcontext(_DECIMAL):
        number = _decimal(epsilon)
        fall = (-number).exp()
        return _up(number * (1 - fall) / (1 + fall))


def rho_of_range(epsilon: Fraction) -> Fraction:
    """Smallest rho that holds for every step of privacy-loss range epsilon, rounded up (about epsilon^2/8).

    For the exponential mechanism drawn with Gumbel noise, not for permute-and-flip.
    """
    if epsilon <= _SMALL:
        return epsilon**2 / 8
    with localcontext(_DECIMAL):
        number = _decimal(epsilon)
        fall = (-number).exp()
        r = number * fall / (1 - fall)
        return _up(r - 1 + number - number.ln() + (1 - fall).ln())


def epsilon_for(rho: Fraction, delta: Fraction, rho_delta: Fraction = Fraction(0)) -> Fraction:
    """Epsilon at ``delta`` of a ``rho_delta``-approximate rho-zCDP release, rounded up.

    Raises
    ------
    ParameterError
        If delta is not in (rho_delta, 1), or rho is negative.
    """
    if rho < 0:
        raise ParameterError("rho must be positive and finite")
    log_inverse = _log_inverse(delta - rho_delta)
    bound = float_up(rho)

    def negative(t: FloatArray) -> FloatArray:
        excess, error = _excess(t, log_inverse)
        whole = (1 + np.exp(t)) * bound
        return np.negative(whole + excess + error + _ROUNDING * whole)

    return Fraction(max(0.0, -_best(negative)))


def rho_for(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Largest rho whose zCDP gives (epsilon, delta)-DP by the conversion above, rounded down.

    Raises
    ------
    ParameterError
        If epsilon or delta is out of its domain, or both are so small that no rho is left.
    """
    if epsilon <= 0:
        raise ParameterError("epsilon must be positive and finite")
    log_inverse = _log_inverse(delta)
    bound = float_down(epsilon)

    def allowed(t: FloatArray) -> FloatArray:
        excess, error = _excess(t, log_inverse)
        room: FloatArray = (bound - excess - error) / (1 + np.exp(t)) * (1 - _ROUNDING)
        return room

    best = _best(allowed)
    if best <= 0:
        raise ParameterError("epsilon and delta are so small that no rho is left: ask for a larger budget")
    return Fraction(best)


def _excess(t: FloatArray, log_inverse: float) -> tuple[FloatArray, FloatArray]:
    """epsilon - a rho at order a = 1 + e^t, and a bound on its rounding error.

    (ln(1/delta) - ln a)/(a - 1) + ln(1 - 1/a), written without cancellation.
    """
    log_order = np.logaddexp(0, t)
    first = (log_inverse - log_order) * np.exp(-t)
    second = -np.logaddexp(0, -t)
    scale = (abs(log_inverse) + log_order) * np.exp(-t) - second
    return first + second, _ROUNDING * scale


def _best(objective: Callable[[FloatArray], FloatArray]) -> float:
    """Largest value seen while zooming in on the best t = ln(a - 1)."""
    low, high, best = -60.0, 80.0, -np.inf
    for _ in range(_ZOOMS):
        t = np.linspace(low, high, _ORDERS)
        values = objective(t)
        place = int(np.argmax(values))
        best = max(best, float(values[place]))
        low, high = t[max(place - 1, 0)], t[min(place + 1, _ORDERS - 1)]
    return best


def _log_inverse(delta: Fraction) -> float:
    if not 0 < delta < 1:
        raise ParameterError("delta must be in (0, 1), and above the deltas already spent, to convert zCDP")
    return -log(delta)


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _up(value: Decimal) -> Fraction:
    """Past the rounding of sixty digits, then up to a double."""
    return Fraction(float_up(Fraction(value) * (1 + Fraction(1, 10**40))))
