"""Small fitted estimators: real noise for what must be private, seeded noise for what must be known."""

from __future__ import annotations

import warnings
from contextlib import nullcontext

import numpy as np
import pytest

from dpspectra.core.errors import PlanWarning, UnrecordedRelease
from dpspectra.estimators import PrivateCovariance, PrivatePCA
from dpspectra.testing import seeded_noise

NAMES = ["age", "income", "height", "weight", "score", 'a<b & "c"']


def table(rows=4000, d=6):
    generator = np.random.default_rng(7)
    hidden = generator.normal(size=(rows, 2)) * [2.0, 1.2]
    mix = generator.normal(size=(2, d))
    return hidden @ mix + 0.1 * generator.normal(size=(rows, d))


def fit(kind=PrivatePCA, *, private=True, rows=4000, d=6, canary=None, **settings):
    pandas = pytest.importorskip("pandas")
    names = NAMES if d == len(NAMES) else [f"pixel_{index}" for index in range(d)]
    used = {"epsilon": 4, "delta": 1e-6, "bounds": (-8, 8), "label": "people"} | settings
    model = kind(**used)
    frame = pandas.DataFrame(table(rows, d), columns=names)
    if canary is not None:
        frame.iloc[:, 0] = canary  # the exact column, its mean and extremes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnrecordedRelease)
        warnings.simplefilter("ignore", PlanWarning)
        with nullcontext() if private else seeded_noise(3):
            return model.fit(frame)


@pytest.fixture(scope="session")
def pca():
    return fit()


@pytest.fixture(scope="session")
def covariance():
    return fit(PrivateCovariance)


@pytest.fixture(scope="session")
def unprivate():
    return fit(private=False, n_components=3)


@pytest.fixture(scope="session")
def add_remove():
    return fit(adjacency="add-remove", n_components=3)


@pytest.fixture
def make():
    return fit


@pytest.fixture(scope="session")
def fitting():
    return fit
