"""Warnings from public facts, each with its way out."""

from __future__ import annotations

from ..core.facts import Facts
from ..core.privacy import Adjacency, show
from ..core.request import Request
from ..rows.encode import Encoder
from .choose import NO_VARIANCES, choose, decide
from .law import has_law, law

DOMINANT = 0.9
"""Share of B^2 from which on one column drowns the others."""


def plan_warnings(
    facts: Facts, request: Request, encoder: Encoder | None = None, *, rows: int | None = None
) -> list[str]:
    """What to expect to go wrong with this request.

    Parameters
    ----------
    facts : Facts
    request : Request
    encoder : Encoder, optional
        For what the bounds say; without it only budget and size are judged.
    rows : int, optional
        A guess of the number of rows where it is private; without one nothing is said that needs it.

    Returns
    -------
    list of str
        Depends on public facts alone.
    """
    texts: list[str] = []
    known = facts.rows if facts.adjacency is Adjacency.REPLACE_ONE else rows
    budget = request.budget
    column = None if encoder is None or facts.d == 1 else encoder.dominant_column()
    if column is not None:
        texts.append(
            f"column {column!r} carries over {DOMINANT:.0%} of B^2, so noise made for it drowns the other "
            'columns: use scaling="bounds" (or "private" for a correlation), or narrow its bounds'
        )
    if budget.epsilon is not None and budget.epsilon > 10:
        texts.append(
            f"epsilon = {show(budget.epsilon)} is above 10: the guarantee says little about one "
            f"{facts.unit}; values up to about 4 are usual"
        )
    if budget.delta is not None and known and budget.delta * known >= 1:
        texts.append(
            f"delta = {show(budget.delta)} is not below 1/n: publishing a random {facts.unit} whole would be "
            "allowed; take delta well below 1/n"
        )
    if known and _drowned(request, facts):
        texts.append(
            "variances along the components are left out, since their share of the budget is too small to "
            'find them: raise share, or take variances="none" or another method by name'
        )
    plans = choose(request, facts).calibrate(facts) if known else ()
    if known and has_law(plans):
        noise = law(plans, facts, known, request.ddof)
        edge = noise.edge
        largest = 1.0 if noise.shares else facts.grid.radius**2  # of rows in the ball of radius B
        if edge > largest:
            texts.append(
                f"the noise edge ({edge:.3g}) is above any possible eigenvalue ({largest:.3g}), so no "
                "component can be told from noise: bring more rows, a larger budget or fewer columns, or "
                "lower row_norm"
            )
    return texts


def _drowned(request: Request, facts: Facts) -> bool:
    """Whether the choice left out variances that it was free to find."""
    return request.purpose == "directions" and NO_VARIANCES in decide(request, facts).reason
