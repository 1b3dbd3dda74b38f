"""How fine a score map can be, from public facts."""

import math

import numpy as np
import pytest

from dpspectra import Column, PrivateScoreMap, Schema, plan
from dpspectra.testing.sources import seeded_noise

SCHEMA = Schema(
    (
        *Schema.from_bounds((-1, 1), 3).columns,
        Column("g", "category", categories=("a", "b")),
    ),
    rows=6000,
)


def planned(**settings):
    return plan(PrivateScoreMap(epsilon=1, delta=1e-6, groups="g", bins=10, **settings), schema=SCHEMA).cells


def test_noise_against_the_rows_of_a_cell() -> None:
    cells = planned()
    assert (cells.groups, cells.bins, cells.least) == (3, 10, 0)
    assert cells.average == 6000 / 300
    assert 6000 / (3 * cells.finest**2) >= 2 * cells.noise_sd > 6000 / (3 * (cells.finest + 1) ** 2)
    assert all(ratio == pytest.approx(6000 / (3 * b * b) / cells.noise_sd) for b, _, ratio in cells.choices)


def test_noise_is_that_of_the_release() -> None:
    table = np.zeros((6000, 4))
    for histogram in ("additive", "sparse"):
        with seeded_noise(1):
            model = PrivateScoreMap(
                epsilon=1, delta=1e-6, groups="g", bins=10, histogram=histogram, schema=SCHEMA
            ).fit(table)
        cells = planned(histogram=histogram)
        assert (model.noise_sd_, model.least_) == (cells.noise_sd, cells.least)


def test_a_threshold_limits_a_sparse_map() -> None:
    cells = planned(histogram="sparse")
    assert cells.finest == math.isqrt(int(6000 / (3 * cells.least)))


def test_text_and_passes() -> None:
    made = plan(PrivateScoreMap(epsilon=1, delta=1e-6, frame="private"), schema=SCHEMA)
    assert "noise sd of a cell" in str(made)
    assert made.resources.passes == 4  # mean, second moments, frame, cells
    assert made.to_dict()["cells"]["choices"][0][0] == 8
    other = plan(method="gaussian_moments", epsilon=1, delta=1e-6, schema=SCHEMA)
    assert other.cells is None
    assert "cell" not in str(other)
