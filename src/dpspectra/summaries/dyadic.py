"""Counts of values by their public dyadic bins [2^r, 2^(r+1)).

Lemma L-dyadic: replacing one value takes 1 from one bin and adds 1 to another, or changes nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

EXTENT = 400
"""Largest |r|: powers of two, and squares of values up to them, stay finite doubles."""


def counts(values: FloatArray, low: int, high: int) -> NDArray[np.int64]:
    """How many values of each column fall into each bin.

    Parameters
    ----------
    values : (m, k), private, not negative, without NaN
    low, high : public, -EXTENT <= low <= high <= EXTENT
        The first bin also takes what is below 2^low, 0 included; the last what is at least 2^(high + 1),
        infinity included.

    Returns
    -------
    int64 (k, high - low + 1), private; each line adds up to m.
    """
    places = np.frexp(np.clip(values, 2.0**low, 2.0**high))[1] - (low + 1)
    size = high - low + 1
    return np.stack([np.bincount(column, minlength=size) for column in places.T]).astype(np.int64)
