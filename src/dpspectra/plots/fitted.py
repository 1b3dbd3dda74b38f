"""What pictures and reports read from a fitted estimator: released, public numbers only."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ParameterError
from ..core.privacy import Guarantee
from ..core.released import Released

FloatArray = NDArray[np.float64]


class Fitted(Protocol):
    """A fitted ``PrivateCovariance``, ``PrivatePCA`` or ``PrivateScree``; the last two have ``components_``.

    Of a release of k directions the spectrum has k entries, ``noise_sd_`` and ``noise_edge_`` too, and there
    is no covariance.
    """

    @property
    def eigenvalues_(self) -> FloatArray: ...
    @property
    def eigenvalues_raw_(self) -> FloatArray: ...
    @property
    def resolved_(self) -> NDArray[np.bool_]: ...
    @property
    def n_resolved_(self) -> int: ...
    @property
    def eigenvalue_intervals_(self) -> FloatArray: ...
    @property
    def ratio_(self) -> FloatArray: ...
    @property
    def ratio_intervals_(self) -> FloatArray: ...
    @property
    def noise_edge_(self) -> float | FloatArray: ...
    @property
    def noise_sd_(self) -> float | FloatArray: ...
    @property
    def level_(self) -> float: ...
    @property
    def covariance_(self) -> FloatArray: ...
    @property
    def covariance_raw_(self) -> FloatArray: ...
    @property
    def correlation_(self) -> FloatArray: ...
    @property
    def standard_errors_(self) -> FloatArray: ...
    @property
    def total_variance_(self) -> float: ...
    @property
    def feature_names_encoded_(self) -> NDArray[np.str_]: ...
    @property
    def release_(self) -> Released: ...
    @property
    def privacy_(self) -> Guarantee: ...


def names(estimator: Fitted) -> list[str]:
    """Names of the encoded features."""
    return [str(name) for name in estimator.feature_names_encoded_]


def pair(estimator: Any, components: tuple[int, int]) -> tuple[int, int]:
    """Two different kept components, counted from 0; ParameterError otherwise."""
    if not hasattr(estimator, "components_"):
        raise ParameterError("this plot needs components: fit a PrivatePCA")
    kept = len(estimator.components_)
    chosen = tuple(components)
    if len(chosen) != 2 or len(set(chosen)) != 2 or not all(0 <= index < kept for index in chosen):
        raise ParameterError(f"components must name two different components in 0..{kept - 1}")
    return int(chosen[0]), int(chosen[1])


def along(estimator: Fitted) -> bool:
    """Whether k directions were released, and no covariance."""
    return not hasattr(estimator, "covariance_")


def need_covariance(estimator: Any) -> None:
    """Refuse a release of directions alone."""
    if along(estimator):
        raise ParameterError("this plot needs a covariance, and this release has directions alone")


def base(estimator: Fitted) -> str:
    """What shares are shares of, in words."""
    whole = len(estimator.eigenvalues_) == len(estimator.feature_names_encoded_)
    return "the released total variance" if whole else "the variance of these components"


def component_label(estimator: Fitted, index: int) -> str:
    """``PC1 (37.2 %)``, the share taken of the full released trace; without it where it is unknown."""
    share = float(estimator.ratio_[index])
    return f"PC{index + 1} ({100 * share:.1f} %)" if np.isfinite(share) else f"PC{index + 1}"
