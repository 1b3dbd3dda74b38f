"""Packing, projections, eigendecomposition order, correlations, precisions (cases C15, C30-C32, C37, C38)."""

from __future__ import annotations

import numpy as np
import pytest

from dpspectra.core.errors import ParameterError
from dpspectra.postprocess.eigen import eigh_descending
from dpspectra.postprocess.matrices import (
    correlation,
    correlation_standard_errors,
    effective_noise_sd,
    entry_intervals,
    floored,
    precision,
    standard_errors,
)
from dpspectra.postprocess.project import psd, psd_trace, trace_ball
from dpspectra.postprocess.symmetric import pack, symmetrise, unpack


def noisy(d: int, seed: int, tau: float = 1.0) -> np.ndarray:
    """A symmetric noise matrix with sd tau off the diagonal."""
    draw = np.random.default_rng(seed).standard_normal((d, d))
    return tau * (draw + draw.T) / np.sqrt(2)


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
@pytest.mark.parametrize("d", [1, 2, 7])
def test_packing_follows_triu_order_and_round_trips(d: int, dtype: type) -> None:
    matrix = (np.arange(d * d).reshape(d, d) + 2**60).astype(dtype)
    matrix = np.triu(matrix) + np.triu(matrix, 1).T
    flat = pack(matrix)
    assert flat.dtype == dtype
    assert np.array_equal(flat, matrix[np.triu_indices(d)])
    back = unpack(flat, d)
    assert back.dtype == dtype and np.array_equal(back, matrix)


def test_packing_refuses_wrong_shapes() -> None:
    with pytest.raises(ParameterError):
        pack(np.zeros((2, 3)))
    with pytest.raises(ParameterError):
        unpack(np.zeros(4), 2)
    with pytest.raises(ParameterError):
        psd(np.array([[np.nan]]))


def test_symmetrise() -> None:
    assert np.array_equal(symmetrise(np.array([[1.0, 2.0], [4.0, 5.0]])), [[1.0, 3.0], [3.0, 5.0]])


def test_psd_is_the_nearest_semidefinite_matrix() -> None:
    matrix = noisy(6, 0)
    near = psd(matrix)
    assert np.linalg.eigvalsh(near)[0] > -1e-12
    # Optimality of a projection onto a cone: the residual is polar and orthogonal to the result.
    residual = matrix - near
    assert np.linalg.eigvalsh(residual)[-1] < 1e-12
    assert abs(np.sum(residual * near)) < 1e-12


@pytest.mark.parametrize("bound", [0.0, 0.5, 3.0, 1e6])
def test_trace_ball_satisfies_its_variational_inequality(bound: float) -> None:
    values = np.linalg.eigvalsh(noisy(9, 1))
    x = trace_ball(values, bound)
    assert x.min() >= 0 and x.sum() <= bound * (1 + 1e-12)
    corners = np.vstack((np.zeros(9), bound * np.eye(9)))
    # <values - x, corner - x> <= 0 at every corner of the set, hence on all of it.
    slack = (corners - x) @ (values - x)
    assert slack.max() <= 1e-9 * max(1.0, bound)
    matrix = psd_trace(noisy(9, 1), bound)
    assert np.allclose(np.linalg.eigvalsh(matrix), np.sort(x), atol=1e-12)


def test_psd_trace_refuses_a_negative_bound() -> None:
    with pytest.raises(ParameterError, match="bound"):
        psd_trace(np.eye(2), -1.0)


def test_order_and_signs_follow_the_documented_rule() -> None:
    matrix = noisy(12, 2)
    values, vectors = eigh_descending(matrix)
    assert (np.diff(values) <= 0).all()
    assert np.allclose(matrix @ vectors, vectors * values, atol=1e-12)
    assert (vectors[np.abs(vectors).argmax(axis=0), np.arange(12)] > 0).all()


def test_tied_loadings_and_tied_eigenvalues() -> None:
    # Largest loadings tie (+-1/sqrt 2): the first one is positive, whatever the rounding says.
    for tilt in (0.0, 1e-13, -1e-13):
        _, vectors = eigh_descending(np.array([[1.0, -0.5], [-0.5, 1.0 + tilt]]))
        assert vectors[0, 0] > 0 > vectors[1, 0]
        assert vectors[0, 1] > 0 and vectors[1, 1] > 0
    _, vectors = eigh_descending(3 * np.eye(4))
    assert np.array_equal(vectors, np.eye(4))


def test_same_components_after_save_and_load() -> None:
    integers = (noisy(8, 3) * 2**40).astype(np.int64)
    integers = unpack(pack(integers), 8)
    again = unpack(np.array(pack(integers).tolist(), dtype=np.int64), 8)
    first, second = eigh_descending(integers / 2**40), eigh_descending(again / 2**40)
    assert np.array_equal(first[0], second[0]) and np.array_equal(first[1], second[1])


def assert_correlation(matrix: np.ndarray) -> None:
    assert np.abs(matrix).max() <= 1
    assert (np.diagonal(matrix) == 1).all()
    assert np.array_equal(matrix, matrix.T)
    assert np.linalg.eigvalsh(matrix)[0] > -1e-9


def test_noisy_correlation_is_a_correlation() -> None:
    released = np.array([[1, 0.9], [0.9, 1]]) + np.array([[-0.3, 0.2], [0.2, -0.3]])
    kept = released.copy()
    assert_correlation(correlation(released))
    assert np.array_equal(released, kept)  # the raw matrix is not touched
    for seed in range(20):
        assert_correlation(correlation(np.eye(7) + noisy(7, seed)))


def test_correlation_of_a_semidefinite_matrix_is_the_textbook_one() -> None:
    rows = np.random.default_rng(4).standard_normal((50, 5)) * [1e-6, 1, 1e3, 1e6, 3]
    assert np.allclose(correlation(np.cov(rows.T)), np.corrcoef(rows.T), atol=1e-12)


def test_columns_without_variance() -> None:
    covariance = np.array([[4.0, 2.0, 0.0], [2.0, 4.0, 0.1], [0.0, 0.1, -0.2]])
    found = correlation(covariance)
    assert np.allclose(found, [[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]])
    assert np.array_equal(correlation(np.zeros((3, 3))), np.eye(3))


def test_precision_is_a_finite_pseudo_inverse() -> None:
    singular = np.cov(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]).T)
    assert np.allclose(precision(singular, 0.0), np.linalg.pinv(singular))
    assert np.array_equal(precision(singular, 9.0), np.zeros((2, 2)))
    assert np.array_equal(precision(np.zeros((2, 2)), 0.0), np.zeros((2, 2)))
    assert np.allclose(precision(np.diag([4.0, 1e-3, -2.0]), 0.1), np.diag([0.25, 0.0, 0.0]))
    with pytest.raises(ParameterError, match="cutoff"):
        precision(singular, -1.0)


def test_floor_of_whitening_is_tied_to_the_noise() -> None:
    assert np.allclose(floored(np.array([9.0, 0.0, 0.0, 0.0]), 0.5), [9, 1, 1, 1])
    assert np.array_equal(floored(np.zeros(3), 0.0), np.ones(3))
    assert floored(np.array([1.0, 0.0]), 0.0)[1] > 0


def test_effective_noise_is_the_root_mean_square_off_the_diagonal() -> None:
    scales = np.array([0.5, 1.0, 2.0, 7.0])
    each = 0.3 / np.multiply.outer(scales, scales)
    off = each[~np.eye(4, dtype=bool)]
    assert np.isclose(effective_noise_sd(0.3, scales), np.sqrt(np.mean(off**2)))
    assert effective_noise_sd(0.3, np.array([2.0])) == pytest.approx(0.075)
    assert effective_noise_sd(0.3, np.append(scales, 0.0)) == effective_noise_sd(0.3, scales)
    assert effective_noise_sd(0.3, np.zeros(2)) == 0.3


def test_entry_standard_errors_match_the_noise() -> None:
    errors = standard_errors(2.0, 3)
    assert np.allclose(errors, 2 * (np.ones((3, 3)) + (np.sqrt(2) - 1) * np.eye(3)))
    scales = np.array([1.0, 2.0, 4.0])
    assert np.allclose(standard_errors(2.0, 3, scales), errors / np.outer(scales, scales))


def test_coverage_of_entries_and_correlations() -> None:
    """1,500 runs, 10 (6) entries each, fixed seeds; Monte Carlo sd .0025 and about .005."""
    covariance = 100 * (
        0.6 ** np.abs(np.subtract.outer(range(4), range(4))) * np.outer([1, 1, 2, 2], [1, 1, 2, 2])
    )
    exact = correlation(covariance)
    upper, above = np.triu_indices(4), np.triu_indices(4, 1)
    entries, correlations = [], []
    for seed in range(1500):
        released = covariance + noisy(4, seed, tau=4.0)
        low, high = np.moveaxis(entry_intervals(released, standard_errors(4.0, 4)), -1, 0)
        entries.append(((low <= covariance) & (covariance <= high))[upper].mean())
        low, high = np.moveaxis(
            entry_intervals(correlation(released), correlation_standard_errors(released, 4.0)), -1, 0
        )
        correlations.append(((low <= exact) & (exact <= high))[above].mean())
    assert abs(np.mean(entries) - 0.9) < 0.01
    assert 0.87 < np.mean(correlations) < 0.93


def test_no_standard_error_where_a_variance_drowns() -> None:
    errors = correlation_standard_errors(np.diag([100.0, 100.0, 1.0]), 1.0)
    assert np.isfinite(errors[:2, :2]).all() and np.isnan(errors[2]).all() and np.isnan(errors[:, 2]).all()
    assert (correlation_standard_errors(np.eye(2), 0.0) == 0).all()
