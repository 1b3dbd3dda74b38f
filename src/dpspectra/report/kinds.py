"""Which report belongs to which estimator."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from ..estimators.score_map import PrivateScoreMap
from ..estimators.second_moment import PrivateSecondMoment
from ..plots.fitted import along as of_directions
from . import along, score_map, second_moment
from . import pictures as whole_pictures
from . import summary as whole_summary
from . import tables as whole_tables
from .pictures import Picture
from .tables import Table


def summarise(estimator: Any) -> dict[str, Any]:
    """The report of a fitted estimator as strict-JSON values; all of it is a function of the release."""
    made: dict[str, Any] = (_kind(estimator) or whole_summary).summarise(estimator)
    return made


def tables(estimator: Any) -> list[Table]:
    """All tables of a report, uncut."""
    made: list[Table] = (_kind(estimator) or whole_tables).tables(estimator)
    return made


def pictures(estimator: Any) -> list[Picture]:
    """The pictures of a report."""
    made: list[Picture] = (_kind(estimator) or whole_pictures).pictures(estimator)
    return made


def _kind(estimator: Any) -> ModuleType | None:
    """The module of a kind of its own; None for a whole spectrum."""
    if isinstance(estimator, PrivateScoreMap):
        return score_map
    if isinstance(estimator, PrivateSecondMoment):
        return second_moment
    return along if of_directions(estimator) else None
