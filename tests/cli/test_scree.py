"""``dpspectra scree``, and ``pca`` by robust directions: tables without bounds in, reports out."""

from __future__ import annotations

import csv
import json

import pytest

from dpspectra import Ledger, PrivatePCA, PrivateScree

BUDGET = ("--epsilon", "4", "--delta", "1e-6")
FREE = """
[table]
label = "survey"
rows = 400

[columns.age]
kind = "number"

[columns.income]
kind = "number"
"""


@pytest.fixture
def free(survey):
    """The survey's schema without bounds."""
    path = survey.folder / "free.toml"
    path.write_text(FREE)
    return path


def explained(folder):
    with (folder / "explained_variance.csv").open(newline="") as handle:
        return list(csv.DictReader(handle))


@pytest.mark.parametrize("bounded", [False, True])
def test_scree_writes_a_whole_report(cli, survey, free, bounded) -> None:
    schema = survey.schema if bounded else free
    done = cli("scree", survey.table, "--schema", schema, *BUDGET, "--components", 2, "--out", survey.out)
    assert done.code == 0, done.stderr
    names = {path.name for path in survey.out.iterdir()}
    assert {"report.html", "release.json", "explained_variance.csv", "components.csv", "scree.png"} <= names
    model = PrivateScree.from_release(survey.out / "release.json")
    assert [float(row["explained_variance"]) for row in explained(survey.out)] == list(model.eigenvalues_)
    assert model.release_.facts.grid.bounded == bounded


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("method", ["winsorized_mean", "huber_mean", "clipped_mean"])
def test_methods_by_name_and_their_settings(cli, survey, free, method) -> None:
    extra = ("--cut", "400") if method == "clipped_mean" else ()
    options = ("--method", method, "--directions", "spherical_kendall", "--variance-share", "0.6", *extra)
    done = cli("scree", survey.table, "--schema", free, *BUDGET, *options, "--out", survey.out)
    assert done.code == 0, done.stderr
    model = PrivateScree.from_release(survey.out / "release.json")
    used = model.release_.parameters
    assert (model.method, model.directions, used["share"]) == (method, "spherical_kendall", "3/5")
    assert model.cut == (400.0 if extra else None)
    assert model.n_components_ == 2


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("variances", ["auto", "none", "huber_mean"])
def test_pca_without_bounds(cli, survey, free, variances) -> None:
    done = cli(
        "pca", survey.table, "--schema", free, *BUDGET, "--variances", variances, "--components", 1,
        "--out", survey.out,
    )  # fmt: skip
    assert done.code == 0, done.stderr
    model = PrivatePCA.from_release(survey.out / "release.json")
    assert model.components_.shape == (1, 2)
    assert model.method in ("spherical_kendall", "spatial_sign")
    again = survey.folder / "again"
    assert cli("report", survey.out / "release.json", "--out", again).code == 0
    assert (again / "report.html").read_bytes() == (survey.out / "report.html").read_bytes()


@pytest.mark.usefixtures("plain")
def test_the_whole_budget_is_recorded_before_a_row_is_read(cli, survey, free) -> None:
    Ledger.create(survey.ledger, epsilon=4, delta="1e-6")
    command = ("scree", survey.table, "--schema", free, *BUDGET, "--ledger", survey.ledger, "--out")
    assert cli(*command, survey.out).code == 0
    spent = Ledger(survey.ledger).spent("survey")
    assert float(spent.epsilon) == 4
    assert cli(*command, survey.folder / "second").code == 4


def test_what_is_refused_spends_nothing(cli, survey, free) -> None:
    Ledger.create(survey.ledger, epsilon=4, delta="1e-6")
    base = ("--schema", free, *BUDGET, "--ledger", survey.ledger, "--out", survey.out)
    for command, extra, said in (
        ("cov", (), "bounds are missing"),
        ("pca", ("--method", "gaussian_moments"), "bounds are missing"),
        ("pca", ("--method", "clipped_mean"), "principal components"),
        ("pca", ("--adjacency", "add-remove"), "bounds are missing"),
        ("pca", ("--scaling", "private"), "bounds are missing"),
        ("scree", ("--method", "spherical_kendall"), "eigenvalues"),
        ("scree", ("--components", "7"), "n_components"),
        ("scree", ("--variance-share", "1"), "share"),
        ("scree", ("--method", "clipped_mean"), "cut"),
    ):
        done = cli(command, survey.table, *base, *extra)
        assert done.code in (2, 3), (command, extra, done.stderr)
        assert said in " ".join(done.stderr.split()), (command, extra, done.stderr)
    assert Ledger(survey.ledger).entries() == ()
    assert not survey.out.exists()


def test_plans(cli, free) -> None:
    done = cli("plan", "--schema", free, *BUDGET, "--method", "winsorized_mean", "--components", 2)
    assert done.code == 0, done.stderr
    assert "2 variances" in done.stdout
    done = cli("plan", "--schema", free, *BUDGET, "--format", "json", "--share", "0.5")
    made = json.loads(done.stdout)
    assert made["robust"] and made["row_norm"] is None and made["goal"]["rows"] > 1
