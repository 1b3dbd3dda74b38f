"""The law of the noise on a covariance or a matrix of directions: errors, edge, alignment.

A matrix of directions has trace 1, so its eigenvalues are shares. A covariance is in encoded units (those of
``Facts.grid``). tau is the noise sd of an off-diagonal entry, a diagonal one has sqrt(2) tau; s is the noise
sd of an entry of the mean. Rows of a covariance are centred at the noisy mean m, which adds
(m - mean)(m - mean)' - s^2 I to the error, independent of the rest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ParameterError
from ..core.facts import Facts
from ..core.privacy import Adjacency
from ..core.released import StepPlan
from ..postprocess.decode import augmentation
from ..postprocess.uncertainty import detection_edge

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Law:
    """Noise of a release of d columns and ``rows`` rows.

    Attributes
    ----------
    noise_sd : tau
    mean_sd : s, 0 if the centre is public
    rows_sd : noise sd of the number of rows, 0 if it is public
    isotropic : False for the joint release; edge and alignment then hold only for a mean at the centre
    shares : True for a matrix of directions, whose eigenvalues are shares of its trace 1
    """

    d: int
    rows: int
    noise_sd: float
    mean_sd: float
    rows_sd: float
    isotropic: bool
    shares: bool = False

    @property
    def edge(self) -> float:
        """2 tau sqrt(d): no released eigenvalue below it can be told from noise."""
        return 2 * self.noise_sd * math.sqrt(self.d)

    @property
    def turning(self) -> float:
        """sd of an entry of the whole error, which turns eigenvectors: tau and the error of the mean."""
        return math.hypot(self.noise_sd, self.mean_sd**2)

    @property
    def resolved(self) -> float:
        """Smallest eigenvalue above an empty bulk that is expected to stand out of the noise.

        Noise lifts l to l + d tau^2/l, which must pass the detection edge.
        """
        needed, noise = detection_edge(self.turning, self.d), self.turning * math.sqrt(self.d)
        return (needed + math.sqrt(max(needed**2 - 4 * noise**2, 0.0))) / 2

    def aligned(self, alignment: float) -> float:
        """Smallest eigenvalue above an empty bulk whose expected squared cosine is ``alignment``."""
        return self.turning * math.sqrt(self.d / (1 - alignment))

    def frobenius(self, spectrum: Sequence[float] | None = None) -> float:
        """Expected (root mean square) Frobenius error of the covariance before denoising.

        ``spectrum``: exact eigenvalues, if assumed; a noisy number of rows scales them.
        """
        square = self.d * (self.d + 1) * self.turning**2
        if spectrum is not None:
            square += (self.rows_sd / self.rows) ** 2 * sum(value * value for value in spectrum)
        return math.sqrt(square)

    @property
    def operator(self) -> float:
        """Median operator-norm error before denoising: the edge less a finite-d correction, unless the error
        of the mean, of rank one and size d s^2, stands out of it."""
        if self.d == 1:
            return 0.954 * self.turning  # median of |N(0, 2)|
        bulk = self.noise_sd * (2 * math.sqrt(self.d) - 0.75 / math.pow(self.d, 1 / 6))
        spike = self.d * self.mean_sd**2
        if spike <= self.noise_sd * math.sqrt(self.d):
            return bulk
        return max(bulk, spike + self.d * self.noise_sd**2 / spike - self.mean_sd**2)

    def alignments(self, spectrum: Sequence[float]) -> FloatArray:
        """Expected squared cosine of each component: 1 - tau^2 sum_j 1/(l_i - l_j)^2, at least 0."""
        return np.maximum(0.0, 1 - self.turning**2 * crowding(spectrum))


SIGNS = {"kendall": 2 * math.sqrt(2.0), "signs": math.sqrt(2.0)}
"""Steps that draw a matrix of directions, of trace 1, and n times its Frobenius sensitivity."""


def has_law(plans: Sequence[StepPlan]) -> bool:
    """Whether a plan draws second moments or directions."""
    return bool({plan.name for plan in plans} & {"scatter", "augmented", *SIGNS})


def sign_spectrum(spectrum: Sequence[float]) -> FloatArray:
    """Eigenvalues of the matrix of directions of Gaussian rows with these variances; they add up to 1.

    E[l_i z_i^2 / sum_j l_j z_j^2] = int_0^inf l_i/(1 + 2 l_i t) prod_j (1 + 2 l_j t)^(-1/2) dt, which holds
    for all elliptical rows; with t = exp(u) on an even grid. Directions are more even than variances.
    """
    values = np.asarray(spectrum, dtype=np.float64) / max(spectrum)
    times = np.exp(np.linspace(-30.0, 60.0, 3000))[:, None]
    grown = 1 + 2 * values * times
    weight = np.exp(-0.5 * np.log(grown).sum(axis=1))[:, None] * times
    parts = (values / grown * weight).sum(axis=0)
    return np.asarray(parts / parts.sum())


def crowding(spectrum: Sequence[float]) -> FloatArray:
    """sum over j != i of 1/(l_i - l_j)^2: how much noise turns component i. Infinite for ties."""
    values = np.asarray(spectrum, dtype=np.float64)
    gaps = values[:, None] - values[None, :]
    np.fill_diagonal(gaps, np.inf)
    with np.errstate(divide="ignore"):
        return np.asarray((1 / gaps**2).sum(axis=1))


def law(plans: Sequence[StepPlan], facts: Facts, rows: int, ddof: int = 1) -> Law:
    """The law of a plan; ``rows`` is n, or a guess of it where n is private.

    ParameterError if the mechanism draws neither second moments nor directions (``has_law``).
    """
    by_name = {plan.name: plan for plan in plans}
    for name, change in SIGNS.items():
        if name in by_name:
            tau = change / (rows * math.sqrt(2.0 * by_name[name].mu_squared))
            return Law(facts.d, rows, tau, 0.0, 0.0, True, shares=True)
    sigma = {name: [math.ldexp(value, -plan.shift) for value in plan.sigma] for name, plan in by_name.items()}
    step, levels = facts.grid.step, facts.grid.levels
    private_rows = facts.adjacency is Adjacency.ADD_REMOVE
    centred = "mean" in by_name or "augmented" in by_name
    factor = rows / (rows - ddof) if centred and rows > ddof else 1.0
    mean_sd = rows_sd = 0.0
    if "augmented" in by_name:
        c = augmentation(facts)
        matrix = sigma["augmented"]
        mean_sd = matrix[-1] / c * step / rows
        rows_sd = matrix[0] / c**2 if private_rows else 0.0
    elif "scatter" in by_name:
        matrix = sigma["scatter"]
        if "mean" in by_name:
            mean_sd = sigma["mean"][0] * step / rows
            rows_sd = sigma["mean"][0] / levels if private_rows else 0.0
        elif "count" in by_name:
            rows_sd = sigma["count"][0]
    else:
        raise ParameterError("this method releases no covariance, so its spectrum cannot be planned")
    tau = matrix[-1] * step**2 / rows * factor
    return Law(facts.d, rows, tau, mean_sd, rows_sd, "augmented" not in by_name)
