"""Races and crashes of real processes: cases C21 and C22."""

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from dpspectra.accounting.ledger import Ledger

ROUNDS = 100
KILLS = 20

SPEND = """
import sys
from fractions import Fraction
from dpspectra.accounting import chain
from dpspectra.accounting.ledger import Ledger
from dpspectra.core.errors import BudgetExceeded
from dpspectra.core.privacy import Adjacency, Cost

ledger = Ledger(sys.argv[1])

def spend(label):
    ledger.spend(label, Cost.pure(Fraction("0.001")), mechanism="m", version="1",
                 adjacency=Adjacency.REPLACE_ONE, parameters={})
"""

RACER = (
    SPEND
    + """
print("ready", flush=True)
for line in sys.stdin:
    try:
        spend(line.strip())
        print("won", flush=True)
    except BudgetExceeded:
        print("refused", flush=True)
"""
)

DYING = (
    SPEND
    + """
import os, signal

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def head_of_the_new_entry(head, count, digest, write=chain.write_head):
    if count == wanted:
        die()
    write(head, count, digest)

for wanted in range(1, int(sys.argv[3]) + 1):
    child = os.fork()
    if child == 0:
        if sys.argv[2] == "before the head":
            chain.write_head = head_of_the_new_entry
        spend("t")
        die()
    _, status = os.waitpid(child, 0)
    print(os.WTERMSIG(status), flush=True)
"""
)


def test_c21_two_processes_race_for_the_last_unit(tmp_path: Path) -> None:
    """Each label is a fresh race for a remaining budget of exactly one request."""
    path = tmp_path / "ledger.db"
    ledger = Ledger(path, epsilon="0.001", delta=0)
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    answers = []
    for racer in racers:
        assert racer.stdout is not None and racer.stdout.readline() == "ready\n"
    for place in range(ROUNDS):
        for racer in racers if place % 2 else reversed(racers):
            assert racer.stdin is not None
            racer.stdin.write(f"race-{place}\n")
            racer.stdin.flush()
        answers.append([racer.stdout.readline().strip() for racer in racers if racer.stdout is not None])
    for racer in racers:
        racer.communicate(timeout=60)
        assert racer.returncode == 0
    assert [sorted(answer) for answer in answers] == [["refused", "won"]] * ROUNDS
    assert len(ledger.entries()) == ROUNDS
    ledger.verify()


@pytest.mark.skipif(sys.platform == "win32", reason="kills forked processes")
@pytest.mark.parametrize("moment", ["before the release", "before the head"])
def test_c22_a_kill_after_the_commit_keeps_the_spend(tmp_path: Path, moment: str) -> None:
    path = tmp_path / "ledger.db"
    ledger = Ledger(path, epsilon="0.02", delta=0)
    done = subprocess.run(
        [sys.executable, "-c", DYING, str(path), moment, str(KILLS)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout.split() == ["9"] * KILLS
    ledger.verify()
    assert len(ledger.entries("t")) == KILLS
    assert ledger.spent("t").epsilon == Fraction("0.02")
    assert ledger.remaining("t").epsilon == 0  # type: ignore[union-attr]
