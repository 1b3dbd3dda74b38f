"""Directions that need no bounds: how fast they are, and how much variance they capture.

    python -m benchmarks.directions [--quick] [--data FOLDER] [--only captured|timing]

Prints one JSON object a line. ``captured`` of k directions V is tr(V'SV) over the sum of the k largest
eigenvalues of the exact covariance S of the encoded columns, the mean over seeded releases. All columns are
divided by constants that this benchmark declares public; methods without bounds know nothing else, the others
the bounds of ``data`` as well. The whole budget is for directions, and everything in it is paid.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpspectra import datasets
from dpspectra.core.privacy import Adjacency, Budget
from dpspectra.core.schema import Schema
from dpspectra.engines import LocalTable, open_table
from dpspectra.mechanisms.registry import mechanism
from dpspectra.noise.secure import SecureNoise
from dpspectra.planning.directions import best_directions
from dpspectra.postprocess.directions import directions
from dpspectra.release import release
from dpspectra.rows.encode import Encoder
from dpspectra.rows.signs import Signs
from dpspectra.summaries.kendall import kendall
from dpspectra.summaries.moments import Moments
from dpspectra.summaries.table import Table
from dpspectra.testing.sources import seeded_noise

from .data import FOLDER, Bench, adult, breast_cancer, digits, mnist
from .lines import emit

FloatArray = NDArray[np.float64]

DELTA = "1e-6"
EPSILONS = ("0.5", "1", "3")
LEADING = (1, 3)
SEED = 20261201
TARGETS = {1: 0.95, 3: 0.89}
"""To reach at epsilon = 1 on breast cancer without bounds, by the method that ``auto`` takes."""
ALL_PAIRS = {(2_000, 10): 0.1, (10_000, 50): 1.5}
"""Seconds to stay within."""
DISJOINT = (1_000_000, 50)
DISJOINT_RATIO = 3.0

METHODS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("spherical_kendall", {"pairs": "all"}),
    ("spherical_kendall", {"pairs": "disjoint"}),
    ("spatial_sign", {"center": "private"}),
    ("spatial_sign", {"center": "fixed"}),
    ("gaussian_moments", {"center": "private"}),
)


def scaled(bench: Bench, scale: FloatArray, name: str) -> Bench:
    """The table over public constants."""
    limits = None if bench.bounds is None else tuple(end / scale for end in bench.bounds)
    middle = bench.middle / scale
    radius = float(np.linalg.norm(bench.rows / scale - middle, axis=1).max())
    return Bench(name, bench.rows / scale, middle, bench.norm, radius, limits)  # type: ignore[arg-type]


def benches(folder: Path, *, quick: bool) -> Iterator[Bench]:
    cancer = breast_cancer()
    schema = datasets.load_breast_cancer().schema
    bounds = np.array([column.bounds for column in schema.columns], dtype=np.float64)
    yield scaled(cancer, cancer.rows.std(axis=0), "breast cancer over sds")
    yield scaled(cancer, (bounds[:, 1] - bounds[:, 0]) / 2, "breast cancer over half-ranges")
    yield digits()
    if not quick:
        for read in (mnist, adult):
            try:
                yield read(folder)
            except FileNotFoundError:
                continue


def opened(bench: Bench, *, bounded: bool) -> Table:
    """With the bounds of the table's data sheet, or without any and with no centre."""
    d = bench.shape[1]
    if bounded:
        limits = None if bench.bounds is None else bench.bounds
        encoder = Encoder.build(Schema.from_bounds(limits, d), origin=tuple(bench.middle.tolist()))
    else:
        encoder = Encoder.build(Schema.from_bounds(None, d), origin="zero", open_ended=True)
    return open_table(bench.rows, encoder, Adjacency.REPLACE_ONE)


def captured(covariance: NDArray[Any], values: NDArray[Any], vectors: FloatArray) -> float:
    return float(np.trace(vectors.T @ covariance @ vectors) / values[: vectors.shape[1]].sum())


def measure_captured(bench: Bench, *, runs: int) -> Iterator[dict[str, Any]]:
    covariance = np.cov(bench.rows.T)
    values = np.linalg.eigvalsh(covariance)[::-1]
    tables = {bounded: opened(bench, bounded=bounded) for bounded in (False, True)}
    for name, options in METHODS:
        for bounded in (False, True):
            if not bounded and mechanism(name).needs_bounds:
                continue
            table = tables[bounded]
            # All pairs of large tables take seconds a release, and are the same with bounds.
            large = bench.shape[0] > 20_000 or (bounded and bench.rows.size > 10**6)
            if options.get("pairs") == "all" and large:
                continue
            for epsilon in EPSILONS:
                budget = Budget.of(epsilon=epsilon, delta=DELTA)
                with seeded_noise(SEED):
                    found = [
                        directions(release(table, mechanism(name)(budget, **options)), name, max(LEADING))
                        for _ in range(runs)
                    ]
                means = {
                    f"top_{k}": float(np.mean([captured(covariance, values, v[:, :k]) for v in found]))
                    for k in LEADING
                }
                n, d = bench.shape
                chosen, wanted, _ = best_directions(table.facts, budget, bounded, max(LEADING))
                yield {
                    "kind": "captured",
                    "table": bench.name,
                    "n": n,
                    "d": d,
                    "bounded": bounded,
                    "epsilon": epsilon,
                    "method": name,
                    "options": options,
                    "runs": runs,
                    **means,
                    "auto": chosen == name and wanted.items() <= options.items(),
                }


def seconds(task: Callable[[], object], repeats: int) -> float:
    """Median, after one run that warms up."""
    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        task()
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def measure_timing(*, quick: bool) -> Iterator[dict[str, Any]]:
    rng = np.random.default_rng(SEED)
    for (n, d), target in ALL_PAIRS.items():
        rows = rng.normal(size=(n, d))
        taken = seconds(lambda rows=rows: kendall(rows), 3)  # type: ignore[misc]
        yield {"kind": "all_pairs", "n": n, "d": d, "seconds": taken, "target": target}
    n, d = (100_000, DISJOINT[1]) if quick else DISJOINT
    rows = rng.uniform(-1, 1, size=(n, d))
    for bounded in (False, True):
        schema = Schema.from_bounds((-1, 1) if bounded else None, d)
        table = LocalTable(rows, Encoder.build(schema, origin="zero", open_ended=True))

        def disjoint(table: LocalTable = table) -> object:
            pairs = table.pairs(SecureNoise().permutation(n))
            return pairs.reduce(Moments(), Signs(table.facts.grid.bits))

        plain, ours = seconds(lambda: rows.T @ rows, 3), seconds(disjoint, 3)
        yield {
            "kind": "disjoint_pairs",
            "n": n,
            "d": d,
            "bounded": bounded,
            "plain_s": plain,
            "seconds": ours,
            "ratio": ours / plain,
            "target": DISJOINT_RATIO,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small tables, few runs")
    parser.add_argument("--data", type=Path, default=FOLDER, help="folder with MNIST and Adult")
    parser.add_argument("--only", choices=("captured", "timing"))
    settings = parser.parse_args()
    if settings.only != "captured":
        for record in measure_timing(quick=settings.quick):
            emit(record)
    if settings.only != "timing":
        for bench in benches(settings.data, quick=settings.quick):
            n, d = bench.shape
            runs = 3 if settings.quick or n * d > 10**6 else 20
            for record in measure_captured(bench, runs=runs):
                emit(record)


if __name__ == "__main__":
    main()
