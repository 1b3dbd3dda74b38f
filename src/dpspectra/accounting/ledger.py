"""The ledger: what every table has spent, and the cap that refuses more.

Claim.  The releases admitted under one label of a capped ledger are, together, within the cap, also when each
cost was chosen after seeing earlier outputs.  The cap is fixed when the ledger is made and is one
additive filter per label: (epsilon, delta) adds both (basic composition; Rogers, Roth, Ullman and Vadhan
2016), rho adds rho and rho_delta (Feldman and Zrnic 2021), mu adds mu^2 and admits Gaussian releases only
(Koskela, Tobaben and Honkela 2023).  Costs add up only between the same neighbours, so all releases of a
label have one adjacency and one unit.

A release is admitted by ``spend`` in one locked transaction: verify, add exactly, compare, insert, commit
(``chain.py``).  Processes therefore take turns, the total never passes the cap, and a release is drawn only
after its entry is durable: a crash over-counts and never under-counts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

from dpspectra.core.errors import BudgetExceeded, LedgerError, ParameterError
from dpspectra.core.privacy import Adjacency, Cost, Number

from .cap import Cap
from .chain import Chain, Link, Record, Transaction, canonical
from .exact import total


@dataclass(frozen=True)
class Entry:
    """One recorded release: cost, mechanism, version, public parameters, UTC time, place in the chain."""

    number: int
    label: str
    time: str
    mechanism: str
    version: str
    adjacency: Adjacency
    unit: str
    cost: Cost
    parameters: Mapping[str, Any]
    previous: str
    hash: str

    @classmethod
    def of(cls, link: Link) -> Entry:
        """Read a verified link."""
        record = link.record
        return cls(
            number=link.number,
            label=record["label"],
            time=record["time"],
            mechanism=record["mechanism"],
            version=record["version"],
            adjacency=Adjacency(record["adjacency"]),
            unit=record["unit"],
            cost=Cost.from_dict(json.loads(record["cost"])),
            parameters=json.loads(record["parameters"]),
            previous=link.previous,
            hash=link.hash,
        )


class Ledger:
    """Adds up what tables have spent, in a file that processes share, and refuses to pass a cap.

    A handle that holds the path and the cap alone: it can be copied, pickled and cloned, and all copies spend
    from the one file. Everything in a ledger is public.

    Parameters
    ----------
    path : str, path-like or None
        The file, made if it does not exist (with ``PATH.head`` beside it). None: in memory of this process,
        shared by copies, never pickled.
    epsilon, delta, rho, mu : number, optional
        Cap per label, fixed when the ledger is made: epsilon and delta; or rho, and delta if approximate zCDP
        is admitted; or mu. None given: the file's own, or no cap for a new file.

    Raises
    ------
    ParameterError
        If the cap is out of its domain.
    LedgerError
        If the file has another cap, is edited, cut, not a ledger, or cannot be written.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from dpspectra.core.privacy import Adjacency, Cost
    >>> ledger = Ledger(None, epsilon=1, delta="1e-6")
    >>> cost = Cost.approx(Fraction(1, 4), Fraction(0))
    >>> neighbours = Adjacency.REPLACE_ONE
    >>> entry = ledger.spend("t", cost, mechanism="m", version="1", adjacency=neighbours, parameters={})
    >>> ledger.remaining("t").epsilon
    Fraction(3, 4)
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
    ) -> None:
        asked = Cap.of(epsilon, delta, rho, mu)
        # Links are followed: a file has one head, whatever name it is opened by.
        self.path = None if path is None else str(Path(path).resolve())
        self._memory = Chain(None) if path is None else None
        chain = self._chain()
        chain.create({"cap": canonical(asked.to_dict())})
        with chain.transaction() as opened:
            self.cap = _cap(opened)
        if asked not in (Cap(), self.cap):
            raise LedgerError(
                f"ledger {self.path} was made with another cap ({self.cap}): a cap is fixed for good; "
                "leave it out, or start a new ledger"
            )

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
    ) -> Self:
        """Make a new ledger; refuse, with ``LedgerError``, if a file of that name (or its head) is there."""
        Cap.of(epsilon, delta, rho, mu)
        file = Path(path)
        if file.exists() or file.with_name(f"{file.name}.head").exists():
            raise LedgerError(f"{path} (or its head file) exists already: give the new ledger another name")
        try:
            with file.open("xb"):
                pass
        except FileExistsError:
            raise LedgerError(f"{path} exists already: give the new ledger another name") from None
        except OSError:
            raise LedgerError(f"ledger {path} cannot be made: check its folder and permissions") from None
        return cls(path, epsilon=epsilon, delta=delta, rho=rho, mu=mu)

    def check(
        self, label: str, cost: Cost, *, adjacency: Adjacency | None = None, unit: str | None = None
    ) -> None:
        """Raise ``BudgetExceeded`` if ``spend`` would refuse now; nothing is written.

        Another process may spend in between: only ``spend`` decides.
        """
        with self._open() as opened:
            self._admit(opened, label, cost, adjacency, unit)

    def spend(
        self,
        label: str,
        cost: Cost,
        *,
        mechanism: str,
        version: str,
        adjacency: Adjacency,
        unit: str = "row",
        parameters: Mapping[str, Any],
    ) -> str:
        """Record a release before it is drawn; durable on return.

        Parameters
        ----------
        label : str
            The caller's name of the table, never made from its cells.
        cost : Cost
            The release's total.
        mechanism, version : str
            What will draw it.
        adjacency, unit
            Between whom it holds; one of each per label.
        parameters : mapping
            Public parameters: JSON values, fractions or decimals.

        Returns
        -------
        str
            Hash of the entry.

        Raises
        ------
        BudgetExceeded
            If the label's total would pass the cap, or the cost is not known in the cap's units. Nothing
            was written.
        LedgerError
            If the files are edited, cut or cannot be written.
        """
        record: Record = {
            "label": label,
            "time": datetime.now(UTC).isoformat(),
            "mechanism": mechanism,
            "version": version,
            "adjacency": adjacency.value,
            "unit": unit,
            "cost": canonical(cost.to_dict()),
            "parameters": _parameters(parameters),
        }
        with self._open() as opened:
            self._admit(opened, label, cost, adjacency, unit)
            return opened.append(record).hash

    def spent(self, label: str) -> Cost:
        """Exact total of the label's releases; None in a currency that one of them does not know."""
        return total(entry.cost for entry in self.entries(label))

    def remaining(self, label: str) -> Cost | None:
        """What the cap leaves to the label, in the cap's currency; None without a cap."""
        return self.cap.left(self.spent(label))

    def labels(self) -> tuple[str, ...]:
        """Names of the tables that have spent, in order of their first release."""
        return tuple(dict.fromkeys(entry.label for entry in self.entries()))

    def entries(self, label: str | None = None) -> tuple[Entry, ...]:
        """Every recorded release, or the label's."""
        with self._open() as opened:
            links = list(opened.links)
        return tuple(Entry.of(link) for link in links if label is None or link.record["label"] == label)

    def verify(self) -> None:
        """Check every hash, the head and the cap; ``LedgerError`` names the first bad entry."""
        with self._open():
            return

    def __repr__(self) -> str:
        caps = "".join(f", {name}={text!r}" for name, text in self.cap.to_dict().items() if text is not None)
        return f"{type(self).__name__}({self.path!r}{caps})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ledger):
            return NotImplemented
        return (self.path, self.cap, self._memory) == (other.path, other.cap, other._memory)

    def __hash__(self) -> int:
        return hash((self.path, self.cap))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        if self._memory is not None:
            raise LedgerError(
                "a ledger in memory cannot be pickled or sent to another process: give it a path"
            )
        return dict(self.__dict__)

    def _chain(self) -> Chain:
        return self._memory or Chain(self.path)

    @contextmanager
    def _open(self) -> Iterator[Transaction]:
        with self._chain().transaction() as opened:
            if _cap(opened) != self.cap:
                raise LedgerError(
                    f"ledger {self.path} has another cap than this handle: the file was replaced"
                )
            yield opened

    def _admit(
        self, opened: Transaction, label: str, cost: Cost, adjacency: Adjacency | None, unit: str | None
    ) -> None:
        entries = [Entry.of(link) for link in opened.links if link.record["label"] == label]
        for entry in entries[:1]:
            if adjacency not in (None, entry.adjacency) or unit not in (None, entry.unit):
                raise BudgetExceeded(
                    f"label {label!r} holds releases for adjacency {entry.adjacency.value!r} and unit "
                    f"{entry.unit!r}, and costs between different neighbours do not add up: keep to these, "
                    "or use another label and count both against the table"
                )
        self.cap.admit(label, cost, total(entry.cost for entry in entries))


def _cap(opened: Transaction) -> Cap:
    return Cap.from_dict(json.loads(opened.rules["cap"]))


def _parameters(parameters: Mapping[str, Any]) -> str:
    try:
        return json.dumps(parameters, sort_keys=True, allow_nan=False, default=_plain)
    except (TypeError, ValueError):
        raise ParameterError(
            "parameters of a ledger entry must be finite JSON values, fractions or decimals"
        ) from None


def _plain(value: object) -> str:
    if isinstance(value, (Fraction, Decimal)):
        return str(value)
    raise TypeError
