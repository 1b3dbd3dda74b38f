"""Time and captured variance of other libraries' PCA, as JSON lines: ``python -m benchmarks.peers.measure``.

Each fit is a process of its own with a time limit that starts when the library is imported and the table
read, since their eigenvector samplers may never end. A cell is given up after two fits without an end.
Parameters are those that the libraries document; epsilon is theirs (pure: delta = 0, a stronger promise
than ours), and every number of components is a fit of its own, as they split epsilon between components.
"""

from __future__ import annotations

import argparse
import json
import re
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .. import data
from ..accuracy import captured_by, exact
from ..lines import emit
from .build import LIBRARIES, build, python_of

SHAPES = ((100_000, 10), (100_000, 50), (100_000, 200), (1_000_000, 20), (20_000, 1000))
START_LIMIT, GIVE_UP = 300.0, 2
EPSILON = 1.0


def attempt(library: str, task: dict[str, Any], limit: float) -> dict[str, Any]:
    """One fit: ``gram_seconds`` and, if it ended in time, ``seconds`` and ``components``; or ``failed``."""
    command = [
        str(python_of(library)),
        str(Path(__file__).with_name("attempt.py")),
        library,
        json.dumps(task),
    ]
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        assert process.stdout is not None
        found: dict[str, Any] = {}
        for wait in (START_LIMIT, limit):
            if not select.select([process.stdout], [], [], wait)[0]:
                process.kill()
                return found
            line = process.stdout.readline()
            if not line:
                process.wait()
                errors.seek(0)
                return found | {"failed": cause(errors.read()) or f"ended with status {process.returncode}"}
            found |= json.loads(line)
        return found


def cause(text: str) -> str:
    """The last line of a traceback that names an error; libraries wrap theirs in more lines."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = [line for line in lines if re.match(r"[\w.]+(Error|Exception): .", line)]
    return (named or lines or [""])[-1]


def repeat(
    library: str, task: dict[str, Any], runs: int, limit: float
) -> tuple[list[dict[str, Any]], str | None]:
    """Fits that ended, and what kept others from it, if anything did."""
    ended: list[dict[str, Any]] = []
    unfinished = 0
    while len(ended) < runs and unfinished < GIVE_UP:
        found = attempt(library, task, limit)
        if "failed" in found:
            return ended, found["failed"][:200]
        if "seconds" in found:
            ended.append(found)
        else:
            unfinished += 1
    tried = len(ended) + unfinished
    return ended, f"{unfinished} of {tried} fits had no end in {limit:g} s" if unfinished else None


def times(library: str, runs: int, limit: float, *, quick: bool) -> Iterator[dict[str, Any]]:
    """Fits of five components, B at the 0.999 quantile of the row norms, flat and decaying spectrum."""
    for n, d in ((2_000, 5),) if quick else SHAPES:
        for spectrum in ("flat", "1/j"):
            trace = float(d) if spectrum == "flat" else float((1 / np.arange(1, d + 1)).sum())
            task = {
                "shape": [n, d],
                "spectrum": spectrum,
                "center": "none",
                "norm": float(np.sqrt(trace) + 3),
                "components": 5,
                "epsilon": EPSILON,
            }
            ended, trouble = repeat(library, task, runs, limit)
            print(f"{library}, {n} x {d}, {spectrum}: {trouble or 'ended'}", file=sys.stderr)
            ratios = [found["seconds"] / found["gram_seconds"] for found in ended]
            yield {
                "kind": "peer time",
                "library": library,
                "n": n,
                "d": d,
                "spectrum": spectrum,
                "seconds": float(np.median([found["seconds"] for found in ended])) if ended else None,
                "ratio": float(np.median(ratios)) if ended else None,
                "runs": len(ended),
                "trouble": trouble,
            }


def accuracies(
    library: str, tables: list[data.Bench], counts: list[int], runs: int, limit: float
) -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        for table in tables:
            path = Path(folder) / "rows.npy"
            np.save(path, table.rows)
            for center in ("none", "private"):
                sigma, (middle, norm) = exact(table, center), table.start(center)
                # Where no bounds hold, |x_j| <= B is the bound that a row norm of B gives.
                low, high = table.bounds or (np.full(table.shape[1], -norm), np.full(table.shape[1], norm))
                for k in counts:
                    task = {
                        "rows": str(path),
                        "center": center,
                        "norm": norm,
                        "low": low.tolist(),
                        "high": high.tolist(),
                        "middle": middle.tolist(),
                        "components": k,
                        "epsilon": EPSILON,
                    }
                    ended, trouble = repeat(library, task, runs, limit)
                    print(f"{library}, {table.name}, {center}, k={k}: {trouble or 'ended'}", file=sys.stderr)
                    values = [captured_by(sigma, np.array(found["components"]).T) for found in ended]
                    yield {
                        "kind": "peer accuracy",
                        "library": library,
                        "table": table.name,
                        "center": center,
                        "epsilon": EPSILON,
                        "k": k,
                        "mean": float(np.mean(values)) if values else None,
                        "sd": float(np.std(values, ddof=1)) if len(values) > 1 else None,
                        "runs": len(values),
                        "trouble": trouble,
                    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one small shape, one table, two runs")
    parser.add_argument("--data", type=Path, default=data.FOLDER)
    parser.add_argument("--runs", type=int, default=10, help="fits for captured variance")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds for one fit")
    parser.add_argument("--components", type=int, nargs="*", default=[3])
    parser.add_argument("--part", choices=("times", "accuracy", "both"), default="both")
    settings = parser.parse_args()
    runs = 2 if settings.quick else settings.runs
    tables = [data.gaussian(10_000, 20)] if settings.quick else data.tables(settings.data)[0]
    for library in LIBRARIES:
        failed = build(library)
        if failed:
            emit({"kind": "note", "text": f"{library} could not be installed: {failed[:200]}"})
            continue
        if settings.part != "accuracy":
            for record in times(library, min(runs, 3), settings.limit, quick=settings.quick):
                emit(record)
        if settings.part != "times":
            for record in accuracies(library, tables, settings.components, runs, settings.limit):
                emit(record)


if __name__ == "__main__":
    main()
