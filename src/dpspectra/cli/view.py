"""The estimator that a release is shown as, so that its report can be made once more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import SchemaError

if TYPE_CHECKING:
    from ..core.released import Released


def estimator_of(released: Released) -> Any:
    """The fitted estimator that made a release."""
    from .. import estimators

    kinds = {name: getattr(estimators, name) for name in estimators.__all__}
    name = released.parameters.get("view", {}).get("estimator")
    if name not in kinds:
        raise SchemaError("this release is shown by an estimator that this version does not know")
    return kinds[name].from_release(released)
