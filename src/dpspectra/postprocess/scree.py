"""A scree from k noisy variances: not negative, not rising, with shares and what the noise leaves known.

Pure functions of released numbers. Public.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

from .uncertainty import normal_quantile

FloatArray = NDArray[np.float64]

ONE_IN_A_HUNDRED = 2.3263478740408408
"""Noise sds that noise alone passes upward in one of a hundred releases."""


@dataclass(frozen=True)
class Scree:
    """Variances along k directions.

    Attributes
    ----------
    values_raw : (k,) as released
    values : (k,) not negative and not rising
    noise_sd : (k,) sd of the noise of ``values_raw``
    edge : (k,) height that noise alone passes once in a hundred releases
    resolved : (k,) True where ``values_raw`` passes it
    intervals : (k, 2) that hold the value before noise in ``level`` of the releases; NaN where not valid
    ratios : (k,) share of each of ``values`` in their sum; 0 if the sum is 0
    ratio_intervals : (k, 2) of the shares before noise, to first order; NaN where not valid
    level : of the intervals
    """

    values_raw: FloatArray
    values: FloatArray
    noise_sd: FloatArray
    edge: FloatArray
    resolved: NDArray[np.bool_]
    intervals: FloatArray
    ratios: FloatArray
    ratio_intervals: FloatArray
    level: float


def scree(
    values: FloatArray, noise_sd: FloatArray, valid: NDArray[np.bool_] | bool = True, level: float = 0.9
) -> Scree:
    """Tidy up noisy variances.

    Parameters
    ----------
    values, noise_sd : (k,) released variances in the order of their directions, and their noise sds
    valid : where the value before noise is what an interval would be taken for, so that one is shown
    level : of the intervals, in (0, 1)
    """
    raw, sd = np.asarray(values, dtype=np.float64), np.asarray(noise_sd, dtype=np.float64)
    tidy = monotone(raw)
    edge = ONE_IN_A_HUNDRED * sd
    shown = np.broadcast_to(np.asarray(valid), raw.shape)
    half = normal_quantile(level) * sd
    ratios, reach = shares(tidy), normal_quantile(level) * _share_errors(tidy, sd)
    return Scree(
        values_raw=raw,
        values=tidy,
        noise_sd=sd,
        edge=edge,
        resolved=raw > edge,
        intervals=_between(np.maximum(raw - half, 0.0), np.maximum(raw + half, 0.0), shown),
        ratios=ratios,
        ratio_intervals=_between(
            np.clip(ratios - reach, 0, 1), np.clip(ratios + reach, 0, 1), np.full(raw.shape, shown.all())
        ),
        level=level,
    )


def monotone(values: FloatArray) -> FloatArray:
    """The closest (least squares) non-increasing sequence, cut at 0."""
    fitted = np.asarray(isotonic_regression(np.asarray(values, dtype=np.float64), increasing=False))
    return np.asarray(np.maximum(fitted, 0.0))


def shares(values: FloatArray) -> FloatArray:
    """Share of each value in their sum; 0 if the sum is 0."""
    total = float(values.sum())
    parts: FloatArray = values / total if total > 0 else np.zeros_like(values)
    return parts


def _share_errors(values: FloatArray, sd: FloatArray) -> FloatArray:
    """Noise sds of the shares, to first order: d r_i = (d v_i - r_i sum_j d v_j) / sum."""
    total, ratios = float(values.sum()), shares(values)
    if total <= 0:
        return np.full_like(values, np.nan)
    variance = sd**2 * (1 - 2 * ratios) + ratios**2 * float(np.sum(sd**2))
    errors: FloatArray = np.sqrt(np.maximum(variance, 0.0)) / total
    return errors


def _between(low: FloatArray, high: FloatArray, shown: NDArray[np.bool_]) -> FloatArray:
    ends: FloatArray = np.where(shown[:, None], np.column_stack((low, high)), np.nan)
    return ends
