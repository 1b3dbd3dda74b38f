"""A plan as text."""

from __future__ import annotations

from typing import Any

from .resources import size


def table(plan: dict[str, Any]) -> str:
    """``Plan.to_dict()`` as a table for people."""
    n = f"n = {plan['rows']:,}" + ("" if plan["rows_public"] else " (a guess: n is private)")
    bound = (
        "no bound on rows"
        if plan["row_norm"] is None
        else f"B = {plan['row_norm']:.4g}, 2^{plan['bits']} steps"
    )
    facts = [
        ("method", f"{plan['mechanism']} ({plan['reason']})"),
        ("budget", f"{plan['budget']}, {plan['adjacency']}, unit = {plan['unit']}"),
        ("table", f"{n}, d = {plan['features']:,}, {bound}"),
        *(_recursion(plan) if plan["recursion"] else _spectrum(plan)),
        ("memory, passes", f"{size(plan['memory_bytes'])}, {plan['passes']}"),
        ("draws, time", f"{plan['draws']:,}, about {plan['seconds']:.2g} s"),
    ]
    facts += _variances(plan["variances"]) + _cells(plan["cells"])
    width = max(len(name) for name, _ in facts)
    lines = [f"{name:<{width}}  {value}" for name, value in facts]
    lines += ["", f"{'step':<12}{'draws':>10}{'share':>8}{'mu^2':>12}{'rho':>12}  noise sd (grid; encoded)"]
    for step in plan["steps"]:
        known = [step[key] for key in ("sd_grid", "sd_encoded") if step[key] is not None]
        spreads = ["/".join(f"{value:.4g}" for value in values) for values in known]
        lines.append(
            f"{step['name']:<12}{step['size']:>10,}{_ratio(step['share']):>8}{_mu_squared(step):>12}"
            f"{step['rho']:>12.4g}  {'; '.join(spreads)}"
        )
    shown = [component for component in (plan["components"] or [])[:10] if component["share"] > 0]
    for i, component in enumerate(shown, 1):
        opening = "" if i > 1 else "\n"
        lines.append(
            f"{opening}component {i}: share {component['share']:.2%}, cos^2 {component['alignment']:.3f}"
        )
    lines += [f"warning: {text}" for text in plan["warnings"]]
    return "\n".join(lines)


def _spectrum(plan: dict[str, Any]) -> list[tuple[str, str]]:
    """Lines on the noise of a spectrum and on what stands out of it."""
    return [
        ("noise sd of an entry", f"{plan['noise_sd']:.4g} (diagonal: {plan['noise_sd'] * 2**0.5:.4g})"),
        ("noise edge of the spectrum", f"{plan['noise_edge']:.4g}" + _valid(plan)),
        _total(plan),
        ("smallest share resolved", _share(plan["resolved_share"])),
        ("smallest share with cos^2 >= 0.9", _share(plan["aligned_share"])),
        (
            "error before denoising",
            f"Frobenius {plan['frobenius_error']:.4g}, operator {plan['operator_error']:.4g}",
        ),
    ]


def _recursion(plan: dict[str, Any]) -> list[tuple[str, str]]:
    """Lines on recursive preconditioning."""
    found = plan["recursion"]
    if not found["works"]:
        return [("recursion", f"does not work with so few rows: it needs about {found['least_rows']:,}")]
    return [
        ("spectral error", f"at most about {found['spectral_error']:.2g} along any direction, relative"),
        ("releases", f"up to {found['early']} before the last one"),
        ("condition number in reach", f"variances down to B^2/{found['reach']:.2g}"),
        (
            "pays against one release",
            f"where some direction has a variance below {found['pays_below']:.2g} B^2",
        ),
    ]


def _total(plan: dict[str, Any]) -> tuple[str, str]:
    if plan["robust"]:
        return "shares are of", "the trace 1 of the matrix of directions, whose shares are more even"
    optimistic = "the largest possible, B^2: optimistic; say what you expect by total_variance"
    declared = "declared" if plan["total_variance_declared"] else optimistic
    return "total variance", f"{plan['total_variance']:.4g} ({declared})"


def _variances(found: dict[str, Any] | None) -> list[tuple[str, str]]:
    """Lines on variances along directions."""
    if found is None:
        return []
    level = "which the release finds" if found["upper"] is None else f"{found['upper']:.4g}"
    lines = [
        (
            f"noise of {found['count']} variances",
            f"{found['relative']:.3g} of the level that squares are cut at, {level}",
        )
    ]
    if found["relative_errors"] is not None:
        shown = ", ".join("unknown" if e is None else f"{e:.2g}" for e in found["relative_errors"][:10])
        lines.append(("noise over each variance", shown))
    return lines


def _cells(found: dict[str, Any] | None) -> list[tuple[str, str]]:
    """Lines on the cells of a score map."""
    if found is None:
        return []
    least = f", shown from a count of {found['least']} on" if found["least"] else ""
    choices = "; ".join(f"{bins} bins: {ratio:.2g}" for bins, _, ratio in found["choices"])
    return [
        ("noise sd of a cell", f"{found['noise_sd']:.3g} rows{least}"),
        ("rows of an average cell", f"{found['average']:.3g} ({found['groups']} x {found['bins']}^2 cells)"),
        ("that average over noise, by bins", choices),
        ("finest for evenly spread rows", f"{found['finest']} bins (clusters allow more)"),
    ]


def _mu_squared(step: dict[str, Any]) -> str:
    """mu^2 of a Gaussian step; others have none."""
    return f"{2 * step['rho']:.4g}" if step["law"] == "gaussian" else "-"


def _share(share: float) -> str:
    return f"{share:.3%}" if share <= 1 else "none can be"


def _ratio(share: str) -> str:
    top, _, bottom = share.partition("/")
    return f"{int(top) / int(bottom or 1):.0%}"


def _valid(plan: dict[str, Any]) -> str:
    return "" if plan["isotropic"] else " (only for a mean at the centre: the joint noise is not isotropic)"
