"""Time and memory of whole fits against ``X.T @ X`` and scikit-learn's PCA, as JSON lines.

    python -m benchmarks.timing [--quick] [--repeats 7] [--size 100000x200 ...]

Tasks alternate within every repetition, so a busy machine disturbs all alike; seconds are medians, ratios
are medians of the ratio to ``X.T @ X`` of the same repetition. A fit is split into its passes over the
rows, its draws of noise, and the rest; ``beyond`` is the rest less one eigendecomposition of that size.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
import tracemalloc
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from sklearn.decomposition import PCA

from dpspectra import PrivateCovariance, PrivatePCA, pipeline
from dpspectra.core.schema import Schema
from dpspectra.engines import open_table
from dpspectra.engines.blocks import block_numbers
from dpspectra.noise.base import SOURCE, FloatArray, IntArray
from dpspectra.noise.secure import SecureNoise
from dpspectra.rows.encode import Encoder
from dpspectra.summaries.moments import Moments

from .lines import emit

SIZES = ((100_000, 10), (100_000, 50), (100_000, 200), (1_000_000, 20), (20_000, 1000))
DRAWS = 500_500
LIMITS = {"beyond": 0.050, "microseconds": 15.0, "draws": 8.0}
"""Seconds beyond one eigendecomposition; microseconds a draw; seconds of 500,500 draws."""
SHORT = 0.05


def seconds(task: Callable[[], object]) -> float:
    """Time of one call; a short task is repeated for 50 ms and averaged."""
    count, start = 0, time.perf_counter()
    while True:
        task()
        count += 1
        spent = time.perf_counter() - start
        if spent > SHORT:
            return spent / count


class _TimedNoise(SecureNoise):
    """The secure source with a stop watch."""

    def __init__(self) -> None:
        self.spent, self.count = 0.0, 0

    def gaussian(self, values: IntArray, sigma: FloatArray) -> IntArray:
        start = time.perf_counter()
        noisy = super().gaussian(values, sigma)
        self.spent += time.perf_counter() - start
        self.count += values.size
        return noisy


class _TimedTable:
    """A table with a stop watch over its passes."""

    def __init__(self, table: Any) -> None:
        self.facts, self.spent, self._table = table.facts, 0.0, table

    def reduce(self, *arguments: Any) -> Any:
        start = time.perf_counter()
        sums = self._table.reduce(*arguments)
        self.spent += time.perf_counter() - start
        return sums


@contextmanager
def _stop_watches() -> Iterator[tuple[_TimedNoise, list[_TimedTable]]]:
    noise, opened = _TimedNoise(), list[_TimedTable]()

    def opening(*arguments: Any, **settings: Any) -> _TimedTable:
        opened.append(_TimedTable(open_table(*arguments, **settings)))
        return opened[-1]

    token = SOURCE.set(noise)
    try:
        with mock.patch.object(pipeline, "open_table", opening):
            yield noise, opened
    finally:
        SOURCE.reset(token)


def split(fit: Callable[[], object]) -> dict[str, float]:
    """Seconds of one fit, in all and by part."""
    with _stop_watches() as (noise, opened):
        start = time.perf_counter()
        fit()
        total = time.perf_counter() - start
    passes = sum(table.spent for table in opened)
    rest = total - passes - noise.spent
    return {"total": total, "passes": passes, "draws": noise.spent, "draw_count": noise.count, "rest": rest}


def times(n: int, d: int, repeats: int) -> Iterator[dict[str, Any]]:
    rows = np.random.default_rng(0).standard_normal((n, d))
    settings: dict[str, Any] = {"epsilon": 1, "delta": 1e-6, "row_norm": float(np.sqrt(d) + 3)}
    matrix = rows[: 4 * d].T @ rows[: 4 * d]
    plain: dict[str, Callable[[], object]] = {
        "X.T @ X": lambda: rows.T @ rows,
        "scikit-learn PCA(5).fit": lambda: PCA(min(5, d)).fit(rows),
        "eigh": lambda: np.linalg.eigh(matrix),
    }
    fits: dict[str, Callable[[], object]] = {
        'PrivateCovariance(center="none").fit': lambda: PrivateCovariance(center="none", **settings).fit(
            rows
        ),
        "PrivateCovariance().fit": lambda: PrivateCovariance(**settings).fit(rows),
        "PrivatePCA(5).fit": lambda: PrivatePCA(min(5, d), **settings).fit(rows),
    }
    found: dict[str, list[dict[str, float]]] = defaultdict(list)
    for repetition in range(repeats + 1):
        for name, task in plain.items():
            found[name].append({"total": seconds(task)})
        for name, task in fits.items():
            found[name].append(split(task))
        if repetition == 0:  # warm up: imports, threads, caches of samplers
            found.clear()
    eigen = statistics.median(run["total"] for run in found["eigh"])
    grams = [run["total"] for run in found["X.T @ X"]]
    for name, runs in found.items():
        medians = {part: statistics.median(run[part] for run in runs) for part in runs[0]}
        ratios = [run["total"] / gram for run, gram in zip(runs, grams, strict=True)]
        record = {
            "kind": "time",
            "n": n,
            "d": d,
            "task": name,
            "seconds": medians.pop("total"),
            "ratio": statistics.median(ratios),
            "repeats": repeats,
        }
        if medians:
            beyond = medians["rest"] - eigen
            medians |= {"beyond": beyond, "limit": LIMITS["beyond"], "reached": beyond < LIMITS["beyond"]}
        yield record | medians


def draws(count: int, repeats: int) -> dict[str, Any]:
    """Noise alone, at the scale that a release uses."""
    noise, zeros, sigma = SecureNoise(), np.zeros(count, dtype=np.int64), np.full(count, 2.0**30)
    noise.gaussian(zeros[:100], sigma[:100])
    spent = statistics.median(seconds(lambda: noise.gaussian(zeros, sigma)) for _ in range(repeats))
    per_draw = 1e6 * spent / count
    return {
        "kind": "noise",
        "draws": count,
        "seconds": spent,
        "microseconds": per_draw,
        "reached": per_draw <= LIMITS["microseconds"] and spent < LIMITS["draws"],
    }


def memory(n: int, d: int) -> dict[str, Any]:
    """Peak bytes beyond the input: of a pass, by tracemalloc, and of a fit, resident in a new process."""
    rows = np.random.default_rng(0).uniform(-1, 1, (n, d))
    table = open_table(rows, Encoder.build(Schema.from_bounds((-1, 1), d)))
    table.reduce(Moments())
    tracemalloc.start()
    table.reduce(Moments())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    block = 8 * min(n * d, block_numbers(d))
    limit = 2 * d * d * 8 + 2 * block
    command = [sys.executable, "-m", "benchmarks.timing", "--resident", f"{n}x{d}"]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False)
    return {
        "kind": "memory",
        "n": n,
        "d": d,
        "input": rows.nbytes,
        "matrix": d * d * 8,
        "block": block,
        "pass_peak": peak,
        "limit": limit,
        "reached": peak <= limit,
        "fit_resident": json.loads(done.stdout)["bytes"] if done.returncode == 0 else None,
    }


def resident(n: int, d: int) -> int | None:
    """Growth of this process's resident peak during a fit, bytes; None where the system does not tell."""
    rows = np.random.default_rng(0).uniform(-1, 1, (n, d))
    model = PrivateCovariance(epsilon=1, delta=1e-6, row_norm=float(np.sqrt(d)), center="none")
    model.fit(rows[:100])
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        before = _peak()
        model.fit(rows)
        return _peak() - before
    except OSError:
        return None


def _peak() -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one small size, one repetition")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--size", nargs="*", default=[f"{n}x{d}" for n, d in SIZES])
    parser.add_argument("--resident", help=argparse.SUPPRESS)
    settings = parser.parse_args()
    warnings.simplefilter("ignore")
    if settings.resident:
        emit({"bytes": resident(*map(int, settings.resident.split("x")))})
        return
    sizes = ["2000x20"] if settings.quick else settings.size
    repeats = 1 if settings.quick else settings.repeats
    for size in sizes:
        n, d = map(int, size.split("x"))
        print(f"timing {n} x {d}", file=sys.stderr)
        for record in times(n, d, repeats):
            emit(record)
        emit(memory(n, d))
    emit(draws(5_000 if settings.quick else DRAWS, min(3, repeats)))


if __name__ == "__main__":
    main()
