"""The attributes of a release of k directions and of variances along them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.released import Released
from ..postprocess.lowrank import LowRank, lowrank
from ..postprocess.scree import Scree


def show_lowrank(model: Any, released: Released, count: int) -> LowRank:
    """Set on ``model`` what PrivateScree and a PrivatePCA of directions share; ``count``: how many.

    Where no variances were released they are NaN, and what stands out is told from the directions alone.
    """
    found = lowrank(released, count)
    k = found.vectors.shape[1]
    seen = found.scree or _unknown(k)
    grid = released.facts.grid
    alignment = found.spectrum.alignment[:k].copy()
    resolved = seen.resolved if found.scree is not None else ~(alignment == 0)
    model.release_ = released
    model.privacy_ = released.guarantee
    model.feature_names_encoded_ = np.asarray(released.facts.features, dtype=object)
    model.location_ = found.location
    model.scale_ = grid.scale_array
    model.components_ = np.ascontiguousarray(found.vectors.T)
    model.n_components_ = k
    model.alignment_ = alignment
    model.eigenvalues_ = seen.values
    model.eigenvalues_raw_ = seen.values_raw
    model.noise_sd_ = seen.noise_sd
    model.noise_edge_ = seen.edge
    model.standard_errors_ = seen.noise_sd.copy()
    model.resolved_ = resolved
    model.n_resolved_ = int(resolved.sum())
    model.eigenvalue_intervals_ = seen.intervals
    model.loadings_ = found.vectors * np.sqrt(seen.values)
    model.ratio_ = seen.ratios
    model.ratio_intervals_ = seen.ratio_intervals
    model.level_ = seen.level
    model.total_variance_ = found.total
    model.n_samples_ = found.rows
    return found


def _unknown(k: int) -> Scree:
    blank = np.full(k, np.nan)
    none = np.zeros(k, dtype=np.bool_)
    pairs = np.full((k, 2), np.nan)
    return Scree(blank, blank, blank, blank, none, pairs, blank, pairs, 0.9)
