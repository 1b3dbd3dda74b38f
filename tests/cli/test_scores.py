"""``scores``: from a table on disk to a map; and its refusals."""

import csv
import json

import numpy as np
import pytest

from dpspectra import Ledger, PrivateScoreMap, Released

BUDGET = ("--epsilon", "2", "--delta", "1e-6")


def test_a_map_by_group_is_written_and_can_be_shown_again(cli, survey) -> None:
    cli("ledger", "init", survey.ledger, "--epsilon", "2", "--delta", "1e-6")
    arguments = ("--schema", survey.schema, *BUDGET, "--groups", "sector", "--bins", "6", "--pair", "2,1")
    recorded = ("--ledger", survey.ledger, "--out", survey.out)
    done = cli("scores", survey.table, *arguments, *recorded)
    assert done.code == 0, done.text
    names = {path.name for path in survey.out.iterdir()}
    tables = {"components.csv", "score_map.csv"}
    kinds = ("score_map", "score_points", "score_groups")
    assert names == {"report.html", "release.json", *tables} | {
        f"{kind}.{suffix}" for kind in kinds for suffix in ("png", "svg")
    }
    assert "(2, 1e-06)-differentially private" in done.stderr
    assert "6 x 6 cells in 3 groups" in done.stderr
    released = Released.from_json((survey.out / "release.json").read_text())
    assert released.facts.features == ("age", "income")
    assert released.facts.groups == ("private", "public", "(other)")
    model = PrivateScoreMap.from_release(released)
    with (survey.out / "score_map.csv").open() as handle:
        rows = list(csv.DictReader(handle))
    assert [row["group"] for row in rows[:37:36]] == ["private", "public"]
    counts = np.array([float(row["count"]) for row in rows]).reshape(3, 6, 6)
    assert np.array_equal(counts, model.counts_)
    assert counts.sum() == pytest.approx(400)
    assert Ledger(survey.ledger).remaining("survey").epsilon == 0
    again = survey.folder / "again"
    assert cli("report", survey.out / "release.json", "--out", again).code == 0
    for name in names:
        assert (again / name).read_bytes() == (survey.out / name).read_bytes()
    page = (survey.out / "report.html").read_text()
    assert "Score map of the table “survey”" in page
    assert "Covariance" not in page
    refused = cli("scores", survey.table, *arguments, "--ledger", survey.ledger, "--out", survey.folder / "b")
    assert refused.code == 4


def test_a_dry_run_tells_the_noise_of_cells_and_opens_no_table(cli, survey) -> None:
    survey.table.unlink()
    arguments = ("--schema", survey.schema, *BUDGET, "--groups", "sector")
    done = cli("scores", survey.table, *arguments, "--dry-run")
    assert done.code == 0
    assert "noise sd of a cell" in done.stdout
    assert "3 x 16^2 cells" in done.stdout
    made = json.loads(cli("scores", *arguments, "--dry-run", "--format", "json").stdout)
    assert made["cells"]["groups"] == 3


@pytest.mark.usefixtures("plain")
def test_json_says_the_same_as_the_page(cli, survey) -> None:
    arguments = ("--schema", survey.schema, "--rho", "0.5", "--frame", "60", "--format", "json")
    done = cli("scores", survey.table, *arguments, "--out", survey.out)
    summary = json.loads(done.stdout)
    assert summary["kind"] == "map"
    assert summary["frame"] == [[-60.0, 60.0]] * 2
    assert [group["name"] for group in summary["groups"]] == ["all"]


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("--groups", "age"), 3, "no column 'age' of kind"),
        (("--groups", "absent"), 3, "no column 'absent'"),
        (("--pair", "1"), 2, "--pair must be two components"),
        (("--pair", "1,x"), 2, "--pair must be two components"),
        (("--pair", "1,1"), 2, "components must name two different"),
        (("--pair", "1,9"), 2, "components must name two different"),
        (("--bins", "1"), 2, "bins must be a whole number"),
        (("--bins", "5000"), 5, "take fewer bins"),
        (("--histogram", "dense"), 2, "histogram must be one of"),
        (("--frame", "wide"), 2, "frame must be"),
        (("--frame", "-3"), 2, "frame must be"),
        (("--frame", "private", "--adjacency", "add-remove"), 2, "frame: a private frame is a quantile"),
        (("--scaling", "private"), 2, "scaling='private'"),
        (("--share", "1"), 2, "share must be in"),
        (("--directions", "nothing"), 2, "nothing"),
    ],
)
def test_refusals_come_before_the_table_is_opened(cli, survey, arguments, code: int, text: str) -> None:
    survey.table.unlink()
    done = cli("scores", survey.table, "--schema", survey.schema, *BUDGET, *arguments, "--out", survey.out)
    assert (done.code, text in done.stderr) == (code, True), done.text
    assert not survey.out.exists()


def test_a_sparse_map_needs_a_delta(cli, survey) -> None:
    arguments = ("--schema", survey.schema, "--rho", "0.1", "--histogram", "sparse", "--out", survey.out)
    done = cli("scores", survey.table, *arguments)
    assert done.code == 2
    assert "give epsilon and delta" in done.stderr
