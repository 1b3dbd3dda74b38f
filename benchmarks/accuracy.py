"""Captured variance and error of private covariances, ours and others', as JSON lines.

    python -m benchmarks.accuracy [--quick] [--data FOLDER] [--runs 10]

Targets: the second moments (``center="none"``) and the covariance (``center="private"``; every method
releases a mean first, for a tenth of its budget). Captured variance of k directions V is
tr(V' Sigma V) / (sum of the k largest eigenvalues of Sigma), Sigma the table's own exact matrix; the error
is ||S - Sigma||_F / ||Sigma||_F. Noise is fresh at every run: ours from the operating system.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from . import baselines, data
from .baselines import FloatArray
from .lines import emit

EPSILONS, DELTA, TOPS = (0.1, 1.0, 4.0), 1e-6, (1, 3, 5)
REACH = {("Gaussian 1/j, 50 columns", 3): 0.997, ("digits", 3): 0.945}
"""What ours has to reach at epsilon 1 about the origin, by (table, k)."""
REACH_RUNS = 100
"""Runs of such a cell: the mean of ten digits runs still has a standard error of 0.003."""


def exact(table: data.Bench, center: str) -> FloatArray:
    """The matrix that a release is an estimate of."""
    if center == "none":
        return table.rows.T @ table.rows / len(table.rows)
    return np.asarray(np.cov(table.rows, rowvar=False))


def captured_by(sigma: FloatArray, vectors: FloatArray) -> float:
    """Captured variance of k orthonormal columns, of the most that k can capture."""
    best = np.linalg.eigvalsh(sigma)[-vectors.shape[1] :].sum()
    return float(np.sum(vectors * (sigma @ vectors)) / best)


def captured(sigma: FloatArray, vectors: FloatArray) -> dict[str, float]:
    """Captured variance of the first 1, 3, 5 columns of ``vectors``."""
    return {f"captured {k}": captured_by(sigma, vectors[:, :k]) for k in TOPS}


def error(sigma: FloatArray, estimate: FloatArray) -> dict[str, float]:
    return {"error": float(np.linalg.norm(estimate - sigma) / np.linalg.norm(sigma))}


def ours(table: data.Bench, center: str, epsilon: float, sigma: FloatArray) -> dict[str, dict[str, float]]:
    """One release: denoised, as released, and the best that its eigenvectors allow."""
    from dpspectra import PrivatePCA

    model = PrivatePCA(epsilon=epsilon, delta=DELTA, **table.settings(center)).fit(table.rows)
    vectors = baselines.falling(model.covariance_raw_)
    oracle = (vectors * np.einsum("ij,ij->j", vectors, sigma @ vectors)) @ vectors.T
    return {
        "ours": captured(sigma, model.components_.T) | error(sigma, model.covariance_),
        "ours, not denoised": captured(sigma, vectors) | error(sigma, model.covariance_raw_),
        "oracle (needs the exact matrix)": error(sigma, oracle),
    }


def others(table: data.Bench, center: str, epsilon: float, sigma: FloatArray) -> dict[str, dict[str, float]]:
    rng, found = np.random.default_rng(), {}
    (point, radius), mu = table.start(center), baselines.analytic_mu(epsilon, DELTA)
    for name, method in baselines.METHODS.items():
        if center == "none":
            matrix, vectors = method(baselines.clip(table.rows, radius), radius, mu, rng)
        else:
            rows, left = baselines.centred(table.rows, point, radius, mu, rng)
            matrix, vectors = method(rows, radius, left, rng)
        found[name] = captured(sigma, vectors) | error(sigma, matrix)
    found["zero matrix"] = error(sigma, np.zeros_like(sigma))
    return found


def cell(table: data.Bench, center: str, epsilon: float, runs: int) -> Iterator[dict[str, Any]]:
    """All methods on one table, target and budget: a record for each method and metric."""
    sigma, values = exact(table, center), defaultdict(list)
    for _ in range(runs):
        for answers in (ours, others):
            for method, metrics in answers(table, center, epsilon, sigma).items():
                for metric, value in metrics.items():
                    values[method, metric].append(value)
    for (method, metric), found in values.items():
        reach = None
        if method == "ours" and center == "none" and epsilon == 1 and metric.startswith("captured"):
            reach = REACH.get((table.name, int(metric.split()[1])))
        yield {
            "kind": "accuracy",
            "table": table.name,
            "center": center,
            "epsilon": epsilon,
            "delta": DELTA,
            "method": method,
            "metric": metric,
            "mean": float(np.mean(found)),
            "sd": float(np.std(found, ddof=1)) if len(found) > 1 else None,
            "runs": len(found),
        } | ({} if reach is None else {"reach": reach, "reached": bool(np.mean(found) >= reach)})


def runs_of(table: data.Bench, center: str, epsilon: float, settings: argparse.Namespace) -> int:
    if settings.quick:
        return 2
    watched = center == "none" and epsilon == 1 and any(name == table.name for name, _ in REACH)
    return max(settings.runs, REACH_RUNS) if watched else int(settings.runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small tables, two runs")
    parser.add_argument("--data", type=Path, default=data.FOLDER)
    parser.add_argument("--runs", type=int, default=10)
    settings = parser.parse_args()
    warnings.simplefilter("ignore")  # no ledger, and plans that warn: both meant
    found, notes = data.tables(settings.data, quick=settings.quick)
    for note in notes:
        print(note, file=sys.stderr)
        emit({"kind": "note", "text": note})
    for record in data.describe(found):
        emit(record)
    for table in found:
        for center in ("none", "private"):
            for epsilon in EPSILONS:
                print(f"{table.name}, center={center}, epsilon={epsilon:g}", file=sys.stderr)
                for record in cell(table, center, epsilon, runs_of(table, center, epsilon, settings)):
                    emit(record)


if __name__ == "__main__":
    main()
