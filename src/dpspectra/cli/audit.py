"""``dpspectra audit``: what an attacker measures of a mechanism, against what it claims."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..core.errors import ParameterError
from .guard import guarded
from .talk import note, result

if TYPE_CHECKING:
    from ..testing.audit import Audit

FEWEST = 100


@guarded
def command(
    mechanism: Annotated[str, typer.Argument(help="A name that `dpspectra mechanisms` lists.")],
    runs: Annotated[int, typer.Option(help="Runs a side; 400,000 show about 5 % too little noise.")] = 20_000,
    epsilon: Annotated[str, typer.Option(help="Total epsilon of the audited release.")] = "5",
    delta: Annotated[str, typer.Option(help="Total delta of the audited release.")] = "1e-6",
) -> None:
    """Audit a mechanism on the worst pair of neighbours of a list of built-in tables.

    No table of yours is opened and nothing is spent. For every kind of neighbours and of tables that the
    mechanism takes: its claim, a lower bound that was measured, and the mildest fault that would have shown.
    Exits with 70 if a bound exceeds its claim.
    """
    # The only command that is about the library itself, so it alone may look at testing.
    from ..core.privacy import Budget
    from ..mechanisms.registry import mechanism as named
    from ..testing.audit import audit
    from ..testing.subject import cases

    if runs < FEWEST:
        raise ParameterError(f"--runs must be at least {FEWEST}")
    kind, budget = named(mechanism), Budget.of(epsilon=epsilon, delta=delta)
    chosen = [case for case in cases(budget) if type(case.mechanism) is kind]
    if not chosen:
        raise ParameterError(f"{mechanism} takes none of the audited tables at this budget")
    passed = True
    for case in chosen:
        found = audit(case.mechanism, case.adjacency, runs=runs, subject=case.subject)
        result(f"{case}  {_settings(case.mechanism.parameters())}")
        result(_text(found))
        passed = passed and found.passed
    if not passed:
        note("a lower bound exceeds its claim: please report this output")
        raise typer.Exit(70)


def _settings(parameters: dict[str, object]) -> str:
    return " ".join(f"{name}={value}" for name, value in parameters.items())


def _text(found: Audit) -> str:
    lines = [
        f"worst pair: {found.pair}; {found.runs} runs a side, confidence 1 - {found.rate:g}",
        f"epsilon at delta {found.delta:g}: claimed {found.claimed_epsilon:.4f}, "
        f"at least {found.epsilon_bound:.4f}",
    ]
    if found.claimed_mu:
        lines.append(f"mu of Gaussian steps: claimed {found.claimed_mu:.4f}, at least {found.mu_bound:.4f}")
    lines += [
        f"step {choice.step}: claimed epsilon {choice.claimed:.4f}, attained {choice.measured:.4f} (exact)"
        for choice in found.choices
    ]
    lines += [
        f"noise times {found.smallest_fault:.3f} or less would have been seen",
        "passed" if found.passed else "FAILED",
    ]
    return "\n".join(f"    {line}" for line in lines)
