"""Differentially private second moments, covariance, eigenvalues and principal components.

All public names are here; ``dpspectra.pipeline`` shows the whole flow on one page.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .core.version import library_version

if TYPE_CHECKING:
    from . import datasets
    from .accounting.ledger import Ledger
    from .core.privacy import Adjacency, Budget
    from .core.released import Released
    from .core.schema import Column, Schema
    from .estimators import (
        PrivateCovariance,
        PrivatePCA,
        PrivateScoreMap,
        PrivateScree,
        PrivateSecondMoment,
    )
    from .planning import plan

__version__ = library_version()

# Loaded on first use: the estimators need scikit-learn, which a command's --help should not pay for.
_HOMES = {
    "Adjacency": "core.privacy",
    "Budget": "core.privacy",
    "Column": "core.schema",
    "Ledger": "accounting.ledger",
    "PrivateCovariance": "estimators",
    "PrivatePCA": "estimators",
    "PrivateScoreMap": "estimators",
    "PrivateScree": "estimators",
    "PrivateSecondMoment": "estimators",
    "Released": "core.released",
    "Schema": "core.schema",
    "plan": "planning",
}

__all__ = [
    "Adjacency",
    "Budget",
    "Column",
    "Ledger",
    "PrivateCovariance",
    "PrivatePCA",
    "PrivateScoreMap",
    "PrivateScree",
    "PrivateSecondMoment",
    "Released",
    "Schema",
    "__version__",
    "datasets",
    "plan",
]


def __getattr__(name: str) -> Any:
    if name == "datasets":
        return import_module(".datasets", __name__)
    if name in _HOMES:
        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
