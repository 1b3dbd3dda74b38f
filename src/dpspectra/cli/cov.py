"""``dpspectra cov``: a private covariance matrix of a table, as a report."""

from __future__ import annotations

from .run import run
from .settings import CovSettings, from_options


@from_options(CovSettings)
def command(settings: CovSettings) -> None:
    """Private covariance and correlation of TABLE, as a report in the folder --out.

    Options and order of checks are those of `dpspectra pca`; the report has no components.
    """
    from ..estimators import PrivateCovariance

    run(settings, PrivateCovariance)
