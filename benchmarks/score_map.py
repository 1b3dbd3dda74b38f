"""Score maps: how far the noisy map is from the exact one, in total variation, over epsilon and bins.

    python -m benchmarks.score_map            # 50 runs a cell; some minutes
    python -m benchmarks.score_map --quick    # 3 runs, one table

A run releases directions, frame and cells for one total, (epsilon, 1e-6). The error is the total-variation
distance of the released counts over (group, cell), after post-processing, from the exact counts on the same
released axes and frame. *clipped* is the same with counts that are only cut at 0, *joint* of the map without
groups (sums over them), *groups* the largest error of a group's total over n. Noise comes from a seed:
right in law, fast, and of no use for privacy.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyarrow import csv

from dpspectra.core.privacy import Budget
from dpspectra.core.schema import Column, Schema
from dpspectra.engines import open_table
from dpspectra.instances.clusters import five_clusters
from dpspectra.mechanisms.score_map import ScoreMap
from dpspectra.postprocess.score_map import ScoreCells, decode, total_variation
from dpspectra.release import release
from dpspectra.rows.encode import Encoder
from dpspectra.summaries.table import Table
from dpspectra.testing.sources import seeded_noise

from . import data
from .baselines import FloatArray
from .lines import emit

EPSILONS, DELTA, BINS = ("1", "3", "5"), "1e-6", (12, 24)
WAYS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("additive, public frame", {}),
    ("additive, private frame", {"frame": "private"}),
    ("sparse, public frame", {"histogram": "sparse"}),
)
CLUSTERS_B = 20.0
"""Public bound of the five-cluster table; its longest row has 22, one in a hundred over 18."""


@dataclass(frozen=True)
class Case:
    """A grouped table, its encoded rows and the group of each."""

    name: str
    table: Table
    rows: FloatArray
    groups: NDArray[np.int64]


def case(name: str, rows: FloatArray, codes: NDArray[np.int64], limit: float, norm: float) -> Case:
    """A table with columns in [-limit, limit] and one more for the group."""
    levels = tuple(str(code) for code in range(int(codes.max()) + 1))
    columns = (
        *Schema.from_bounds((-limit, limit), rows.shape[1]).columns,
        Column("g", "category", categories=levels),
    )
    encoder = Encoder.build(Schema(columns), row_norm=norm, groups="g")
    table = open_table(np.column_stack([rows, codes]), encoder)
    return Case(name, table, table.matrix() * table.facts.grid.step, codes)


def cases(folder: Path, *, quick: bool) -> Iterator[Case]:
    """The tables; Adult is left out, with a note, where its file is not there."""
    yield case("five clusters", *five_clusters(), 25.0, CLUSTERS_B)
    if quick:
        return
    try:
        adult = data.adult(folder)
        options = csv.ConvertOptions(include_columns=["income"])
        income = csv.read_csv(folder / "adult.csv.gz", convert_options=options)["income"].to_numpy()
    except FileNotFoundError:
        emit({"kind": "note", "text": "Adult skipped: no file in the data folder"})
        return
    codes = np.array([">" in text for text in income]).astype(np.int64)
    yield case("Adult by income", adult.rows, codes, 1.0, adult.radius)


def exact(case: Case, found: ScoreCells) -> FloatArray:
    """Counts without noise on the released axes and frame."""
    groups, bins, _ = found.raw.shape
    scores = (case.rows - found.centre) @ found.vectors
    places = [
        np.searchsorted(ends[1:-1], s, side="right") for ends, s in zip(found.edges, scores.T, strict=True)
    ]
    flat = np.ravel_multi_index((case.groups, *places), found.raw.shape)
    return np.bincount(flat, minlength=groups * bins * bins).reshape(found.raw.shape).astype(np.float64)


def errors(case: Case, found: ScoreCells) -> dict[str, float]:
    true = exact(case, found)
    sums = found.counts.sum(axis=(1, 2)) - true.sum(axis=(1, 2))
    return {
        "map": total_variation(found.counts, true),
        "clipped": total_variation(np.maximum(found.raw, 0), true),
        "joint": total_variation(found.counts.sum(axis=0), true.sum(axis=0)),
        "groups": float(np.abs(sums).max() / true.sum()),
    }


def cell(case: Case, epsilon: str, bins: int, runs: int) -> Iterator[dict[str, Any]]:
    """All ways on one table at one budget and fineness: a record for each way and metric."""
    budget = Budget.of(epsilon=epsilon, delta=DELTA)
    for way, settings in WAYS:
        values = defaultdict(list)
        for seed in range(runs):
            with seeded_noise(seed):
                found = decode(release(case.table, ScoreMap(budget, bins=bins, **settings)))
            for metric, value in errors(case, found).items():
                values[metric].append(value)
        shared = {"table": case.name, "epsilon": float(epsilon), "delta": float(DELTA), "bins": bins}
        for metric, each in values.items():
            low, high = np.quantile(each, [0.1, 0.9])
            yield {"kind": "score map", **shared, "way": way, "metric": metric} | {
                "noise_sd": found.noise_sd,
                "mean": float(np.mean(each)),
                "band": [float(low), float(high)],
                "runs": runs,
                "noise": "seeded",
            }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one table, three runs")
    parser.add_argument("--data", type=Path, default=data.FOLDER)
    parser.add_argument("--runs", type=int, default=50)
    settings = parser.parse_args()
    for one in cases(settings.data, quick=settings.quick):
        facts = one.table.facts
        emit(
            {"kind": "table", "table": one.name, "n": facts.rows, "d": facts.d, "B": facts.grid.radius}
            | {"groups": np.bincount(one.groups).tolist()}
        )
        for epsilon in EPSILONS:
            for bins in BINS:
                print(f"{one.name}, epsilon={epsilon}, bins={bins}", file=sys.stderr)
                for record in cell(one, epsilon, bins, 3 if settings.quick else settings.runs):
                    emit(record)


if __name__ == "__main__":
    main()
