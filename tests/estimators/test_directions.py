"""Robust components and few eigenvalues: what they hold, for whom, and at what price."""

import json
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from dpspectra import Ledger, PrivatePCA, PrivateScree, Released
from dpspectra.core.errors import BudgetExceeded, DpspectraError, ParameterError, PlanWarning, SchemaError
from dpspectra.mechanisms.registry import mechanisms
from dpspectra.testing import exact_noise, recording, seeded_noise

pytestmark = [
    pytest.mark.filterwarnings("ignore::dpspectra.core.errors.PlanWarning"),
    pytest.mark.filterwarnings("ignore::dpspectra.core.errors.UnrecordedRelease"),
]
BUDGET = {"epsilon": 4, "delta": 1e-6}
FINDERS = ["spherical_kendall", "spatial_sign"]
MEANS = sorted(name for name, kind in mechanisms().items() if kind.serves == {"scree"})
MODELS = [
    *(PrivatePCA(2, **BUDGET, method=finder, variances=v) for finder in FINDERS for v in ("auto", "none")),
    *(PrivateScree(2, **BUDGET, method=mean, directions=FINDERS[0], bounds=(-9, 9)) for mean in MEANS),
    PrivateScree(2, **BUDGET, method="clipped_mean", cut="dyadic"),
    PrivateScree(2, **BUDGET),
    PrivateScree(2, **BUDGET, method="gaussian_moments", bounds=(-9, 9)),
]


def named(model):
    return f"{type(model).__name__}-{model.method}-{getattr(model, 'variances', '')}"


@pytest.fixture(scope="module")
def ellipse():
    """4,000 Gaussian rows about (5, -3, 0, 1), variances 9, 4, 1, 1/4 along rotated axes, and their axes."""
    generator = np.random.default_rng(3)
    axes, _ = np.linalg.qr(generator.normal(size=(4, 4)))
    rows = generator.normal(size=(4000, 4)) * [3, 2, 1, 0.5] @ axes.T + [5, -3, 0, 1]
    return rows, axes


@pytest.mark.parametrize("finder", FINDERS)
def test_without_noise_the_directions_are_those_of_the_covariance(ellipse, finder):
    rows, axes = ellipse
    with exact_noise():
        model = PrivatePCA(2, **BUDGET, method=finder).fit(rows)
    assert (np.abs(model.components_ @ axes[:, :2])[[0, 1], [0, 1]] > 0.99).all()
    np.testing.assert_allclose(model.explained_variance_, [9, 4], rtol=0.15)
    np.testing.assert_allclose(model.explained_variance_ratio_.sum(), 1)
    assert model.mean_ == pytest.approx([5, -3, 0, 1], abs=0.5) or finder == "spherical_kendall"
    assert not model.privacy_.private


@pytest.mark.parametrize("method", [*MEANS, "gaussian_moments"])
def test_eigenvalues_are_those_of_the_covariance(ellipse, method):
    rows, _ = ellipse
    settings = {} if method == "gaussian_moments" else {"directions": "spherical_kendall"}
    with seeded_noise(5):
        model = PrivateScree(3, **BUDGET, method=method, bounds=(-15, 15), **settings).fit(rows)
    errors = np.maximum(4 * model.standard_errors_, 0.2 * np.array([9, 4, 1]))
    assert (np.abs(model.eigenvalues_ - [9, 4, 1]) < errors).all()
    assert (np.diff(model.eigenvalues_) <= 0).all() and (model.eigenvalues_ >= 0).all()
    np.testing.assert_allclose(model.explained_variance_ratio_, model.eigenvalues_ / model.eigenvalues_.sum())
    assert np.isfinite(model.total_variance_) == (method == "gaussian_moments")
    # Only where nothing can be cut does an interval of the noise speak of the variance.
    uncut = method in ("clipped_mean", "gaussian_moments")
    assert np.isfinite(model.intervals_).any() == uncut


def test_units_are_those_of_the_columns(ellipse):
    rows, _ = ellipse
    with seeded_noise(1):
        one = PrivateScree(2, **BUDGET).fit(rows)
    with seeded_noise(1):
        thousand = PrivateScree(2, **BUDGET).fit(1024 * rows)
    np.testing.assert_allclose(thousand.eigenvalues_ / one.eigenvalues_, 1024**2, rtol=0.05)


@pytest.mark.parametrize("model", MODELS, ids=named)
def test_no_cell_survives_the_fit(model):
    """Canaries: cells and exact sums are in no attribute, pickle, repr or JSON."""
    table = np.full((400, 3), 0.123456789)
    table[7], table[8] = 0.987654321, -8.7654321
    fitted = clone(model).fit(table)
    for text in (repr(fitted), repr(vars(fitted)), fitted.release_.to_json(), str(fitted.privacy_)):
        for canary in ("123456789", "987654321", "7654321"):
            assert canary not in text
    flat = pickle.dumps(fitted)
    for cell in (0.123456789, 0.987654321, -8.7654321):
        assert np.float64(cell).tobytes() not in flat


@pytest.mark.parametrize("model", MODELS, ids=named)
def test_neighbours_look_alike(model, ellipse):
    """One row replaced, by the wildest there is: same shapes, same warnings, same steps, same calls."""
    heard, rows = [], ellipse[0][:400]
    other = rows.copy()
    other[11] = [np.nan, np.inf, -1e300, 0]
    for table in (rows, other):
        with warnings.catch_warnings(record=True) as caught, recording() as recorder:
            warnings.simplefilter("always")
            fitted = clone(model).fit(table)
        shapes = {key: np.shape(value) for key, value in vars(fitted).items() if key.endswith("_")}
        plans = tuple(step.plan for step in fitted.release_.steps)
        calls = [np.shape(call[0]) for call in recorder.calls]
        heard.append((shapes, plans, calls, [str(warning.message) for warning in caught]))
    assert heard[0] == heard[1]


@pytest.mark.parametrize("model", MODELS, ids=named)
def test_a_pickle_and_a_file_give_the_same_model(model, ellipse, tmp_path):
    frame = pd.DataFrame(ellipse[0][:600], columns=list("abcd"))
    fitted = clone(model).fit(frame)
    path = tmp_path / "release.json"
    path.write_text(fitted.release_.to_json())
    rebuilt = type(model).from_release(path)
    for other in (rebuilt, pickle.loads(pickle.dumps(fitted))):
        for name in ("components_", "eigenvalues_", "noise_sd_", "alignment_", "location_", "ratio_"):
            np.testing.assert_array_equal(getattr(other, name), getattr(fitted, name), name)
        assert list(other.feature_names_in_) == list("abcd")
        if isinstance(fitted, PrivatePCA):
            np.testing.assert_array_equal(other.transform(frame), fitted.transform(frame))
    again = clone(rebuilt).set_params(ledger=None).fit(frame)
    assert again.release_.mechanism == fitted.release_.mechanism
    assert [s.plan for s in again.release_.steps] == [s.plan for s in fitted.release_.steps]
    assert Released.from_json(fitted.release_.to_json()).to_json() == fitted.release_.to_json()


@pytest.mark.parametrize("model", MODELS, ids=named)
def test_the_ledger_has_the_whole_total_before_a_row_is_read(model, ellipse, tmp_path):
    ledger = Ledger(tmp_path / "ledger.db", epsilon=4, delta="1e-6")
    charged = clone(model).set_params(ledger=ledger)
    charged.fit(ellipse[0][:400])
    assert ledger.spent("table").epsilon == 4
    with recording() as recorder, pytest.raises(BudgetExceeded):
        charged.fit(ellipse[0][:400])
    assert recorder.calls == []


@pytest.mark.parametrize("finder", FINDERS)
def test_components_without_variances(ellipse, finder):
    model = PrivatePCA(2, **BUDGET, method=finder, variances="none").fit(ellipse[0])
    assert model.release_.mechanism == finder
    assert np.isnan(model.explained_variance_).all() and np.isnan(model.explained_variance_ratio_).all()
    assert model.transform(ellipse[0][:5]).shape == (5, 2)
    assert np.isfinite(model.alignment_).all()
    with pytest.raises(ParameterError, match="variances"):
        model.get_covariance()
    assert np.isnan(model.score_samples(ellipse[0][:5])).all()
    for wrong in ({"whiten": True}, {"n_components": 0.9}):
        with pytest.raises(ParameterError, match="variances"):
            PrivatePCA(**({"n_components": 2} | BUDGET | wrong), method=finder, variances="none").fit(
                ellipse[0]
            )


def test_variances_that_would_drown_are_left_out_and_said_so(ellipse):
    few = ellipse[0][:300]
    with pytest.warns(PlanWarning, match="variances"):
        model = PrivatePCA(2, epsilon=1, delta=1e-6).fit(few)
    assert np.isnan(model.explained_variance_).all()
    forced = PrivatePCA(2, epsilon=1, delta=1e-6, whiten=True).fit(few)
    assert np.isfinite(forced.transform(few)).all()
    assert np.isfinite(PrivatePCA(0.9, epsilon=1, delta=1e-6).fit(few).explained_variance_).all()


def test_the_model_of_a_low_rank_release(ellipse):
    rows, _ = ellipse
    with exact_noise():
        model = PrivatePCA(2, **BUDGET, method="spatial_sign", whiten=True).fit(rows)
    scores = model.transform(rows)
    np.testing.assert_allclose(scores.var(axis=0), 1, rtol=0.2)
    near = model.inverse_transform(scores)
    assert np.mean((near - rows) ** 2) < 0.5  # what the two other axes hold: (1 + 1/4)/4
    assert np.linalg.matrix_rank(model.get_covariance()) == 2 and model.noise_variance_ == 0
    assert np.isfinite(model.score(rows))
    assert not hasattr(model, "covariance_")


def test_a_second_fit_by_another_method_leaves_nothing_of_the_first(ellipse):
    model = PrivatePCA(2, **BUDGET, bounds=(-15, 15), method="gaussian_moments").fit(ellipse[0])
    assert hasattr(model, "covariance_")
    model.set_params(method="spherical_kendall").fit(ellipse[0])
    assert not hasattr(model, "covariance_") and len(model.eigenvalues_) == 2


def test_pipeline_and_output(ellipse):
    frame = pd.DataFrame(ellipse[0], columns=list("abcd"))
    model = make_pipeline(FunctionTransformer(), PrivatePCA(2, **BUDGET)).set_output(transform="pandas")
    assert list(model.fit_transform(frame).columns) == ["privatepca0", "privatepca1"]
    assert make_pipeline(FunctionTransformer(), PrivateScree(2, **BUDGET)).fit(frame)[-1].n_components_ == 2


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"n_components": 5}, "n_components"),
        ({"n_components": 0.5}, "n_components"),
        ({"n_components": True}, "n_components"),
        ({"method": "spherical_kendall"}, "eigenvalues"),
        ({"method": "magic"}, "magic"),
        ({"directions": "clipped_mean"}, "directions"),
        ({"directions": 3}, "directions"),
        ({"share": 0}, "share"),
        ({"share": "x"}, "share"),
        ({"preset": "loose"}, "preset"),
        ({"cut": -1}, "cut"),
        ({"cut": "dyadisch"}, "cut"),
        ({"method": "clipped_mean"}, "cut"),
        ({"method": "gaussian_moments"}, "bounds"),
        ({"directions": "gaussian_moments"}, "bound"),
        ({"scaling": "private"}, "bounds"),
        ({"adjacency": "add-remove"}, "bounds"),
        ({"adjacency": "add-remove", "row_norm": 1.0, "method": "huber_mean"}, "adjacency"),
        ({"epsilon": None, "delta": None, "mu": 1}, "mu"),
        ({"delta": 0}, "delta=0"),
    ],
)
def test_bad_settings_are_refused_before_a_row_is_read(settings, match):
    ledger = Ledger(None)
    arguments = {"n_components": 2} | BUDGET | settings
    with recording() as recorder, pytest.raises(ValueError, match=match) as caught:
        PrivateScree(**arguments, ledger=ledger).fit(np.zeros((20, 3)))
    assert isinstance(caught.value, DpspectraError)
    assert ledger.entries() == () and recorder.calls == []


def test_streams_are_for_moments():
    for method in FINDERS:
        assert not hasattr(PrivatePCA(**BUDGET, method=method, center="joint"), "partial_fit")
    with pytest.raises(
        SchemaError, match="ways out"
    ):  # a stream takes what reads rows once, which needs bounds
        PrivatePCA(**BUDGET, center="joint").partial_fit(np.zeros((20, 3)))


@pytest.mark.parametrize("mechanism", ["os", "sys", "means", "no_such", "../x", "winsorized_mean"])
def test_an_edited_release_file(mechanism, ellipse, tmp_path):
    model = PrivateScree(2, **BUDGET, method="huber_mean").fit(ellipse[0][:400])
    data = json.loads(model.release_.to_json()) | {"mechanism": mechanism}
    path = tmp_path / "release.json"
    path.write_text(json.dumps(data))
    with pytest.raises((SchemaError, ParameterError)):
        PrivateScree.from_release(path)


@pytest.mark.parametrize("shape", [(10, 3), (3, 8), (4, 1)])
def test_degenerate_tables(shape):
    """All-zero rows: finite, and no warning from linear algebra."""
    for model in (PrivateScree(1, **BUDGET), PrivatePCA(1, **BUDGET, method="spherical_kendall")):
        fitted = model.fit(np.zeros(shape))
        assert np.isfinite(fitted.components_).all()
