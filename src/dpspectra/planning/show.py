"""A plan as text."""

from __future__ import annotations

from typing import Any

from .resources import size


def table(plan: dict[str, Any]) -> str:
    """``Plan.to_dict()`` as a table for people."""
    n = f"n = {plan['rows']:,}" + ("" if plan["rows_public"] else " (a guess: n is private)")
    optimistic = "the largest possible, B^2: optimistic; say what you expect by total_variance"
    total = "declared" if plan["total_variance_declared"] else optimistic
    facts = [
        ("method", f"{plan['mechanism']} ({plan['reason']})"),
        ("budget", f"{plan['budget']}, {plan['adjacency']}, unit = {plan['unit']}"),
        ("table", f"{n}, d = {plan['features']:,}, B = {plan['row_norm']:.4g}, 2^{plan['bits']} steps"),
        ("noise sd of an entry", f"{plan['noise_sd']:.4g} (diagonal: {plan['noise_sd'] * 2**0.5:.4g})"),
        ("noise edge of the spectrum", f"{plan['noise_edge']:.4g}" + _valid(plan)),
        ("total variance", f"{plan['total_variance']:.4g} ({total})"),
        ("smallest share resolved", _share(plan["resolved_share"])),
        ("smallest share with cos^2 >= 0.9", _share(plan["aligned_share"])),
        (
            "error before denoising",
            f"Frobenius {plan['frobenius_error']:.4g}, operator {plan['operator_error']:.4g}",
        ),
        ("memory, passes", f"{size(plan['memory_bytes'])}, {plan['passes']}"),
        ("draws, time", f"{plan['draws']:,}, about {plan['seconds']:.2g} s"),
    ]
    width = max(len(name) for name, _ in facts)
    lines = [f"{name:<{width}}  {value}" for name, value in facts]
    lines += ["", f"{'step':<12}{'draws':>10}{'share':>8}{'mu^2':>12}{'rho':>12}  noise sd (grid; encoded)"]
    for step in plan["steps"]:
        spreads = ["/".join(f"{value:.4g}" for value in step[key]) for key in ("sd_grid", "sd_encoded")]
        lines.append(
            f"{step['name']:<12}{step['size']:>10,}{_ratio(step['share']):>8}"
            f"{2 * step['rho']:>12.4g}{step['rho']:>12.4g}  {'; '.join(spreads)}"
        )
    shown = [component for component in (plan["components"] or [])[:10] if component["share"] > 0]
    for i, component in enumerate(shown, 1):
        opening = "" if i > 1 else "\n"
        lines.append(
            f"{opening}component {i}: share {component['share']:.2%}, cos^2 {component['alignment']:.3f}"
        )
    lines += [f"warning: {text}" for text in plan["warnings"]]
    return "\n".join(lines)


def _share(share: float) -> str:
    return f"{share:.3%}" if share <= 1 else "none can be"


def _ratio(share: str) -> str:
    top, _, bottom = share.partition("/")
    return f"{int(top) / int(bottom or 1):.0%}"


def _valid(plan: dict[str, Any]) -> str:
    return "" if plan["isotropic"] else " (only for a mean at the centre: the joint noise is not isotropic)"
