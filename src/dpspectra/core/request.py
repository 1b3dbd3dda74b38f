"""What a caller asks for, checked: the public settings shared by estimators, plan and command line."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

import numpy as np

from .errors import ParameterError
from .privacy import Adjacency, Budget, Number, exact

CENTERS = ("private", "joint", "public", "none")
SCALINGS = ("none", "bounds", "private")
PURPOSES = ("covariance", "directions", "scree", "map", "second moment")


@dataclass(frozen=True)
class Request:
    """Checked public settings; argument by argument as in the estimators.

    ``center`` is one of CENTERS or a public vector (tuple); ``clip`` is "none" or a positive float.

    ``purpose`` is one of PURPOSES: what the release is for. ``n_components`` (None: all) and ``settings``
    go to the mechanism's fields of the same names; ``directions`` and ``variances`` name the mechanisms
    that find directions and look along them, with ``share`` of the budget for the latter.
    """

    budget: Budget
    center: str | tuple[float, ...] = "private"
    scaling: str = "none"
    clip: str | float = "none"
    row_norm: float | None = None
    adjacency: Adjacency = Adjacency.REPLACE_ONE
    method: str = "auto"
    denoise: bool = True
    ddof: int = 1
    trace: bool = False
    rows_max: int | None = None
    purpose: str = "covariance"
    directions: str = "auto"
    variances: str = "auto"
    share: Fraction = Fraction(1, 2)
    settings: tuple[tuple[str, Any], ...] = ()
    n_components: int | None = field(default=None, compare=False)  # how many are kept may change until then

    @classmethod
    def of(
        cls,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        center: str | Sequence[float] = "private",
        scaling: str = "none",
        clip: str | float = "none",
        row_norm: float | None = None,
        adjacency: Adjacency | str = Adjacency.REPLACE_ONE,
        method: str = "auto",
        denoise: bool = True,
        ddof: int = 1,
        trace: bool = False,
        rows_max: int | None = None,
        purpose: str = "covariance",
        directions: str = "auto",
        variances: str = "auto",
        share: Number = Fraction(1, 2),
        settings: Mapping[str, Any] | None = None,
        n_components: Any = None,
        **_: Any,
    ) -> Request:
        """Check every argument; ParameterError names the one that is wrong. Unknown keywords are ignored,
        so an estimator's ``get_params()`` can be passed whole."""
        if scaling not in SCALINGS:
            raise ParameterError(f"scaling must be one of {', '.join(map(repr, SCALINGS))}")
        if isinstance(clip, str) and clip == "private":
            raise ParameterError(
                'clip="private" is not available yet; give a public threshold as a float, or clip="none"'
            )
        for name, switch in (("denoise", denoise), ("trace", trace)):
            if not isinstance(switch, (bool, np.bool_)):
                raise ParameterError(f"{name} must be True or False")
        if purpose not in PURPOSES:
            raise ParameterError(f"purpose must be one of {', '.join(map(repr, PURPOSES))}")
        if not isinstance(method, str):
            raise ParameterError('method must be a name, such as "auto" (plan takes a schema as schema=)')
        for name, value in (("directions", directions), ("variances", variances)):
            if not isinstance(value, str):
                raise ParameterError(f'{name} must be a name, such as "auto"')
        part = exact(share, "share")
        if not 0 < part < 1:
            raise ParameterError("share must be in (0, 1): the part of the budget that is not for directions")
        capacity = None if rows_max is None else _integer(rows_max, "rows_max", least=1)
        if capacity is not None and capacity >= 2**58:
            raise ParameterError("rows_max must be below 2^58")
        return cls(
            budget=Budget.of(epsilon=epsilon, delta=delta, rho=rho, mu=mu),
            center=_center(center),
            scaling=scaling,
            clip="none" if isinstance(clip, str) and clip == "none" else _positive(clip, "clip"),
            row_norm=None if row_norm is None else _positive(row_norm, "row_norm"),
            adjacency=Adjacency.parse(adjacency),
            method=method,
            denoise=bool(denoise),
            ddof=_integer(ddof, "ddof", least=0),
            trace=bool(trace),
            rows_max=capacity,
            purpose=purpose,
            directions=directions,
            variances=variances,
            share=part,
            settings=tuple(sorted((settings or {}).items())),
            n_components=_count(n_components),
        )

    @property
    def layout(self) -> str:
        """How the centre is found: "private", "joint", or "fixed" for every public centre."""
        return str(self.center) if self.center in ("private", "joint") else "fixed"

    @property
    def groups(self) -> str | None:
        """The category column that says which group a row belongs to, among the settings."""
        found = dict(self.settings).get("groups")
        if not (found is None or isinstance(found, str)):
            raise ParameterError("groups must be the name of a category column, or None")
        return found

    @property
    def origin(self) -> str | tuple[float, ...]:
        """Where rows are measured from before any release: "bounds" (mid-range), "zero", or a vector."""
        if not isinstance(self.center, str):
            return self.center
        return "zero" if self.center == "none" else "bounds"

    def parameters(self) -> dict[str, Any]:
        """The settings as JSON values, for the card."""
        return {
            "center": list(self.center) if isinstance(self.center, tuple) else self.center,
            "scaling": self.scaling,
            "clip": self.clip,
            "denoise": self.denoise,
            "ddof": self.ddof,
            "trace": self.trace,
            "rows_max": self.rows_max,
            "row_norm": self.row_norm,
        }


def _center(value: Any) -> str | tuple[float, ...]:
    if isinstance(value, str):
        if value not in CENTERS:
            raise ParameterError(f"center must be one of {', '.join(map(repr, CENTERS))} or a public vector")
        return value
    try:
        vector = tuple(float(entry) for entry in value)
    except (TypeError, ValueError):
        raise ParameterError("center must be a name or a public vector of numbers") from None
    if not vector or not all(math.isfinite(entry) for entry in vector):
        raise ParameterError("center: a public vector must be finite and not empty")
    return vector


def _count(value: Any) -> int | None:
    """A number of components; None for a share of the variance, which needs all (estimators check it)."""
    if isinstance(value, Integral) and not isinstance(value, (bool, np.bool_)):
        return int(value)
    return None


def _positive(value: Any, name: str) -> float:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise ParameterError(f"{name} must be a positive finite number")
    number = float(value)
    if not (math.isfinite(number) and number > 0):
        raise ParameterError(f"{name} must be a positive finite number")
    return number


def _integer(value: Any, name: str, least: int) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral) or int(value) < least:
        raise ParameterError(f"{name} must be a whole number, at least {least}")
    return int(value)
