"""Coverage, alignment and resolution of released spectra; fixed seeds, stated Monte Carlo errors."""

from __future__ import annotations

import numpy as np
import pytest

from dpspectra.core.errors import ParameterError
from dpspectra.postprocess.denoise import denoise
from dpspectra.postprocess.uncertainty import Spectrum, noise_edge, spectrum


def released(exact: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A diagonal matrix under isotropic noise of sd 1 off the diagonal."""
    draw = rng.standard_normal((len(exact), len(exact)))
    return np.diag(exact) + (draw + draw.T) / np.sqrt(2)


def inside(intervals: np.ndarray, values: np.ndarray) -> np.ndarray:
    return (intervals[:, 0] <= values) & (values <= intervals[:, 1])


@pytest.mark.parametrize(("d", "runs"), [(20, 300), (50, 150), (200, 40)])
def test_coverage_of_resolved_eigenvalues_ratios_and_angles(d: int, runs: int) -> None:
    """Nominal .90; 900 to 3,000 simple eigenvalues, Monte Carlo sd .006 to .01 (fixed seed)."""
    edge = noise_edge(1.0, d)
    spikes = edge * np.r_[40, 25, 12, 6, 3, 1.8, np.zeros(d - 6)]
    slope = 300 * edge / (np.arange(d) + 1.0)
    rng = np.random.default_rng(d)
    hits, shares, angles, bias = [], [], [], []
    for exact in (spikes, slope):
        for _ in range(runs // 2):
            found = spectrum(released(exact, rng), 1.0, denoise=False)
            on, known = found.resolved, np.isfinite(found.debiased_ratios)
            hits.append(inside(found.intervals, exact)[on])
            shares.append(inside(found.ratio_intervals, exact / exact.sum())[known])
            cosine = np.diagonal(found.vectors) ** 2
            angles.append(inside(found.alignment_intervals, cosine)[on])
            bias.append((found.alignment - cosine)[on])
    assert np.concatenate(hits).size > 900
    assert 0.88 <= np.concatenate(hits).mean() <= 0.92
    assert 0.88 <= np.concatenate(shares).mean() <= 0.92
    assert 0.87 <= np.concatenate(angles).mean() <= 0.96
    assert abs(np.concatenate(bias).mean()) < 0.005


def test_alignment_of_an_isolated_spike_is_the_formula() -> None:
    """1 - d tau^2/l^2 with l = (w + sqrt(w^2 - R^2))/2 about an empty bulk, to a few per cent."""
    d = 200
    edge = noise_edge(1.0, d)
    exact = np.r_[1.5 * edge, np.zeros(d - 1)]
    found = spectrum(released(exact, np.random.default_rng(0)), 1.0)
    assert found.resolved[0]
    assert found.alignment[0] == pytest.approx(1 - d / exact[0] ** 2, abs=0.03)


@pytest.mark.parametrize("d", [5, 20, 60])
def test_pure_noise_and_flat_spectra_are_not_resolved(d: int) -> None:
    for level in (0.0, 1000.0):
        count = sum(
            spectrum(
                released(np.full(d, level), np.random.default_rng(seed)), 1.0, denoise=False
            ).resolved.sum()
            for seed in range(100)
        )
        assert count <= 2
    found = spectrum(released(np.zeros(d), np.random.default_rng(1)), 1.0)
    assert np.isnan(found.intervals).all() and np.isnan(found.debiased).all()
    assert np.isnan(found.alignment_intervals).all() and (found.alignment == 0).all()
    assert found.effective_rank == 0


def test_every_eigenvalue_of_a_well_measured_spectrum_is_resolved() -> None:
    found = spectrum(released(1000.0 / np.arange(1, 9), np.random.default_rng(0)), 1.0)
    assert found.resolved.all() and found.effective_rank == 8


def test_close_pair_is_not_resolved() -> None:
    exact = np.r_[200.0, 199.0, np.zeros(18)]
    resolved = [
        spectrum(released(exact, np.random.default_rng(seed)), 1.0).resolved[:2].any() for seed in range(100)
    ]
    assert np.mean(resolved) < 0.3


def check_plain(found: Spectrum, d: int) -> None:
    assert found.values.shape == found.denoised.shape == found.ratios.shape == (d,)
    assert found.intervals.shape == found.ratio_intervals.shape == found.alignment_intervals.shape == (d, 2)
    assert np.isfinite(found.ratios).all() and found.ratios.sum() <= 1 + 1e-12
    assert np.isfinite(found.alignment).all()
    assert ((found.alignment >= 0) & (found.alignment <= 1)).all()


@pytest.mark.parametrize("d", [1, 2, 3, 30])
@pytest.mark.parametrize("tau", [0.0, 1e-12, 1.0, 1e12])
def test_degenerate_matrices(d: int, tau: float) -> None:
    """Constant columns, identical columns, all-zero tables, one column: finite and without a warning."""
    for matrix in (np.zeros((d, d)), np.ones((d, d)), np.eye(d), np.diag(np.arange(d, 0.0, -1))):
        check_plain(spectrum(matrix, tau), d)


def test_without_noise_everything_simple_is_known() -> None:
    found = spectrum(np.diag([3.0, 2.0, 1.0]), 0.0)
    assert found.resolved.all() and found.edge == 0
    assert np.array_equal(found.intervals, [[3, 3], [2, 2], [1, 1]])
    assert np.allclose(found.ratio_intervals, np.array([[3, 3], [2, 2], [1, 1]]) / 6)
    assert np.array_equal(found.alignment, np.ones(3))
    assert np.array_equal(found.alignment_intervals, np.ones((3, 2)))


def test_one_column() -> None:
    found = spectrum(np.array([[50.0]]), 1.0, level=0.95)
    assert found.resolved.all()
    assert found.intervals == pytest.approx(np.array([[50 - 2.7718, 50 + 2.7718]]), abs=1e-3)
    assert found.ratios == pytest.approx([1.0])
    assert found.ratio_intervals == pytest.approx(np.ones((1, 2)))
    assert not spectrum(np.array([[0.5]]), 1.0).resolved.any()


def test_matrix_is_the_denoised_one_and_denoising_can_be_left_out() -> None:
    matrix = released(np.r_[90.0, 40.0, np.zeros(10)], np.random.default_rng(4))
    assert np.allclose(spectrum(matrix, 1.0).matrix(), denoise(matrix, 1.0))
    plain = spectrum(matrix, 1.0, denoise=False)
    assert np.array_equal(plain.denoised, np.maximum(plain.values, 0))


def test_ratio_intervals_need_a_trace_above_the_noise() -> None:
    exact = np.r_[70.0, np.zeros(199)]
    found = spectrum(released(exact, np.random.default_rng(0)), 1.0)
    assert found.resolved[0] and np.isnan(found.ratio_intervals).all()


def test_level_is_checked() -> None:
    for bad in (0.0, 1.0, 90.0, np.nan):
        with pytest.raises(ParameterError, match="level"):
            spectrum(np.eye(2), 1.0, level=bad)


@pytest.mark.statistical
@pytest.mark.parametrize("d", [1, 2, 3, 5, 10, 30])
def test_pure_noise_rarely_stands_out(d: int) -> None:
    """At most 1 % of releases of pure noise show a component (fixed seed; 4 sds of Monte Carlo allowed)."""
    generator = np.random.default_rng(d)
    runs = 2000
    found = 0
    for _ in range(runs):
        noise = generator.normal(size=(d, d))
        found += bool(spectrum((noise + noise.T) / np.sqrt(2), 1.0, denoise=False).alignment.any())
    assert found / runs <= 0.01 + 4 * np.sqrt(0.01 / runs)
