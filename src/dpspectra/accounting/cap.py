"""The cap of a ledger: one additive filter per label, compared exactly.

Claim: ``admit`` lets a release pass if and only if, in every capped currency, what was spent and its cost add
up to at most the cap, in exact fractions.  That such a filter keeps the cap's promise when costs are chosen
after seeing outputs is known for each currency by itself (sources in ``ledger.py``); a cap therefore has one
currency, and a release that does not state its cost in it is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from fractions import Fraction

from dpspectra.core.errors import BudgetExceeded, ParameterError
from dpspectra.core.privacy import Cost, Number, exact, show

_NAMES = {
    "epsilon": "epsilon",
    "delta": "delta",
    "rho": "rho",
    "rho_delta": "delta",
    "mu_squared": "mu squared",
}


@dataclass(frozen=True)
class Cap:
    """The most a label may spend: (epsilon, delta), or rho (with a cap on its deltas), or mu, or no cap."""

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    rho: Fraction | None = None
    mu: Fraction | None = None

    @classmethod
    def of(cls, epsilon: Number | None, delta: Number | None, rho: Number | None, mu: Number | None) -> Cap:
        """Read and check a cap. delta goes with epsilon (0 admits pure DP only) or, optionally, with rho."""
        given = {"epsilon": epsilon, "rho": rho, "mu": mu}
        if sum(value is not None for value in given.values()) > 1:
            raise ParameterError("a ledger has one cap: epsilon and delta, or rho, or mu")
        if delta is None and epsilon is not None:
            raise ParameterError("delta is missing: a cap is epsilon and delta (delta=0 admits pure DP only)")
        if delta is not None and epsilon is None and rho is None:
            raise ParameterError("epsilon is missing: delta alone is not a cap")
        read = {name: None if value is None else exact(value, name) for name, value in given.items()}
        for name, number in read.items():
            if number is not None and number <= 0:
                raise ParameterError(f"{name} must be positive and finite")
        share = None if delta is None else exact(delta, "delta")
        if share is not None and not 0 <= share < 1:
            raise ParameterError("delta must be in [0, 1)")
        return cls(read["epsilon"], share, read["rho"], read["mu"])

    @property
    def limits(self) -> dict[str, Fraction]:
        """The capped currencies, by field of ``Cost``; a rho cap without delta admits rho_delta = 0 only."""
        if self.epsilon is not None:
            return {"epsilon": self.epsilon, "delta": self.delta or Fraction(0)}
        if self.rho is not None:
            return {"rho": self.rho, "rho_delta": self.delta or Fraction(0)}
        return {} if self.mu is None else {"mu_squared": self.mu**2}

    def admit(self, label: str, cost: Cost, spent: Cost) -> None:
        """Raise ``BudgetExceeded`` unless ``cost`` fits beside ``spent``; to reach the cap is allowed.

        Once it is reached, no positive cost of that currency fits, however small.
        """
        values = {
            name: getattr(cost, name) for name in ("epsilon", "delta", "rho", "rho_delta", "mu_squared")
        }
        if any(value is not None and value < 0 for value in values.values()):
            raise ParameterError("a cost cannot be negative")
        if cost.epsilon is cost.rho is cost.mu_squared is None:
            raise ParameterError("a cost must state epsilon and delta, rho, or mu")
        missing = [name for name in self.limits if values[name] is None]
        if missing:
            raise BudgetExceeded(
                f"the ledger's cap is in {_words(self.limits)} and the release of label {label!r} states no "
                f"{_words(missing)}: {self._way_in()}"
            )
        left = self.left(spent)
        if left is None or all(values[name] <= getattr(left, name) for name in self.limits):
            return
        asked = ", ".join(f"{_NAMES[name]} = {_number(values[name])}" for name in self.limits)
        rest = ", ".join(f"{_NAMES[name]} = {_number(getattr(left, name))}" for name in self.limits)
        raise BudgetExceeded(
            f"label {label!r}: the release asks for {asked}; the ledger's cap leaves {rest}. Nothing was "
            "read or spent. Ask for no more than what is left, or reuse an earlier release (at no cost)"
        )

    def left(self, spent: Cost) -> Cost | None:
        """What remains beside ``spent``, in the cap's currencies (0 where unknown); None without a cap."""
        if not self.limits:
            return None
        known = {name: getattr(spent, name) for name in self.limits}
        return Cost(
            **{
                name: Fraction(0) if known[name] is None else limit - known[name]
                for name, limit in self.limits.items()
            }
        )

    def _way_in(self) -> str:
        if self.epsilon is not None:
            return "give the release its budget as epsilon and delta, or use a ledger with a rho cap"
        if self.rho is not None:
            return "give the release its budget as rho, or use a ledger with an (epsilon, delta) cap"
        return "only Gaussian releases are admitted; use a ledger with an (epsilon, delta) or a rho cap"

    def to_dict(self) -> dict[str, str | None]:
        """Exact numbers as text."""
        return {
            field.name: None if (value := getattr(self, field.name)) is None else str(value)
            for field in fields(self)
        }

    @classmethod
    def from_dict(cls, data: dict[str, str | None]) -> Cap:
        """The inverse of ``to_dict``."""
        return cls(**{name: None if text is None else Fraction(text) for name, text in data.items()})

    def __str__(self) -> str:
        known = [
            f"{name} = {_number(Fraction(text))}" for name, text in self.to_dict().items() if text is not None
        ]
        return ", ".join(known) or "no cap"


def _number(value: Fraction) -> str:
    """Short where that is exact, else with all digits of a double, so that near numbers look different."""
    text = show(value)
    return text if Fraction(text) == value else f"{float(value):.17g}"


def _words(names: Iterable[str]) -> str:
    return " and ".join(_NAMES[name] for name in names)
