"""What breaks off after the spend: interrupts, kills, private tests, a full disk."""

import errno
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from dpspectra import Ledger
from dpspectra.core.errors import StabilityTestFailed
from dpspectra.mechanisms.gaussian_moments import GaussianMoments

BUDGET = ("--epsilon", "2", "--delta", "1e-6")


@pytest.fixture
def known(cli, survey) -> list[str]:
    """Arguments of a run with a ledger that allows one."""
    cli("ledger", "init", survey.ledger, "--epsilon", "2", "--delta", "1e-6")
    paths = (survey.table, "--schema", survey.schema, "--ledger", survey.ledger, "--out", survey.out)
    return ["cov", *map(str, paths), *BUDGET]


def fails(error: BaseException) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


def test_an_interrupt_after_the_spend_says_that_it_stays(cli, survey, known, monkeypatch) -> None:
    monkeypatch.setattr(GaussianMoments, "sample", fails(KeyboardInterrupt()))
    done = cli(*known)
    assert done.code == 130
    assert "has recorded the spend of table 'survey', and it stays" in done.stderr
    assert len(Ledger(survey.ledger).entries()) == 1
    assert not survey.out.exists()


def test_an_interrupt_before_the_spend_says_that_nothing_was_spent(cli, survey, known, monkeypatch) -> None:
    monkeypatch.setattr("dpspectra.pipeline.open_table", fails(KeyboardInterrupt()))
    done = cli(*known)
    assert done.code == 130
    assert "nothing was spent" in done.stderr
    assert Ledger(survey.ledger).entries() == ()


def test_an_interrupt_without_a_ledger_says_that_nobody_knows(cli, survey, monkeypatch) -> None:
    monkeypatch.setattr(GaussianMoments, "sample", fails(KeyboardInterrupt()))
    done = cli("cov", survey.table, "--schema", survey.schema, *BUDGET, "--out", survey.out)
    assert done.code == 130
    assert "no ledger was given" in done.stderr


def test_a_private_test_that_declines_has_its_code_and_its_cost(cli, survey, known, monkeypatch) -> None:
    monkeypatch.setattr(GaussianMoments, "sample", fails(StabilityTestFailed("declined")))
    done = cli(*known)
    assert done.code == 6
    assert "has recorded the spend" in done.stderr


def test_an_unexpected_error_with_a_cell_in_it_shows_none(cli, survey, known, monkeypatch) -> None:
    error = ValueError("could not convert 7351.0625")
    error.add_note("7351.0625")
    monkeypatch.setattr(GaussianMoments, "sample", fails(error))
    done = cli(*known)
    assert done.code == 70
    assert "has recorded the spend" in done.stderr


@pytest.mark.usefixtures("plain")
def test_a_paid_release_is_kept_when_the_disk_is_full(cli, survey, known, monkeypatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(survey.folder))
    write = import_module("dpspectra.report.write")
    with monkeypatch.context() as broken:
        broken.setattr(write, "_stage", fails(OSError(errno.ENOSPC, "full", str(survey.out))))
        done = cli(*known)
    assert done.code == 70
    assert os.strerror(errno.ENOSPC) in done.stderr
    (kept,) = survey.folder.glob("dpspectra-*/release.json")
    assert str(kept) in done.stderr
    assert cli("report", kept, "--out", survey.out).code == 0


def in_process(act: str, known: list[str]) -> subprocess.CompletedProcess[str]:
    """The real program, with ``act`` run in place of the drawing of noise."""
    code = (
        "import os, signal, sys, time\n"
        "from dpspectra.cli import main\n"
        "from dpspectra.mechanisms.gaussian_moments import GaussianMoments\n"
        f"GaussianMoments.sample = lambda *_: ({act})\n"
        f"sys.argv = {['dpspectra', *known]!r}\n"
        "main()"
    )
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.slow
def test_c22_a_run_killed_between_commit_and_release_keeps_its_spend(cli, survey, known) -> None:
    done = in_process("os.kill(os.getpid(), signal.SIGKILL)", known)
    assert done.returncode == -signal.SIGKILL
    assert len(Ledger(survey.ledger).entries()) == 1
    assert cli(*known).code == 4
    assert not survey.out.exists()


@pytest.mark.slow
def test_ctrl_c_ends_with_130(survey, known) -> None:
    done = in_process("(os.kill(os.getpid(), signal.SIGINT), time.sleep(60))", known)
    assert done.returncode == 130
    assert "interrupted" in done.stderr
    assert "it stays" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_the_real_program_on_a_terminal_shows_a_bar_and_no_cell(survey) -> None:
    """Under a terminal of its own, so that the bar is drawn; stdout is piped and stays clean."""
    import pty

    main, side = pty.openpty()
    command = ["cov", str(survey.table), "--schema", str(survey.schema), *BUDGET, "--out", str(survey.out)]
    with tempfile.TemporaryFile() as stdout:
        done = subprocess.Popen(
            [sys.executable, "-m", "dpspectra", *command],
            stdout=stdout,
            stderr=side,
            env=os.environ | {"TERM": "xterm"},
        )
        os.close(side)
        shown = b""
        while True:
            try:
                piece = os.read(main, 4096)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            shown += piece
        os.close(main)
        assert done.wait(timeout=60) == 0
        stdout.seek(0)
        names = stdout.read().decode().splitlines()
    assert all(Path(name).is_file() for name in names)
    assert b"reading rows" in shown
    assert not any(canary in shown for canary in (b"7351", b"9153", b"Quetz", b"0.1234"))
