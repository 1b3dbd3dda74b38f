"""PrivateSecondMoment: right in every direction, whole after a release, and nothing of a cell beside it."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from dpspectra import Ledger, PrivateSecondMoment, Released
from dpspectra.core.errors import BudgetExceeded, DpspectraError, InfeasiblePlan
from dpspectra.instances.subsamplable import conditioned_gaussian
from dpspectra.testing import exact_noise, seeded_noise
from dpspectra.testing.sources import recording

pytestmark = [
    pytest.mark.filterwarnings("ignore::dpspectra.core.errors.PlanWarning"),
    pytest.mark.filterwarnings("ignore::dpspectra.core.errors.UnrecordedRelease"),
]
BUDGET = {"rho": 50, "row_norm": 4000.0}
MODELS = [
    PrivateSecondMoment(**BUDGET),
    PrivateSecondMoment(**BUDGET, method="recursive", center="none", releases=4),
    PrivateSecondMoment(**BUDGET, method="gaussian_moments", center=[0.0] * 4),
    PrivateSecondMoment(**BUDGET, accuracy="norm"),
    PrivateSecondMoment(rho=5e5, row_norm=4000.0, preset="theory", floor=1.0, subsample=10),
    PrivateSecondMoment(**BUDGET, adjacency="add-remove"),
]
MATRICES = ("second_moment_", "precision_", "whitener_", "eigenvalues_", "location_")


def named(model):
    return f"{model.method}-{model.accuracy}-{model.preset}-{model.adjacency}"


@pytest.fixture(scope="module")
def table():
    """4,000 rows of four columns, condition number 10^6."""
    return conditioned_gaussian(4000, 4, 1e6)[0]


def spectral(rows, matrix):
    values, vectors = np.linalg.eigh(rows.T @ rows / len(rows))
    root = (vectors * values**-0.5) @ vectors.T
    return np.abs(np.linalg.eigvalsh(root @ matrix @ root) - 1).max()


@pytest.mark.parametrize("model", MODELS, ids=named)
def test_without_noise_attributes_are_those_of_the_table(model, table):
    with exact_noise():
        fitted = clone(model).fit(table)
    assert spectral(table, fitted.second_moment_) < 0.02
    np.testing.assert_allclose(fitted.precision_ @ fitted.second_moment_, np.eye(4), atol=1e-6)
    whitened = fitted.whitener_ @ fitted.second_moment_ @ fitted.whitener_.T
    np.testing.assert_allclose(whitened, np.eye(4), atol=1e-6)
    exact = np.linalg.eigvalsh(fitted.second_moment_)[::-1]
    np.testing.assert_allclose(fitted.eigenvalues_, exact, rtol=1e-6)
    scores = fitted.transform(table)
    np.testing.assert_allclose(scores.T @ scores / len(scores), np.eye(4), atol=0.02)
    assert fitted.n_samples_ == len(table)
    assert not fitted.privacy_.private


def test_every_direction_is_right_where_one_release_is_lost(table):
    """Condition number 10^6 at rho = 0.5; the error is about what the model says of itself."""
    errors, said = [], []
    for seed in range(20):
        with seeded_noise(seed):
            model = PrivateSecondMoment(rho="0.5", row_norm=4000.0).fit(table)
        errors.append(spectral(table, model.second_moment_))
        said.append(model.spectral_error_)
    assert model.release_.mechanism == "recursive"
    assert np.median(errors) < 0.1
    assert 0.4 < np.median(errors) / np.median(said) < 1.5
    with seeded_noise(0):
        one = PrivateSecondMoment(rho="0.5", row_norm=4000.0, method="gaussian_moments").fit(table)
    assert spectral(table, one.second_moment_) > 50
    assert one.spectral_error_ >= 1


def test_auto_takes_recursion_where_it_can_start(table):
    few = table[:40]
    assert PrivateSecondMoment(rho="0.5", row_norm=4000.0).fit(few).release_.mechanism == "gaussian_moments"
    with pytest.raises(InfeasiblePlan, match=r"needs about [0-9]+ rows"):
        PrivateSecondMoment(rho="0.5", row_norm=4000.0, method="recursive").fit(few)
    norm = PrivateSecondMoment(rho="0.5", row_norm=4000.0, accuracy="norm").fit(table)
    assert norm.release_.mechanism == "gaussian_moments"


def test_units_and_centre():
    """Columns of other units and another centre: the same release, told in those units."""
    rows = conditioned_gaussian(2000, 3, 100.0)[0]
    scale, centre = np.array([1.0, 10.0, 0.1]), np.array([5.0, -3.0, 0.25])
    with seeded_noise(3):
        plain = PrivateSecondMoment(rho=5, bounds=(-64, 64), scaling="bounds").fit(rows)
    bounds = (centre - 64 * scale, centre + 64 * scale)
    with seeded_noise(3):
        moved = PrivateSecondMoment(rho=5, bounds=bounds, scaling="bounds").fit(rows * scale + centre)
    np.testing.assert_allclose(moved.location_, centre)
    np.testing.assert_allclose(moved.second_moment_, plain.second_moment_ * np.outer(scale, scale), rtol=1e-3)
    again = moved.transform(rows[:9] * scale + centre)
    np.testing.assert_allclose(again, plain.transform(rows[:9]), rtol=1e-3)


@pytest.mark.parametrize("model", MODELS, ids=named)
def test_no_cell_survives_the_fit(model, table):
    rows = table.copy()
    rows[7] = [0.123456789, np.nan, -8.7654321, np.inf]
    fitted = clone(model).fit(rows)
    for text in (repr(fitted), repr(vars(fitted)), fitted.release_.to_json()):
        assert "123456789" not in text and "7654321" not in text
    flat = pickle.dumps(fitted)
    assert not any(np.float64(cell).tobytes() in flat for cell in (0.123456789, -8.7654321))


@pytest.mark.parametrize("model", MODELS, ids=named)
def test_neighbours_look_alike(model, table):
    """One row replaced, by the wildest there is: same shapes, same warnings, same steps, same calls."""
    heard, rows = [], table[:400]
    other = rows.copy()
    other[11] = [np.nan, np.inf, -1e300, 0]
    for one in (rows, other):
        with warnings.catch_warnings(record=True) as caught, recording() as recorder:
            warnings.simplefilter("always")
            fitted = clone(model).fit(one)
        shapes = {key: np.shape(value) for key, value in vars(fitted).items() if key.endswith("_")}
        plans = tuple(step.plan for step in fitted.release_.steps)
        calls = [np.shape(call[0]) for call in recorder.calls]
        heard.append((shapes, plans, calls, [str(warning.message) for warning in caught]))
    assert heard[0] == heard[1]


@pytest.mark.parametrize("model", MODELS, ids=named)
def test_a_pickle_and_a_file_give_the_same_model(model, table, tmp_path):
    frame = pd.DataFrame(table, columns=list("abcd"))
    fitted = clone(model).fit(frame)
    path = tmp_path / "release.json"
    path.write_text(fitted.release_.to_json())
    rebuilt = PrivateSecondMoment.from_release(path)
    for other in (rebuilt, pickle.loads(pickle.dumps(fitted))):
        for name in (*MATRICES, "noise_sd_", "spectral_error_", "n_samples_"):
            np.testing.assert_array_equal(getattr(other, name), getattr(fitted, name), name)
        np.testing.assert_array_equal(other.transform(frame), fitted.transform(frame))
    assert rebuilt.accuracy == model.accuracy
    again = clone(rebuilt).set_params(ledger=None).fit(frame)
    assert [s.plan for s in again.release_.steps] == [s.plan for s in fitted.release_.steps]
    assert Released.from_json(fitted.release_.to_json()).to_json() == fitted.release_.to_json()


def test_the_whole_budget_is_spent_once(table):
    ledger = Ledger(None, rho=50)
    model = PrivateSecondMoment(**BUDGET, ledger=ledger).fit(table)
    assert ledger.spent("table").rho == pytest.approx(50)
    with recording() as recorder, pytest.raises(BudgetExceeded):
        clone(model).fit(table)
    assert recorder.calls == []


def test_tables_that_say_nothing_are_finite():
    for rows in (np.zeros((30, 3)), np.full((30, 3), np.nan), np.ones((30, 3))):
        for method in ("auto", "gaussian_moments"):
            with exact_noise():
                model = PrivateSecondMoment(rho=1e6, row_norm=2.0, method=method).fit(rows)
            assert all(np.isfinite(getattr(model, name)).all() for name in MATRICES)


def test_pipeline_and_output(table):
    frame = pd.DataFrame(table, columns=list("abcd"))
    model = make_pipeline(FunctionTransformer(), PrivateSecondMoment(**BUDGET)).set_output(transform="pandas")
    assert list(model.fit_transform(frame).columns) == [f"privatesecondmoment{i}" for i in range(4)]


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"accuracy": "relative"}, "accuracy"),
        ({"accuracy": 1}, "accuracy"),
        ({"center": "private"}, "center"),
        ({"center": "joint"}, "center"),
        ({"scaling": "private"}, "scaling"),
        ({"method": "laplace"}, "second moment"),
        ({"method": "magic"}, "magic"),
        ({"preset": "tight"}, "preset"),
        ({"preset": "theory"}, "floor"),
        ({"preset": "theory", "floor": 1.0, "method": "recursive"}, "rows"),
        ({"releases": 0}, "releases"),
        ({"row_norm": None}, "bounds"),
        ({"row_norm": None, "method": "recursive"}, "bounds"),
        ({"rho": None, "epsilon": 1, "delta": 0}, "delta=0"),
    ],
)
def test_bad_settings_are_refused_before_a_row_is_read(settings, match):
    ledger = Ledger(None)
    arguments = {"rho": "0.5", "row_norm": 1000.0} | settings
    with recording() as recorder, pytest.raises(ValueError, match=match) as caught:
        PrivateSecondMoment(**arguments, ledger=ledger).fit(np.zeros((500, 3)))
    assert isinstance(caught.value, DpspectraError)
    assert ledger.entries() == () and recorder.calls == []
