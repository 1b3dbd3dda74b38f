"""Talk goes to stderr, results to stdout, so that a result can be piped."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.text import Text


def say(text: str, style: str = "") -> None:
    """A line of talk, to stderr; never markup, so a column called [red] stays a name."""
    Console(stderr=True).print(Text(text, style=style), soft_wrap=True)


def note(text: str) -> None:
    """Something worth knowing that is no error."""
    say("note: " + " ".join(text.split()), "yellow")


def fail(text: str) -> None:
    """Why the command ends."""
    say(f"error: {text}", "bold red")


def result(text: str) -> None:
    """A line of the result, to stdout."""
    print(text)


def result_json(data: Any) -> None:
    """The result as strict JSON, to stdout."""
    print(json.dumps(data, indent=2, allow_nan=False))


@contextmanager
def progress(text: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """A bar over ``total`` rows in all passes; without a public total it only moves. Only on a terminal.

    Yields a function that is told how many rows of the present pass were visited.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task, passed, last = bar.add_task(text, total=total), 0, 0

        def visited(rows: int) -> None:
            nonlocal passed, last
            if rows < last:  # the next pass begins
                passed += last
            last = rows
            bar.update(task, completed=passed + rows)

        yield visited
