"""Which report belongs to which estimator."""

from __future__ import annotations

from typing import Any

from ..estimators.score_map import PrivateScoreMap
from . import score_map
from .pictures import Picture
from .pictures import pictures as pictures_of_spectrum
from .summary import summarise as summarise_spectrum
from .tables import Table
from .tables import tables as tables_of_spectrum


def summarise(estimator: Any) -> dict[str, Any]:
    """The report of a fitted estimator as strict-JSON values; all of it is a function of the release."""
    return (
        score_map.summarise(estimator)
        if isinstance(estimator, PrivateScoreMap)
        else summarise_spectrum(estimator)
    )


def tables(estimator: Any) -> list[Table]:
    """All tables of a report, uncut."""
    return (
        score_map.tables(estimator)
        if isinstance(estimator, PrivateScoreMap)
        else tables_of_spectrum(estimator)
    )


def pictures(estimator: Any) -> list[Picture]:
    """The pictures of a report."""
    if isinstance(estimator, PrivateScoreMap):
        return score_map.pictures(estimator)
    return pictures_of_spectrum(estimator)
