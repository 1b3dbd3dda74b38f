"""What stands around every command: errors become exit codes, warnings become notes, no cell is printed."""

from __future__ import annotations

import os
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import IntEnum
from functools import wraps
from typing import ParamSpec

import typer

from ..core.errors import (
    BudgetExceeded,
    DpspectraError,
    InfeasiblePlan,
    LedgerError,
    ParameterError,
    PlanWarning,
    SchemaError,
    StabilityTestFailed,
    UnrecordedRelease,
)
from .talk import fail, note

P = ParamSpec("P")
TRACEBACK_VARIABLE = "DPSPECTRA_TRACEBACK"
show_traceback: ContextVar[bool] = ContextVar("show_traceback", default=False)


class Code(IntEnum):
    """Exit codes, as docs/cli.md explains them."""

    DONE = 0
    USAGE = 2
    INPUT = 3
    BUDGET = 4
    INFEASIBLE = 5
    TEST_FAILED = 6
    INTERNAL = 70
    INTERRUPTED = 130


class Unwritten(DpspectraError):
    """The budget is spent, the release is made, and its files cannot be written."""


class PublicNote(str):
    """What a command adds to an error in flight with ``add_note``; notes of others could hold a cell."""


_CODES: dict[type[DpspectraError], Code] = {
    ParameterError: Code.USAGE,
    SchemaError: Code.INPUT,
    BudgetExceeded: Code.BUDGET,
    LedgerError: Code.BUDGET,
    InfeasiblePlan: Code.INFEASIBLE,
    StabilityTestFailed: Code.TEST_FAILED,
}


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """Run a command so that it ends with an exit code of ``Code`` and a text without cells."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            with _notes():
                command(*args, **kwargs)
        except typer.Exit:
            raise
        except DpspectraError as error:
            fail(str(error))
            _tell_notes(error)
            raise typer.Exit(_code(error)) from None
        except BrokenPipeError:
            raise  # the reader of stdout went away; typer ends quietly
        except KeyboardInterrupt as error:
            fail("interrupted")
            _tell_notes(error)
            raise typer.Exit(Code.INTERRUPTED) from None
        except Exception as error:
            code = _unexpected(error)
            _tell_notes(error)
            raise typer.Exit(code) from None

    return run


def _tell_notes(error: BaseException) -> None:
    for text in getattr(error, "__notes__", ()):
        if isinstance(text, PublicNote):
            note(text)


def _code(error: DpspectraError) -> Code:
    return next((code for kind, code in _CODES.items() if isinstance(error, kind)), Code.INTERNAL)


def _unexpected(error: Exception) -> Code:
    """Tell the type of an error that nobody raised on purpose; its text could quote a cell."""
    if isinstance(error, OSError) and error.errno is not None:
        fail(system_text(error))
        return Code.INPUT
    fail(
        f"internal error: {type(error).__name__}. Its text is hidden, since it could hold a cell; "
        f"run again with `dpspectra --traceback ...` or {TRACEBACK_VARIABLE}=1 to see it, and keep it private"
    )
    if show_traceback.get():
        note("the traceback below may hold cells of the table: do not publish it")
        traceback.print_exception(error)
    return Code.INTERNAL


def system_text(error: OSError) -> str:
    """What the operating system says, with the name of the file; nothing of its content."""
    where = f": {error.filename}" if isinstance(error.filename, str) else ""
    return f"{os.strerror(error.errno or 0)}{where}"


@contextmanager
def after_release(advice: Callable[[], str]) -> Iterator[None]:
    """Around what follows a release: an error must not look like a refusal, whose codes say "not spent"."""
    try:
        yield
    except BaseException as error:
        told = error
        if isinstance(error, OSError) and error.errno is not None:
            told = Unwritten(system_text(error))
        elif isinstance(error, DpspectraError):
            told = Unwritten(str(error))
        told.add_note(PublicNote(advice()))
        raise told from None


@contextmanager
def _notes() -> Iterator[None]:
    """Our own warnings as one-line notes, each once; others are dropped, since their text is not ours."""
    seen: set[str] = set()

    def show(message: Warning | str, *_: object) -> None:
        text = str(message)
        if text not in seen:
            seen.add(text)
            note(text)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind in (PlanWarning, UnrecordedRelease):
            warnings.simplefilter("always", kind)
        warnings.showwarning = show  # type: ignore[assignment]
        yield
