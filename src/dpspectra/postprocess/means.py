"""What a private mean along directions decodes to. Public."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Means:
    """Released variances along k directions, in encoded units.

    Attributes
    ----------
    values : (k,) as released, before anything is cut at 0 or sorted
    noise_sd : (k,) sd of their noise
    upper : (k,) what single squares were cut at (inf: not cut), or a scale of the method
    """

    values: FloatArray
    noise_sd: FloatArray
    upper: FloatArray
