"""Refused calls spend nothing, lose nothing and show no cell."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from dpspectra import Ledger, PrivateCovariance, PrivatePCA, Schema
from dpspectra.core.errors import BudgetExceeded, ParameterError, SchemaError
from dpspectra.testing import exact_noise

pytestmark = [
    pytest.mark.filterwarnings("ignore::dpspectra.core.errors.PlanWarning"),
    pytest.mark.filterwarnings("ignore::dpspectra.core.errors.UnrecordedRelease"),
]
BUDGET: dict[str, Any] = {"epsilon": 1, "delta": 1e-6, "bounds": (0, 1)}
ROWS = np.linspace(0, 1, 60).reshape(-1, 3)


def stream(**settings: Any) -> PrivatePCA:
    return PrivatePCA(**(BUDGET | {"center": "joint"} | settings)).partial_fit(ROWS)


def test_a_batch_is_never_counted_twice() -> None:
    first, second = stream(), stream()
    with pytest.raises(ParameterError, match="already"):
        first.merge(first)
    first.merge(second)
    with pytest.raises(ParameterError, match="already"):
        first.merge(second)
    with pytest.raises(ParameterError, match="already"):
        second.merge(first)
    assert first.finalize().n_samples_ == 2 * len(ROWS)


@pytest.mark.parametrize(
    "change", [{"epsilon": 5}, {"bounds": (0, 9)}, {"adjacency": "add-remove"}, {"ddof": 0}]
)
def test_settings_stay_from_the_first_batch_to_the_release(change: dict[str, Any]) -> None:
    ledger = Ledger(None)
    model = stream(ledger=ledger)
    before = {name: model.get_params()[name] for name in change}
    model.set_params(**change)
    with pytest.raises(ParameterError, match="changed"):
        model.partial_fit(ROWS)
    with pytest.raises(ParameterError, match="changed"):
        model.finalize()
    assert ledger.entries() == ()
    assert model.set_params(**before).finalize().n_samples_ == len(ROWS)


@pytest.mark.parametrize("count", [4, "mle", 1.0])
def test_finalize_checks_the_number_of_components_before_it_spends(count: Any) -> None:
    ledger = Ledger(None)
    with pytest.raises(ParameterError, match="n_components"):
        stream(ledger=ledger).set_params(n_components=count).finalize()
    assert ledger.entries() == ()


def test_fit_drops_the_sums_of_a_stream() -> None:
    with pytest.raises(ParameterError, match="partial_fit"):
        stream().fit(ROWS).finalize()


def test_the_capacity_of_the_schema_holds_for_a_stream() -> None:
    schema = Schema.from_bounds((0, 1), 3, rows_max=2**30)
    model = stream(bounds=None, schema=schema, adjacency="add-remove").finalize()
    assert model.release_.facts.grid.bits == 16


def test_a_model_is_fitted_by_a_release_alone() -> None:
    with pytest.raises(NotFittedError):
        stream().transform(ROWS)


def test_a_refused_fit_leaves_the_earlier_one() -> None:
    model = PrivatePCA(**BUDGET, ledger=Ledger(None, epsilon=1, delta=1e-6)).fit(ROWS)
    with pytest.raises(BudgetExceeded):
        model.fit(ROWS[:, :2])
    assert model.transform(ROWS).shape == (len(ROWS), 3)


@pytest.mark.parametrize("shape", [(3,), (1, 1, 3), ()])
def test_a_wrong_number_of_dimensions_shows_no_cell(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="array") as refusal:
        PrivateCovariance(**BUDGET).fit(np.full(shape, 0.7351))
    assert "0.7351" not in str(refusal.value)


def test_cells_of_a_list_refuse_nothing() -> None:
    with exact_noise():
        for odd in ([[1, 0], ["word", 1]], [[1, 0], [1, [2]]], [[1, 0], [1]], [[1, 0], [1j, 1]]):
            fitted = PrivateCovariance(**BUDGET).fit(odd)
            assert np.isfinite(fitted.covariance_).all()
        mixed = PrivateCovariance(**BUDGET).fit([[1, 0], ["word", 1]])
        missing = PrivateCovariance(**BUDGET).fit([[1, 0], [None, 1]])
    np.testing.assert_array_equal(mixed.covariance_, missing.covariance_)


def test_names_that_cannot_be_told_apart() -> None:
    for names in (["a", 5], ["a", "a"]):
        with pytest.raises(SchemaError, match="column names"):
            PrivateCovariance(**BUDGET).fit(pd.DataFrame(ROWS[:, :2], columns=names))
    with pytest.raises(SchemaError, match="collect"):
        PrivateCovariance(**BUDGET).fit(pl.LazyFrame({"a": [1, 0]}))


def test_no_warning_from_numbers_beyond_the_doubles() -> None:
    wide = np.full((4, 2), np.longdouble("1e4000"))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for table in (wide, pd.DataFrame(wide, columns=["a", "b"])):
            PrivateCovariance(**BUDGET).fit(table)


@pytest.mark.parametrize(
    "settings",
    [
        {"ledger": 5},
        {"bounds": None, "schema": 5},
        {"clip": np.array([1, 2])},
        {"epsilon": "1e400"},
        {"epsilon": "1e-400"},
        {"epsilon": "1e999999999"},
        {"delta": "1e-400"},
        {"epsilon": None, "delta": None, "mu": "1e400"},
        {"bounds": (0, 1e200)},
        {"bounds": ([0, 0, 0], [0, 1, 1e200]), "scaling": "private"},
        {"row_norm": 1e-200},
        {"center": [1e200] * 3},
    ],
)
def test_what_does_not_fit_is_refused_before_it_is_spent(settings: dict[str, Any]) -> None:
    ledger = Ledger(None)
    with pytest.raises((ParameterError, SchemaError)):
        PrivateCovariance(**(BUDGET | {"ledger": ledger} | settings)).fit(ROWS)
    assert ledger.entries() == ()


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("cost",), None),
        (("cost", "rho"), "1/0"),
        (("grid", "bits"), -1),
        (("grid", "radius"), 1e308),
        (("grid", "scale"), []),
        (("guarantee", "epsilon"), "x"),
        (("parameters", "view"), None),
        (("parameters", "columns"), 5),
        (("parameters", "view", "n_components"), 9),
        (("rows",), 0),
        (("rows",), float("nan")),
        (("steps", 1, "values"), [10**30]),
        (("steps", 1, "sigma"), []),
        (("steps",), []),
    ],
)
def test_an_edited_release_file(place: tuple[Any, ...], value: Any, tmp_path: Path) -> None:
    data = json.loads(PrivatePCA(**BUDGET).fit(ROWS).release_.to_json())
    part = data
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    path = tmp_path / "release.json"
    path.write_text(json.dumps(data))
    with pytest.raises((SchemaError, ParameterError)):
        PrivatePCA.from_release(path)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"[" * 100_000, b"{}", b'"x"', b""])
def test_a_foreign_release_file(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "release.json"
    path.write_bytes(content)
    with pytest.raises(SchemaError, match="release file"):
        PrivatePCA.from_release(path)


def test_a_link_to_a_ledger_is_that_ledger(tmp_path: Path) -> None:
    Ledger(tmp_path / "real.db", epsilon=9, delta=1e-5)
    (tmp_path / "link.db").symlink_to(tmp_path / "real.db")
    for name in ("link.db", "real.db", "real.db", "link.db"):
        PrivatePCA(**BUDGET, ledger=tmp_path / name).fit(ROWS)
    assert not (tmp_path / "link.db.head").exists()
    assert Ledger(tmp_path / "link.db").spent("table").epsilon == 4
