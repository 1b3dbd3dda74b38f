"""Any release of second moments: its estimate, and the eigenvalues to show, by the law of its noise. Public.

The vectors to show are those of the estimate's covariance, whatever the mechanism.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..core.released import Released
from . import denoise, denoise_wishart
from .adaptive import decode_adaptive
from .decode import Estimate, decode
from .separate import decode_separate
from .threshold import restored

FloatArray = NDArray[np.float64]


def estimate_of(released: Released, ddof: int = 1) -> Estimate:
    """The decoded moments of a release of any mechanism for covariances, encoded units."""
    return decode_adaptive(released, ddof).estimate if released.has("moments") else decode(released, ddof)


def eigenvalues_of(
    released: Released, estimate: Estimate, eigenvalues: FloatArray, ddof: int = 1
) -> FloatArray:
    """The eigenvalues to show, descending and not negative.

    Where the spectrum was released by itself (``separate``, ``adaptive`` as published) it is tidied; else the
    covariance's own are denoised by the law of its noise and, of privately clipped rows, scaled up by the
    trace that clipping took away (``threshold.restored``).

    Parameters
    ----------
    released : Released
    estimate : of ``estimate_of``
    eigenvalues : (d,) of ``estimate.covariance``, descending

    Returns
    -------
    (d,) array, encoded units
    """
    if released.has("moments"):
        return decode_adaptive(released, ddof).tidy
    if released.has("spectrum"):
        return decode_separate(released, ddof).tidy
    if estimate.law == "wishart":
        scale = estimate.noise_sd / denoise_wishart.entry_sd(len(eigenvalues), 1.0)
        shown = denoise_wishart.shrink(eigenvalues, scale)
    else:
        shown = denoise.shrink(eigenvalues, estimate.noise_sd)
    plan = released.step("augmented" if released.has("augmented") else "scatter").plan
    return shown * restored(released, plan)
