"""Which mechanism serves a request, decided from public facts alone."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, cast

from ..core.errors import InfeasiblePlan, ParameterError
from ..core.facts import Facts
from ..core.request import Request
from ..mechanisms.along import Along
from ..mechanisms.base import Mechanism
from ..mechanisms.registry import mechanism, mechanisms
from ..postprocess.winsorized_mean import Settings, level_of
from .auto import (
    MOMENTS,
    VARIANCES,
    Named,
    candidates,
    components_for,
    defaults,
    directions_for,
    exact_enough,
    means_for,
    moments_alone,
    some_use,
)
from .recursion import second_moment_for

FEW = 5
"""Eigenvalues that are found unless the caller says, or all of a narrower table."""
CUT = frozenset({"clip"})
"""The field of mechanisms along directions that cuts squares (``cut`` of the estimators)."""
LEAST_LEVEL = 0.8
"""A private quantile that must be lower than this is lost in its noise."""
NO_VARIANCES = "no variances, as their share of the budget is too small to find them"

_FOR = {
    "covariance": "a covariance",
    "directions": "principal components",
    "scree": "eigenvalues",
    "map": "a score map",
    "second moment": "a second moment",
}


@dataclass(frozen=True)
class Choice:
    """A mechanism by name, the one that finds its directions (None: itself), and why, in words.

    ``options``: settings that the choice brings along, weaker than the caller's.
    """

    name: str
    directions: str | None
    reason: str
    options: dict[str, Any] = field(default_factory=dict)


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
    return _build(decide(request, facts), request, facts)


def decide(request: Request, facts: Facts) -> Choice:
    """Resolve every "auto" of a request; errors as of ``choose``."""
    if request.budget.pure and request.purpose != "map":
        raise ParameterError(
            "delta=0: pure DP is not available yet for this estimator; give a delta above 0 "
            "(well below 1/n, for example delta=1e-6), or a budget as rho or mu"
        )
    if request.purpose == "directions":
        return _components(request, facts)
    if request.purpose == "second moment":
        if request.method != "auto":
            check(request, request.method)
        name, why = second_moment_for(request, facts)
        return Choice(name, None, why)
    if request.method != "auto":
        check(request, request.method)
        _check_cut(request, facts)
        return _along(request, facts, request.method, "asked for by name")
    return _scree(request, facts) if request.purpose == "scree" else _only(request, facts)


def pinned(request: Request, facts: Facts) -> Request:
    """The request with every "auto" resolved on these facts, so that it means the same on others."""
    choice = decide(request, facts)
    if request.purpose != "directions":
        return replace(request, method=choice.name, directions=choice.directions or request.directions)
    if choice.directions is not None:
        return replace(request, method=choice.directions, variances=choice.name)
    return replace(request, method=choice.name, variances="none")


def _build(choice: Choice, request: Request, facts: Facts) -> Mechanism:
    kind = mechanism(choice.name)
    if facts.rows == 1 and (_looks(kind) or "spherical_kendall" in (choice.name, choice.directions)):
        raise ParameterError("one sample has no differences of rows, which this method looks at: give two")
    settings: dict[str, Any] = defaults(choice.directions or choice.name, facts)
    settings |= {"center": request.layout} | choice.options | dict(request.settings)
    settings |= {
        "budget": request.budget,
        "trace": request.trace,
        "share": request.share,
        "n_components": _count(request, facts),
    }
    own = _fields(kind)
    if not _looks(kind):
        own = own - CUT  # moments clip rows: their field of that name means another thing
    if choice.directions is not None:
        finder = _fields(mechanism(choice.directions)) - own - CUT
        inner = {name: value for name, value in settings.items() if name in finder}
        settings |= {"directions": choice.directions, "options": tuple(sorted(inner.items()))}
    return cast(Mechanism, kind(**{name: value for name, value in settings.items() if name in own}))


def _count(request: Request, facts: Facts) -> int:
    """k, where the caller leaves it open."""
    if request.n_components is not None:
        return request.n_components
    return min(FEW, facts.d) if request.purpose == "scree" else facts.d


def _only(request: Request, facts: Facts) -> Choice:
    """Of what one mechanism gives; moments are the default of those for a covariance."""
    names = candidates(request)
    if MOMENTS in names:
        return Choice(MOMENTS, None, "auto: the least noise for all entries at once")
    if not names:
        raise ParameterError(
            f"no method gives {_FOR[request.purpose]} with adjacency={request.adjacency.value!r} and "
            f"scaling={request.scaling!r}"
        )
    return _along(request, facts, names[0], "auto: the only method")


def _scree(request: Request, facts: Facts) -> Choice:
    """Means along directions need no bound; moments are exact where noise is small, and the last resort."""
    if moments_alone(request):
        return Choice(MOMENTS, None, "auto: the only one with this adjacency and scaling")
    if exact_enough(request, facts, _count(request, facts)):
        return Choice(MOMENTS, None, "auto: noise is small even for wide bounds, and no row is left out")
    name, why = means_for(request, facts, _count(request, facts))
    found = _along(request, facts, name, f"auto: {why}")
    if some_use(request, facts) and not _holds(found, request, facts):
        return Choice(MOMENTS, None, "auto: too few rows at this budget for private quantiles of squares")
    return found


def _along(request: Request, facts: Facts, name: str, reason: str) -> Choice:
    """The mechanism, with what finds directions for it if it looks along some."""
    if not issubclass(mechanism(name), Along):
        return Choice(name, None, reason)
    finder, options, why = _directions(request, facts)
    return Choice(name, finder, f"{reason}; directions by {finder}: {why}", options)


def _holds(choice: Choice, request: Request, facts: Facts) -> bool:
    """Whether the private quantiles of winsorized means are above their noise; other means have none."""
    if choice.name != VARIANCES:
        return True
    try:
        built = _build(choice, request, facts)
        plans = built.calibrate(facts)
    except (ParameterError, InfeasiblePlan):
        return False
    searched, _ = Settings.of(built.parameters()).rows(facts)
    levels = [level_of(plan, searched) for plan in plans if plan.name.startswith("upper")]
    return min(levels, default=1.0) >= LEAST_LEVEL


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


def _check_cut(request: Request, facts: Facts) -> None:
    cut = dict(request.settings).get("clip")
    if request.method == "clipped_mean" and not facts.grid.bounded and cut is None:
        raise ParameterError(
            "cut is missing: without bounds, squares along directions need a public level to be cut at. Give "
            'cut from domain knowledge, in squared units of the encoded columns, or cut="dyadic", or take a '
            "method that needs none (winsorized_mean, huber_mean)"
        )


def _components(request: Request, facts: Facts) -> Choice:
    named = request.method != "auto"
    if named:
        check(request, request.method)
    if request.variances not in ("auto", "none") and not _looks(mechanism(request.variances)):
        names = ["auto", "none", *(n for n, k in mechanisms().items() if _looks(k))]
        raise ParameterError(f"variances must be one of {', '.join(map(repr, names))}")
    name, options, why = (
        (request.method, {}, "asked for by name") if named else components_for(request, facts)
    )
    reason = why if named else f"auto: {why}"
    if name == MOMENTS or request.variances == "none":
        return Choice(name, None, reason, options)
    along = request.variances
    if along == "auto":
        along, _ = means_for(request, facts, _count(request, facts))
    found = Choice(along, name, f"directions by {name}: {reason}", options)
    if request.variances == "auto" and not _holds(found, request, facts):
        return Choice(name, None, f"{reason}; {NO_VARIANCES}", options)
    return found


def _looks(kind: type[Any]) -> bool:
    """Whether a mechanism finds variances along directions."""
    return issubclass(kind, Along) and "scree" in kind.serves


def _directions(request: Request, facts: Facts) -> Named:
    """The mechanism that finds directions, and why."""
    name = request.directions
    if name == "auto":
        return directions_for(request, facts, 1 - request.share)
    if "directions" not in mechanism(name).serves:
        raise ParameterError(f"directions: {name!r} finds none")
    return name, {}, "asked for by name"


def _fields(kind: type[Any]) -> set[str]:
    return {field.name for field in fields(kind)}
