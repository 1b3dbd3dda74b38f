"""Public simulation with a fixed seed, of numbers that are already released.

The only place of this folder where ``numpy.random`` is allowed. Nothing here is noise for privacy: the
draws are the same in every run, and they are functions of the released numbers alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SEED = 20_240_229
"""Fixed seed of the public simulation; the same release always gives the same answer."""


def noise_matrices(d: int, pairs: int) -> NDArray[np.float64]:
    """``2 pairs`` isotropic symmetric noise matrices, in units of the off-diagonal sd.

    They come in pairs E, -E, so that their mean is exactly zero and adds no bias.

    Returns
    -------
    (2 pairs, d, d) array; variance 1 off the diagonal and 2 on it
    """
    draws = np.random.default_rng(SEED).standard_normal((pairs, d, d))
    noise = (draws + draws.transpose(0, 2, 1)) / np.sqrt(2.0)
    return np.concatenate((noise, -noise))


def mean_response(
    spectrum: NDArray[np.float64], noise: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean noisy eigenvalues and mean oracle values, by rank, of a matrix with this spectrum.

    Parameters
    ----------
    spectrum : (d,) array, an exact spectrum in units of the noise
    noise : (m, d, d) array of ``noise_matrices``

    Returns
    -------
    values : (d,) array, mean eigenvalues of diag(spectrum) + noise, descending
    oracle : (d,) array, mean of v_i' diag(spectrum) v_i over the same eigenvectors
    """
    values, vectors = np.linalg.eigh(np.diag(spectrum) + noise)
    oracle = np.einsum("mij,i->mj", vectors**2, spectrum)
    return values.mean(axis=0)[::-1], oracle.mean(axis=0)[::-1]


def jitter(size: int) -> NDArray[np.float64]:
    """Points (size, 2) spread evenly over the unit square: where synthetic points lie in their cells."""
    return np.random.default_rng(SEED).random((size, 2))
