"""What ``pca`` and ``cov`` do: check everything public, open the table, release, write the report."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import DpspectraError, ParameterError, StabilityTestFailed
from .folder import check_output
from .guard import PublicNote, after_release
from .ledger import require
from .plan import show
from .settings import CovSettings, PcaSettings, ScoresSettings, ScreeSettings
from .subject import model_arguments, public_schema, source
from .talk import progress, result, result_json, say

if TYPE_CHECKING:
    from ..core.released import Released
    from ..planning.plan import Plan
    from .moments import MomentsSettings
    from .spend import WatchedLedger

ANY_ROWS = 2**20
"""Rows where the schema does not tell: what is refused before the table is opened hardly depends on them."""


def run(
    settings: CovSettings | MomentsSettings | PcaSettings | ScoresSettings | ScreeSettings,
    kind: type[Any],
    **own: Any,
) -> tuple[Any, Any] | None:
    """Make one release with an estimator of ``kind`` and write its report.

    Returns the fitted estimator and what it was fitted on; None after a dry run.

    What can be refused from public facts is refused before the table is opened, in this order: arguments,
    schema, plan, folder, budget. The library then checks the table's header and its public number of rows.
    """
    from ..planning import plan

    schema = public_schema(settings)
    estimator = kind(**model_arguments(settings, settings, schema), **own)
    known = settings.rows if settings.dry_run else schema.rows or schema.rows_max or ANY_ROWS
    made = plan(estimator, schema=schema, n=known)
    estimator.check_features(made.facts.d)
    if settings.out is None and not settings.dry_run:
        raise ParameterError("--out is missing: name the folder of the report (or --dry-run for the plan)")
    check_output(settings.out, settings.overwrite, settings.format)
    label = settings.label or schema.label
    ledger = _open(settings.ledger, label, made)
    if settings.out is None or settings.dry_run:
        show(made, as_json=settings.format == "json")
        return None
    table = source(settings, schema)
    estimator.set_params(ledger=ledger, label=label)
    total = None if schema.rows is None else schema.rows * made.resources.passes
    try:
        with progress("reading rows and drawing noise", total) as visited:
            estimator.fit(table, progress=visited if estimator.adjacency == "replace-one" else None)
    except BaseException as error:
        error.add_note(PublicNote(_spend(ledger, label, error)))
        raise
    with after_release(lambda: _rescue(estimator.release_)):
        finish(estimator, settings.out, overwrite=settings.overwrite, file_format=settings.format)
    return estimator, table


def finish(model: Any, out: Path, *, overwrite: bool, file_format: str) -> None:
    """Write the report; files to stdout (with ``json`` the whole summary), what it says to stderr."""
    from ..report import summarise, write

    paths = write(model, out, overwrite=overwrite, format=file_format)
    summary = summarise(model)
    if file_format == "json":
        result_json(summary | {"files": [str(path) for path in paths]})
    else:
        result("\n".join(str(path) for path in paths))
    say(summary["guarantee"], "bold" if summary["private"] else "bold red")
    say(f"{summary['headline']}.")
    say(f"report: {out / 'report.html'}")


def _open(path: Path | None, label: str, made: Plan) -> WatchedLedger | None:
    """The ledger of this run, after it has agreed that the plan fits; None without one."""
    if path is None:
        return None
    from ..planning.choose import choose
    from .spend import WatchedLedger

    require(path)
    ledger = WatchedLedger(path)
    cost = choose(made.request, made.facts).cost(made.steps)
    ledger.check(label, cost, adjacency=made.facts.adjacency, unit=made.facts.unit)
    return ledger


def _spend(ledger: WatchedLedger | None, label: str, error: BaseException) -> str:
    """After a run that broke off: is the budget spent? The library's own refusals come before the spend."""
    if ledger is not None and ledger.recorded:
        return f"the ledger has recorded the spend of table {label!r}, and it stays: count it as spent"
    refused = isinstance(error, DpspectraError) and not isinstance(error, StabilityTestFailed)
    if refused or (ledger is not None and not ledger.asked):
        return "nothing was spent"
    if ledger is not None:
        return (
            f"the spend of table {label!r} may have been recorded: see `dpspectra ledger show {ledger.path}`"
        )
    return "no ledger was given, so nothing tells whether noise was drawn; no result was written"


def _rescue(release: Released) -> str:
    """A release that is paid for is kept when its report cannot be written."""
    path = Path(tempfile.mkdtemp(prefix="dpspectra-")) / "release.json"
    path.write_text(release.to_json(), encoding="utf-8")
    return f"the report was not written; the release is kept: dpspectra report {path} --out DIR"
