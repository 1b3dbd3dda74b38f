"""``dpspectra pca``: private principal components of a table, as a report."""

from __future__ import annotations

from .guard import after_release
from .rows import check_scores, write_scores
from .run import run
from .settings import PcaSettings, from_options
from .subject import components, variance_arguments


@from_options(PcaSettings)
def command(settings: PcaSettings) -> None:
    """Private principal components of TABLE, as a report in the folder --out.

    The report holds report.html, release.json, tables and pictures. All that can be refused is refused
    before the table is opened, and the whole budget is written to the ledger before a row is read.
    """
    from ..estimators import PrivatePCA

    if settings.scores is not None:
        check_scores(settings)
    own = variance_arguments(settings) | {"whiten": settings.whiten}
    done = run(settings, PrivatePCA, n_components=components(settings.components), **own)
    if done is not None and settings.scores is not None:
        with after_release(lambda: "the report is whole; the scores were not written"):
            write_scores(*done, settings.scores)
