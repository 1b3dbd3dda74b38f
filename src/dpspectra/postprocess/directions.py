"""Principal directions from the noisy steps of a direction mechanism. Public."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ParameterError
from ..core.released import Drawn
from .decode import decode
from .eigen import eigh_descending
from .symmetric import unpack

FloatArray = NDArray[np.float64]

MATRICES = {"spherical_kendall": "kendall", "spatial_sign": "signs"}
"""Direction mechanisms, and the step that holds their noisy symmetric matrix."""
METHODS = ("gaussian_moments", *MATRICES)
"""Mechanisms whose steps ``directions`` reads."""


def direction_matrix(drawn: Drawn, method: str) -> FloatArray:
    """The noisy matrix (d, d) whose eigenvectors are the directions; its units depend on the method.

    Parameters
    ----------
    drawn : a release, or the steps drawn so far
    method : "gaussian_moments", "spherical_kendall" or "spatial_sign"
    """
    if method == "gaussian_moments":
        return decode(drawn).covariance
    if method not in METHODS:
        raise ParameterError(f"directions must be one of: {', '.join(METHODS)}; not {method!r}")
    step = drawn.step(MATRICES[method])
    return unpack(np.ldexp(step.values.astype(np.float64), -step.plan.shift), drawn.facts.d)


def directions(drawn: Drawn, method: str, count: int) -> FloatArray:
    """The first ``count`` directions as columns (d, count), orthonormal, in the order and with the signs of
    ``eigh_descending``."""
    return np.ascontiguousarray(eigh_descending(direction_matrix(drawn, method))[1][:, :count])


def on_grid(vectors: FloatArray, bits: int) -> NDArray[np.int64]:
    """Directions (d, k) as integers, times 2**bits and truncated, so that none is longer than 2**bits."""
    return np.trunc(np.ldexp(vectors * (1 - 2.0**-40), bits)).astype(np.int64)
