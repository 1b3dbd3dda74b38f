"""The section on second moments of all directions in docs/benchmarks.md, from its records."""

from __future__ import annotations

from .render import Records, kind, stamp, table, three, verdict


def section(records: Records) -> str:
    found, needed = kind(records, "error"), kind(records, "rows")
    parts = [
        "## Second moments right in every direction\n",
        stamp(records),
        "Spectral error ||S^-1/2 S~ S^-1/2 - I|| against the table's own S, median of "
        f"{found[0]['runs']} tables with seeded noise (10 % to 90 % in brackets), rho = 0.5, replace-one, "
        f"d = {found[0]['d']}, about the origin. B is the largest norm of 100,000 rows of the law, a "
        "constant of the benchmark.\n",
    ]
    parts += [
        _errors(varied, [r for r in found if r["varied"] == varied])
        for varied in dict.fromkeys(r["varied"] for r in found)
    ]
    sizes = sorted({r["d"] for r in needed})
    rows = {(r["law"], r["d"]): r["n"] for r in needed}
    parts += [
        f"Rows from which on recursion has a median error of at most {needed[0]['goal']}, searched to 3 %; "
        "condition number 10^4 (the Pareto law is round):\n",
        table(
            ["law", *(f"d = {d}" for d in sizes)],
            ([law, *(f"{rows[law, d]:,}" for d in sizes)] for law in dict.fromkeys(law for law, _ in rows)),
        ),
        table(
            ["target", "measured", "at most", "reached"],
            (
                [r["what"], three(r["measured"]), three(r["most"]), verdict(r["reached"])]
                for r in kind(records, "target")
            ),
        ),
    ]
    return "\n".join(parts)


def _errors(varied: str, found: Records) -> str:
    cells = {(r["value"], r["way"]): r for r in found}
    ways = dict.fromkeys(r["way"] for r in found)

    def shown(value: float, way: str) -> str:
        record = cells[value, way]
        low, high = record["band"]
        return f"{three(record['median'])} ({three(low)}-{three(high)})"

    values = dict.fromkeys(r["value"] for r in found)
    return table([varied, *ways], ([f"{value:g}", *(shown(value, way) for way in ways)] for value in values))
