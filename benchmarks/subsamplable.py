"""Second moments right in every direction: recursion beside one release, and the rows that it needs.

    python -m benchmarks.subsamplable            # some minutes
    python -m benchmarks.subsamplable --quick    # 3 runs, few cells

The error is spectral, ||S^-1/2 S~ S^-1/2 - I|| with S the table's own second moment, the median over tables
and noise at rho = 0.5. B is the largest norm of 100,000 rows of the law, a constant of the benchmark. Noise
comes from a seed: right in law, fast, and of no use for privacy.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpspectra.core.privacy import Budget
from dpspectra.core.schema import Schema
from dpspectra.engines import open_table
from dpspectra.instances.subsamplable import conditioned_gaussian, ellipsoid, truncated_pareto, with_outliers
from dpspectra.mechanisms.base import Mechanism
from dpspectra.mechanisms.gaussian_moments import GaussianMoments
from dpspectra.mechanisms.recursive import Recursive
from dpspectra.postprocess.second_moment import second_moment
from dpspectra.release import release
from dpspectra.rows.encode import Encoder
from dpspectra.testing.sources import seeded_noise

from .lines import emit

FloatArray = NDArray[np.float64]
Rows = Callable[[int, int, int], FloatArray]
"""Rows of a law: n, d, seed."""

RHO = Budget.of(rho="0.5")
WAYS: dict[str, Mechanism] = {
    "recursion": Recursive(RHO),
    "recursion of the source, m = 1,000": Recursive(RHO, preset="theory", floor=1.0, subsample=1000),
    "one release, denoised": GaussianMoments(RHO, center="fixed"),
}
GOAL, SLOPE, RATIO = 0.5, 1.6, 1.3
"""Error whose rows are searched for; most that they may grow by in d, and be over those of Gaussians."""
SIZES = (5, 10, 20, 40)


def gaussian(n: int, d: int, seed: int, condition: float = 1e4) -> FloatArray:
    return conditioned_gaussian(n, d, condition, seed)[0]


def outliers(n: int, d: int, seed: int, share: float = 0.01, condition: float = 1e4) -> FloatArray:
    return with_outliers(gaussian(n, d, seed, condition), share, 20.0, seed)


LAWS: dict[str, Rows] = {
    "Gaussian": gaussian,
    "truncated Pareto": lambda n, d, seed: truncated_pareto(n, d, seed=seed)[0],
    "ellipsoid": lambda n, d, seed: ellipsoid(n, d, 1e4, seed)[0],
    "1 % outliers, 20 times": outliers,
}


@lru_cache
def bound(rows: Rows, d: int) -> float:
    return float(np.linalg.norm(rows(100_000, d, 0), axis=1).max())


def spectral_error(rows: FloatArray, radius: float, way: Mechanism, seed: int) -> float:
    """The error of one release."""
    encoder = Encoder.build(Schema.from_bounds(None, rows.shape[1]), origin="zero", row_norm=radius)
    with seeded_noise(seed):
        found = second_moment(release(open_table(rows, encoder), way)).matrix
    values, vectors = np.linalg.eigh(rows.T @ rows / len(rows))
    root = (vectors * values**-0.5) @ vectors.T
    return float(np.abs(np.linalg.eigvalsh(root @ found @ root) - 1).max())


def errors(rows: Rows, n: int, d: int, way: Mechanism, runs: int) -> list[float]:
    return [spectral_error(rows(n, d, seed), bound(rows, d), way, seed) for seed in range(runs)]


def curve(varied: str, value: float, rows: Rows, n: int, runs: int) -> Iterator[dict[str, Any]]:
    """Errors of all ways on ten columns."""
    for name, way in WAYS.items():
        found = errors(rows, n, 10, way, runs)
        low, high = np.quantile(found, [0.1, 0.9])
        yield {"kind": "error", "varied": varied, "value": value, "way": name, "n": n, "d": 10} | {
            "median": float(np.median(found)),
            "band": [float(low), float(high)],
            "runs": runs,
            "noise": "seeded",
        }


def rows_needed(rows: Rows, d: int, runs: int) -> int:
    """Smallest n, to 3 %, whose median error by recursion is at most ``GOAL``; errors fall with n."""

    def reached(n: int) -> bool:
        return float(np.median(errors(rows, n, d, WAYS["recursion"], runs))) <= GOAL

    low, high = d, 2 * d
    while not reached(high):
        low, high = high, 2 * high
    while high > 1.03 * low + 1:
        middle = round(math.sqrt(low * high))
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def sizes(dimensions: tuple[int, ...], runs: int) -> Iterator[dict[str, Any]]:
    """Rows needed by law and number of columns, and the targets that they are held against."""
    needed: dict[str, list[int]] = {}
    for law, rows in LAWS.items():
        for d in dimensions:
            print(f"{law}, d={d}", file=sys.stderr)
            needed.setdefault(law, []).append(rows_needed(rows, d, runs))
            shared = {"kind": "rows", "law": law, "d": d, "goal": GOAL, "runs": runs, "noise": "seeded"}
            yield shared | {"n": needed[law][-1]}
    for law, found in needed.items():
        slope = float(np.polyfit(np.log(dimensions), np.log(found), 1)[0])
        yield target(f"{law}: growth of the rows in d, as a power", slope, SLOPE)
        if law != "Gaussian":
            most = max(n / of for n, of in zip(found, needed["Gaussian"], strict=True))
            yield target(f"{law}: rows over those of Gaussian rows, the most of all d", most, RATIO)


def target(what: str, measured: float, most: float) -> dict[str, Any]:
    return {"kind": "target", "what": what, "measured": measured, "most": most, "reached": measured <= most}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="three runs, few cells")
    parser.add_argument("--data", type=Path, help="not used: rows are made here")
    parser.add_argument("--runs", type=int, default=11)
    settings = parser.parse_args()
    quick, runs = settings.quick, 3 if settings.quick else settings.runs
    for power in (0, 6) if quick else range(0, 9, 2):
        for record in curve("condition number", 10.0**power, _gaussian(power), 100_000, runs):
            emit(record)
            if power == 6 and record["way"] == "recursion":
                emit(target("Gaussian, condition number 10^6, n = 100,000: error", record["median"], 0.01))
    for n in (10_000,) if quick else (3_000, 10_000, 30_000):
        for record in curve("rows", n, _gaussian(6), n, runs):
            emit(record)
    for share in (0.01,) if quick else (0.0, 0.001, 0.01, 0.03):
        rows = partial(outliers, share=share, condition=1e6)
        for record in curve("share of outliers", share, rows, 10_000, runs):
            emit(record)
    for record in sizes(SIZES[:2] if quick else SIZES, runs):
        emit(record)


def _gaussian(power: int) -> Rows:
    return partial(gaussian, condition=10.0**power)


if __name__ == "__main__":
    main()
