"""``pca`` and ``cov`` from a table on disk to a report."""

import csv
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from dpspectra import Ledger, PrivatePCA, Released

BUDGET = ("--epsilon", "2", "--delta", "1e-6")


def numbers(path: Path) -> np.ndarray:
    with path.open() as handle:
        return np.array([[float(cell) for cell in row[1:]] for row in list(csv.reader(handle))[1:]])


def test_pca_writes_a_report_and_says_what_it_promises(cli, survey) -> None:
    arguments = ("--schema", survey.schema, *BUDGET, "--components", "2", "--out", survey.out)
    done = cli("pca", survey.table, *arguments)
    assert done.code == 0
    files = done.stdout.split()
    assert {Path(name).name for name in files} >= {
        "report.html",
        "release.json",
        "components.csv",
        "explained_variance.csv",
        "covariance.csv",
    }
    assert all(Path(name).is_file() for name in files)
    assert {path.name for path in survey.out.iterdir()} == {Path(name).name for name in files}
    assert (
        "Everything shown here is (2, 1e-06)-differentially private for replacing any one row" in done.stderr
    )
    assert "of 4 components stand" in done.stderr
    assert str(survey.out / "report.html") in done.stderr
    assert numbers(survey.out / "components.csv").shape == (2, 4)
    released = Released.from_json((survey.out / "release.json").read_text())
    assert released.private
    assert released.label == "survey"
    assert not released.recorded


@pytest.mark.usefixtures("plain")
def test_cov_writes_no_components(cli, survey) -> None:
    done = cli("cov", survey.table, "--schema", survey.schema, "--rho", "0.5", "--out", survey.out)
    assert done.code == 0
    assert not (survey.out / "components.csv").exists()
    assert numbers(survey.out / "covariance.csv").shape == (4, 4)
    assert "0.5-zero-concentrated" in done.stderr


@pytest.mark.usefixtures("plain")
def test_a_run_without_a_ledger_says_so_in_one_line(cli, survey) -> None:
    done = cli("cov", survey.table, "--schema", survey.schema, "--mu", "1", "--out", survey.out)
    assert [line for line in done.stderr.splitlines() if line.startswith("note:")] == [
        line for line in done.stderr.splitlines() if "no ledger" in line
    ]
    assert done.stderr.count("no ledger") == 1


@pytest.mark.usefixtures("plain")
def test_a_run_spends_its_total_in_the_ledger_under_the_schemas_label(cli, survey) -> None:
    cli("ledger", "init", survey.ledger, "--epsilon", "3", "--delta", "1e-5")
    arguments = ("--schema", survey.schema, *BUDGET, "--ledger", survey.ledger)
    assert cli("cov", survey.table, *arguments, "--out", survey.out).code == 0
    spent = Ledger(survey.ledger).spent("survey")
    assert (spent.epsilon, spent.delta) == (2, Fraction("1e-6"))
    again = cli("cov", survey.table, *arguments, "--out", survey.folder / "again")
    assert again.code == 4
    assert "nothing was spent" not in again.stdout
    assert not (survey.folder / "again").exists()
    assert cli("cov", survey.table, *arguments, "--label", "other", "--out", survey.folder / "more").code == 0
    assert Ledger(survey.ledger).labels() == ("survey", "other")


@pytest.mark.usefixtures("plain")
def test_a_ledger_that_is_not_there_is_refused(cli, survey) -> None:
    done = cli(
        "cov",
        survey.table,
        "--schema",
        survey.schema,
        *BUDGET,
        "--ledger",
        survey.ledger,
        "--out",
        survey.out,
    )
    assert done.code == 4
    assert "ledger init" in done.stderr
    assert not survey.ledger.exists()
    assert not survey.out.exists()


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("form", ["parquet", "json"])
def test_other_formats_of_the_tables(cli, survey, form: str) -> None:
    done = cli("pca", survey.table, "--schema", survey.schema, *BUDGET, "--out", survey.out, "--format", form)
    assert done.code == 0
    assert (survey.out / f"components.{form}").is_file()
    if form == "json":
        summary = json.loads(done.stdout)
        assert summary["private"] is True
        assert summary["n_resolved"] >= 1
        assert str(survey.out.resolve() / "report.html") in summary["files"]


@pytest.mark.usefixtures("plain")
def test_options_reach_the_estimator(cli, survey) -> None:
    done = cli(
        *("pca", survey.table, "--schema", survey.schema, *BUDGET, "--out", survey.out),
        *("--columns", "income,age", "--center", "50,50", "--scaling", "bounds", "--row-norm", "1.25"),
        *("--ddof", "0", "--no-denoise", "--method", "gaussian_moments", "--label", "mine"),
    )
    assert done.code == 0, done.stderr
    released = Released.from_json((survey.out / "release.json").read_text())
    assert released.facts.features == ("income", "age")
    assert released.facts.grid.radius == pytest.approx(1.25)
    assert released.label == "mine"
    used = released.parameters
    assert (used["scaling"], used["ddof"], used["denoise"]) == ("bounds", 0, False)
    assert released.facts.grid.centre == (50.0, 50.0)


@pytest.mark.usefixtures("plain")
def test_add_remove_tells_no_exact_number_of_rows(cli, survey) -> None:
    schema = survey.schema.read_text().replace("rows = 400", "rows_max = 100000")
    survey.schema.write_text(schema)
    done = cli(
        "pca",
        survey.table,
        "--schema",
        survey.schema,
        *BUDGET,
        "--out",
        survey.out,
        "--adjacency",
        "add-remove",
    )
    assert done.code == 0, done.stderr
    assert Released.from_json((survey.out / "release.json").read_text()).facts.rows is None
    assert "400" not in done.text.replace(str(survey.folder), "")
    assert "adding or removing any one row" in done.stderr


@pytest.mark.usefixtures("plain")
def test_an_example_needs_neither_table_nor_schema(cli, survey) -> None:
    done = cli(
        *("pca", "--example", "digits", "--columns", "pixel_2_2,pixel_2_3,pixel_3_3"),
        *("--epsilon", "4", "--delta", "1e-6", "--out", survey.out),
    )
    assert done.code == 0, done.stderr
    assert Released.from_json((survey.out / "release.json").read_text()).facts.rows == 1797
    assert cli("pca", survey.table, "--example", "digits", *BUDGET, "--out", survey.out).code == 2
    assert cli("pca", "--example", "figures", *BUDGET, "--out", survey.out).code == 2


@pytest.mark.usefixtures("plain")
def test_parquet_in_one_file_and_in_a_folder_gives_the_same_columns(cli, survey) -> None:
    with survey.table.open() as handle:
        header, *cells = list(csv.reader(handle))
    columns = list(zip(*cells, strict=True))
    kinds = (float, float, str)
    table = pa.table(
        {
            name: [kind(cell) for cell in column]
            for name, kind, column in zip(header, kinds, columns, strict=True)
        }
    )
    folder = survey.folder / "parts.input"
    folder.mkdir()
    for part, start in enumerate((0, 100, 300)):
        parquet.write_table(table.slice(start, (100, 200, 100)[part]), folder / f"{part}.parquet")
    parquet.write_table(table, survey.folder / "survey.parquet")
    for source, out in ((folder, "a"), (survey.folder / "survey.parquet", "b")):
        done = cli("cov", source, "--schema", survey.schema, *BUDGET, "--out", survey.folder / out)
        assert done.code == 0, done.stderr
    assert Released.from_json((survey.folder / "a" / "release.json").read_text()).facts.rows == 400


@pytest.mark.parametrize("command", ["pca", "cov"])
def test_report_from_the_release_equals_the_report_of_the_run(cli, survey, request, command: str) -> None:
    if command == "cov":
        request.getfixturevalue("plain")
    extra = ("--components", "2") if command == "pca" else ()
    done = cli(command, survey.table, "--schema", survey.schema, *BUDGET, *extra, "--out", survey.out)
    assert done.code == 0, done.stderr
    survey.table.unlink()
    again = survey.folder / "again"
    done = cli("report", survey.out / "release.json", "--out", again)
    assert done.code == 0, done.stderr
    assert {path.name for path in again.iterdir()} == {path.name for path in survey.out.iterdir()}
    for path in survey.out.iterdir():
        assert path.read_bytes() == (again / path.name).read_bytes(), path.name


@pytest.mark.usefixtures("plain")
def test_report_refuses_what_is_no_release(cli, survey) -> None:
    text = survey.folder / "notes.json"
    text.write_text('{"format": "other"}')
    assert cli("report", text, "--out", survey.out).code == 3
    text.write_text("[1, 2")
    assert cli("report", text, "--out", survey.out).code == 3
    assert cli("report", survey.folder / "gone.json", "--out", survey.out).code == 3
    assert not survey.out.exists()


@pytest.mark.usefixtures("plain")
def test_test_noise_is_never_shown_as_private(cli, survey) -> None:
    from dpspectra.testing import exact_noise

    with exact_noise():
        done = cli("cov", survey.table, "--schema", survey.schema, *BUDGET, "--out", survey.out)
    assert done.code == 0
    assert "NOT PRIVATE" in done.stderr
    survey.table.rename(survey.folder / "t.input")


@pytest.mark.usefixtures("plain")
def test_the_release_reads_back_as_an_estimator(cli, survey) -> None:
    cli("pca", survey.table, "--schema", survey.schema, *BUDGET, "--out", survey.out)
    model = PrivatePCA.from_release(survey.out / "release.json")
    assert np.array_equal(numbers(survey.out / "components.csv"), model.components_)
