"""Reports of directions and of variances along them: whole, strict JSON, and a function of the release."""

import csv
import json

import numpy as np
import pytest

from dpspectra import plots
from dpspectra.core.errors import ParameterError
from dpspectra.core.released import Released
from dpspectra.estimators import PrivatePCA, PrivateScree
from dpspectra.report import summarise, write

ALONG = {
    "scree": (
        PrivateScree,
        {"n_components": 3, "method": "winsorized_mean", "directions": "spherical_kendall"},
    ),
    "moments": (PrivateScree, {"n_components": 3, "method": "gaussian_moments"}),
    "pca": (PrivatePCA, {"n_components": 3, "method": "spherical_kendall"}),
    "directions": (PrivatePCA, {"n_components": 3, "method": "spatial_sign", "variances": "none"}),
}


@pytest.fixture(params=ALONG, scope="module")
def model(request, fitting):
    kind, settings = ALONG[request.param]
    bounds = {} if request.param == "moments" else {"bounds": None}
    return fitting(kind, **settings, **bounds)


@pytest.fixture
def folder(model, tmp_path):
    write(model, tmp_path / "report")
    return tmp_path / "report"


def test_it_is_strict_json_and_a_function_of_the_release(model):
    summary = summarise(model)
    assert json.loads(json.dumps(summary, allow_nan=False)) == json.loads(json.dumps(summary))
    again = type(model).from_release(Released.from_json(model.release_.to_json()))
    assert summarise(again) == summary


def test_the_numbers_of_the_page_are_the_attributes(model):
    summary = summarise(model)
    known = np.isfinite(model.eigenvalues_).all()
    assert summary["kind"] == "directions" and summary["known"] == known
    for index, row in enumerate(summary["spectrum"]):
        if known:
            assert row["eigenvalue"] == model.eigenvalues_[index]
            assert row["noise_sd"] == model.noise_sd_[index]
        else:
            assert row["eigenvalue"] is None
    if not np.isfinite(model.eigenvalue_intervals_).any():
        assert not summary["intervals"]


def test_the_folder_holds_what_is_known(model, folder):
    names = {path.name for path in folder.iterdir()}
    assert {"report.html", "release.json", "components.csv", "explained_variance.csv"} <= names
    assert ("scree.png" in names) == bool(np.isfinite(model.eigenvalues_).all())
    assert not any(name.startswith(("covariance", "correlation")) for name in names)
    with (folder / "explained_variance.csv").open(newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert len(rows) == 3
    for row, value in zip(rows, model.eigenvalues_, strict=True):
        assert row["explained_variance"] == ("" if np.isnan(value) else repr(float(value)))
    page = (folder / "report.html").read_text()
    assert "e-06)-differentially private" in page and "http" not in page.split("<body>")[1].lower()
    assert ("Pictures</h2>" in page) == ("scree.png" in names)


def test_the_card_says_what_rows_were_bounded_by(model):
    facts = dict(summarise(model)["card"]["facts"])
    bounded = model.release_.facts.grid.bounded
    assert facts["Row-norm bound B (public)"].startswith("none") != bounded
    assert any("farther than B" in limit for limit in summarise(model)["limits"]) == bounded
    steps = summarise(model)["card"]["steps"]
    assert sum(step["share"] for step in steps) == pytest.approx(1)


def test_pictures_that_need_a_covariance_are_refused(model):
    for plot in (plots.correlation_heatmap, plots.correlation_circle):
        with pytest.raises(ParameterError, match="covariance"):
            plot(model)


def test_no_cell_is_in_the_report(make, tmp_path):
    canary = 0.987654321
    kind, settings = ALONG["scree"]
    fitted = make(kind, canary=canary, rows=200, bounds=None, **settings)
    write(fitted, tmp_path / "report")
    for path in (tmp_path / "report").iterdir():
        assert b"98765432" not in path.read_bytes(), path.name
