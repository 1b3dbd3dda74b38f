"""From what a caller plans, an estimator or a mechanism's name, to a checked request."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from ..core.request import PURPOSES, Request
from ..mechanisms.registry import mechanism


def named(method: Any) -> dict[str, Any]:
    """What planning a mechanism by its name means: what it is for, and nothing along its directions."""
    serves = {"covariance"} if method == "auto" else mechanism(str(method)).serves
    known = [purpose for purpose in PURPOSES if purpose in serves]
    purpose = known[0] if known else "covariance"
    return {"method": method, "purpose": purpose, "variances": "none"}


def request_for(target: Any, given: dict[str, Any]) -> Request:
    """The request of settings: those of an estimator, or of a mechanism by its name."""
    given = target.settled(given) if hasattr(target, "settled") else given
    known = {name: value for name, value in given.items() if name not in ("schema", "bounds")}
    if hasattr(target, "fields"):
        settings = {field: given[name] for name, field in target.fields().items()}
        return Request.of(**known, purpose=target.purpose, settings=settings)
    if hasattr(target, "get_params"):
        return Request.of(**known)
    names = {field.name for field in fields(mechanism(target))} if target != "auto" else set()
    return Request.of(**known, settings={name: known[name] for name in names & known.keys()})
