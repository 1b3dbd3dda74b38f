"""PrivateCovariance: a differentially private covariance, correlation and precision matrix."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..accounting.ledger import Ledger
from ..core.privacy import Adjacency, Number
from ..core.released import Released
from ..core.schema import Schema
from .moments import MomentsEstimator

FloatArray = NDArray[np.float64]


class PrivateCovariance(MomentsEstimator):
    """Covariance of a table under differential privacy.

    Parameters
    ----------
    epsilon, delta, rho, mu : the one total, as (epsilon, delta), or rho (zCDP), or mu (Gaussian DP)
    bounds : (lo, hi) scalars or vectors, or {column: (lo, hi)}; public, never read from the data
    schema : Schema or path of its TOML file, in place of bounds
    row_norm : public L2 bound of an encoded, centred row; default: the largest the bounds allow
    center : "private" (mean released first), "joint" (one pass), "public" (mid-range), "none" (origin) or
        a public vector
    scaling : "none", "bounds" (noise balanced by half-ranges), "private" (spectrum of the correlation)
    clip : "none", or a public float that lowers ``row_norm``
    adjacency : "replace-one" (the number of rows is public) or "add-remove" (released with noise)
    rows_max : public capacity under add/remove or ``partial_fit`` (default 2^22)
    method : "auto" or a mechanism's name
    denoise : clean the spectrum of the noise (free of privacy cost)
    ddof : divide by n - ddof where the centre is estimated
    trace : release the trace by itself as well, for 5 % of the budget (rarely worth it)
    ledger : Ledger or path of its file
    label : name of the table in the ledger

    Attributes
    ----------
    covariance_, covariance_raw_ : (d, d) after and before clean-up, data units
    correlation_, precision_ : (d, d)
    location_ : (d,) released mean, or the public centre
    standard_errors_ : (d, d) noise sd of the entries of ``covariance_raw_``
    eigenvalues_, eigenvalue_intervals_, resolved_, noise_edge_ ... : spectrum of the scaled covariance
    release_ : Released; privacy_ : Guarantee

    All attributes are public. Privacy cost: the whole budget per ``fit`` (``gaussian_moments.md``).
    ``score`` reads rows and is not private.

    Examples
    --------
    >>> import numpy as np
    >>> from dpspectra import PrivateCovariance
    >>> table = np.linspace(0, 1, 2000).reshape(-1, 2)
    >>> model = PrivateCovariance(epsilon=1, delta=1e-6, bounds=(0, 1), ledger=None).fit(table)
    >>> model.covariance_.shape
    (2, 2)
    """

    purpose = "covariance"

    def __init__(
        self,
        epsilon: Number | None = None,
        *,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        bounds: Any = None,
        schema: Schema | str | os.PathLike[str] | None = None,
        row_norm: float | None = None,
        center: Any = "private",
        scaling: str = "none",
        clip: str | float = "none",
        adjacency: Adjacency | str = "replace-one",
        rows_max: int | None = None,
        method: str = "auto",
        denoise: bool = True,
        ddof: int = 1,
        trace: bool = False,
        ledger: Ledger | str | os.PathLike[str] | None = None,
        label: str = "table",
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.rho = rho
        self.mu = mu
        self.bounds = bounds
        self.schema = schema
        self.row_norm = row_norm
        self.center = center
        self.scaling = scaling
        self.clip = clip
        self.adjacency = adjacency
        self.rows_max = rows_max
        self.method = method
        self.denoise = denoise
        self.ddof = ddof
        self.trace = trace
        self.ledger = ledger
        self.label = label

    def _show(self, released: Released) -> Self:
        analysis = self._show_common(released)
        self.standard_errors_ = analysis.covariance_sd
        self.precision_ = analysis.precision
        return self

    def get_precision(self) -> FloatArray:
        """The precision matrix, (d, d)."""
        return self.precision_
