"""Which report a release is shown as: kept among its public parameters, so that it can be made once more."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..core.errors import SchemaError

if TYPE_CHECKING:
    from ..core.released import Released

OWN = ("n_components", "whiten")
"""Settings of an estimator that act after the release, and so are not among its parameters."""


def keep_view(estimator: Any) -> None:
    """Note the estimator's kind and its own settings on its release; all of it is public."""
    settings = estimator.get_params(deep=False)
    view = {"estimator": type(estimator).__name__} | {
        name: settings[name] for name in OWN if name in settings
    }
    released = estimator.release_
    estimator.release_ = replace(released, parameters=released.parameters | {"view": view})


def estimator_of(released: Released) -> Any:
    """The fitted estimator that a release is shown as; a release made in Python is shown as a whole PCA."""
    from ..estimators import PrivateCovariance, PrivatePCA

    kinds = {kind.__name__: kind for kind in (PrivateCovariance, PrivatePCA)}
    view = dict(released.parameters.get("view", {}))
    name = view.pop("estimator", PrivatePCA.__name__)
    if name not in kinds or not set(view) <= set(OWN):
        raise SchemaError("this release is shown by an estimator that this version does not know")
    return kinds[name].from_release(released).set_params(**view)._show(released)
