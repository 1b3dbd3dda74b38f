"""``ledger init|show|verify``."""

import json
import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest

from dpspectra import Adjacency, Ledger
from dpspectra.core.privacy import Cost


def spend(path: Path, label: str = "survey") -> None:
    Ledger(path).spend(
        label,
        Cost.gaussian(Fraction(1, 100)).claiming(Fraction(1), Fraction("1e-6")),
        mechanism="gaussian_moments",
        version="0",
        adjacency=Adjacency.REPLACE_ONE,
        parameters={"private": True},
    )


def test_init_makes_a_ledger_with_its_cap(cli, tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    done = cli("ledger", "init", path, "--epsilon", "2", "--delta", "2e-6")
    assert done.code == 0
    assert done.stdout == f"{path}\n"
    assert Ledger(path).cap.epsilon == 2
    assert Ledger(path).cap.delta == Fraction("2e-6")


@pytest.mark.parametrize("cap", ["", "--mu 1/0", "--epsilon 1", "--epsilon -1 --delta 0", "--rho 1 --mu 1"])
def test_init_refuses_what_is_no_cap(cli, tmp_path: Path, cap: str) -> None:
    assert cli("ledger", "init", tmp_path / "budget.db", *cap.split()).code == 2
    assert list(tmp_path.iterdir()) == []


def test_init_never_replaces_a_file(cli, tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    assert cli("ledger", "init", path, "--uncapped").code == 0
    spend(path)
    assert cli("ledger", "init", path, "--epsilon", "9", "--delta", "1e-3").code == 4
    assert len(Ledger(path).entries()) == 1


def test_show_tells_spent_and_remaining(cli, tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    cli("ledger", "init", path, "--epsilon", "3", "--delta", "3e-6")
    spend(path)
    spend(path)
    spend(path, "other")
    done = cli("ledger", "show", path)
    assert done.code == 0
    assert "spent      epsilon 2, delta 2e-06" in done.stdout
    assert "remaining  epsilon 1, delta 1e-06" in done.stdout
    assert "other" in done.stdout
    assert "other" not in cli("ledger", "show", path, "--label", "survey").stdout
    told = json.loads(cli("ledger", "show", path, "--format", "json").stdout)
    assert told["tables"]["survey"]["spent"]["epsilon"] == "2"
    assert [entry["number"] for entry in told["tables"]["survey"]["releases"]] == [1, 2]


def test_verify_accepts_a_whole_file_and_refuses_an_edited_one(cli, tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    cli("ledger", "init", path, "--epsilon", "3", "--delta", "3e-6")
    spend(path)
    assert cli("ledger", "verify", path).code == 0
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TRIGGER no_update")
        connection.execute("UPDATE entries SET record = replace(record, 'survey', 'nobody')")
    connection.close()
    done = cli("ledger", "verify", path)
    assert done.code == 4
    assert done.stdout == ""


@pytest.mark.parametrize("command", ["show", "verify"])
def test_a_misspelt_name_makes_no_ledger(cli, tmp_path: Path, command: str) -> None:
    assert cli("ledger", command, tmp_path / "bugdet.db").code == 4
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_ledger_is_refused(cli, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("0.123456789 of my own notes, long enough to be read as a page of a database" * 100)
    done = cli("ledger", "show", path)
    assert done.code == 4
