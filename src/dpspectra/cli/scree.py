"""``dpspectra scree``: the first eigenvalues of a table, as a report."""

from __future__ import annotations

from .run import run
from .settings import ScreeSettings, from_options
from .subject import scree_arguments


@from_options(ScreeSettings)
def command(settings: ScreeSettings) -> None:
    """Private variances along the first components of TABLE, as a report in the folder --out.

    Directions first, then the variance along each. Without bounds in the schema, methods that need none are
    taken. Order of checks and exit codes are those of `dpspectra pca`.
    """
    from ..estimators import PrivateScree

    run(settings, PrivateScree, **scree_arguments(settings))
