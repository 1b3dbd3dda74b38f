"""The section on score maps in docs/benchmarks.md, from its records."""

from __future__ import annotations

from .render import Records, kind, notes, stamp, table, three

METRICS = {
    "map": "by group",
    "joint": "without groups",
    "clipped": "by group, cut at 0 alone",
    "groups": "totals",
}


def section(records: Records) -> str:
    found = kind(records, "score map")
    parts = [
        "## Score maps\n",
        stamp(records),
        "Total-variation distance of the noisy map from the exact one on the same released axes and frame, "
        f"mean of {found[0]['runs']} runs with seeded noise (10 % to 90 % of runs in brackets), "
        f"delta = {found[0]['delta']:g}, replace-one; half of the total is for the directions. *Totals*: "
        "largest error of a group's total over n. B is a constant of the benchmark; the private frame pays "
        "for quantiles instead.\n",
        notes(records),
        table(
            ["table", "rows", "columns", "B", "groups"],
            [
                [
                    r["table"],
                    f"{r['n']:,}",
                    str(r["d"]),
                    three(r["B"]),
                    ", ".join(f"{g:,}" for g in r["groups"]),
                ]
                for r in kind(records, "table")
            ],
        ),
    ]
    for name in dict.fromkeys(r["table"] for r in found):
        parts.append(f"### {name}: error of the map\n")
        parts.append(_errors([r for r in found if r["table"] == name]))
    return "\n".join(part for part in parts if part)


def _errors(found: Records) -> str:
    cells = {(r["epsilon"], r["bins"], r["way"], r["metric"]): r for r in found}
    lines = dict.fromkeys((r["epsilon"], r["bins"], r["way"]) for r in found)

    def shown(line: tuple[float, int, str], metric: str) -> str:
        record = cells[(*line, metric)]
        low, high = record["band"]
        return f"{three(record['mean'])} ({three(low)}-{three(high)})"

    return table(
        ["epsilon", "bins", "histogram", "noise sd", *METRICS.values()],
        (
            [
                f"{line[0]:g}",
                str(line[1]),
                line[2],
                three(cells[(*line, "map")]["noise_sd"]),
                *(shown(line, metric) for metric in METRICS),
            ]
            for line in lines
        ),
    )
