"""What fitted estimators hold, for whom, and how they keep house with scikit-learn."""

import io
import json
import pickle
import warnings
from contextlib import nullcontext
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from dpspectra import Ledger, PrivateCovariance, PrivatePCA, Released, Schema
from dpspectra.core.errors import (
    BudgetExceeded,
    ParameterError,
    PlanWarning,
    SchemaError,
    UnrecordedRelease,
)
from dpspectra.core.schema import Column, Reading
from dpspectra.testing import exact_noise, recording, seeded_noise

# Warnings about poor plans and missing ledgers have tests of their own.
pytestmark = [
    pytest.mark.filterwarnings("ignore::dpspectra.core.errors.PlanWarning"),
    pytest.mark.filterwarnings("ignore::dpspectra.core.errors.UnrecordedRelease"),
]
BUDGET = {"epsilon": 1, "delta": 1e-6}
NAMES = ["a", "b", "c", "d"]


@pytest.mark.parametrize("center", ["private", "joint"])
@pytest.mark.parametrize("scaling", ["none", "bounds", "private"])
@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
def test_without_noise_the_covariance_is_the_exact_one(table, center, scaling, adjacency):
    with exact_noise():
        model = PrivateCovariance(
            **BUDGET, bounds=(-1, 1), center=center, scaling=scaling, adjacency=adjacency
        ).fit(table)
    np.testing.assert_allclose(model.covariance_, np.cov(table.T), atol=2e-6)
    np.testing.assert_allclose(model.location_, table.mean(axis=0), atol=2e-6)
    np.testing.assert_allclose(model.correlation_, np.corrcoef(table.T), atol=2e-4)
    np.testing.assert_allclose(model.precision_ @ np.cov(table.T), np.eye(4), atol=2e-2)
    assert not model.privacy_.private


@pytest.mark.parametrize(("center", "origin"), [("none", 0.0), ("public", 0.5), ([0.25] * 4, 0.25)])
def test_second_moments_about_a_public_centre(table, center, origin):
    with exact_noise():
        model = PrivateCovariance(**BUDGET, bounds=(-1, 2), center=center).fit(table)
    moved = table - origin
    np.testing.assert_allclose(model.covariance_, moved.T @ moved / len(table), atol=2e-6)
    np.testing.assert_allclose(model.location_, origin, atol=1e-12)


def test_components_match_scikit_learn_without_noise(table):
    with exact_noise():
        ours = PrivatePCA(2, **BUDGET, bounds=(-1, 1)).fit(table)
    theirs = PCA(2).fit(table)
    np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-4)
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-4)
    np.testing.assert_allclose(ours.singular_values_, theirs.singular_values_, rtol=1e-4)
    np.testing.assert_allclose(np.abs(np.sum(ours.components_ * theirs.components_, axis=1)), 1, atol=1e-6)
    np.testing.assert_allclose(ours.get_covariance(), theirs.get_covariance(), atol=1e-4)
    assert abs(ours.score(table) - theirs.score(table)) < 1e-2
    largest = np.abs(ours.components_).argmax(axis=1)
    assert (ours.components_[[0, 1], largest] > 0).all()


def test_ddof():
    table = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    with exact_noise():
        for ddof, expected in ((0, 2 / 3), (1, 1.0)):
            model = PrivateCovariance(**BUDGET, bounds=(0, 2), ddof=ddof).fit(table)
            np.testing.assert_allclose(model.covariance_, expected, atol=1e-5)


def test_correlation_ignores_units(table):
    """Scaled results are the same when a column is measured in thousandths."""
    grams = table * [1, 1000, 1, 1]
    with exact_noise():
        one = PrivatePCA(**BUDGET, bounds=(-1, 1), scaling="private").fit(table)
        two = PrivatePCA(**BUDGET, bounds=([-1, -1000, -1, -1], [1, 1000, 1, 1]), scaling="private").fit(
            grams
        )
    np.testing.assert_allclose(one.eigenvalues_, two.eigenvalues_, rtol=1e-12)
    np.testing.assert_allclose(one.components_, two.components_, atol=1e-12)


def test_add_remove_never_shows_the_number_of_rows(table):
    """499 and 500 rows: with the noise fixed, nothing but noisy integers differs."""
    shown = []
    for rows in (table[:499], table):
        with seeded_noise(3):
            model = PrivatePCA(**BUDGET, bounds=(-1, 1), adjacency="add-remove").fit(rows)
        assert model.release_.facts.rows is None
        numbers = list(_numbers(json.loads(model.release_.to_json())))
        numbers += [float(v) for value in vars(model).values() for v in np.ravel(value) if _is_number(v)]
        assert not {499.0, 500.0} & set(numbers)
        shown.append({key: np.shape(value) for key, value in vars(model).items()})
    assert shown[0] == shown[1]


def _is_number(value):
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def _numbers(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from _numbers(part)
    elif _is_number(value):
        yield float(value)


def test_no_cell_survives_the_fit():
    """Canaries: cells, extremes and exact sums are in no attribute, pickle, repr or JSON."""
    table = np.full((50, 3), 0.123456789)
    table[7] = 0.987654321
    model = PrivatePCA(**BUDGET, bounds=(0, 1)).fit(table)
    for text in (repr(model), repr(vars(model)), model.release_.to_json(), str(model.privacy_)):
        assert "123456789" not in text
        assert "987654321" not in text
    flat = pickle.dumps(model)
    assert np.float64(0.123456789).tobytes() not in flat
    assert np.float64(0.987654321).tobytes() not in flat
    exact = (np.floor((table - 0.5) / np.sqrt(0.75) * 2**20 + 0.5)).sum(axis=0).astype(np.int64)
    assert not np.isin(exact, model.release_.step("mean").values).any()


def test_a_pickle_and_a_file_give_the_same_model(table, tmp_path):
    frame = pd.DataFrame(table, columns=NAMES)
    model = PrivatePCA(3, **BUDGET, bounds=(-1, 1), whiten=True).fit(frame)
    path = tmp_path / "release.json"
    path.write_text(model.release_.to_json())
    rebuilt = PrivatePCA.from_release(path)
    again = pickle.loads(pickle.dumps(model))
    for other in (rebuilt, again):
        np.testing.assert_array_equal(other.eigenvalues_, model.eigenvalues_)
        np.testing.assert_array_equal(other.components_, model.components_)
        assert list(other.feature_names_in_) == NAMES
        np.testing.assert_array_equal(other.transform(frame), model.transform(frame))
    assert Released.from_json(model.release_.to_json()).to_json() == model.release_.to_json()


def test_every_fit_has_fresh_noise(table):
    model = PrivateCovariance(**BUDGET, bounds=(-1, 1))
    first, second = model.fit(table).covariance_raw_, model.fit(table).covariance_raw_
    assert (first != second).all()


def test_the_ledger_adds_up_to_the_total(table, tmp_path):
    """Whatever the options, one release is one row with the whole budget; a second fit is charged."""
    ledger = Ledger(tmp_path / "ledger.db", epsilon=100, delta="1e-3")
    options = [{}, {"center": "joint"}, {"center": "none", "trace": True}]
    for adjacency in ("replace-one", "add-remove"):
        for option in options:
            model = PrivateCovariance(
                **BUDGET, bounds=(-1, 1), adjacency=adjacency, ledger=ledger, label=adjacency, **option
            )
            model.fit(table).fit(table)
        spent = ledger.spent(adjacency)
        assert (spent.epsilon, spent.delta) == (6, Fraction(6, 10**6))


def test_budget_is_refused_before_a_row_is_read(table, tmp_path):
    ledger = Ledger(tmp_path / "ledger.db", epsilon=1, delta=1e-6)
    model = PrivateCovariance(**BUDGET, bounds=(-1, 1), ledger=ledger)
    model.fit(table)
    with recording() as recorder, pytest.raises(BudgetExceeded):
        model.fit(table)
    assert recorder.calls == []


def test_grid_search_spends_from_one_ledger(table, tmp_path):
    """3 values x 5 folds at a cap of 10 releases: 10 happen, then the budget is refused."""
    path = tmp_path / "ledger.db"
    Ledger(path, epsilon=10, delta="1e-5")
    search = GridSearchCV(
        PrivatePCA(**BUDGET, bounds=(-1, 1), ledger=Ledger(path)),
        {"n_components": [1, 2, 3]},
        cv=5,
        n_jobs=2,
        error_score="raise",
    )
    with pytest.raises(BudgetExceeded):
        search.fit(table)
    assert len(Ledger(path).entries()) == 10


def test_clone_pipeline_and_output(table):
    frame = pd.DataFrame(table, columns=NAMES)
    model = make_pipeline(FunctionTransformer(), PrivatePCA(2, **BUDGET, bounds=(-1, 1)))
    model.set_output(transform="pandas")
    scores = model.fit_transform(frame)
    assert list(scores.columns) == ["privatepca0", "privatepca1"]
    assert clone(model[-1]).get_params()["n_components"] == 2


def test_parameters_and_table_are_left_alone(table):
    bounds = {"a": (-1, 1), "b": (-1, 1), "c": (-1, 1), "d": (-1, 1)}
    before = table.copy()
    model = PrivatePCA(**BUDGET, bounds=bounds)
    parameters = dict(model.get_params())
    for layout in (table, np.asfortranarray(table)):
        layout.setflags(write=False)
        model.fit(pd.DataFrame(layout, columns=NAMES))
        np.testing.assert_array_equal(layout, before)
    assert model.get_params() == parameters


def test_one_table_in_many_forms(table):
    frame = pd.DataFrame(table, columns=NAMES)
    forms = [frame, pl.from_pandas(frame), pa.Table.from_pandas(frame), table, table.tolist()]
    released = []
    for form in forms:
        with exact_noise():
            released.append(PrivateCovariance(**BUDGET, bounds=(-1, 1)).fit(form).release_.steps)
    for steps in released[1:]:
        for one, other in zip(released[0], steps, strict=True):
            np.testing.assert_array_equal(one.values, other.values)


def test_small_integers_are_widened_first():
    with exact_noise():
        model = PrivateCovariance(**BUDGET, bounds=(0, 100), center="none").fit(
            np.array([[100], [100]], dtype=np.int8)
        )
    np.testing.assert_allclose(model.covariance_, [[10000.0]], rtol=1e-5)


def test_columns_in_another_order(table):
    frame = pd.DataFrame(table, columns=NAMES)
    model = PrivatePCA(2, **BUDGET, bounds=(-1, 1)).fit(frame)
    with pytest.raises(ValueError, match=r"(?i)feature names"):
        model.transform(frame[["b", "a", "c", "d"]])


def test_categories_are_encoded():
    schema = Schema(
        (Column("age", bounds=(0, 120)), Column("sector", kind="category", categories=("private", "public")))
    )
    frame = pd.DataFrame({"age": [20.0, 40.0, np.nan], "sector": ["private", "public", "other"]})
    with exact_noise():
        model = PrivatePCA(**BUDGET, schema=schema, center="none").fit(frame)
    assert list(model.feature_names_encoded_) == ["age", "sector=private", "sector=public"]
    assert model.n_features_in_ == 2
    rows = np.array([[20.0, 1, 0], [40.0, 0, 1], [60.0, 0, 0]])
    np.testing.assert_allclose(model.covariance_, rows.T @ rows / 3, atol=1e-2)
    assert model.transform(frame).shape == (3, 3)


def test_text_columns_are_refused_by_name():
    frame = pd.DataFrame({"age": [20.0], "secret": ["canary-7"]})
    with pytest.raises(SchemaError, match="secret") as caught:
        PrivatePCA(**BUDGET, bounds=(0, 1)).fit(frame)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("shape", [(10, 3), (1, 3), (4, 1), (3, 8)])
@pytest.mark.parametrize("real", [True, False])
def test_degenerate_tables(shape, real):
    """All-zero, one row, one column, more columns than rows: finite, and no warning from linear algebra."""
    with nullcontext() if real else exact_noise():
        model = PrivatePCA(**BUDGET, bounds=(-1, 1), whiten=True).fit(np.zeros(shape))
    for name in ("components_", "eigenvalues_", "covariance_", "correlation_", "explained_variance_ratio_"):
        assert np.isfinite(getattr(model, name)).all(), name
    assert np.isfinite(model.transform(np.zeros(shape))).all()


def test_components_by_share():
    with exact_noise():
        model = PrivatePCA(0.9776852, **BUDGET, row_norm=10.0, center="none")
        model.check_features(4)
        model.ratio_ = np.array([0.92461872, 0.05306648, 0.01710261, 0.00521218])
        assert model._count(4) == 3


def test_whitening_is_finite_at_a_small_budget():
    table = np.random.default_rng(0).normal(size=(30, 6))
    model = PrivatePCA(epsilon=0.5, delta=1e-3, bounds=(-3, 3), whiten=True).fit(table)
    assert np.isfinite(model.transform(table)).all()


def test_nan_leaves_control_flow_alone(table):
    holed = table.copy()
    holed[3, 1] = np.nan
    seen = []
    for rows in (table, holed):
        with warnings.catch_warnings(record=True) as caught, recording() as recorder:
            warnings.simplefilter("always")
            PrivatePCA(**BUDGET, bounds=(-1, 1)).fit(rows)
        seen.append(([str(w.message) for w in caught], [call[0].shape for call in recorder.calls]))
    assert seen[0] == seen[1]


def test_batches_equal_the_whole(table):
    with exact_noise():
        whole = PrivatePCA(**BUDGET, bounds=(-1, 1), center="joint").fit(table)
        rows = PrivatePCA(**BUDGET, bounds=(-1, 1), center="joint")
        for row in table[:100]:
            rows.partial_fit(row[None, :])
        rest = clone(rows).partial_fit(table[100:])
        rows.merge(rest).finalize()
    np.testing.assert_array_equal(
        rows.release_.step("augmented").values, whole.release_.step("augmented").values
    )
    with pytest.raises(ParameterError, match="partial_fit"):
        rows.finalize()


def test_batches_are_refused_where_rows_are_read_twice(table):
    with pytest.raises(ParameterError, match="joint"):
        PrivatePCA(**BUDGET, bounds=(-1, 1)).partial_fit(table)


def test_exact_sums_are_not_pickled(table):
    model = PrivatePCA(**BUDGET, bounds=(-1, 1), center="joint").partial_fit(table)
    with pytest.raises(TypeError, match="finalize"):
        pickle.dump(model, io.BytesIO())
    assert "exact sums" in repr(vars(model))
    model.finalize()
    pickle.dumps(model)


def test_a_refused_finalize_keeps_the_sums(table, tmp_path):
    ledger = Ledger(tmp_path / "ledger.db", epsilon="0.5", delta=1e-6)
    model = PrivatePCA(**BUDGET, bounds=(-1, 1), center="joint", ledger=ledger).partial_fit(table)
    with pytest.raises(BudgetExceeded):
        model.finalize()
    model.set_params(ledger=None).finalize()
    assert hasattr(model, "components_")


@pytest.mark.filterwarnings("default")
def test_warnings_name_the_way_out(table, monkeypatch):
    monkeypatch.setattr("dpspectra.pipeline._warned", set())
    bounds = ([30, 13, 150, 2000], [65, 23, 250, 7000])
    with pytest.warns(PlanWarning, match='scaling="bounds"'), pytest.warns(UnrecordedRelease, match="ledger"):
        PrivateCovariance(**BUDGET, bounds=bounds).fit(table)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnrecordedRelease)  # said once a process
        warnings.simplefilter("ignore", PlanWarning)
        PrivateCovariance(**BUDGET, bounds=bounds).fit(table)


@pytest.mark.parametrize(
    "table",
    [np.array([0.123, 0.456]), np.array([[0.123 + 1j, 0.4], [1, 2]]), np.zeros((123, 0))],
    ids=["one dimension", "complex", "no columns"],
)
def test_refusals_hold_no_cell_and_no_number_of_rows(table):
    with pytest.raises(ValueError, match=r"2D|Complex|0 feature") as refused:
        PrivateCovariance(epsilon=1, delta=1e-6, bounds=(0, 1), adjacency="add-remove").fit(table)
    assert "123" not in str(refused.value)


def test_masked_cells_are_missing():
    table = np.ma.masked_array(np.full((100, 2), 0.9), mask=[[True, False]] * 100)
    with exact_noise():
        model = PrivateCovariance(epsilon=1, delta=1e-6, bounds=(0, 1)).fit(table)
    assert np.allclose(model.location_, [0.5, 0.9], atol=1e-5)


def test_scores_are_finite_where_a_column_is_constant(table):
    constant = np.column_stack([table, np.zeros(len(table))])
    with exact_noise():
        for kind in (PrivateCovariance, PrivatePCA):
            assert np.isfinite(kind(**BUDGET, bounds=(-1, 1)).fit(constant).score(constant))


def test_a_file_is_known_by_its_schema_alone(tmp_path):
    """Delimiter and names come from the schema; other columns of the file leave no trace."""
    path = tmp_path / "table.csv"
    path.write_text("secret_column;a;b\n7;0,5;0,25\n8;0,75;0,5\n")
    schema = Schema(
        (Column("b", bounds=(0, 1)), Column("a", bounds=(0, 1))), reading=Reading(delimiter=";", decimal=",")
    )
    with exact_noise():
        model = PrivateCovariance(**BUDGET, schema=schema).fit(path)
    assert list(model.feature_names_in_) == ["b", "a"]
    assert model.n_features_in_ == 2
    np.testing.assert_allclose(model.location_, [0.375, 0.625], atol=1e-5)
    assert "secret" not in model.release_.to_json() + repr(vars(model))


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("scaling", ["none", "bounds", "private"])
def test_scores_lead_back_to_the_rows(table, whiten, scaling):
    with exact_noise():
        model = PrivatePCA(**BUDGET, bounds=(-1, 2), scaling=scaling, whiten=whiten).fit(table)
    np.testing.assert_allclose(model.inverse_transform(model.transform(table)), table, atol=1e-9)
    assert model.score(table) == pytest.approx(model.score_samples(table).mean())
    with pytest.raises(ParameterError, match="4 columns"):
        model.inverse_transform(table[:, :3])
