"""What ``method="auto"`` takes, from public facts alone, and why in words."""

from __future__ import annotations

from ..core.facts import Facts
from ..core.request import Request
from ..mechanisms.registry import mechanism, mechanisms

MOMENTS = "gaussian_moments"


def candidates(request: Request, purpose: str | None = None) -> list[str]:
    """Mechanisms that serve a purpose (the request's) under its adjacency and scaling."""
    return [
        name
        for name, kind in mechanisms().items()
        if (purpose or request.purpose) in kind.serves
        and request.adjacency in kind.adjacencies
        and (request.scaling != "private" or name == MOMENTS)
    ]


def open_ended(request: Request) -> bool:
    """Whether columns may go without bounds: what is asked for, or one of the choices, needs none."""
    names = candidates(request) if request.method == "auto" else [request.method]
    return any(not mechanism(name).needs_bounds for name in names)


def directions_for(request: Request, facts: Facts) -> tuple[str, str]:
    """The mechanism that finds directions."""
    names = candidates(request, "directions")
    if facts.grid.bounded or names == [MOMENTS]:
        return MOMENTS, "auto: the least noise for all entries at once"
    return "spatial_sign", "auto: no bounds"


def scree_for(request: Request, facts: Facts) -> tuple[str, str]:
    """The mechanism that finds eigenvalues."""
    if facts.grid.bounded or candidates(request) == [MOMENTS]:
        return MOMENTS, "auto: the bound on rows is credible"
    return "winsorized_mean", "auto: no bounds"
