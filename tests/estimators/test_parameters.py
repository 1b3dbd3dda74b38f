"""Bad settings are refused by name, before a row is read and before anything is spent."""

import numpy as np
import pytest

from dpspectra import Ledger, PrivateCovariance, PrivatePCA
from dpspectra.core.errors import DpspectraError, InfeasiblePlan, ParameterError, SchemaError
from dpspectra.core.schema import Column, Schema


class Unreadable(np.ndarray):
    """An array whose cells must not be touched."""

    def __array__(self, *_, **__):
        raise AssertionError("a cell was read")

    def __getitem__(self, key):
        raise AssertionError("a cell was read")


def refused(tmp_path, match, error=ValueError, **settings):
    ledger = Ledger(tmp_path / "ledger.db", epsilon=10, delta=1e-3)
    arguments = {"epsilon": 1, "delta": 1e-6, "bounds": (0, 1)} | settings
    table = np.zeros((20, 3)).view(Unreadable)
    with pytest.raises(error, match=match) as caught:
        PrivatePCA(ledger=ledger, **arguments).fit(table)
    assert isinstance(caught.value, DpspectraError)
    assert ledger.entries() == ()


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), "one", True])
def test_epsilon(tmp_path, value):
    refused(tmp_path, "epsilon", epsilon=value)


@pytest.mark.parametrize("value", [1, float("nan"), -1e-9, 2])
def test_delta(tmp_path, value):
    refused(tmp_path, "delta", delta=value)


def test_pure_dp_is_not_offered_yet(tmp_path):
    refused(tmp_path, "delta=0", delta=0)


def test_a_second_budget(tmp_path):
    refused(tmp_path, "one total", rho=1)


@pytest.mark.parametrize("value", [0, 0.0, -1, 1.0, True, "mle", 4, 1.5, float("nan")])
def test_n_components(tmp_path, value):
    refused(tmp_path, "n_components", n_components=value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("center", "mean"),
        ("center", [0.0, float("nan"), 0.0]),
        ("scaling", "std"),
        ("clip", -1.0),
        ("clip", "private"),
        ("row_norm", 0),
        ("adjacency", "swap"),
        ("method", "magic"),
        ("ddof", -1),
        ("ddof", 0.5),
        ("denoise", "yes"),
        ("trace", 1),
        ("variances", 1),
        ("variances", "gaussian_moments"),
        ("share", 0),
        ("share", 1),
        ("whiten", "no"),
        ("rows_max", 0),
    ],
)
def test_other_settings(tmp_path, name, value):
    refused(tmp_path, name, **{name: value})


def test_missing_bounds_name_three_ways_out(tmp_path):
    refused(tmp_path, r"(?s)domain.*public.*private", bounds=None, method="gaussian_moments")
    refused(tmp_path, r"(?s)domain.*public.*private.*spatial_sign", bounds=None, scaling="private")
    refused(tmp_path, r"(?s)domain.*public.*private", bounds=None, adjacency="add-remove")
    with pytest.raises(SchemaError, match="ways out"):
        PrivateCovariance(1, delta=1e-6).fit(np.zeros((20, 3)).view(Unreadable))


def test_a_public_centre_of_wrong_length(tmp_path):
    refused(tmp_path, "center", center=[0.0, 0.0])


def test_declared_columns_must_match(tmp_path):
    refused(tmp_path, "one entry per column", bounds=([0, 0], [1, 1]))
    schema = Schema((Column("a", bounds=(0, 1)), Column("b", bounds=(0, 1))))
    refused(tmp_path, "3 columns", error=SchemaError, bounds=None, schema=schema)


def test_memory_is_refused_before_reading(tmp_path):
    with pytest.raises(InfeasiblePlan, match=r"8 d\^2|GiB|GB"):
        PrivateCovariance(1, delta=1e-6, bounds=(0, 1)).fit(np.broadcast_to(np.zeros(1), (2, 400_000)))


def test_errors_are_value_errors():
    assert issubclass(ParameterError, ValueError)
