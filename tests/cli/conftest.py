"""The command line under test, and a small table with planted cells that nobody may ever see again."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from dpspectra.cli import app

CANARIES = ("7351.0625", "-9153.4375", "Quetzalcoatlus", "0.123456789")
ROWS = 400
SCHEMA = f"""
[table]
label = "survey"
rows = {ROWS}

[columns.age]
kind = "number"
bounds = [0, 100]

[columns.income]
kind = "number"
bounds = [0, 100]

[columns.sector]
kind = "category"
categories = ["private", "public"]
"""


@dataclass(frozen=True)
class Done:
    """A finished command."""

    code: int
    stdout: str
    stderr: str

    @property
    def text(self) -> str:
        return self.stdout + self.stderr


@dataclass(frozen=True)
class Survey:
    """A folder with a table and its schema."""

    folder: Path
    table: Path
    schema: Path

    @property
    def out(self) -> Path:
        return self.folder / "report"

    @property
    def ledger(self) -> Path:
        return self.folder / "budget.db"


@pytest.fixture
def cli() -> Callable[..., Done]:
    def run(*arguments: Any) -> Done:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        for canary in CANARIES:
            assert canary not in result.output
        return Done(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture(autouse=True)
def unrecorded_warning_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    """The note on runs without a ledger comes once a process: each test is a new process."""
    monkeypatch.setattr("dpspectra.pipeline._warned", set())


def rows() -> list[list[str]]:
    """Two correlated columns and a category; four planted cells: two far out, one unlisted, one precise."""
    generator = np.random.default_rng(7)
    age = generator.uniform(20, 80, ROWS)
    income = np.clip(age + generator.normal(0, 5, ROWS), 0, 100)
    cells = [
        [f"{a:.2f}", f"{i:.2f}", "private" if k % 3 else "public"]
        for k, (a, i) in enumerate(zip(age, income, strict=True))
    ]
    cells[5][0], cells[11][1], cells[17][2], cells[23][0] = CANARIES
    return cells


def write_csv(path: Path, header: list[str], cells: list[list[str]], delimiter: str = ",") -> Path:
    with path.open("w", newline="") as handle:
        writer = csv.writer(handle, delimiter=delimiter)
        writer.writerow(header)
        writer.writerows(cells)
    return path


@pytest.fixture
def survey(tmp_path: Path) -> Iterator[Survey]:
    """A survey of 400 rows; afterwards no file of the report may hold a planted cell."""
    table = write_csv(tmp_path / "survey.csv", ["age", "income", "sector"], rows())
    schema = tmp_path / "survey.toml"
    schema.write_text(SCHEMA)
    made = Survey(tmp_path, table, schema)
    yield made
    written = [path for path in made.folder.rglob("*") if path.is_file() and path != table]
    for path in written:
        content = path.read_bytes()
        if path.suffix not in (".png", ".parquet", ".input"):
            assert not any(canary.encode() in content for canary in CANARIES), path


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports without pictures, which take most of the time and have tests of their own."""
    monkeypatch.setattr(import_module("dpspectra.report.write"), "pictures", lambda _: [])
