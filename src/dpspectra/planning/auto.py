"""What ``method="auto"`` takes, from public facts alone, and why in words.

Where bounds are public, second moments are one way of two, and how good they are depends on how much of B^2
the rows use, which is not known: ``directions.USED`` of it is assumed. Their noise edge over that trace says
what they could show.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from ..accounting.exact import sqrt_down
from ..accounting.gaussian import calibrate
from ..core.facts import Facts
from ..core.privacy import Budget
from ..core.request import Request
from ..mechanisms.registry import mechanism, mechanisms
from .directions import ALL_PAIRS, best_directions, edges

MOMENTS = "gaussian_moments"
ROBUST = {"spherical_kendall", "spatial_sign"}
VARIANCES = "winsorized_mean"
"""What looks along directions of few rows: it needs no scale."""
HEAVY = "huber_mean"
"""What looks along directions of many: its cut follows the mean, so it has less bias in heavy tails."""
MANY = 60
"""Pairs, times mu of the variances, over k, from which on that bias is what matters: in light tails little is
lost by it then, and in heavy ones much is won."""

USEFUL = 0.5
"""Noise edge of moments up to which they show a component with half of the assumed variance."""
SHARP = 0.25
"""Noise edge that robust directions must have to be taken instead."""
EXACT = 0.05
"""k times the noise edge of moments up to which they are better than means of paired squares, which have a
sampling error of their own, unless the bounds are far too wide."""

Named = tuple[str, dict[str, Any], str]


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


def moments_alone(request: Request) -> bool:
    """Whether robust directions do not serve: a private number of rows, or a correlation."""
    return not ROBUST & set(candidates(request, "directions"))


def components_for(request: Request, facts: Facts) -> Named:
    """What finds principal components: moments, which release a covariance as well, where they can."""
    if moments_alone(request):
        return MOMENTS, {}, "the only one with this adjacency and scaling"
    robust = _best(request, facts, Fraction(1))
    if not facts.grid.bounded:
        return robust
    found = edges(facts, request.budget)
    if found[MOMENTS] <= USEFUL:
        return MOMENTS, {}, "its noise leaves room for components, and it gives a covariance"
    if found[robust[0]] > SHARP:
        return MOMENTS, {}, "nothing shows more at this budget"
    name, options, reason = robust
    return name, options, f"noise on a covariance would hide components at these bounds; {reason}"


def directions_for(request: Request, facts: Facts, part: Fraction) -> Named:
    """What finds directions for variances or a map along them, with that part of the budget."""
    if request.purpose == "map":  # of components, with a centre where moments serve
        return components_for(request, facts)
    if moments_alone(request):
        return MOMENTS, {}, "the only one with this adjacency and scaling"
    return _best(request, facts, part)


def means_for(request: Request, facts: Facts, count: int) -> tuple[str, str]:
    """What finds variances along directions, and why."""
    if request.budget.mu is not None or facts.rows is None:
        return VARIANCES, "it finds the scale"
    mu = math.sqrt(calibrate(request.budget, 1, 2.0**200).mu_squared * request.share)
    if facts.rows // 2 * mu / count >= MANY:
        return HEAVY, "with so many rows the least bias in heavy tails counts most"
    return VARIANCES, "its noise follows the data, however wide the bounds are"


def exact_enough(request: Request, facts: Facts, count: int) -> bool:
    """Whether moments find eigenvalues better than any mean along directions would."""
    return facts.grid.bounded and count * edges(facts, request.budget)[MOMENTS] <= EXACT


def some_use(request: Request, facts: Facts) -> bool:
    """Whether moments could show a component that holds all of the assumed variance."""
    return facts.grid.bounded and edges(facts, request.budget)[MOMENTS] <= 1.0


def _best(request: Request, facts: Facts, part: Fraction) -> Named:
    """The best directions that need no bound."""
    count = request.n_components or facts.d
    return _settled(request, *best_directions(facts, _part(request.budget, part), False, count))


def _settled(request: Request, name: str, options: dict[str, Any], reason: str) -> Named:
    """Signs are of rows about a centre: the caller's, if it is a public vector. Without one, and where none
    may be released, pairs need none."""
    if name != "spatial_sign" or request.center == "private":
        return name, options, reason
    if not isinstance(request.center, str):
        return name, {"center": "fixed"}, "half of the noise of pairs, about the public centre"
    return "spherical_kendall", {}, "no bound and no centre is needed"


def defaults(name: str, facts: Facts) -> dict[str, Any]:
    """Settings of a direction mechanism that follow from the size of the table: all pairs of many rows would
    take hours."""
    many = facts.rows is not None and facts.rows > ALL_PAIRS
    return {"pairs": "disjoint"} if name == "spherical_kendall" and many else {}


def _part(budget: Budget, part: Fraction) -> Budget:
    """A part of a total, in rho, as a budget of its own."""
    if part == 1:
        return budget
    mu_squared = calibrate(budget, 1, 2.0**200).mu_squared * part
    if budget.mu is not None:
        return Budget(mu=sqrt_down(mu_squared))
    return Budget(rho=mu_squared / 2)
