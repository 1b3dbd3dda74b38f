"""Tables as people have them: CSV dialects, missing marks, wrong delimiters, degenerate shapes."""

import json
from pathlib import Path

import numpy as np
import pytest

from dpspectra import Released, Schema
from dpspectra.testing import exact_noise

pytestmark = pytest.mark.usefixtures("plain")
BUDGET = ("--epsilon", "2", "--delta", "1e-6")
SCHEMA = """
[table]
rows = {rows}
[columns.a]
bounds = [0, 2000]
[columns.b]
bounds = [0, 10]
"""


def mean(
    cli, folder: Path, text: bytes | str, *options: str, rows: int = 4, schema: str = SCHEMA
) -> list[float]:
    """The exact mean of a table, through the whole program without noise."""
    (folder / "t.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    (folder / "t.toml").write_text(schema.format(rows=rows))
    with exact_noise():
        done = cli(
            *("cov", folder / "t.csv", "--schema", folder / "t.toml", *BUDGET, "--out", folder / "out"),
            *("--overwrite", *options, "--format", "json"),
        )
    assert done.code == 0, done.stderr
    from dpspectra import PrivateCovariance

    return np.round(PrivateCovariance.from_release(folder / "out" / "release.json").location_, 3).tolist()


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("a,b\n1000,1\n1000,2\n1000,3\n1000,4\n", ""),
        ("b,c,a\n1,x,1000\n2,y,1000\n3,z,1000\n4,,1000", ""),
        ("a,b\r\n1000,1\r\n1000,2\r\n1000,3\r\n1000,4\r\n", ""),
        ("\ufeffa,b\n1000,1\n1000,2\n1000,3\n1000,4\n", ""),
        ("a;b\n1000,0;1,0\n1000,0;2,0\n1000,0;3,0\n1000,0;4,0\n", "--delimiter ; --decimal ,"),
        ('a,b\n"1,000",1\n"1,000",2\n"1,000",3\n"1,000",4\n', "--thousands ,"),
        ("a\tb\n1000\t1\n1000\t2\n1000\t3\n1000\t4\n", "--delimiter tab"),
        ("a,b\n1000,1\n1000,2\n1000,3\n1000,4\n".encode("utf-16"), "--encoding utf-16"),
        ("a,b\n,5\nNA,0\n-,1\n?,4\n", ""),  # a missing cell is the centre of its bounds
        ("a,b\n9999,5\n#,0\nword,1\n9999,4\n", "--na-value 9999 --na-value #"),
    ],
)
def test_c34_dialects(cli, tmp_path: Path, text: str, options: str) -> None:
    expected = [1000.0, 2.5]
    assert mean(cli, tmp_path, text, *options.split()) == expected


def test_options_replace_the_schemas_reading(cli, tmp_path: Path) -> None:
    schema = SCHEMA + '[reading]\ndelimiter = ";"\ndecimal = ","\n'
    text = "a|b\n1000,0|1,0\n1000,0|2,0\n1000,0|3,0\n1000,0|4,0\n"
    assert mean(cli, tmp_path, text, "--delimiter", "|", schema=schema) == [1000.0, 2.5]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a;b\n7351.0625;1\n", "delimiter"),
        ("7351.0625,1\n1000,2\n", "first line"),
        ("a,c\n7351.0625,1\n", "'b'"),
        ("a,b,a\n7351.0625,1,2\n", "'a'"),
        ("", "'a', 'b'"),
    ],
)
def test_c34_schema_errors_before_any_spend(cli, tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    (tmp_path / "t.toml").write_text(SCHEMA.format(rows=1))
    cli("ledger", "init", tmp_path / "b.db", "--uncapped")
    known = (
        "--schema",
        tmp_path / "t.toml",
        *BUDGET,
        "--ledger",
        tmp_path / "b.db",
        "--out",
        tmp_path / "out",
    )
    done = cli("cov", tmp_path / "t.csv", *known)
    assert done.code == 3
    assert says in done.stderr
    assert "nothing was spent" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("rows", "schema"),
    [
        (["0,0"] * 10, SCHEMA),
        (["7,3"] * 10, SCHEMA),
        (["1,1"], SCHEMA),
        (["5,5"] * 3, SCHEMA.partition("[columns.b]")[0]),
    ],
    ids=["zero", "constant", "one row", "one column"],
)
def test_c15_degenerate_tables_succeed(cli, tmp_path: Path, rows: list[str], schema: str) -> None:
    (tmp_path / "t.csv").write_text("a,b\n" + "\n".join(rows))
    (tmp_path / "t.toml").write_text(schema.format(rows=len(rows)))
    done = cli("pca", tmp_path / "t.csv", "--schema", tmp_path / "t.toml", *BUDGET, "--out", tmp_path / "out")
    assert done.code == 0, done.stderr
    assert "of the noise" in done.stderr


def test_c16_a_column_that_drowns_the_others_is_named_with_the_way_out(cli, tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text(SCHEMA.format(rows=4))
    (tmp_path / "t.csv").write_text("a,b\n1,1\n1,2\n1,3\n1,4\n")
    known = ("cov", tmp_path / "t.csv", "--schema", tmp_path / "t.toml", *BUDGET, "--out", tmp_path / "out")
    done = cli(*known)
    assert "column 'a' carries over 90% of B^2" in done.stderr
    assert "scaling" in done.stderr
    assert "carries over" not in cli(*known, "--overwrite", "--scaling", "bounds").stderr
    assert "carries over" in cli("plan", "--schema", tmp_path / "t.toml", *BUDGET).stdout


def test_c10_release_and_messages_of_neighbours_have_one_shape(cli, survey) -> None:
    """Replacing every planted cell changes noise and nothing else that is shown."""
    known = ("cov", survey.table, "--schema", survey.schema, *BUDGET, "--out", survey.out, "--overwrite")
    first = cli(*known, "--format", "json")
    text = survey.table.read_text()
    for canary in ("7351.0625", "-9153.4375", "Quetzalcoatlus", "0.123456789"):
        text = text.replace(canary, "")
    survey.table.write_text(text)
    second = cli(*known, "--format", "json")
    assert first.code == second.code == 0
    assert shape(json.loads(first.stdout)) == shape(json.loads(second.stdout))
    assert Released.from_json((survey.out / "release.json").read_text()).private


def shape(value: object) -> object:
    """Structure of JSON: keys and lengths, no leaf but its presence. An interval is a leaf: whether there is
    one follows from the noisy numbers."""
    if isinstance(value, dict):
        return {
            key: None if key.endswith("interval") else shape(entry)
            for key, entry in value.items()
            if key not in ("meaning", "headline")
        }
    return [shape(entry) for entry in value] if isinstance(value, list) else None


def test_schema_init_leaves_every_bound_blank(cli, survey) -> None:
    done = cli("schema", "init", survey.table, "--out", survey.folder / "new.toml")
    assert done.code == 0
    text = (survey.folder / "new.toml").read_text()
    assert text.count("bounds = []") == 3
    assert "age" in text
    assert done.stdout == f"{survey.folder / 'new.toml'}\n"
    assert cli("plan", "--schema", survey.folder / "new.toml", *BUDGET, "--rows", "9").code == 3
    assert cli("schema", "init", survey.table).stdout.strip() == text.strip()


def test_schema_init_keeps_what_is_there(cli, survey) -> None:
    before = survey.schema.read_text()
    assert cli("schema", "init", survey.table, "--out", survey.schema).code == 2
    assert survey.schema.read_text() == before
    assert cli("schema", "init", survey.table, "--out", survey.schema, "--overwrite").code == 0


def test_schema_init_writes_the_reading_it_was_told(cli, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a;b\n1,5;2,5\n")
    done = cli("schema", "init", tmp_path / "t.csv", "--delimiter", ";", "--decimal", ",")
    filled = done.stdout.replace("bounds = []", "bounds = [0, 1]")
    schema = Schema.from_toml(filled)
    assert schema.names == ("a", "b")
    assert (schema.reading.delimiter, schema.reading.decimal) == (";", ",")


def test_schema_init_hints_at_a_wrong_delimiter(cli, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a;b\n1;2\n")
    done = cli("schema", "init", tmp_path / "t.csv")
    assert done.code == 0
    assert "--delimiter" in done.stderr


@pytest.mark.parametrize("text", ["39,7351.0625,Quetzalcoatlus\n40,2,x\n", "a,a\n1,2\n", "a,\n1,2\n"])
def test_schema_init_never_takes_a_row_for_names(cli, tmp_path: Path, text: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    done = cli("schema", "init", tmp_path / "t.csv", "--out", tmp_path / "t.toml")
    assert done.code == 3
    assert not (tmp_path / "t.toml").exists()


def test_schema_init_takes_years_for_names_when_told(cli, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("city,2019,2020\nx,1,2\n")
    assert cli("schema", "init", tmp_path / "t.csv").code == 3
    assert '[columns."2019"]' in cli("schema", "init", tmp_path / "t.csv", "--header").stdout


def test_examples_are_listed_and_exported_to_files_that_run(cli, tmp_path: Path) -> None:
    assert "digits" in cli("datasets", "list").stdout
    done = cli("datasets", "export", "digits", "--out", tmp_path)
    assert done.code == 0
    assert {Path(name).suffix for name in done.stdout.split()} == {".csv", ".parquet", ".toml"}
    assert cli("datasets", "export", "digits", "--out", tmp_path).code == 2
    assert cli("datasets", "export", "nothing", "--out", tmp_path).code == 2
    assert cli("plan", tmp_path / "digits.csv", "--schema", tmp_path / "digits.toml", *BUDGET).code == 0


def test_mechanisms_are_listed_with_their_theorems(cli) -> None:
    done = cli("mechanisms")
    assert done.code == 0
    assert "gaussian_moments" in done.stdout
    assert "add-remove, replace-one" in done.stdout


def test_a_plan_tells_what_a_goal_needs(cli, survey) -> None:
    budget = (*BUDGET, "--method", "gaussian_moments")
    done = cli("plan", "--schema", survey.schema, *budget, "--share", "0.2", "--format", "json")
    plan = json.loads(done.stdout)
    assert plan["rows"] == 400
    assert plan["goal"]["rows"] > 1
    more = cli(
        "plan", "--schema", survey.schema, *budget, "--rows", str(plan["goal"]["rows"]), "--format", "json"
    )
    assert json.loads(more.stdout)["aligned_share"] <= 0.2
    assert (
        "rows for squared cosine 0.9"
        in cli("plan", "--schema", survey.schema, "--rho", "1", "--share", "0.2").stdout
    )
    assert cli("plan", "--schema", survey.schema, *BUDGET, "--share", "2").code == 2
    assert cli("plan", "--schema", survey.schema, *BUDGET, "--format", "xml").code == 2
