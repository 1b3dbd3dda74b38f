"""The five-cluster table is what its documentation says, the same at every call."""

import numpy as np
import pytest

from dpspectra.instances.clusters import MEANS, VARIANCES, five_clusters, five_clusters_covariance


def test_means_variances_and_labels() -> None:
    rows, labels = five_clusters(4000)
    assert rows.shape == (20_000, 20)
    assert np.bincount(labels).tolist() == [4000] * 5
    for i, ((value, columns), variance) in enumerate(zip(MEANS, VARIANCES, strict=True)):
        cluster, mean = rows[labels == i], np.zeros(20)
        mean[columns] = value
        np.testing.assert_allclose(cluster.mean(axis=0), mean, atol=6 * (variance / 4000) ** 0.5)
        assert cluster.var(axis=0).mean() == pytest.approx(variance, rel=0.03)
    np.testing.assert_allclose(np.cov(rows.T), five_clusters_covariance(), atol=0.6)


def test_the_seed_fixes_the_table() -> None:
    first, second = five_clusters(5)[0], five_clusters(5)[0]
    assert (first == second).all()
    assert (five_clusters(5, seed=1)[0] != first).any()
