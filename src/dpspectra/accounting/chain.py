"""Storage of the ledger: an append-only, hash-chained SQLite file and its head in a second file.

Each entry's hash is SHA-256 of the previous hash and of the entry as canonical JSON; the first previous hash
is that of the rules (cap and a one-time identifier) in the file.  PATH.head, itself a small SQLite file,
holds count and last hash.

Claim 1 (an edited or cut file refuses).  ``transaction`` recomputes every hash before it hands out a file.
An edited, removed or reordered entry or rule breaks a link, unless all later hashes were made anew; then the
last hash differs from the head's.  A file cut at the end has fewer entries than the head counts.  (Replacing
both files by a matching older pair cannot be seen from within them.)

Claim 2 (a crash never makes a valid ledger refuse, and no spend that returned can be cut off).  Every
transaction first takes the write lock of the head file and keeps it until the head is written.  The order
is: insert, commit the main file (durable: synchronous=FULL), commit the head.  So at every moment main and
head agree, or main has exactly one entry more, whose previous hash is the head's: a crash fell between the
commits.  Only these two states are accepted.  The second is repaired, durably and before anything is
inserted, so the lag never reaches two.  ``append`` returns after the head is committed; an entry that the
head does not count belongs to a spend that never returned, hence to a release that was never drawn.

The head file stays in rollback-journal mode and is locked first by everyone, so there is one order of locks
and no deadlock; both locks die with their process.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from dpspectra.core.errors import LedgerError

Record = dict[str, str]
"""What an entry says, every number exact and as text."""

BUSY_SECONDS = 120.0
"""How long to wait for other processes that are spending."""
FORMAT = "dpspectra-ledger-1"
_OURS = {"rules", "entries"}
_TABLES = (
    "CREATE TABLE rules (text TEXT NOT NULL)",
    "CREATE TABLE entries (number INTEGER PRIMARY KEY, record TEXT NOT NULL, previous TEXT NOT NULL,"
    " hash TEXT NOT NULL)",
    "CREATE TRIGGER no_update BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'append-only'); END",
    "CREATE TRIGGER no_delete BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'append-only'); END",
)


@dataclass(frozen=True)
class Link:
    """One verified entry: its number from 1, record, previous hash and own hash."""

    number: int
    record: Record
    previous: str
    hash: str


def canonical(value: object) -> str:
    """JSON with sorted keys and no spaces: equal values give equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


class Transaction:
    """A locked and verified ledger.

    ``rules``: the cap and the one-time identifier, as written when the ledger was made. ``links``: every
    entry. ``lags``: True if the head does not count the last entry yet (see Claim 2).
    """

    def __init__(self, head: sqlite3.Connection, main: sqlite3.Connection, name: str) -> None:
        self._head, self._main, self._name = head, main, name
        if not _tables(main) >= _OURS:
            raise LedgerError(f"{name} is not a ledger, or its entries were cut off")
        (text,) = main.execute("SELECT text FROM rules").fetchone() or ("{}",)
        self.rules: Record = json.loads(text)
        if self.rules.get("format") != FORMAT:
            raise LedgerError(f"{name} is not a ledger of this version ({FORMAT})")
        self.links = self._verified(_digest("", text))
        self._origin = _digest("", text)
        self.lags = self._compare()

    def append(self, record: Record) -> Link:
        """Add an entry, commit it, then commit the head."""
        text, previous = canonical(record), self._last()
        link = Link(len(self.links) + 1, record, previous, _digest(previous, text))
        self._main.execute(
            "INSERT INTO entries VALUES (?, ?, ?, ?)", (link.number, text, previous, link.hash)
        )
        self._main.execute("COMMIT")
        self.links.append(link)
        self.repair()
        return link

    def repair(self) -> None:
        """Make the head count every entry."""
        write_head(self._head, len(self.links), self._last())

    def _last(self) -> str:
        return self.links[-1].hash if self.links else self._origin

    def _verified(self, origin: str) -> list[Link]:
        links: list[Link] = []
        previous = origin
        rows = self._main.execute("SELECT number, record, previous, hash FROM entries ORDER BY number")
        for place, (number, text, before, digest) in enumerate(rows, start=1):
            if number != place or before != previous or digest != _digest(previous, text):
                raise LedgerError(
                    f"entry {place} of ledger {self._name} does not continue the chain: "
                    "the file was edited; restore both files from a backup"
                )
            links.append(Link(number, json.loads(text), before, digest))
            previous = digest
        return links

    def _compare(self) -> bool:
        hashes = [self._origin, *(link.hash for link in self.links)]
        counted = _read_head(self._head)
        if counted is None:
            if self.links:
                raise LedgerError(
                    f"the head file of ledger {self._name} was removed; restore it from a backup"
                )
            return True
        count, digest = counted
        if count >= len(hashes):
            raise LedgerError(
                f"entry {len(hashes)} of ledger {self._name} is missing: "
                "the file was cut; restore both files from a backup"
            )
        if count < len(hashes) - 2 or digest != hashes[count]:
            raise LedgerError(
                f"ledger {self._name} and its head file disagree from entry {max(count, 1)} on: "
                "one was edited or replaced; restore both files from a backup"
            )
        return count == len(hashes) - 2


def write_head(head: sqlite3.Connection, count: int, digest: str) -> None:
    """Replace the head, durably."""
    head.execute("CREATE TABLE IF NOT EXISTS head (count INTEGER NOT NULL, hash TEXT NOT NULL)")
    head.execute("DELETE FROM head")
    head.execute("INSERT INTO head VALUES (?, ?)", (count, digest))
    head.execute("COMMIT")


class Chain:
    """The two files of a ledger (or two databases in memory); no connection to a file is kept open.

    Parameters
    ----------
    path : str or None
        Absolute path of the main file; None keeps both in memory of this process.
    """

    def __init__(self, path: str | None) -> None:
        self.path = path
        self.name = path or "in memory"
        self._memory = _Memory() if path is None else None

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Lock both files and verify them; what is appended is durable before ``append`` returns.

        Raises
        ------
        LedgerError
            If the files are missing, edited, cut, not a ledger, not writable, or locked for too long.
        """
        with self._locked() as (head, main):
            opened = Transaction(head, main, self.name)
            if opened.lags:
                opened.repair()
            else:
                yield opened
                return
        with self.transaction() as opened:
            yield opened

    def create(self, rules: Record) -> None:
        """Write the rules of a new ledger; where a ledger is there already, leave it as it is."""
        with self._locked(new=True) as (head, main):
            if _tables(main):
                return
            if _read_head(head) is not None:
                raise LedgerError(
                    f"ledger {self.name} was removed or emptied, its head file is still there: "
                    "restore it from a backup, or start a ledger under another name"
                )
            for statement in _TABLES:
                main.execute(statement)
            text = canonical(rules | {"format": FORMAT, "identifier": uuid.uuid4().hex})
            main.execute("INSERT INTO rules VALUES (?)", (text,))
            main.execute("COMMIT")

    @contextmanager
    def _locked(self, new: bool = False) -> Iterator[tuple[sqlite3.Connection, sqlite3.Connection]]:
        """Both databases inside a write transaction, head first; what is not committed is rolled back."""
        try:
            with self._connections(new) as (head, main):
                head.execute("BEGIN IMMEDIATE")
                try:
                    main.execute("BEGIN IMMEDIATE")
                    yield head, main
                finally:
                    for connection in (main, head):
                        if connection.in_transaction:
                            connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise LedgerError(_explain(self.name, error)) from None

    @contextmanager
    def _connections(self, new: bool) -> Iterator[tuple[sqlite3.Connection, sqlite3.Connection]]:
        if self._memory is not None:
            with self._memory.use() as pair:
                yield pair
            return
        assert self.path is not None
        _check_file(Path(self.path), new)
        with closing(_connect(self.path, create=new)) as main:
            tables = _tables(main)
            if tables and not tables >= _OURS:
                raise LedgerError(f"{self.path} is not a ledger: it is a database of another program")
            if not tables:
                main.execute("PRAGMA journal_mode = WAL")
            main.execute("PRAGMA synchronous = FULL")
            with closing(_connect(f"{self.path}.head", create=True)) as head:
                head.execute("PRAGMA synchronous = EXTRA")
                yield head, main


class _Memory:
    """Two databases in memory, for one process, one thread at a time."""

    def __init__(self) -> None:
        self._pair = (_connect(":memory:"), _connect(":memory:"))
        self._lock = threading.Lock()
        self._process = os.getpid()

    @contextmanager
    def use(self) -> Iterator[tuple[sqlite3.Connection, sqlite3.Connection]]:
        if os.getpid() != self._process:
            raise LedgerError("a ledger in memory cannot be shared with another process: give it a path")
        with self._lock:
            yield self._pair


def _connect(path: str, create: bool | None = None) -> sqlite3.Connection:
    target = path if create is None else f"{Path(path).as_uri()}?mode={'rwc' if create else 'rw'}"
    return sqlite3.connect(
        target, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=create is not None
    )


def _check_file(path: Path, new: bool) -> None:
    """Refuse what is clearly no ledger before SQLite makes files beside it."""
    if path.is_dir():
        raise LedgerError(f"{path} is a folder: a ledger is a file in it, for instance {path / 'ledger.db'}")
    if not path.parent.is_dir():
        raise LedgerError(f"the folder of ledger {path} does not exist: make it first")
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except FileNotFoundError:
        if new:
            return
        raise LedgerError(f"ledger {path} does not exist: was it moved or removed?") from None
    except OSError:
        raise LedgerError(f"ledger {path} cannot be read: check its permissions") from None
    if start and start != b"SQLite format 3\0":
        raise LedgerError(f"{path} is not a ledger: it is not an SQLite file")


def _explain(name: str, error: sqlite3.Error) -> str:
    text = str(error)
    if "locked" in text:
        return f"ledger {name} was in use by others for {BUSY_SECONDS:.0f} seconds: try again"
    if "readonly" in text or "unable to open" in text:
        return f"ledger {name} cannot be written: check the permissions of the file and of its folder"
    return f"{name} is not a ledger or is damaged ({text}): restore both files from a backup"


def _tables(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def _read_head(head: sqlite3.Connection) -> tuple[int, str] | None:
    """(count, last hash), or None if no head was ever written."""
    if "head" not in _tables(head):
        return None
    row = head.execute("SELECT count, hash FROM head").fetchone()
    return None if row is None else (int(row[0]), str(row[1]))


def _digest(previous: str, text: str) -> str:
    return hashlib.sha256(f"{previous}\n{text}".encode()).hexdigest()
