"""Eigenvectors and eigenvalues apart: exact integers, the spectrum's sensitivity and its numerical error."""

import math

import mpmath
import numpy as np
import pytest

from dpspectra.core.errors import ParameterError
from dpspectra.core.privacy import Adjacency, Budget
from dpspectra.core.released import Released
from dpspectra.mechanisms._spectrum import eigenvalues, error, widened
from dpspectra.mechanisms.separate import Separate
from dpspectra.postprocess.separate import decode_separate
from dpspectra.release import release
from dpspectra.testing.sources import exact_noise, recording, seeded_noise
from dpspectra.testing.subject import open_cells

REPLACE = Adjacency.REPLACE_ONE
RHO = Budget.of(rho="0.1")
R = 2**20


def test_the_sorted_spectrum_reaches_its_sensitivity() -> None:
    """{e1, e1} -> {e1, e2}: (2, 0) r^2 becomes (1, 1) r^2, by sqrt(2) r^2, and the scatter moves as far."""
    with recording() as recorder:
        for cells in ([[1.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]):
            release(open_cells(np.array(cells), REPLACE), Separate(RHO, "fixed"))
    mechanism = Separate(RHO, "fixed")
    plan = mechanism.calibrate(open_cells(np.zeros((2, 2)), REPLACE).facts)[1]
    change = (recorder.calls[3][0] - recorder.calls[1][0]) / 2.0**plan.shift
    assert sorted(np.abs(change)) == pytest.approx([R**2, R**2], rel=1e-9)
    assert float(change @ change) <= plan.sensitivity_squared / 4**plan.shift
    assert plan.sensitivity_squared / 4**plan.shift == pytest.approx(2 * R**4, rel=1e-9)


@pytest.mark.parametrize("d", [2, 5])
def test_no_replaced_row_moves_the_sorted_spectrum_further(d: int) -> None:
    """Hoffman and Wielandt in L2, interlacing in L1 (at most 2): random rows on the sphere."""
    rng = np.random.default_rng(d)
    for _ in range(300):
        x = rng.normal(size=(6, d)) * 10.0 ** rng.integers(-2, 1, size=(6, 1))
        x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1)
        y = x.copy()
        y[0] = rng.normal(size=d)
        y[0] /= np.linalg.norm(y[0])
        change = np.linalg.eigvalsh(x.T @ x) - np.linalg.eigvalsh(y.T @ y)
        assert np.linalg.norm(change) <= math.sqrt(2) * (1 + 1e-12)
        assert np.abs(change).sum() <= 2 * (1 + 1e-12)


@pytest.mark.parametrize("kind", ["random", "graded", "equal", "wide"])
def test_computed_eigenvalues_are_within_the_allowed_error(kind: str) -> None:
    """Against 60 digits, on integer matrices of order 12: two orders of magnitude below what is allowed."""
    rng, d, n = np.random.default_rng(1), 12, 50_000
    scale = {"random": np.full(d, 2.0**18), "graded": 2.0 ** np.arange(18, 6, -1), "equal": np.full(d, 1.0)}
    rows = np.rint(rng.normal(size=(40, d)) * scale.get(kind, np.full(d, 2.0**10))).astype(np.int64)
    gram = rows.T @ rows * (n // 50)
    if kind == "equal":
        gram = np.eye(d, dtype=np.int64) * 2**51 + gram
    facts = open_cells(np.zeros((n, d)), REPLACE).facts
    assert np.trace(gram.astype(float)) <= n * float(R) ** 2
    with mpmath.workdps(60):
        exact = sorted(mpmath.eigsy(mpmath.matrix(gram.tolist()), eigvals_only=True), reverse=True)
        found = eigenvalues(gram)
        worst = max(abs(int(a) - b) for a, b in zip(found.tolist(), exact, strict=True))
    assert worst <= error(facts) / 10


def test_widened_covers_the_error() -> None:
    facts = open_cells(np.zeros((1000, 7)), REPLACE).facts
    root = math.sqrt(widened(2 * R**4, 7, facts))
    assert root >= math.sqrt(2) * R**2 + 2 * math.sqrt(7) * error(facts)
    assert root <= (math.sqrt(2) * R**2 + 2 * 3 * error(facts)) * (1 + 1e-9)


@pytest.mark.parametrize("preset", ["tight", "published"])
@pytest.mark.parametrize("center", ["private", "fixed"])
def test_exact_release_equals_numpy(center: str, preset: str) -> None:
    cells = np.random.default_rng(4).normal(size=(60, 4)) * [0.2, 0.1, 0.05, 0.03] + 0.05
    with exact_noise():
        released = release(open_cells(cells, REPLACE), Separate(RHO, center, preset))
    found = decode_separate(Released.from_json(released.to_json()), ddof=0)
    centred = cells - cells.mean(axis=0) * (center == "private")
    second = centred.T @ centred / 60
    np.testing.assert_allclose(found.covariance, second, atol=1e-5)  # rows of the grid
    np.testing.assert_allclose(found.eigenvalues, np.linalg.eigvalsh(second)[::-1], atol=1e-5)


def test_the_published_preset_has_the_published_sds() -> None:
    d, facts = 6, open_cells(np.zeros((50, 6)), REPLACE).facts
    for preset in ("tight", "published"):
        scatter, spectrum = Separate(RHO, "fixed", preset).calibrate(facts)
        sd = R**2 / math.sqrt(0.1 / 2) / math.sqrt(1)
        sizes = [sigma / 2.0**scatter.shift for sigma in scatter.sigma]
        assert sizes == pytest.approx([sd] if preset == "published" else [sd, sd / math.sqrt(2)])
        assert spectrum.sigma[0] / 2.0**spectrum.shift == pytest.approx(sd, rel=1e-6)
        assert spectrum.size == d


def test_decoded_eigenvalues_are_tidy_and_their_noise_is_stated() -> None:
    cells = np.random.default_rng(4).normal(size=(400, 10)) * 0.1
    table = open_cells(cells, REPLACE)
    with seeded_noise(3):
        found = [decode_separate(release(table, Separate(RHO, "fixed"))) for _ in range(60)]
    exact = np.linalg.eigvalsh(cells.T @ cells / 400)[::-1]
    errors = np.array([f.eigenvalues - exact for f in found])
    assert errors.std() == pytest.approx(found[0].eigenvalue_sd, rel=0.2)
    assert all(np.linalg.eigvalsh(f.covariance)[0] >= -1e-12 for f in found)


def test_pure_dp_is_refused() -> None:
    with pytest.raises(ParameterError, match="delta"):
        Separate(Budget.of(epsilon=1, delta=0)).calibrate(open_cells(np.zeros((5, 2)), REPLACE).facts)
