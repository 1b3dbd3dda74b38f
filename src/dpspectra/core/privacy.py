"""Adjacency, exact budget numbers, what a release costs and what it promises."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

from .errors import ParameterError

Number = int | float | str | Decimal | Fraction
MOST = Fraction(10**100)
LEAST = Fraction(1, 10**300)
"""A budget is shown and computed with as doubles: epsilon, rho and mu up to MOST, delta from LEAST on."""


class Adjacency(StrEnum):
    """Which tables are neighbours.

    ``REPLACE_ONE``: equal public number of rows, one row differs.
    ``ADD_REMOVE``: one row more or less; the number of rows is private.
    """

    REPLACE_ONE = "replace-one"
    ADD_REMOVE = "add-remove"

    @classmethod
    def parse(cls, value: Adjacency | str) -> Adjacency:
        try:
            return cls(value)
        except ValueError:
            names = ", ".join(repr(member.value) for member in cls)
            raise ParameterError(f"adjacency must be one of {names}") from None


def exact(value: Number, name: str) -> Fraction:
    """Read a number exactly: ints and fractions as they are, floats by their shortest decimal."""
    if isinstance(value, bool) or value is None:
        raise ParameterError(f"{name} must be a number")
    if isinstance(value, Fraction):
        return value
    if isinstance(value, Integral):
        return Fraction(int(value))
    try:
        if isinstance(value, (str, Decimal)):
            decimal = Decimal(value)
        elif isinstance(value, Real):
            decimal = Decimal(repr(float(value)))
        else:
            raise ParameterError(f"{name} must be a number")
    except InvalidOperation:
        raise ParameterError(f"{name} must be a decimal number") from None
    if not decimal.is_finite():
        raise ParameterError(f"{name} must be finite")
    if decimal and abs(decimal.adjusted()) > 1000:  # the fraction would fill the memory
        raise ParameterError(f"{name} is out of range")
    return Fraction(decimal)


@dataclass(frozen=True)
class Budget:
    """The one total a caller names: (epsilon, delta), or rho (zCDP), or mu (Gaussian DP)."""

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    rho: Fraction | None = None
    mu: Fraction | None = None

    @classmethod
    def of(
        cls,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
    ) -> Budget:
        """Check and read a total; exactly one of the three ways must be given.

        epsilon must be positive and finite, delta in [0, 1) (0 asks for pure DP), rho and mu positive.
        """
        ways = [epsilon is not None or delta is not None, rho is not None, mu is not None]
        if sum(ways) != 1:
            raise ParameterError(
                "name one total privacy budget: epsilon and delta, or rho, or mu"
                + (" (more than one was given)" if sum(ways) > 1 else "")
            )
        if rho is not None:
            return cls(rho=_positive(rho, "rho"))
        if mu is not None:
            return cls(mu=_positive(mu, "mu"))
        if epsilon is None:
            raise ParameterError("epsilon is missing: delta alone is not a budget")
        if delta is None:
            raise ParameterError("delta is missing: give both (delta well below 1/n, for example 1e-6)")
        checked_epsilon = _positive(epsilon, "epsilon")
        checked_delta = exact(delta, "delta")
        if not 0 <= checked_delta < 1:
            raise ParameterError("delta must be in [0, 1); a value below 1/n is usual")
        if 0 < checked_delta < LEAST:
            raise ParameterError("delta is too small: give at least 1e-300, or delta=0 for pure DP")
        return cls(epsilon=checked_epsilon, delta=checked_delta)

    @property
    def pure(self) -> bool:
        """True if pure DP (delta = 0) is asked for."""
        return self.epsilon is not None and self.delta == 0

    def __str__(self) -> str:
        if self.rho is not None:
            return f"rho = {show(self.rho)} (zCDP)"
        if self.mu is not None:
            return f"mu = {show(self.mu)} (Gaussian DP)"
        assert self.epsilon is not None
        assert self.delta is not None
        return f"(epsilon, delta) = ({show(self.epsilon)}, {show(self.delta)})"


def _positive(value: Number, name: str) -> Fraction:
    number = exact(value, name)
    if number <= 0:
        raise ParameterError(f"{name} must be positive and finite")
    if not 1 / MOST <= number <= MOST:
        raise ParameterError(f"{name} must be between 1e-100 and 1e100")
    return number


def show(value: Fraction) -> str:
    """A fraction as a short decimal for people (the exact number is kept elsewhere)."""
    return f"{float(value):.6g}"


@dataclass(frozen=True)
class Cost:
    """What a step or a release costs, in every currency in which a bound is known (None: unknown).

    ``epsilon`` and ``delta``: approximate DP. ``rho`` and ``rho_delta``: rho-zCDP, delta-approximate if
    ``rho_delta`` > 0. ``mu_squared``: Gaussian DP, mu^2 = Delta^2/sigma^2, an exact rational.
    """

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    rho: Fraction | None = None
    rho_delta: Fraction = Fraction(0)
    mu_squared: Fraction | None = None

    @classmethod
    def pure(cls, epsilon: Fraction, rho: Fraction | None = None) -> Cost:
        """Pure epsilon-DP; ``rho`` if a zCDP bound is known (accounting/zcdp.py gives them)."""
        return cls(epsilon=epsilon, delta=Fraction(0), rho=rho)

    @classmethod
    def gaussian(cls, mu_squared: Fraction) -> Cost:
        """A Gaussian step: mu-GDP and (mu^2/2)-zCDP."""
        return cls(rho=mu_squared / 2, mu_squared=mu_squared)

    @classmethod
    def zcdp(cls, rho: Fraction, delta: Fraction = Fraction(0)) -> Cost:
        return cls(rho=rho, rho_delta=delta)

    @classmethod
    def approx(cls, epsilon: Fraction, delta: Fraction) -> Cost:
        return cls(epsilon=epsilon, delta=delta)

    def claiming(self, epsilon: Fraction, delta: Fraction) -> Cost:
        """The same cost with an (epsilon, delta) claim that its calibration proves."""
        return replace(self, epsilon=epsilon, delta=delta)

    def to_dict(self) -> dict[str, str | None]:
        """Exact numbers as text, for JSON and the ledger."""
        names = ("epsilon", "delta", "rho", "rho_delta", "mu_squared")
        return {name: None if (value := getattr(self, name)) is None else str(value) for name in names}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Cost:
        read = {key: None if value is None else Fraction(value) for key, value in data.items()}
        return cls(**read)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Guarantee:
    """What a reader is promised: the total in the units it was asked in, and for whom it holds.

    ``private`` is False for runs made without real noise (tests); such numbers must not be published.
    ``slack`` is the part of epsilon that covers discrete against continuous Gaussian noise.
    """

    epsilon: float | None
    delta: float | None
    rho: float | None
    mu: float | None
    adjacency: str
    unit: str
    private: bool
    slack: float = 0.0

    def sentence(self) -> str:
        """The guarantee in one plain sentence."""
        if not self.private:
            return "NOT PRIVATE: made with test noise; these numbers must not be published."
        if self.epsilon is not None:
            strength = f"({_digits(self.epsilon)}, {_digits(self.delta)})-differentially private"
        elif self.rho is not None:
            strength = f"{_digits(self.rho)}-zero-concentrated differentially private"
        else:
            strength = (
                f"{_digits(self.mu)}-Gaussian differentially private (to within {self.slack:.0e} in epsilon)"
            )
        change = (
            f"replacing any one {self.unit} of the table"
            if self.adjacency == Adjacency.REPLACE_ONE.value
            else f"adding or removing any one {self.unit} of the table"
        )
        return f"Everything shown here is {strength} for {change}."


def _digits(value: float | None) -> str:
    """All digits of a number, so that a promise is never rounded down."""
    assert value is not None
    return repr(float(value)).removesuffix(".0")


def outward(value: float, up: bool) -> float:
    """The neighbouring double, away from the unsafe side."""
    return math.nextafter(value, math.inf if up else -math.inf)
