"""Help, version, exit codes, and what is shown of errors and warnings."""

import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from dpspectra.cli.frame import options
from dpspectra.cli.guard import Code, guarded
from dpspectra.core import errors

COMMANDS = [
    ["pca"],
    ["cov"],
    ["plan"],
    ["report"],
    ["schema", "init"],
    ["ledger", "init"],
    ["ledger", "show"],
    ["ledger", "verify"],
    ["datasets", "list"],
    ["datasets", "export"],
    ["mechanisms"],
]


def guarded_run(function: Callable[[], None], *arguments: str, **environment: str):
    """A one-command program that is guarded like ours, below the same top-level options."""
    program = typer.Typer()
    program.callback()(options)
    program.command("go")(guarded(function))
    return CliRunner().invoke(program, [*arguments, "go"], env=environment)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_explains_itself(cli, command: list[str]) -> None:
    done = cli(*command, "--help")
    assert done.code == 0
    assert "Usage" in done.stdout


def test_help_and_version_load_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from dpspectra.cli import app\n"
        "app(['pca', '--help'], standalone_mode=False)\n"
        "print('heavy:', sorted({'numpy', 'sklearn', 'pyarrow', 'opendp', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "heavy: []" in done.stdout


def test_version_of_the_module_and_the_script() -> None:
    module = subprocess.run(
        [sys.executable, "-m", "dpspectra", "--version"], capture_output=True, text=True, check=True
    )
    assert re.fullmatch(r"dpspectra \d+\.\d+\.\d+\n", module.stdout)


def test_unknown_options_and_commands_are_usage(cli) -> None:
    assert cli("pca", "--no-such-option").code == Code.USAGE
    assert cli("no-such-command").code == Code.USAGE
    assert cli("pca", "--rows", "many").code == Code.USAGE


def test_the_page_explains_every_exit_code() -> None:
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)] == list(Code)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.ParameterError, 2),
        (errors.SchemaError, 3),
        (errors.BudgetExceeded, 4),
        (errors.LedgerError, 4),
        (errors.InfeasiblePlan, 5),
        (errors.StabilityTestFailed, 6),
    ],
)
def test_our_errors_have_their_code_and_their_text(error: type[Exception], code: int) -> None:
    def fails() -> None:
        raise error("the text of [red]the error[/red]")

    result = guarded_run(fails)
    assert result.exit_code == code
    assert result.stderr == "error: the text of [red]the error[/red]\n"
    assert result.stdout == ""


def test_an_unexpected_error_shows_its_type_alone() -> None:
    def fails() -> None:
        raise ValueError("cell 4711")

    result = guarded_run(fails)
    assert result.exit_code == Code.INTERNAL
    assert "ValueError" in result.stderr
    assert "4711" not in result.output
    assert "--traceback" in result.stderr


def test_a_traceback_is_shown_when_asked_for_and_comes_with_a_warning() -> None:
    def fails() -> None:
        raise ValueError("cell 4711")

    for result in (guarded_run(fails, "--traceback"), guarded_run(fails, DPSPECTRA_TRACEBACK="1")):
        assert result.exit_code == Code.INTERNAL
        assert "cell 4711" in result.stderr
        assert "may hold cells" in result.stderr


def test_an_error_of_the_system_names_the_file_and_no_more(tmp_path: Path) -> None:
    def fails() -> None:
        raise FileNotFoundError(2, "cell 4711", str(tmp_path / "gone"))

    result = guarded_run(fails)
    assert result.exit_code == Code.INPUT
    assert result.stderr == f"error: No such file or directory: {tmp_path / 'gone'}\n"


def test_an_interrupt_has_its_code() -> None:
    def fails() -> None:
        raise KeyboardInterrupt

    result = guarded_run(fails)
    assert result.exit_code == Code.INTERRUPTED
    assert "interrupted" in result.stderr


def test_our_warnings_are_notes_once_and_others_are_dropped() -> None:
    def warns() -> None:
        for _ in range(2):
            warnings.warn("use fewer\n  columns", errors.PlanWarning, stacklevel=1)
        warnings.warn("cell 4711 overflowed", RuntimeWarning, stacklevel=1)

    result = guarded_run(warns)
    assert result.exit_code == 0
    assert result.stderr == "note: use fewer columns\n"
    assert result.stdout == ""
