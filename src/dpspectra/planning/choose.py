"""Which mechanism serves a request, decided from public facts alone."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, cast

from ..core.errors import ParameterError
from ..core.facts import Facts
from ..core.request import Request
from ..mechanisms.along import Along
from ..mechanisms.base import Mechanism
from ..mechanisms.registry import mechanism, mechanisms
from .auto import MOMENTS, candidates, directions_for, scree_for

VARIANCES = "winsorized_mean"
"""What looks along directions unless the caller says: it needs no scale."""

_FOR = {
    "covariance": "a covariance",
    "directions": "principal components",
    "scree": "eigenvalues",
    "map": "a score map",
}


@dataclass(frozen=True)
class Choice:
    """A mechanism by name, the one that finds its directions (None: itself), and why, in words."""

    name: str
    directions: str | None
    reason: str


def choose(request: Request, facts: Facts) -> Mechanism:
    """The configured mechanism of a request.

    Parameters
    ----------
    request : Request
        ``method`` is "auto" or a name. Settings go to the mechanism's fields of the same names.
    facts : Facts
        The public facts of the table; "auto" decides from them.

    Raises
    ------
    ParameterError
        An unknown method, one that does not give what is asked for, or pure DP (``delta=0``), which no
        mechanism for covariances and eigenvalues offers yet.
    """
    choice = decide(request, facts)
    if request.budget.pure and request.purpose != "map":
        raise ParameterError(
            "delta=0: pure DP is not available yet for this estimator; give a delta above 0 "
            "(well below 1/n, for example delta=1e-6), or a budget as rho or mu"
        )
    kind = mechanism(choice.name)
    settings: dict[str, Any] = dict(request.settings) | {
        "budget": request.budget,
        "center": request.layout,
        "trace": request.trace,
        "share": request.share,
        "n_components": facts.d if request.n_components is None else request.n_components,
    }
    if choice.directions is not None:
        finder = mechanism(choice.directions)
        own = _fields(kind)
        inner = {name: value for name, value in settings.items() if name in _fields(finder) - own}
        settings |= {"directions": choice.directions, "options": tuple(sorted(inner.items()))}
    known = _fields(kind)
    return cast(Mechanism, kind(**{name: value for name, value in settings.items() if name in known}))


def decide(request: Request, facts: Facts) -> Choice:
    """Resolve every "auto" of a request."""
    if request.purpose == "directions":
        return _components(request, facts)
    if request.method != "auto":
        name, reason = request.method, "asked for by name"
        check(request, name)
        _check_cut(request, name, facts)
    elif request.purpose == "scree":
        name, reason = scree_for(request, facts)
    else:
        name, reason = _only(request)
    if not issubclass(mechanism(name), Along):
        return Choice(name, None, reason)
    found, why = _directions(request, facts)
    return Choice(name, found, f"{reason}; directions by {found}: {why}")


def _only(request: Request) -> tuple[str, str]:
    """Of what one mechanism gives; moments are the default of those for a covariance."""
    names = candidates(request)
    if MOMENTS in names:
        return MOMENTS, "auto: the least noise for all entries at once"
    if not names:
        raise ParameterError(
            f"no method gives {_FOR[request.purpose]} with adjacency={request.adjacency.value!r} and "
            f"scaling={request.scaling!r}"
        )
    return names[0], "auto: the only method"


def check(request: Request, name: str) -> None:
    """Refuse a method that does not give what is asked for."""
    kind = mechanism(name)
    if request.purpose not in kind.serves:
        fitting = ", ".join(["auto", *(n for n, k in mechanisms().items() if request.purpose in k.serves)])
        raise ParameterError(f"method {name!r} does not give {_FOR[request.purpose]}; these do: {fitting}")
    if request.scaling == "private" and name != MOMENTS:
        raise ParameterError(
            f'scaling="private" divides by released standard deviations, which {name} does not have; '
            f'take method="{MOMENTS}", or scaling="bounds"'
        )


def _check_cut(request: Request, name: str, facts: Facts) -> None:
    if name == "clipped_mean" and not facts.grid.bounded and dict(request.settings).get("clip") is None:
        raise ParameterError(
            "cut is missing: without bounds, squares along directions need a public level to be cut at. Give "
            "cut from domain knowledge, in squared units of the encoded columns, or take a method that needs "
            "none (winsorized_mean, huber_mean)"
        )


def _components(request: Request, facts: Facts) -> Choice:
    if request.method != "auto":
        check(request, request.method)
    name, reason = _directions(request, facts, request.method)
    if name == MOMENTS or request.variances == "none":
        return Choice(name, None, reason)
    along = VARIANCES if request.variances == "auto" else request.variances
    kind = mechanism(along)
    if not _looks(kind):
        names = ["auto", "none", *(n for n, k in mechanisms().items() if _looks(k))]
        raise ParameterError(f"variances must be one of {', '.join(map(repr, names))}")
    return Choice(along, name, reason)


def _looks(kind: type[Any]) -> bool:
    """Whether a mechanism finds variances along directions."""
    return issubclass(kind, Along) and "scree" in kind.serves


def _directions(request: Request, facts: Facts, named: str | None = None) -> tuple[str, str]:
    """The mechanism that finds directions, and why."""
    name = request.directions if named is None else named
    if name != "auto":
        if "directions" not in mechanism(name).serves:
            raise ParameterError(f"directions: {name!r} finds none")
        return name, "asked for by name"
    return directions_for(request, facts)


def _fields(kind: type[Any]) -> set[str]:
    return {field.name for field in fields(kind)}
