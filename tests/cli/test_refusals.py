"""What is refused, with which code, before anything is opened or spent, and without showing a cell."""

import os
from pathlib import Path

import pytest

from dpspectra import Ledger

pytestmark = pytest.mark.usefixtures("plain")
BUDGET = ("--epsilon", "2", "--delta", "1e-6")


@pytest.fixture
def fifo(survey) -> Path:
    """A table that nobody writes to: whoever opens it waits for ever."""
    path = survey.folder / "pipe.csv"
    os.mkfifo(path)
    return path


def refused(cli, survey, *arguments: object, code: int, says: str = "") -> None:
    """The command ends with the code, says why, spends nothing and writes nothing."""
    cli("ledger", "init", survey.ledger, "--epsilon", "3", "--delta", "1e-5")
    done = cli(*arguments, "--ledger", survey.ledger, "--out", survey.out)
    assert done.code == code, done.text
    assert says in done.stderr
    assert done.stdout == ""
    assert not survey.out.exists()
    assert Ledger(survey.ledger).entries() == ()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("--epsilon 0 --delta 1e-6", "epsilon"),
        ("--epsilon -1 --delta 1e-6", "epsilon"),
        ("--epsilon nan --delta 1e-6", "epsilon"),
        ("--epsilon inf --delta 1e-6", "epsilon"),
        ("--epsilon 1 --delta 1", "delta"),
        ("--epsilon 1 --delta nan", "delta"),
        ("--epsilon 1 --delta 0", "delta"),
        ("--epsilon 1", "delta"),
        ("--rho 1 --mu 1", "more than one"),
        ("", "budget"),
        ("--mu 1 --components 0", "n_components"),
        ("--mu 1 --components 0.0", "n_components"),
        ("--mu 1 --components -1", "n_components"),
        ("--mu 1 --components 1.0", "ambiguous"),
        ("--mu 1 --components mle", "n_components"),
        ("--mu 1 --components 5", "n_components"),
        ("--mu 1 --center middle", "center"),
        ("--mu 1 --center 1,x", "center"),
        ("--mu 1 --scaling all", "scaling"),
        ("--mu 1 --clip private", "clip"),
        ("--mu 1 --clip some", "clip"),
        ("--mu 1 --clip -1", "clip"),
        ("--mu 1 --row-norm nan", "row_norm"),
        ("--mu 1 --method magic", "method"),
        ("--mu 1 --ddof -1", "ddof"),
        ("--mu 1 --rows 0", "rows"),
        ("--mu 1 --adjacency zero", "adjacency"),
        ("--mu 1 --format xls", "format"),
    ],
)
def test_c17_parameters_are_refused_before_the_table_is_opened(
    cli, survey, fifo, options: str, says: str
) -> None:
    refused(cli, survey, "pca", fifo, "--schema", survey.schema, *options.split(), code=2, says=says)


def test_c06_no_bounds_names_three_ways_out_and_reads_none(cli, survey, fifo) -> None:
    refused(cli, survey, "pca", fifo, *BUDGET, code=2, says="(3) a paid estimate")
    survey.schema.write_text(survey.schema.read_text().replace("bounds = [0, 100]", "bounds = []", 1))
    refused(cli, survey, "pca", fifo, *BUDGET, "--schema", survey.schema, code=3, says="bounds are empty")


def test_schema_faults_have_their_code(cli, survey, fifo) -> None:
    known = ("pca", fifo, *BUDGET, "--schema")
    refused(cli, survey, *known, survey.folder / "gone.toml", code=3, says="cannot be read")
    refused(cli, survey, *known, survey.schema, "--columns", "age,shoes", code=3, says="'shoes'")
    refused(cli, survey, *known, survey.schema, "--delimiter", ";;", code=3, says="delimiter")
    survey.schema.write_text("[columns")
    refused(cli, survey, *known, survey.schema, code=3, says="TOML")


def test_a_table_that_is_not_there(cli, survey) -> None:
    refused(
        cli,
        survey,
        "pca",
        survey.folder / "gone.csv",
        *BUDGET,
        "--schema",
        survey.schema,
        code=3,
        says="gone.csv",
    )


def test_c14_a_wrong_number_of_rows_is_refused(cli, survey) -> None:
    refused(
        cli,
        survey,
        "pca",
        survey.table,
        *BUDGET,
        "--schema",
        survey.schema,
        "--rows",
        "5000",
        code=3,
        says="rows = 5000",
    )


def test_budget_is_refused_before_the_table_is_opened(cli, survey, fifo) -> None:
    refused(cli, survey, "pca", fifo, "--epsilon", "4", "--delta", "1e-6", "--schema", survey.schema, code=4)
    refused(cli, survey, "pca", fifo, "--rho", "4", "--schema", survey.schema, code=4)


def test_an_edited_ledger_is_refused_before_the_table_is_opened(cli, survey, fifo) -> None:
    cli("ledger", "init", survey.ledger, "--epsilon", "9", "--delta", "1e-5")
    known = ("cov", survey.table, *BUDGET, "--schema", survey.schema, "--ledger", survey.ledger, "--out")
    assert cli(*known, survey.folder / "first").code == 0
    Path(f"{survey.ledger}.head").unlink()
    done = cli(
        "pca", fifo, *BUDGET, "--schema", survey.schema, "--ledger", survey.ledger, "--out", survey.out
    )
    assert done.code == 4


def test_c36_too_many_columns_for_the_memory(cli, survey, fifo, monkeypatch) -> None:
    monkeypatch.setattr("dpspectra.planning.resources.physical_memory", lambda: 2**28)
    text = ["[table]", "rows = 1000", *(f"[columns.x{j}]\nbounds = [0, 1]" for j in range(2500))]
    survey.schema.write_text("\n".join(text))
    refused(cli, survey, "pca", fifo, *BUDGET, "--schema", survey.schema, code=5, says="memory")


def test_a_budget_too_small_for_any_noise_is_infeasible(cli, survey, fifo) -> None:
    refused(cli, survey, "pca", fifo, "--rho", "1e-40", "--schema", survey.schema, code=5)


def test_dry_run_opens_no_table_and_spends_nothing(cli, survey, fifo) -> None:
    cli("ledger", "init", survey.ledger, "--epsilon", "3", "--delta", "1e-5")
    known = ("pca", fifo, *BUDGET, "--schema", survey.schema, "--ledger", survey.ledger, "--dry-run")
    done = cli(*known)
    assert done.code == 0
    assert "400" in done.stdout
    assert Ledger(survey.ledger).entries() == ()
    assert cli(*known, "--components", "9").code == 2
    assert cli(*known, "--epsilon", "4").code == 4
    assert cli(*known, "--format", "xls").code == 2
    assert cli(*known, "--out", survey.schema).code == 2
    survey.schema.write_text(survey.schema.read_text().replace("rows = 400", ""))
    assert cli(*known).code == 2
    assert cli(*known, "--rows", "800").code == 0


def test_the_plan_of_a_dry_run_is_that_of_plan(cli, survey, fifo) -> None:
    known = (*BUDGET, "--schema", survey.schema, "--components", "2", "--format", "json")
    assert cli("pca", fifo, *known, "--dry-run").stdout == cli("plan", *known).stdout


def test_output_in_the_way_is_refused(cli, survey, fifo) -> None:
    survey.out.mkdir()
    (survey.out / "thesis.txt").write_text("years of work")
    known = ("pca", fifo, *BUDGET, "--schema", survey.schema)
    done = cli(*known, "--out", survey.out)
    assert done.code == 2
    assert "--overwrite" in done.stderr
    assert cli(*known, "--out", survey.out / "thesis.txt").code == 2
    assert cli(*known, "--out", survey.out / "thesis.txt" / "deeper").code == 2
    assert cli(*known, "--out", "/proc/no/report").code == 2
    assert cli(*known).code == 2
    assert (survey.out / "thesis.txt").read_text() == "years of work"


def test_a_read_only_folder_is_refused(cli, survey, fifo) -> None:
    if os.geteuid() == 0:
        pytest.skip("the superuser may write anywhere; /proc stands in for it in the test above")
    survey.out.mkdir(mode=0o500)
    assert cli("pca", fifo, *BUDGET, "--schema", survey.schema, "--out", survey.out / "new").code == 2


def test_overwrite_replaces_a_report_and_leaves_other_files(cli, survey) -> None:
    known = ("cov", survey.table, *BUDGET, "--schema", survey.schema, "--out", survey.out)
    assert cli(*known).code == 0
    first = (survey.out / "release.json").read_text()
    (survey.out / "notes.txt").write_text("mine")
    assert cli(*known).code == 2
    assert (survey.out / "release.json").read_text() == first
    assert cli(*known, "--overwrite").code == 0
    assert (survey.out / "release.json").read_text() != first
    assert (survey.out / "notes.txt").read_text() == "mine"


def test_c41_scores_need_leave_and_help_says_why(cli, survey, fifo) -> None:
    known = ("pca", fifo, *BUDGET, "--schema", survey.schema)
    refused(
        cli, survey, *known, "--scores", survey.folder / "s.csv", code=2, says="record-level and not private"
    )
    allowed = (*known, "--allow-record-level", "--scores")
    refused(cli, survey, *allowed, survey.out / "s.csv", code=2, says="outside --out")
    refused(cli, survey, *allowed, survey.folder / "s.xls", code=2, says=".parquet")
    (survey.folder / "mine.csv").write_text("mine")
    refused(cli, survey, *allowed, survey.folder / "mine.csv", code=2, says="--overwrite")
    told = " ".join(cli("pca", "--help").stdout.replace("│", " ").split())
    assert "record-level" in told
    assert "NOT private" in told


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_c41_scores_with_leave_go_to_a_file_for_their_owner_alone(cli, survey, ending: str) -> None:
    path = survey.folder / f"scores.{ending}"
    done = cli(
        *("pca", survey.table, *BUDGET, "--schema", survey.schema, "--out", survey.out, "--components", "2"),
        *("--scores", path, "--allow-record-level"),
    )
    assert done.code == 0, done.stderr
    assert path.stat().st_mode & 0o777 == 0o600
    assert "not private" in done.stderr
    assert str(path) not in done.stdout
    assert "scores" not in (survey.out / "report.html").read_text().replace("Scores of single rows", "")
    path.unlink()
