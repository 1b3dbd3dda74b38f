"""What all tests share: a clean noise context, and the sum of all stated false-alarm rates."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

from dpspectra.noise.base import SOURCE
from dpspectra.testing.statistics import ALARMS, LIMIT

# CI repeats the same cases, so that it fails for a change and not by chance; at home they are fresh.
settings.register_profile("ci", deadline=None, derandomize=True)
settings.register_profile("home", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "home")


@pytest.fixture(autouse=True)
def no_test_noise_left() -> Iterator[None]:
    """Each test starts from the real noise source and cannot leave another one behind."""
    token = SOURCE.set(None)
    yield
    SOURCE.reset(token)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:  # a worker of a parallel run: its parent adds up
        output["alarms"] = dict(ALARMS.rates)
    elif ALARMS.total >= LIMIT:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    for check, rate in getattr(node, "workeroutput", {}).get("alarms", {}).items():
        ALARMS.add(check, rate)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.write_line(
        f"sum of stated false-alarm rates: {ALARMS.total:.2g} "
        f"({'below' if ALARMS.total < LIMIT else 'NOT BELOW'} {LIMIT:g})"
    )
