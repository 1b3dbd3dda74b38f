"""The tables that benchmarks run on, each with a public constant B for every centre.

B is not learnt privately here. As in the papers that we compare with, it is a constant of the benchmark,
fixed from the table once and given to every method alike: comparisons are fair, and a user's own B, from
domain knowledge, may be larger. It is the largest row norm (real tables) or its 0.95 quantile (Gaussian
tables, as no bound holds for them).
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

FOLDER = Path(__file__).parents[1] / ".." / "shared" / "data"
"""Where the two tables that are not bundled are looked for."""
GAUSSIAN_SEED = 20261130

ADULT_BOUNDS = {
    "age": (0, 100),
    "fnlwgt": (0, 1_500_000),
    "education_num": (1, 16),
    "capital_gain": (0, 100_000),
    "capital_loss": (0, 5_000),
    "hours_per_week": (0, 100),
}
"""Public limits of the columns' meanings, chosen by us, rounded outwards; columns are scaled to [-1, 1]."""


@dataclass(frozen=True)
class Bench:
    """A table of a benchmark.

    Attributes
    ----------
    name : str
    rows : (n, d) float64
    middle : (d,) public point from which rows are measured before a mean is released
    norm : B about the origin, for second moments (``center="none"``)
    radius : B about ``middle``, for covariances (``center="private"``)
    bounds : (lo, hi), each (d,), or None: no bounds hold
    """

    name: str
    rows: FloatArray
    middle: FloatArray
    norm: float
    radius: float
    bounds: tuple[FloatArray, FloatArray] | None

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.rows.shape
        return n, d

    def start(self, center: str) -> tuple[FloatArray, float]:
        """The public point and the B that belong to a target, "none" or "private"."""
        return (np.zeros_like(self.middle), self.norm) if center == "none" else (self.middle, self.radius)

    def settings(self, center: str) -> dict[str, Any]:
        """The arguments of our estimators that say the same."""
        bounds = self.bounds if center == "private" else None
        return {"center": center, "row_norm": self.start(center)[1], "bounds": bounds}


def bench(name: str, rows: FloatArray, bounds: Any = None, quantile: float = 1.0) -> Bench:
    """A table with B at a quantile of its row norms; ``bounds``: (lo, hi) scalars or vectors."""
    limits = None
    if bounds is not None:
        lo, hi = (np.broadcast_to(np.asarray(end, dtype=np.float64), rows.shape[1:]) for end in bounds)
        limits = lo, hi
    middle = np.zeros(rows.shape[1]) if limits is None else (limits[0] + limits[1]) / 2
    norm, radius = (
        float(np.quantile(np.linalg.norm(rows - point, axis=1), quantile)) for point in (0.0, middle)
    )
    return Bench(name, rows, middle, norm, radius, limits)


def gaussian(n: int, d: int) -> Bench:
    """Independent normal columns with variances 1, 1/2, ..., 1/d; the same table at every run."""
    normal = np.random.default_rng(GAUSSIAN_SEED).standard_normal((n, d))
    return bench(f"Gaussian 1/j, {d} columns", normal / np.sqrt(np.arange(1, d + 1)), quantile=0.95)


def digits() -> Bench:
    from dpspectra import datasets

    return bench("digits", datasets.load_digits().data, (0, 16))


def breast_cancer() -> Bench:
    """Raw units: two areas carry nearly all variance, and 569 rows are few. A hard table."""
    from dpspectra import datasets

    table = datasets.load_breast_cancer()
    return bench("breast cancer", table.data, np.array([c.bounds for c in table.schema.columns]).T)


def mnist(folder: Path) -> Bench:
    """The 10,000 test images, pixels in [0, 1]."""
    with gzip.open(folder / "mnist-t10k-images-idx3-ubyte.gz") as file:
        pixels = np.frombuffer(file.read(), dtype=np.uint8, offset=16)
    return bench("MNIST test digits", pixels.reshape(-1, 784) / 255.0, (0, 1))


def mnist_labelled(folder: Path) -> tuple[FloatArray, NDArray[np.uint8]]:
    """The test images (10,000, 784), pixels in [0, 1], and their digits (10,000,)."""
    with gzip.open(folder / "mnist-t10k-labels-idx1-ubyte.gz") as file:
        labels = np.frombuffer(file.read(), dtype=np.uint8, offset=8)
    return mnist(folder).rows, labels


def adult(folder: Path) -> Bench:
    """The six numeric columns of Adult, scaled by public limits to [-1, 1]."""
    from pyarrow import csv

    options = csv.ConvertOptions(include_columns=list(ADULT_BOUNDS))
    table = csv.read_csv(folder / "adult.csv.gz", convert_options=options)
    rows = np.column_stack([table[name].to_numpy().astype(np.float64) for name in ADULT_BOUNDS])
    low, high = np.array(list(ADULT_BOUNDS.values()), dtype=np.float64).T
    return bench("Adult, 6 numeric columns", 2 * (rows - low) / (high - low) - 1, (-1, 1))


def tables(folder: Path, *, quick: bool = False) -> tuple[list[Bench], list[str]]:
    """All tables, and a note for each that is not there; ``quick``: the small ones."""
    found = [gaussian(10_000, 20), gaussian(10_000, 50), digits(), breast_cancer()]
    return (found, []) if quick else _with_files(found, folder)


def _with_files(found: list[Bench], folder: Path) -> tuple[list[Bench], list[str]]:
    notes = []
    for name, read in (("MNIST test digits", mnist), ("Adult", adult)):
        try:
            found.append(read(folder))
        except FileNotFoundError as missing:
            notes.append(f"{name} skipped: no file {Path(missing.filename or '').name} in the data folder")
    return found, notes


def describe(tables: list[Bench]) -> Iterator[dict[str, Any]]:
    """One record a table: its shape and constants."""
    for table in tables:
        n, d = table.shape
        yield {
            "kind": "table",
            "table": table.name,
            "n": n,
            "d": d,
            "B": table.norm,
            "B_centred": table.radius,
        }
