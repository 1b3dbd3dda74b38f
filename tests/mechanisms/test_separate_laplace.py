"""Eigenvectors and eigenvalues apart under pure DP: scales, the L1 sensitivity reached, exact integers."""

import math

import numpy as np
import pytest

from dpspectra.core.privacy import Adjacency, Budget
from dpspectra.mechanisms.separate_laplace import SeparateLaplace
from dpspectra.postprocess.separate import decode_separate
from dpspectra.release import release
from dpspectra.testing.sources import exact_noise, recording, seeded_noise
from dpspectra.testing.subject import open_cells

REPLACE = Adjacency.REPLACE_ONE
PURE = Budget.of(epsilon=1, delta=0)
R = 2**20


def test_the_sorted_spectrum_reaches_its_l1_sensitivity() -> None:
    with recording() as recorder:
        for cells in ([[1.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]):
            release(open_cells(np.array(cells), REPLACE), SeparateLaplace(PURE, "fixed"))
    plan = SeparateLaplace(PURE, "fixed").calibrate(open_cells(np.zeros((2, 2)), REPLACE).facts)[1]
    change = int(np.abs(recorder.calls[3][0] - recorder.calls[1][0]).sum())
    assert change**2 <= plan.sensitivity_squared
    assert change == pytest.approx(2 * R**2, rel=1e-9)


@pytest.mark.parametrize("preset", ["tight", "published"])
def test_each_half_of_epsilon_buys_its_scales(preset: str) -> None:
    d = 6
    plans = SeparateLaplace(PURE, "fixed", preset).calibrate(open_cells(np.zeros((50, d)), REPLACE).facts)
    scatter, spectrum = plans
    assert spectrum.sigma[0] == pytest.approx(4 * R**2, rel=1e-6)
    off = 2 * math.sqrt(d * (d + 1) / 2) if preset == "tight" else 2 * math.sqrt(2) * d
    assert scatter.sigma[-1] == pytest.approx(off * R**2)
    assert sum(plan.charge.epsilon for plan in plans) <= 1


def test_exact_release_equals_numpy() -> None:
    cells = np.random.default_rng(4).normal(size=(60, 4)) * [0.2, 0.1, 0.05, 0.03]
    with exact_noise():
        found = decode_separate(release(open_cells(cells, REPLACE), SeparateLaplace(PURE, "fixed")))
    np.testing.assert_allclose(found.covariance, cells.T @ cells / 60, atol=1e-5)


def test_stated_noise_of_eigenvalues() -> None:
    table = open_cells(np.zeros((400, 10)), REPLACE)
    with seeded_noise(3):
        found = [decode_separate(release(table, SeparateLaplace(PURE, "fixed"))) for _ in range(80)]
    errors = np.array([f.eigenvalues for f in found])
    assert errors.std() == pytest.approx(found[0].eigenvalue_sd, rel=0.2)
