"""A stand-in for a fitted estimator whose numbers a test chooses, so that each picture is known."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from dpspectra.core.facts import Facts, Grid
from dpspectra.core.privacy import Adjacency, Cost, Guarantee
from dpspectra.core.released import Released


def fitted(d=12, k=5, resolved=3, private=True, edge=0.6, names=None, seed=0, trace=None):
    generator = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(generator.normal(size=(d, d)))
    values = np.concatenate([4.0 / np.arange(1, resolved + 1), np.linspace(0.4, 0.0, d - resolved)])
    stands = np.arange(d) < resolved
    covariance = (basis * values) @ basis.T
    sd = np.sqrt(np.diagonal(covariance))
    total = values.sum() if trace is None else trace
    half = np.full(d, np.nan)
    half[:resolved] = 0.25
    ratio = values / total if total > 0 else np.full(d, np.nan)
    features = tuple(names or [f"feature_{index}" for index in range(d)])
    guarantee = Guarantee(1.0, 1e-6, None, None, "replace-one", "row", private)
    facts = Facts(1000, features, Grid(20, 3.0, (0.0,) * d, (1.0,) * d), Adjacency.REPLACE_ONE)
    release = Released(
        "gaussian_moments", "theorem 1", facts, (), Cost.approx(Fraction(1), Fraction(1, 10**6)), guarantee
    )
    return SimpleNamespace(
        components_=basis.T[:k],
        explained_variance_=values[:k],
        explained_variance_ratio_=ratio[:k],
        eigenvalues_=values,
        eigenvalues_raw_=values + generator.normal(0, 0.1, d),
        resolved_=stands,
        n_resolved_=resolved,
        eigenvalue_intervals_=np.stack([values - half, values + half], axis=1),
        ratio_=ratio,
        ratio_intervals_=np.stack([values - half, values + half], axis=1) / total,
        alignment_=np.linspace(0.99, 0.5, k),
        noise_edge_=edge,
        noise_sd_=0.05,
        level_=0.9,
        loadings_=basis[:, :k] * np.sqrt(values[:k]),
        correlation_=covariance / np.outer(sd, sd),
        covariance_=covariance,
        covariance_raw_=covariance,
        scale_=np.ones(d),
        mean_=np.zeros(d),
        total_variance_=total,
        feature_names_encoded_=np.asarray(features, dtype=object),
        n_components_=k,
        release_=release,
        privacy_=guarantee,
    )


@pytest.fixture
def make():
    return fitted
