"""The privacy card: everything a reader needs to judge the promise, from the release alone."""

from __future__ import annotations

import math
from itertools import groupby
from typing import Any

from ..core.privacy import Adjacency
from ..core.released import Released
from ..plots.fitted import Fitted
from ..postprocess.decode import decode

SHAPE = ("columns", "columns_in", "names_in")  # shown as a table of their own, or not at all
MOST_COLUMNS = 30


def card(estimator: Fitted) -> dict[str, Any]:
    """Facts and parameters as (name, text) pairs, the steps with their shares, and the public columns."""
    noise = [
        (
            "Noise sd of an entry off the diagonal, in units of the spectrum",
            number(float(estimator.noise_sd_)),
        ),
        ("Noise edge of the spectrum", number(float(estimator.noise_edge_))),
    ]
    return card_of(estimator.release_, noise)


def card_of(release: Released, noise: list[tuple[str, str]]) -> dict[str, Any]:
    """The card of any release; ``noise``: what is to be said of its noise."""
    groups = _columns(release)
    return {
        "facts": [
            *_promise(release),
            *_table(release),
            *_mechanism(release),
            *noise,
            *_record(release),
        ],
        "steps": [
            {
                "name": step.plan.name,
                "share": float(step.plan.share),
                "mu": math.sqrt(step.plan.mu_squared) if step.plan.cost is None else None,
                "values": step.plan.size,
                "lemma": step.plan.lemma,
            }
            for step in release.steps
        ],
        "columns": groups[:MOST_COLUMNS],
        "cut": len(groups) > MOST_COLUMNS,
        "of_columns": len(release.parameters.get("columns", ())),
        "parameters": [
            (key, _text(value)) for key, value in sorted(release.parameters.items()) if key not in SHAPE
        ],
    }


def number(value: float) -> str:
    """Four significant digits, or a word for a number that is not known."""
    return f"{value:.4g}" if math.isfinite(value) else "not known"


def rows(release: Released) -> str:
    """n where it is public; under add/remove only its noisy release, which says so."""
    if release.facts.rows is not None:
        return f"{release.facts.rows} (public)"
    if release.has("scatter") or release.has("augmented"):
        estimate = decode(release)
        return f"private (noisy n = {estimate.rows:.0f}, noise sd {estimate.rows_sd:.2g})"
    return "private"


def _promise(release: Released) -> list[tuple[str, str]]:
    promise, cost = release.guarantee, release.cost
    facts = [("Private", "yes" if release.private else "NO: made with test noise")]
    if promise.epsilon is not None:
        facts.append(("epsilon at delta", f"{promise.epsilon:.6g} at {promise.delta:.6g}"))
    if cost.rho is not None:
        at = f" at delta {float(cost.rho_delta):.6g}" if cost.rho_delta else ""
        facts.append(("rho (zCDP)", f"{float(cost.rho):.6g}{at}"))
    if cost.mu_squared is not None:
        facts.append(("mu (Gaussian DP)", f"{math.sqrt(cost.mu_squared):.6g}"))
    if promise.slack:
        facts.append(("Part of epsilon for discrete against continuous noise", f"{promise.slack:.2g}"))
    change = "replace one" if promise.adjacency == Adjacency.REPLACE_ONE.value else "add or remove one"
    return [*facts, ("Neighbouring tables", f"{change} {promise.unit}"), ("Unit of protection", promise.unit)]


def _table(release: Released) -> list[tuple[str, str]]:
    grid = release.facts.grid
    return [
        ("Table label", release.label),
        ("Rows n", rows(release)),
        ("Features d (public)", str(release.facts.d)),
        ("Row-norm bound B (public)", f"{grid.radius:.6g}" if grid.bounded else "none: no bound is needed"),
        ("Grid", f"2^{grid.bits} steps" + (" to B" if grid.bounded else " of unit rows")),
    ]


def _mechanism(release: Released) -> list[tuple[str, str]]:
    return [("Mechanism", release.mechanism), ("Theorem", release.theorem)]


def _record(release: Released) -> list[tuple[str, str]]:
    return [
        ("Entropy source", release.entropy or "not stated"),
        ("Ledger", "recorded" if release.recorded else "unrecorded: nobody adds up what the table spent"),
        ("dpspectra version", release.version or "not stated"),
    ]


def _columns(release: Released) -> list[dict[str, str]]:
    """The public schema: what each column may hold; neighbours that are alike share a line."""
    lines = []
    alike = groupby(release.parameters.get("columns", ()), key=_domain)
    for (kind, values, missing), group in alike:
        members = [str(column["name"]) for column in group]
        name = members[0] if len(members) == 1 else f"{members[0]} to {members[-1]} ({len(members)} columns)"
        lines.append({"name": name, "kind": kind, "values": values, "missing": missing})
    return lines


def _domain(column: dict[str, Any]) -> tuple[str, str, str]:
    bounds = column.get("bounds")
    values = f"{bounds[0]:.6g} to {bounds[1]:.6g}" if bounds else _text(column.get("categories"))
    return str(column.get("kind", "number")), values, str(column.get("missing", "center"))


def _text(value: Any) -> str:
    """A public parameter in words; long lists are cut (release.json has all)."""
    if isinstance(value, list | tuple):
        shown = ", ".join(_text(entry) for entry in value[:8])
        return shown if len(value) <= 8 else f"{shown}, … ({len(value)} in all)"
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "not set"}[value]
    return f"{value:.6g}" if isinstance(value, float) else str(value)
