"""``dpspectra moments``, and the plan of a recursion."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from dpspectra import Ledger, PrivateSecondMoment

BUDGET = ("--rho", "5")
COLUMNS = ("--columns", "age,income")


def matrix(path):
    with path.open(newline="") as handle:
        lines = list(csv.reader(handle))[1:]
    return np.array([[float(cell) for cell in line[1:]] for line in lines])


def test_moments_writes_a_whole_report(cli, survey) -> None:
    done = cli(
        "moments", survey.table, "--schema", survey.schema, *COLUMNS, *BUDGET, "--accuracy", "spectral",
        "--out", survey.out,
    )  # fmt: skip
    assert done.code == 0, done.stderr
    names = {path.name for path in survey.out.iterdir()}
    tables = {f"{name}.csv" for name in ("second_moment", "precision", "whitener", "eigenvalues")}
    assert names == {"report.html", "release.json"} | tables
    model = PrivateSecondMoment.from_release(survey.out / "release.json")
    assert model.release_.mechanism == "recursive"
    np.testing.assert_array_equal(matrix(survey.out / "second_moment.csv"), model.second_moment_)
    np.testing.assert_array_equal(matrix(survey.out / "precision.csv"), model.precision_)
    page = (survey.out / "report.html").read_text()
    assert "Second moment of the table" in page and "along every direction" in page
    again = survey.folder / "again"
    assert cli("report", survey.out / "release.json", "--out", again).code == 0
    assert (again / "report.html").read_text() == page


def test_norm_accuracy_takes_one_release(cli, survey) -> None:
    done = cli(
        "moments", survey.table, "--schema", survey.schema, *BUDGET, "--accuracy", "norm", "--center", "none",
        "--format", "json", "--out", survey.out,
    )  # fmt: skip
    assert done.code == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["kind"] == "moments" and summary["d"] == 4
    model = PrivateSecondMoment.from_release(survey.out / "release.json")
    assert model.release_.mechanism == "gaussian_moments"
    assert model.center == "none" and model.accuracy == "norm"


def test_what_is_refused_spends_nothing(cli, survey) -> None:
    Ledger.create(survey.ledger, rho=5)
    base = ("--schema", survey.schema, "--ledger", survey.ledger, "--out", survey.out)
    for code, extra, said in (
        (2, (*BUDGET, "--accuracy", "best"), "accuracy"),
        (2, (*BUDGET, "--center", "private"), "center"),
        (2, (*BUDGET, "--method", "laplace"), "second moment"),
        (5, ("--rho", "0.001", "--method", "recursive"), "rows"),
        (4, ("--rho", "6"), "leaves"),
    ):
        done = cli("moments", survey.table, *base, *extra)
        assert done.code == code, (extra, done.stderr)
        assert said in " ".join(done.stderr.split()), (extra, done.stderr)
    assert Ledger(survey.ledger).entries() == ()
    assert not survey.out.exists()


@pytest.mark.parametrize("command", ["plan", "moments"])
def test_plan_of_a_recursion(cli, survey, command) -> None:
    options = ("--schema", survey.schema, *COLUMNS, *BUDGET, "--method", "recursive")
    dry = ("--dry-run", "--rows", 400) if command == "moments" else ()
    done = cli(command, *options, *dry)
    assert done.code == 0, done.stderr
    for line in ("spectral error", "early_8", "condition number in reach", "pays against one release"):
        assert line in done.stdout
    done = cli("plan", *options, "--format", "json")
    assert json.loads(done.stdout)["recursion"]["works"]
    assert cli("plan", *options, "--share", "0.5").code == 2
    assert cli("plan", *options[:-4], "--rho", "0.001", "--method", "recursive").code == 5
