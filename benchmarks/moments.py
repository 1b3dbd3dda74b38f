"""Cost of one exact pass (encode, clip, quantise, ball clip, Gram) against a plain ``X.T @ X``.

    python benchmarks/moments.py [--json] [--repeats 7] [--size 20000x1000 ...]

Times alternate within one run and ratios are of medians, so a busy machine disturbs both alike. ``memory``
is the peak beyond the input in units of d^2 + block numbers, by tracemalloc.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from dpspectra.core.schema import Schema
from dpspectra.engines import LocalTable
from dpspectra.rows.encode import Encoder
from dpspectra.summaries.moments import Moments

SIZES = {(100_000, 200): 1.5, (20_000, 1_000): 1.5, (1_000_000, 20): 2.5}


def seconds(task: Callable[[], object]) -> float:
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def measure(n: int, d: int, repeats: int) -> dict[str, float]:
    data = np.random.default_rng(0).uniform(-1, 1, size=(n, d))
    table = LocalTable(data, Encoder.build(Schema.from_bounds((-1, 1), d)))

    def single() -> None:
        with threadpool_limits(1, "blas"):
            np.matmul(data.T, data)

    tasks: dict[str, Callable[[], object]] = {
        "plain": lambda: np.matmul(data.T, data),
        "plain_1_thread": single,
        "exact": lambda: table.reduce(Moments()),
    }
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(repeats + 1):
        for name, task in tasks.items():
            times[name].append(seconds(task))
    medians = {name: statistics.median(values[1:]) for name, values in times.items()}
    tracemalloc.start()
    table.reduce(Moments())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {
        "n": n,
        "d": d,
        **{f"{name}_s": round(value, 4) for name, value in medians.items()},
        "ratio": round(medians["exact"] / medians["plain"], 3),
        "ratio_to_fastest_plain": round(
            medians["exact"] / min(medians["plain"], medians["plain_1_thread"]), 3
        ),
        "memory_mib": round(peak / 2**20, 2),
        "two_matrices_mib": round(2 * d * d * 8 / 2**20, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--size", nargs="*", default=[f"{n}x{d}" for n, d in SIZES])
    arguments = parser.parse_args()
    for size in arguments.size:
        n, d = map(int, size.split("x"))
        row = measure(n, d, arguments.repeats)
        row["target"] = SIZES.get((n, d), float("nan"))
        if arguments.json:
            print(json.dumps(row), flush=True)
        else:
            print("  ".join(f"{key} {value}" for key, value in row.items()), flush=True)


if __name__ == "__main__":
    main()
