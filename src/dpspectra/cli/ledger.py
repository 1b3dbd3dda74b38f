"""``dpspectra ledger``: make, show and check a ledger."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..core.errors import LedgerError, ParameterError
from .guard import guarded
from .talk import result, result_json, say

if TYPE_CHECKING:
    from ..accounting.ledger import Entry, Ledger
    from ..core.privacy import Cost

app = typer.Typer(help="What tables have spent, and the cap that refuses more.", no_args_is_help=True)
File = Annotated[Path, typer.Argument(metavar="FILE", help="The ledger.")]
Number = Annotated[str | None, typer.Option(metavar="NUMBER", help="Cap for each label, fixed for good.")]


@app.command()
@guarded
def init(
    file: File,
    epsilon: Number = None,
    delta: Number = None,
    rho: Number = None,
    mu: Number = None,
    uncapped: Annotated[bool, typer.Option("--uncapped", help="Only record; refuse nothing.")] = False,
) -> None:
    """Make a new ledger with a cap for each label: --epsilon with --delta, or --rho, or --mu."""
    from ..accounting.ledger import Ledger

    if (epsilon, delta, rho, mu) == (None,) * 4 and not uncapped:
        raise ParameterError(
            "name a cap: --epsilon and --delta, or --rho, or --mu (or --uncapped to only record)"
        )
    made = Ledger.create(file, epsilon=epsilon, delta=delta, rho=rho, mu=mu)
    result(str(file))
    say(f"cap for each label: {made.cap}. Keep {file}.head beside it: the two files check each other")


@app.command()
@guarded
def show(
    file: File,
    label: Annotated[str | None, typer.Option(metavar="NAME", help="This table only.")] = None,
    format: Annotated[str, typer.Option(metavar="NAME", help="text or json.")] = "text",  # noqa: A002
) -> None:
    """Show what each table has spent and what remains."""
    if format not in ("text", "json"):
        raise ParameterError("--format must be text or json")
    ledger = _existing(file)
    labels = ledger.labels() if label is None else (label,)
    if format == "json":
        result_json({"cap": str(ledger.cap), "tables": {name: _table(ledger, name) for name in labels}})
        return
    result(f"cap for each label: {ledger.cap}")
    for name in labels:
        remaining = ledger.remaining(name)
        result(f"\n{name}")
        result(f"    spent      {amounts(ledger.spent(name)) or 'nothing'}")
        if remaining is not None:
            result(f"    remaining  {amounts(remaining)}")
        for entry in ledger.entries(name):
            result(f"    {entry.number:>4}  {entry.time[:19]}Z  {_line(entry)}")


@app.command()
@guarded
def verify(file: File) -> None:
    """Check every hash of the chain and its head; an edited or cut file ends with code 4."""
    ledger = _existing(file)
    ledger.verify()
    result(f"{file}: whole, {len(ledger.entries())} releases")


def require(file: Path) -> None:
    """Refuse a ledger that is not there: a misspelt name must not make a new one without a cap."""
    if not file.exists():
        raise LedgerError(f"ledger {str(file)!r} is not there: make it with `dpspectra ledger init`")


def _existing(file: Path) -> Ledger:
    from ..accounting.ledger import Ledger

    require(file)
    return Ledger(file)


def amounts(cost: Cost) -> str:
    """What is known of a cost, in short decimals; the ledger keeps the exact numbers."""
    from ..core.privacy import show as short

    known = [
        f"{name} {short(value)}"
        for name in ("epsilon", "delta", "rho")
        if (value := getattr(cost, name)) is not None
    ]
    if cost.mu_squared is not None:
        known.append(f"mu {float(cost.mu_squared) ** 0.5:.6g}")
    return ", ".join(known)


def _line(entry: Entry) -> str:
    noise = "" if entry.parameters.get("private", True) else ", TEST NOISE: not private"
    return f"{entry.mechanism}, {entry.adjacency.value}, unit {entry.unit}: {amounts(entry.cost)}{noise}"


def _table(ledger: Ledger, label: str) -> dict[str, Any]:
    remaining = ledger.remaining(label)
    return {
        "spent": ledger.spent(label).to_dict(),
        "remaining": None if remaining is None else remaining.to_dict(),
        "releases": [
            {
                "number": entry.number,
                "time": entry.time,
                "mechanism": entry.mechanism,
                "version": entry.version,
                "adjacency": entry.adjacency.value,
                "unit": entry.unit,
                "cost": entry.cost.to_dict(),
                "parameters": dict(entry.parameters),
                "hash": entry.hash,
            }
            for entry in ledger.entries(label)
        ],
    }
