"""The report of a second moment: whole, strict JSON, and a function of the release."""

import csv
import json

import numpy as np
import pytest

from dpspectra.core.released import Released
from dpspectra.estimators import PrivateSecondMoment
from dpspectra.report import render, summarise, write


@pytest.fixture(scope="module", params=["recursive", "gaussian_moments"])
def model(request, fitting):
    return fitting(PrivateSecondMoment, method=request.param)


def test_it_is_strict_json_and_a_function_of_the_release(model):
    summary = summarise(model)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary | {"card": json_of(summary["card"])}
    again = PrivateSecondMoment.from_release(Released.from_json(model.release_.to_json()))
    assert summarise(again) == summary


def json_of(value):
    return json.loads(json.dumps(value))


def test_the_numbers_are_the_attributes(model, tmp_path):
    summary = summarise(model)
    assert summary["kind"] == "moments" and summary["private"]
    assert summary["second_moment"] == model.second_moment_.tolist()
    assert summary["precision"] == model.precision_.tolist()
    assert summary["spectral_error"] == model.spectral_error_
    write(model, tmp_path / "report")
    with (tmp_path / "report" / "precision.csv").open(newline="") as handle:
        lines = list(csv.reader(handle))
    assert lines[0][1:] == [line[0] for line in lines[1:]] == list(model.feature_names_encoded_)
    np.testing.assert_array_equal([[float(c) for c in line[1:]] for line in lines[1:]], model.precision_)
    page = (tmp_path / "report" / "report.html").read_text()
    assert summary["headline"] in page and "a&lt;b &amp;" in page and 'a<b & "c"' not in page


def test_the_headline_says_whether_the_smallest_direction_is_known(fitting, model):
    if model.spectral_error_ < 1:
        assert "along every direction" in summarise(model)["headline"]
    lost = fitting(PrivateSecondMoment, method="gaussian_moments", epsilon=0.01)
    assert lost.spectral_error_ >= 1
    assert "cannot be told from noise" in summarise(lost)["headline"]
    assert "describes noise" in " ".join(summarise(lost)["meaning"])


def test_wide_tables_are_cut_in_the_page_alone(fitting):
    model = fitting(PrivateSecondMoment, d=15, rho=5, epsilon=None, delta=None)
    summary = summarise(model)
    assert np.shape(summary["precision"]) == (12, 12)
    assert "First 12 of 15" in render(summary, [])
