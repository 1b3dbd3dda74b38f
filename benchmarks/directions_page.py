"""The section of docs/benchmarks.md on directions, from its records."""

from __future__ import annotations

from typing import Any

from .directions import LEADING, METHODS, TARGETS
from .render import Records, kind, stamp, table, three, verdict

SHORT = {
    ("spherical_kendall", "all"): "pairs, all",
    ("spherical_kendall", "disjoint"): "pairs, disjoint",
    ("spatial_sign", "private"): "signs, released centre",
    ("spatial_sign", "fixed"): "signs about the origin",
    ("gaussian_moments", "private"): "second moments",
}


def section(records: Records) -> str:
    found = kind(records, "captured")
    runs = sorted({record["runs"] for record in found})
    return "\n".join(
        [
            "## Directions without bounds\n",
            stamp(records),
            "Captured variance of the first direction and of the first three: tr(V' S V) over the sum of "
            "the k largest eigenvalues of the exact covariance S of the encoded columns. Mean of "
            f"{' or '.join(map(str, runs))} releases, delta = 1e-6, the whole budget for directions, "
            "centre and radius included. The columns of breast cancer are divided by constants declared "
            "public. *Bounds* says whether rows come with the bounds of the table's schema; without them "
            "there is no centre either. In bold what `auto` takes for three directions of that table.\n",
            _captured(found),
            _targets(found),
            _timing(records),
        ]
    )


def _captured(found: Records) -> str:
    columns = [(name, next(iter(options.values()))) for name, options in METHODS]
    cells: dict[tuple[Any, ...], dict[tuple[str, str], str]] = {}
    for record in found:
        line = record["table"], "yes" if record["bounded"] else "no", record["epsilon"]
        shown = "/".join(f"{record[f'top_{k}']:.3f}" for k in LEADING)
        place = record["method"], next(iter(record["options"].values()))
        cells.setdefault(line, {})[place] = f"**{shown}**" if record["auto"] else shown
    head = ["table", "bounds", "epsilon", *(SHORT[column] for column in columns)]
    return table(head, [[*line, *(row.get(c, "-") for c in columns)] for line, row in cells.items()])


def _targets(found: Records) -> str:
    rows = []
    for record in found:
        here = record["table"].startswith("breast cancer") and record["epsilon"] == "1"
        if here and record["auto"] and not record["bounded"]:
            for k, target in TARGETS.items():
                value = record[f"top_{k}"]
                line = [record["table"], f"first {k}", f"{value:.3f}", f"{target}"]
                rows.append([*line, verdict(value >= target)])
    return table(["by auto, epsilon 1, no bounds", "directions", "captured", "to reach", "reached"], rows)


def _timing(records: Records) -> str:
    rows = [
        [
            f"all pairs, n = {r['n']:,}, d = {r['d']}",
            f"{three(r['seconds'])} s",
            f"{r['target']} s",
            verdict(r["seconds"] <= r["target"]),
        ]
        for r in kind(records, "all_pairs")
    ]
    rows += [
        [
            f"disjoint pairs, n = {r['n']:,}, d = {r['d']}, {'with' if r['bounded'] else 'no'} bounds",
            f"{three(r['seconds'])} s, {r['ratio']:.2f} times `X.T @ X`",
            f"{r['target']:g} times",
            verdict(r["ratio"] <= r["target"]),
        ]
        for r in kind(records, "disjoint_pairs")
    ]
    return table(["exact matrix, secret pairing included", "time", "to stay within", "reached"], rows)
