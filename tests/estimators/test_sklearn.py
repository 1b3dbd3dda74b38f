"""scikit-learn's own checks, twice: without noise nothing may fail; with real noise only idempotence."""

import warnings

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from dpspectra import PrivateCovariance, PrivatePCA, PrivateScoreMap, PrivateScree, PrivateSecondMoment
from dpspectra.testing import exact_noise

ESTIMATORS = [
    PrivateCovariance(epsilon=1, delta=1e-6, row_norm=50.0),
    PrivatePCA(epsilon=1, delta=1e-6, row_norm=50.0),
    PrivatePCA(epsilon=1, delta=1e-6, row_norm=50.0, center="joint", whiten=True),
    PrivateCovariance(rho=0.5, row_norm=50.0, center="none", adjacency="add-remove"),
    PrivatePCA(mu=1, row_norm=50.0, scaling="private"),
    PrivateScoreMap(epsilon=1, delta=1e-6, row_norm=50.0, bins=4),
    PrivateScoreMap(epsilon=1, delta=1e-6, bins=4, center="none", frame="private"),
    PrivateSecondMoment(epsilon=1, delta=1e-6, row_norm=50.0),
    PrivateSecondMoment(rho=10**8, row_norm=50.0, center="none"),
    PrivateScree(epsilon=1, delta=1e-6, row_norm=50.0),
    PrivateScree(epsilon=1, delta=1e-6),
    PrivatePCA(epsilon=1, delta=1e-6),
    PrivatePCA(epsilon=4, delta=1e-6, method="spherical_kendall", whiten=True),
]


def _run(estimator, expected):
    failed = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for instance, check in estimator_checks_generator(estimator, legacy=True, mark=None):
            name = check.func.__name__
            try:
                check(instance)
            except Exception as error:
                if type(error).__name__ != "SkipTest":
                    failed[name] = repr(error)
    assert set(failed) == expected, failed


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: f"{type(e).__name__}-{e.center}")
def test_checks_without_noise(estimator):
    # Under add/remove a table may be empty and nobody may know: it is not refused.
    private_rows = estimator.adjacency == "add-remove"
    with exact_noise():
        _run(estimator, {"check_estimators_empty_data_messages"} if private_rows else set())


@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        (ESTIMATORS[0], set()),
        (ESTIMATORS[1], {"check_fit_idempotent"}),
        (ESTIMATORS[-3], set()),
        (ESTIMATORS[-6], {"check_fit_idempotent"}),
        (ESTIMATORS[-1], {"check_fit_idempotent"}),
    ],
)
def test_checks_with_real_noise(estimator, expected):
    """Two fits differ, which is the point; the check compares scores, which a covariance does not have."""
    _run(estimator, expected)
