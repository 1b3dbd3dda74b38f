"""Counts of the unbounded quantile: how many values lie at or below each step of a public ladder.

Lemma L-climb: replacing one value moves all counts in one direction, each by 0 or 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def counts(values: FloatArray, rungs: FloatArray) -> NDArray[np.int64]:
    """#{x <= t} for each step t.

    Parameters
    ----------
    values : (m,), private, without NaN
    rungs : (steps,), public, ascending (``postprocess.quantile``)

    Returns
    -------
    int64 (steps,), private; a replaced value moves them all one way, by at most 1 (L-climb).
    """
    return np.searchsorted(np.sort(values), rungs, side="right").astype(np.int64)
