"""docs/benchmarks.md from the records that ``record`` keeps: no number in it has another source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .denoise import BOUNDS

Records = list[dict[str, Any]]

HEAD = """# Benchmarks

Written by `python -m benchmarks.record` from the JSON lines in `benchmarks/results/`; do not edit. Every
section names the version, commit, date and machine of its run. Numbers of other methods come from the same
run on the same tables, with the parameters that their documents name.
"""


def render(kept: dict[str, Records]) -> str:
    parts = [HEAD]
    for name, section in SECTIONS.items():
        if kept.get(name):
            parts.append(section(kept[name]))
    return "\n".join(parts).rstrip() + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def stamp(records: Records) -> str:
    """Where a section's numbers come from."""
    run = records[0]
    quick = " A quick run: not for comparison." if run["quick"] else ""
    return (
        f"*dpspectra {run['version']} at {run['commit']}, {run['date']}; {run['cpu']}, {run['cores']} cores, "
        f"load {run['load']} at the start; Python {run['python']}, NumPy {run['numpy']}, "
        f"scikit-learn {run['scikit-learn']}; {run['blas']}.{quick}*\n"
    )


def notes(records: Records) -> str:
    return "".join(f"- {record['text']}\n" for record in records if record.get("kind") == "note")


def kind(records: Records, name: str) -> Records:
    return [record for record in records if record.get("kind") == name]


def three(value: float | None) -> str:
    """Three significant digits."""
    if value is None:
        return "-"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def verdict(reached: bool) -> str:
    return "yes" if reached else "**no**"


def spread(record: dict[str, Any]) -> str:
    """Mean, and the standard deviation over runs in brackets."""
    digits = 4 if record["metric"].startswith("captured") else 3
    mean = f"{record['mean']:.{digits}f}" if record["mean"] < 100 else f"{record['mean']:,.0f}"
    return mean if not record["sd"] else f"{mean} ({record['sd']:.2g})"


def accuracy(records: Records) -> str:
    found = kind(records, "accuracy")
    fewest, most = (choose(record["runs"] for record in found) for choose in (min, max))
    runs = f"{fewest} runs ({most} where a value has to be reached)" if most > fewest else f"{fewest} runs"
    parts = [
        "## Accuracy\n",
        stamp(records),
        f"Mean of {runs} with fresh noise, standard deviation between runs in brackets; delta = "
        f"{found[0]['delta']:g}, replace-one. *Captured* is tr(V' S V) over the sum of the k largest "
        "eigenvalues of S, the table's own exact matrix; *error* is the Frobenius norm of the difference "
        "over that of S. About the origin S holds second moments; about the mean it is the covariance, and "
        "all methods spend a tenth of mu^2 on a mean first. B is a constant of the benchmark, for all.\n",
        notes(records),
        table(
            ["table", "rows", "columns", "B about the origin", "B about the public middle"],
            [
                [r["table"], f"{r['n']:,}", str(r["d"]), three(r["B"]), three(r["B_centred"])]
                for r in kind(records, "table")
            ],
        ),
    ]
    reach = [record for record in found if "reach" in record]
    if reach:
        parts += ["What has to be reached (about the origin, epsilon = 1):\n"]
        parts += [
            table(
                ["table", "captured by", "to reach", "measured", "reached"],
                [
                    [
                        r["table"],
                        f"k = {r['metric'].split()[1]}",
                        str(r["reach"]),
                        spread(r),
                        verdict(r["reached"]),
                    ]
                    for r in reach
                ],
            )
        ]
    for center, title in (("none", "about the origin"), ("private", "about the mean")):
        for epsilon in sorted({record["epsilon"] for record in found}):
            parts.append(f"### {title.capitalize()}, epsilon = {epsilon:g}\n")
            chosen = [r for r in found if r["center"] == center and r["epsilon"] == epsilon]
            parts.append(_accuracy_table(chosen))
    return "\n".join(part for part in parts if part)


def _accuracy_table(records: Records) -> str:
    metrics = ("captured 1", "captured 3", "captured 5", "error")
    cells = {(r["table"], r["method"], r["metric"]): spread(r) for r in records}
    lines = dict.fromkeys((r["table"], r["method"]) for r in records)
    head = ["table", "method", *metrics]
    return table(head, ([*line, *(cells.get((*line, metric), "") for metric in metrics)] for line in lines))


def denoise(records: Records) -> str:
    found = [record for record in records if record.get("study") == "tables"]
    others = [record for record in records if record.get("study") == "spectra"]
    ratios = [record["ratio"] for record in found]
    rows = [
        [
            f"{r['d']}, {r['n']:,}, {r['buckets'] or 'unit'}, {r['rho']}",
            three(r["psd"]),
            three(r["denoised"]),
            three(r["oracle"]),
            f"{r['ratio']:.3f}",
        ]
        for r in found
    ]
    parts = [
        "## Denoising against the oracle\n",
        stamp(records),
        "Frobenius errors on synthetic tables under rho-zCDP. The oracle is the least error that any method "
        "with the released eigenvectors can reach. To reach: 1.02 in the mean, 1.05 in any row.\n",
        table(["d, n, norm buckets, rho", "PSD part", "denoised", "oracle", "ratio"], rows),
        f"Mean ratio {sum(ratios) / len(ratios):.4f}, largest {max(ratios):.4f}.\n",
    ]
    if others:
        sizes = sorted({record["d"] for record in others})
        by_size = [[r["ratio"] for r in others if r["d"] == d] for d in sizes]
        parts += [
            "Other spectra (Toeplitz, blocks, factors, power laws, rank one; noise edge 0.003 to 3 of the "
            "top eigenvalue), error over sqrt(oracle^2 + 2 tau^2):\n",
            table(
                ["d", "cases", "mean", "to reach", "largest", "to reach"],
                [
                    [
                        str(d),
                        str(len(values)),
                        f"{sum(values) / len(values):.3f}",
                        str(BOUNDS[d][0]),
                        f"{max(values):.3f}",
                        str(BOUNDS[d][1]),
                    ]
                    for d, values in zip(sizes, by_size, strict=True)
                ],
            ),
        ]
    return "\n".join(parts)


def scree(records: Records) -> str:
    found = kind(records, "scree")
    cells = {(r["table"], r["method"], r["preset"], r["epsilon"], r["metric"]): r for r in found}
    epsilons = sorted({r["epsilon"] for r in found})

    def band(line: tuple[str, str, str], epsilon: float, metric: str) -> str:
        record = cells[(*line, epsilon, metric)]
        mean, (low, high) = record["mean"], record["band"]
        return f"{three(mean)} ({three(low)}-{three(high)})" if metric == "along" else three(mean)

    parts = [
        "## Variances along private directions\n",
        stamp(records),
        f"Mean of {found[0]['runs']} runs with seeded noise, k = {found[0]['k']}, "
        f"delta = {found[0]['delta']:g}, replace-one, one total for all; methods along directions spend half "
        "of it on them. *Along*: mean relative error against the exact variances along the released "
        "directions (10 % to 90 % of runs in brackets); *top*: against the largest eigenvalues; *share*: "
        "total variation of the shares of variance. B is the largest norm in the table, C a multiple of its "
        "top eigenvalue: constants of the "
        "benchmark that the winsorized and Huber means do without.\n",
        notes(records),
        table(
            ["table", "rows", "columns", "B", "top eigenvalue", "directions"],
            [
                [r["table"], f"{r['n']:,}", str(r["d"]), three(r["B"]), three(r["top"][0]), r["directions"]]
                for r in kind(records, "table")
            ],
        ),
        "What has to be reached (five clusters, epsilon = 1), error of the tight constants over that of the "
        "published ones:\n",
        table(
            ["method", "at most", "measured", "reached"],
            [
                [r["method"], three(r["reach"]), three(r["ratio"]), verdict(r["reached"])]
                for r in kind(records, "scree ratio")
            ],
        ),
    ]
    for name in dict.fromkeys(r["table"] for r in found):
        lines = dict.fromkeys((name, r["method"], r["preset"]) for r in found if r["table"] == name)
        head = ["method", "constants"]
        head += [f"{metric}, {epsilon:g}" for metric in ("along", "top", "share") for epsilon in epsilons]
        parts.append(f"### {name.capitalize()}: error, epsilon\n")
        parts.append(
            table(
                head,
                (
                    [
                        *line[1:],
                        *(band(line, e, metric) for metric in ("along", "top", "share") for e in epsilons),
                    ]
                    for line in lines
                ),
            )
        )
    return "\n".join(part for part in parts if part)


def moments(records: Records) -> str:
    rows = [
        [
            f"{r['n']:,} x {r['d']}",
            f"{1e3 * r['plain_s']:.1f}",
            f"{1e3 * r['exact_s']:.1f}",
            f"{r['ratio']:.2f}",
            three(r["target"]),
            verdict(r["ratio"] <= r["target"]) if r["target"] else "",
            f"{r['memory_mib']:.1f}",
        ]
        for r in records[1:]
    ]
    head = [
        "n x d",
        "X.T @ X, ms",
        "exact pass, ms",
        "ratio",
        "to reach",
        "reached",
        "peak beyond input, MiB",
    ]
    return "\n".join(
        [
            "## One exact pass\n",
            stamp(records),
            "Encode, clip, quantise, clip in integers and sum exactly, against a plain product in float64.\n",
            table(head, rows),
        ]
    )


def timing(records: Records) -> str:
    def part(record: dict[str, Any], name: str) -> str:
        return f"{1e3 * record[name]:.1f}" if name in record else ""

    tasks = [
        [
            f"{r['n']:,} x {r['d']}",
            r["task"],
            f"{1e3 * r['seconds']:.1f}",
            three(r["ratio"]),
            *(part(r, name) for name in ("passes", "draws", "rest", "beyond")),
            verdict(r["reached"]) if "reached" in r else "",
        ]
        for r in kind(records, "time")
    ]
    noise = [
        [f"{r['draws']:,}", f"{r['seconds']:.2f}", f"{r['microseconds']:.1f}", verdict(r["reached"])]
        for r in kind(records, "noise")
    ]
    mib = 2.0**20
    memory = [
        [
            f"{r['n']:,} x {r['d']}",
            f"{r['input'] / mib:.1f}",
            f"{r['pass_peak'] / mib:.1f}",
            f"{r['limit'] / mib:.1f}",
            verdict(r["reached"]),
            "-" if r["fit_resident"] is None else f"{r['fit_resident'] / mib:.1f}",
        ]
        for r in kind(records, "memory")
    ]
    return "\n".join(
        [
            "## Time and memory of whole fits\n",
            stamp(records),
            "Medians in milliseconds; tasks alternate, and the ratio is to `X.T @ X` in the same repetition. "
            "*Beyond* is the rest of a fit (after its passes and draws) less one eigendecomposition; to "
            "reach: under 50 ms.\n",
            table(
                ["n x d", "task", "ms", "ratio", "passes", "draws", "rest", "beyond", "reached"],
                tasks,
            ),
            "Noise alone; to reach: 15 microseconds a draw, 8 s for 500,500:\n",
            table(["draws", "seconds", "microseconds a draw", "reached"], noise),
            "Memory in MiB. *Pass*: the peak beyond the input of one exact pass, by tracemalloc, against two "
            "d x d matrices and two blocks. *Fit*: growth of the resident peak of a new process.\n",
            table(["n x d", "input", "pass", "to reach", "reached", "fit"], memory),
        ]
    )


def peers(records: Records) -> str:
    times = [
        [
            r["library"],
            f"{r['n']:,} x {r['d']}",
            r["spectrum"],
            "no end" if r["seconds"] is None else f"{1e3 * r['seconds']:,.0f}",
            three(r["ratio"]),
            r["trouble"] or "",
        ]
        for r in kind(records, "peer time")
    ]
    captured = [
        [
            r["library"],
            r["table"],
            {"none": "origin", "private": "mean"}[r["center"]],
            str(r["k"]),
            "no result" if r["mean"] is None else spread(r | {"metric": "captured"}),
            str(r["runs"]),
            r["trouble"] or "",
        ]
        for r in kind(records, "peer accuracy")
    ]
    return "\n".join(
        part
        for part in [
            "## Other libraries\n",
            stamp(records),
            "PCA of diffprivlib and OpenDP, each in an environment that it installs in "
            "(`benchmarks/peers/*.txt`), at epsilon = 1. Both sample eigenvectors by the exponential "
            "mechanism, are pure epsilon-DP by their documents (stronger than (epsilon, delta)), and "
            "split epsilon between components. Each fit is a process with a time limit that starts after "
            "imports and reading; a cell is given up after two fits without an end.\n",
            notes(records),
            "Time of a fit of five components, milliseconds, ratio to `X.T @ X` in the same process:\n",
            table(["library", "n x d", "spectrum", "ms", "ratio", "trouble"], times),
            "Captured variance (compare with the tables above at epsilon = 1):\n",
            table(["library", "table", "about", "k", "captured", "fits", "trouble"], captured),
        ]
        if part
    )


def covariance_revisited(records: Records) -> str:
    from .revisited_page import section

    return section(records)


def score_map(records: Records) -> str:
    from .score_map_page import section

    return section(records)


def directions(records: Records) -> str:
    from .directions_page import section

    return section(records)


def subsamplable(records: Records) -> str:
    from .subsamplable_page import section

    return section(records)


SECTIONS: dict[str, Callable[[Records], str]] = {
    "accuracy": accuracy,
    "denoise": denoise,
    "covariance_revisited": covariance_revisited,
    "directions": directions,
    "scree": scree,
    "score_map": score_map,
    "subsamplable": subsamplable,
    "moments": moments,
    "timing": timing,
    "peers": peers,
}
