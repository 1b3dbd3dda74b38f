"""Five Gaussian clusters in twenty columns, the example table of the R package dppca.

Source: the package's documentation of its scree tutorial: 5 x 1,000 rows; the cluster means are 0; 5 on the
first five columns; -3 on them; -1 on columns 6 to 10; 3 on them; the variances are 1, 1, 5, 5, 8.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

COLUMNS = 20
MEANS = (
    (0.0, slice(0, 0)),
    (5.0, slice(0, 5)),
    (-3.0, slice(0, 5)),
    (-1.0, slice(5, 10)),
    (3.0, slice(5, 10)),
)
"""Of each cluster: a value and the columns that have it as their mean; the others have 0."""
VARIANCES = (1.0, 1.0, 5.0, 5.0, 8.0)


def five_clusters(rows: int = 1000, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Rows of five spherical Gaussian clusters and the cluster of each.

    Parameters
    ----------
    rows : of each cluster
    seed : of the generator; the same table at every call

    Returns
    -------
    (table, labels) : (5 rows, 20) and (5 rows,), labels 0..4
    """
    generator = np.random.default_rng(seed)
    blocks = []
    for (value, columns), variance in zip(MEANS, VARIANCES, strict=True):
        mean = np.zeros(COLUMNS)
        mean[columns] = value
        blocks.append(mean + np.sqrt(variance) * generator.standard_normal((rows, COLUMNS)))
    return np.vstack(blocks), np.repeat(np.arange(len(MEANS)), rows)


def five_clusters_covariance() -> NDArray[np.float64]:
    """The covariance (20, 20) of a row of a cluster drawn evenly."""
    means = np.zeros((len(MEANS), COLUMNS))
    for mean, (value, columns) in zip(means, MEANS, strict=True):
        mean[columns] = value
    covariance: NDArray[np.float64] = np.cov(means.T, bias=True) + np.mean(VARIANCES) * np.eye(COLUMNS)
    return covariance
