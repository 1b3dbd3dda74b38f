"""The experiments of "Differentially private covariance revisited": errors of its mechanisms and of ours.

    python -m benchmarks.covariance_revisited           # all sweeps; about an hour
    python -m benchmarks.covariance_revisited --quick   # small tables; minutes

Every number is the Frobenius error of one second-moment matrix about the origin, from the library's own
mechanisms under seeded noise (fixed seeds; such releases say that they are not private), mean over seeds.
Synthetic tables: X = N(0, I) U with U uniform in [0, 1]^(d x d), centred, then scaled to radii: 1 (N = 0) or
Zipf buckets, radii 2^(k + 1 - N) with shares in proportion to (k + 1)^-3. MNIST: pixels/255/28, d = 784.
Published mechanisms are as published: equal sds, eigenvalues cut to [0, B^2].
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpspectra.core.privacy import Adjacency, Budget
from dpspectra.core.released import Released
from dpspectra.core.schema import Schema
from dpspectra.engines import open_table
from dpspectra.mechanisms.adaptive import Adaptive
from dpspectra.mechanisms.gaussian_moments import GaussianMoments
from dpspectra.mechanisms.laplace import Laplace
from dpspectra.mechanisms.separate import Separate
from dpspectra.mechanisms.separate_laplace import SeparateLaplace
from dpspectra.mechanisms.wishart_difference import WishartDifference
from dpspectra.postprocess.adaptive import decode_adaptive
from dpspectra.postprocess.decode import decode
from dpspectra.postprocess.eigen import eigh_descending
from dpspectra.postprocess.project import compose
from dpspectra.postprocess.second_moments import eigenvalues_of, estimate_of
from dpspectra.postprocess.separate import decode_separate
from dpspectra.release import release
from dpspectra.rows.encode import Encoder
from dpspectra.rows.maps import Magnify
from dpspectra.summaries.table import RowMap, Summary, Table
from dpspectra.testing.sources import seeded_noise

from . import data
from .lines import emit

FloatArray = NDArray[np.float64]
CHUNK = 20_000
ZERO_NEAR = 1.2
"""Points where the zero matrix is within 20 % of the best published mechanism are judged apart."""


@dataclass(frozen=True)
class Point:
    """One point of a sweep: a synthetic table, or MNIST digits (``digit`` -1: all), and a budget."""

    sweep: str
    d: int
    n: int
    buckets: int
    rho: float
    width: float = 1.0
    digit: int | None = None


def synthetic(d: int, n: int, buckets: int, seed: int) -> FloatArray:
    """Rows (n, d) of norm at most 1."""
    mixing = np.random.default_rng([seed, d, n, buckets]).random((d, d))
    count = max(buckets, 1)
    shares = (np.arange(count) + 1.0) ** -3
    radii = 2.0 ** (np.arange(count) + 1 - count)
    rng = np.random.default_rng([seed, d, n, buckets, 1])
    rows = np.empty((n, d), dtype=np.float32)
    for start in range(0, n, CHUNK):
        rows[start : start + CHUNK] = rng.standard_normal((min(CHUNK, n - start), d)) @ mixing
    rows -= rows.mean(axis=0, dtype=np.float64)
    wanted = rng.choice(radii, n, p=shares / shares.sum())
    for start in range(0, n, CHUNK):
        part = rows[start : start + CHUNK]
        part *= (wanted[start : start + CHUNK] / np.linalg.norm(part.astype(np.float64), axis=1))[:, None]
    return rows


class Kept:
    """A table that remembers the exact sums that it gave: mechanisms and seeds share them."""

    def __init__(self, table: Table) -> None:
        self._table, self._sums, self.facts = table, {}, table.facts  # type: ignore[var-annotated]

    def reduce(self, summary: Summary[Any], row_map: RowMap | None = None) -> Any:
        assert row_map is None or (isinstance(row_map, Magnify) and row_map.shift is None)
        key = (summary, 0 if row_map is None else row_map.halvings)
        if key not in self._sums:
            self._sums[key] = self._table.reduce(summary, row_map)
        return self._sums[key]

    def pairs(self, order: Any) -> Any:
        return self._table.pairs(order)

    def matrix(self) -> Any:
        return self._table.matrix()


def opened(rows: FloatArray, width: float) -> Kept:
    """The table about the origin, with B = ``width``."""
    schema = Schema.from_bounds(None, rows.shape[1])
    encoder = Encoder.build(schema, origin="zero", scaling="none", row_norm=width)
    return Kept(open_table(rows, encoder, Adjacency.REPLACE_ONE))


def cut(matrix: FloatArray, bound: float) -> FloatArray:
    """Eigenvalues cut to [0, bound]."""
    values, vectors = np.linalg.eigh(matrix)
    tidy: FloatArray = (vectors * np.clip(values, 0.0, bound)) @ vectors.T
    return tidy


def ours(released: Released) -> FloatArray:
    """Denoised by the law of the noise, as the estimators do."""
    estimate = estimate_of(released)
    values, vectors = eigh_descending(estimate.covariance)
    return compose(vectors, eigenvalues_of(released, estimate, values))


def oracle(released: Released, exact: FloatArray) -> FloatArray:
    """The released eigenvectors with the best eigenvalues."""
    vectors = np.linalg.eigh(decode(released).covariance)[1]
    best: FloatArray = (vectors * np.einsum("ij,jk,ki->i", vectors.T, exact, vectors)) @ vectors.T
    return best


def _gauss_published(table: Kept, budget: Budget, _: FloatArray) -> FloatArray:
    """GaussCov: the scatter of ``separate`` at twice the budget is the published release."""
    assert budget.rho is not None
    released = release(table, Separate(Budget.of(rho=2 * budget.rho), center="fixed", preset="published"))
    return cut(decode(released).covariance, table.facts.grid.radius**2)


Method = Callable[[Kept, Budget, FloatArray], FloatArray]

ZCDP: dict[str, Method] = {
    "GaussCov": _gauss_published,
    "SeparateCov": lambda table, budget, _: (
        decode_separate(release(table, Separate(budget, center="fixed", preset="published"))).covariance
    ),
    "AdaptiveCov": lambda table, budget, _: (
        decode_adaptive(release(table, Adaptive(budget, center="fixed", preset="published"))).covariance
    ),
    "ours": lambda table, budget, _: ours(release(table, GaussianMoments(budget, "fixed", clip="private"))),
    "ours, no clipping": lambda table, budget, _: ours(release(table, GaussianMoments(budget, "fixed"))),
    "oracle": lambda table, budget, exact: oracle(release(table, GaussianMoments(budget, "fixed")), exact),
}
PURE: dict[str, Method] = {
    "LapCov": lambda table, budget, _: cut(
        decode(release(table, Laplace(budget, center="fixed", preset="published"))).covariance,
        table.facts.grid.radius**2,
    ),
    "SeparateLapCov": lambda table, budget, _: (
        decode_separate(
            release(table, SeparateLaplace(budget, center="fixed", preset="published"))
        ).covariance
    ),
    "AdaptiveLapCov": ZCDP["AdaptiveCov"],
    "ours": lambda table, budget, _: ours(release(table, WishartDifference(budget, "fixed", "private"))),
    "ours, no clipping": lambda table, budget, _: ours(release(table, WishartDifference(budget, "fixed"))),
    "oracle": lambda table, budget, exact: oracle(release(table, WishartDifference(budget, "fixed")), exact),
}
PUBLISHED = {
    "zcdp": ("GaussCov", "SeparateCov", "AdaptiveCov"),
    "pure": ("LapCov", "SeparateLapCov", "AdaptiveLapCov"),
}


def points(quick: bool) -> Iterator[Point]:
    """Every point of every sweep."""
    if quick:
        for buckets in (0, 4):
            for d in (50, 200):
                yield Point("quick", d, 50_000, buckets, 0.1)
        yield Point("width", 50, 50_000, 4, 0.1, 16.0)
        return
    for d in (50, 100, 200, 400, 800):
        yield Point("d, unit norms", d, 50_000, 0, 0.1)
        yield Point("d, Zipf norms", d, 50_000, 4, 0.1)
    yield from (Point("N", 200, 50_000, buckets, 0.1) for buckets in (2, 3, 4, 5, 6, 7, 8))
    yield from (Point("n", 200, n, 4, 0.1) for n in (5_000, 15_000, 50_000, 150_000, 500_000))
    yield from (Point("rho", 200, 50_000, 4, rho) for rho in (0.01, 0.03, 0.1, 0.3, 1.0))
    for d in (50, 200):
        for buckets in (0, 4):
            yield from (Point("width", d, 50_000, buckets, 0.1, width) for width in (1.0, 4.0, 16.0, 64.0))
    yield from (Point("MNIST", 784, 0, 0, rho, digit=-1) for rho in (0.01, 0.1, 1.0))
    yield from (Point("digits", 784, 0, 0, 0.1, digit=digit) for digit in range(10))


def mnist(folder: Path, digit: int) -> FloatArray:
    """Test images scaled into the unit ball; those of one digit, or all (-1)."""
    images, labels = data.mnist_labelled(folder)
    return images[labels == digit] / 28.0 if digit >= 0 else images / 28.0


def run(point: Point, seeds: int, folder: Path) -> Iterator[dict[str, Any]]:
    """Errors of every mechanism at a point: one record for zCDP, one for pure DP."""
    errors: dict[str, dict[str, list[float]]] = {"zcdp": {}, "pure": {}}
    for seed in range(seeds):
        if point.digit is None:
            rows = synthetic(point.d, point.n, point.buckets, seed)
        else:
            rows = mnist(folder, point.digit)
        table = opened(rows, point.width)
        second = np.zeros((rows.shape[1],) * 2)
        for start in range(0, len(rows), CHUNK):
            part = rows[start : start + CHUNK].astype(np.float64)
            second += part.T @ part
        second /= len(rows)
        # The source shows images under zCDP alone.
        promises = {"zcdp": ZCDP} if point.digit is not None else {"zcdp": ZCDP, "pure": PURE}
        for promise, methods in promises.items():
            budget = (
                Budget.of(rho=point.rho)
                if promise == "zcdp"
                else Budget.of(epsilon=math.sqrt(2 * point.rho), delta=0)
            )
            errors[promise].setdefault("zero", []).append(float(np.linalg.norm(second)))
            for place, (name, method) in enumerate(methods.items()):
                with seeded_noise(1000 * seed + place):
                    found = float(np.linalg.norm(method(table, budget, second) - second))
                errors[promise].setdefault(name, []).append(found)
    for promise, found in errors.items():
        if not found:
            continue
        means = {name: float(np.mean(values)) for name, values in found.items()}
        best = min(means[name] for name in PUBLISHED[promise])
        yield {
            "kind": "point",
            "promise": promise,
            **vars(point),
            "n": len(rows),
            "seeds": seeds,
            "errors": means,
            "sds": {name: float(np.std(values)) for name, values in found.items()},
            "ratio": means["ours"] / best,
            "zero_near": means["zero"] <= ZERO_NEAR * best,
            "to_best": means["ours"] / min(best, means["zero"]),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--data", type=Path, default=data.FOLDER, help="folder with MNIST")
    parser.add_argument("--seeds", type=int, default=3)
    settings = parser.parse_args()
    for point in points(settings.quick):
        seeds = 1 if settings.quick else settings.seeds
        for record in run(point, seeds, settings.data):
            emit(record)


if __name__ == "__main__":
    main()
