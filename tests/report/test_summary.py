"""The summary: strict JSON, a function of the release alone, and complete."""

import json

import numpy as np

from dpspectra.core.released import Released
from dpspectra.report import summarise


def again(model):
    return type(model).from_release(Released.from_json(model.release_.to_json()))


def test_strict_json_round_trip(pca, covariance, unprivate, add_remove):
    for model in (pca, covariance, unprivate, add_remove):
        summary = summarise(model)
        assert json.loads(json.dumps(summary, allow_nan=False)) == json.loads(json.dumps(summary))


def test_it_is_a_function_of_the_release_alone(pca, covariance, add_remove):
    for model in (pca, covariance, add_remove):
        rebuilt = again(model)
        if hasattr(model, "components_") and len(rebuilt.components_) != len(model.components_):
            rebuilt = rebuilt.set_params(n_components=model.n_components)._show(model.release_)
        assert summarise(rebuilt) == summarise(model)


def test_guarantee_and_headline(pca):
    summary = summarise(pca)
    assert summary["guarantee"] == pca.privacy_.sentence()
    assert summary["headline"] == f"{pca.n_resolved_} of 6 components stand out of the noise"
    assert pca.n_resolved_ >= 1


def test_spectrum_rows(pca):
    rows = summarise(pca)["spectrum"]
    assert [row["name"] for row in rows] == [f"PC{index}" for index in range(1, 7)]
    for index, row in enumerate(rows):
        assert row["eigenvalue"] == pca.eigenvalues_[index]
        known = np.isfinite(pca.eigenvalue_intervals_[index]).all()
        assert row["interval"] == (list(pca.eigenvalue_intervals_[index]) if known else None)


def test_loadings_are_sorted_and_only_of_components_that_stand_out(pca):
    shown = summarise(pca)["loadings"]
    assert [entry["name"] for entry in shown] == [f"PC{index + 1}" for index in np.flatnonzero(pca.resolved_)]
    for entry in shown:
        sizes = [abs(feature["weight"]) for feature in entry["features"]]
        assert sizes == sorted(sizes, reverse=True)


def test_covariance_has_errors_and_no_loadings(covariance):
    summary = summarise(covariance)
    assert summary["kind"] == "covariance" and summary["loadings"] == []
    np.testing.assert_array_equal(summary["covariance"]["errors"], covariance.standard_errors_)
    np.testing.assert_array_equal(summary["correlation"]["values"], covariance.correlation_)


def test_wide_tables_are_cut_and_say_of_how_many(make):
    summary = summarise(make(d=40, private=False))
    assert len(summary["covariance"]["values"]) == 12 and summary["covariance"]["of"] == 40
    assert len(summary["spectrum"]) == 30 and summary["d"] == 40


def test_card_holds_every_promised_fact(pca):
    facts = dict(summarise(pca)["card"]["facts"])
    assert facts["Private"] == "yes"
    assert facts["epsilon at delta"] == "4 at 1e-06"
    assert facts["Neighbouring tables"] == "replace one row"
    assert facts["Rows n"] == "4000 (public)"
    assert facts["Mechanism"] == "gaussian_moments" and "theorem" in facts["Theorem"]
    assert "OpenDP" in facts["Entropy source"]
    assert facts["Ledger"].startswith("unrecorded")
    for name in ("rho (zCDP)", "mu (Gaussian DP)", "Row-norm bound B (public)", "dpspectra version"):
        assert facts[name]


def test_shares_of_the_steps_add_up(pca):
    steps = summarise(pca)["card"]["steps"]
    assert [step["name"] for step in steps] == ["mean", "scatter"]
    assert sum(step["share"] for step in steps) == 1


def test_card_shows_the_public_bounds(pca):
    (line,) = summarise(pca)["card"]["columns"]
    assert line["name"] == 'age to a<b & "c" (6 columns)' and line["values"] == "-8 to 8"


def test_columns_that_differ_have_lines_of_their_own(make):
    bounds = (np.array([-8.0, -8, -8, -9, -9, -8]), np.full(6, 8.0))
    lines = summarise(make(bounds=bounds, private=False))["card"]["columns"]
    assert [line["name"] for line in lines] == [
        "age to height (3 columns)",
        "weight to score (2 columns)",
        'a<b & "c"',
    ]
    assert lines[1]["values"] == "-9 to 8"


def test_add_remove_shows_only_the_noisy_number_of_rows(make):
    model = make(adjacency="add-remove", private=False)
    (rows,) = [value for name, value in summarise(model)["card"]["facts"] if name == "Rows n"]
    assert rows.startswith(f"private (noisy n = {model.n_samples_:.0f}, noise sd ")
    assert model.n_samples_ != 4000
    text = json.dumps(summarise(model))
    assert "4000" not in text


def test_limits_name_what_is_public(pca, add_remove):
    assert "the number of rows" in summarise(pca)["limits"][0]
    assert "the number of rows" not in summarise(add_remove)["limits"][0]


def test_nothing_stands_out_when_there_is_nothing(make):
    summary = summarise(make(rows=50, epsilon=0.05, private=False))
    assert summary["n_resolved"] == 0
    assert summary["meaning"][0].startswith("No eigenvalue rises above")


def test_the_joint_release_says_why_it_has_no_intervals(make):
    model = make(center="joint", private=False)
    assert not np.isfinite(model.eigenvalue_intervals_).any()
    assert "not alike in all directions" in summarise(model)["meaning"][-1]
