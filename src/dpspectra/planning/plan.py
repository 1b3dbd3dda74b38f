"""``plan(...)``: the noise of a release before a budget is spent, from public facts only."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from ..core.errors import InfeasiblePlan, ParameterError
from ..core.facts import Facts
from ..core.privacy import Adjacency, Budget
from ..core.released import StepPlan
from ..core.request import Request
from ..core.schema import Schema
from ..rows.encode import Encoder
from .along import Looking, looking
from .ask import named, request_for
from .auto import open_ended
from .choose import choose, decide, pinned
from .facts import encoder_of, facts_of, regrid, rows_of, schema_of
from .law import Law, crowding, law, sign_spectrum
from .recursion import Recursing, recursing
from .resources import Resources, resources
from .score_map import CellNoise, cell_noise
from .show import table
from .warn import plan_warnings

_SPREAD = 0.01  # a declared total variance below this part of B^2 says that B is far too wide
_MOST_ROWS = 2**40
_EPSILON_RANGE = (1e-6, 1e6)


@dataclass(frozen=True)
class Plan:
    """What a release will cost, do and need. Prints as a table; every number is public.

    Attributes
    ----------
    request : Request
        The checked settings.
    facts : Facts
        Names, grid and adjacency that the run will have too.
    encoder : Encoder
        The public geometry of encoded rows.
    rows : int
        n, or the caller's guess of it under add/remove (used here only).
    steps : tuple of StepPlan
        Equal to those of the release.
    law : Law
        Noise sd, edge, errors and alignment, in encoded units; of robust directions in shares, as their
        matrix has trace 1.
    looking : Looking or None
        Variances along directions, if the method finds them so.
    cells : CellNoise or None
        The noise of the cells of a score map, and how fine they can be.
    recursion : Recursing or None
        Of recursive preconditioning: error, reach, when it pays. ``law`` is then that of the whitened rows,
        whose total variance is d.
    total_variance : float
        Trace of the covariance that shares refer to, in encoded units; the largest possible, B^2, if
        ``declared`` is False. 1 for robust directions.
    spectrum : tuple of float or None
        Declared exact eigenvalues of the covariance, descending.
    resources : Resources
        Memory, passes, draws, seconds.
    mechanism, reason : str
        The method, and why.
    slack : float
        Part of epsilon that covers discrete against continuous noise.
    warnings : tuple of str
        What to expect to go wrong, each with its way out.
    """

    request: Request
    facts: Facts
    encoder: Encoder
    rows: int
    steps: tuple[StepPlan, ...]
    law: Law
    looking: Looking | None
    cells: CellNoise | None
    recursion: Recursing | None
    total_variance: float
    declared: bool
    spectrum: tuple[float, ...] | None
    resources: Resources
    mechanism: str
    reason: str
    slack: float
    warnings: tuple[str, ...]

    @property
    def noise_sd(self) -> float:
        """tau: noise sd of an off-diagonal entry of the covariance, encoded units."""
        return self.law.noise_sd

    @property
    def noise_edge(self) -> float:
        """2 tau sqrt(d), encoded units."""
        return self.law.edge

    @property
    def eigenvalues(self) -> tuple[float, ...] | None:
        """Declared eigenvalues of the matrix that is released: of robust directions, those of elliptical
        rows with the declared spectrum."""
        if self.spectrum is None or not self.law.shares:
            return self.spectrum
        return tuple(sign_spectrum(self.spectrum).tolist())

    @property
    def resolved_share(self) -> float:
        """Smallest share of the total variance that stands out of the noise; above 1: none can."""
        return self.law.resolved / self.total_variance

    @property
    def aligned_share(self) -> float:
        """Smallest share whose component has expected squared cosine 0.9; above 1: none can."""
        return self.law.aligned(0.9) / self.total_variance

    @property
    def frobenius_error(self) -> float:
        """Expected Frobenius error of the raw released matrix, encoded units (shares for directions)."""
        return self.law.frobenius(self.spectrum)

    @property
    def operator_error(self) -> float:
        """Median operator-norm error of the raw released matrix, in the same units."""
        return self.law.operator

    @property
    def mu_squared(self) -> Fraction:
        """Total Delta^2/sigma^2, exact."""
        return sum((step.mu_squared for step in self.steps), Fraction(0))

    def needed_rows(self, share: float | None = None, *, alignment: float = 0.9, components: int = 1) -> int:
        """Smallest n at which ``components`` components reach an expected squared cosine, by this method.

        Parameters
        ----------
        share : float, optional
            Share of the total variance that the smallest of them holds; not needed with a spectrum.
        alignment : float
            The squared cosine asked for, in (0, 1).
        components : int
            How many of the leading components.

        Raises
        ------
        ParameterError, InfeasiblePlan
            An impossible goal; or no number of rows reaches it.
        """
        goal, request = self._goal(share, alignment, components), pinned(self.request, self.facts)

        def reached(rows: int) -> bool:
            facts = regrid(self.facts, rows, self.encoder)
            try:
                steps = choose(request, facts).calibrate(facts)
            except InfeasiblePlan:  # more rows than 64-bit sums hold
                return False
            return law(steps, facts, rows, self.request.ddof).turning <= goal

        low, high = self.request.ddof, self.request.ddof + 1
        while not reached(high):
            low, high = high, 2 * high
            if high > _MOST_ROWS:
                raise InfeasiblePlan("no number of rows reaches this goal: ask for less, or a larger budget")
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if reached(middle) else (middle, high)
        return high

    def needed_epsilon(
        self, share: float | None = None, *, alignment: float = 0.9, components: int = 1
    ) -> float:
        """Smallest epsilon, at this delta and n, that reaches a goal stated as for ``needed_rows``."""
        delta = self.request.budget.delta
        if delta is None:
            raise ParameterError("needed_epsilon needs a plan whose budget is epsilon and delta")
        return self._needed(
            lambda value: Budget.of(epsilon=value, delta=delta), self._goal(share, alignment, components)
        )

    def needed_rho(self, share: float | None = None, *, alignment: float = 0.9, components: int = 1) -> float:
        """Smallest rho of zCDP, at this n, that reaches a goal stated as for ``needed_rows``."""
        return self._needed(lambda value: Budget.of(rho=value), self._goal(share, alignment, components))

    def _needed(self, budget: Callable[[float], Budget], goal: float) -> float:
        method = pinned(self.request, self.facts)

        def reached(value: float) -> bool:
            request = replace(method, budget=budget(value))
            try:
                steps = choose(request, self.facts).calibrate(self.facts)
            except InfeasiblePlan:  # a budget too small for 64-bit noise
                return False
            return law(steps, self.facts, self.rows, request.ddof).turning <= goal

        low, high = _EPSILON_RANGE
        if not reached(high):
            raise InfeasiblePlan("no budget reaches this goal: ask for less, or bring more rows")
        while high > low * 1.0005:
            middle = math.sqrt(low * high)
            low, high = (low, middle) if reached(middle) else (middle, high)
        return high

    def _goal(self, share: float | None, alignment: float, components: int) -> float:
        """The largest sd of an entry of the error at which the goal holds."""
        if not 0 < alignment < 1:
            raise ParameterError("alignment must be between 0 and 1")
        if isinstance(components, bool) or components not in range(1, self.facts.d + 1):
            raise ParameterError("components must be a whole number from 1 to the number of features")
        if self.recursion is not None:
            raise ParameterError("share: goals are for components, and recursion is for all directions alike")
        if share is not None:
            if not 0 < share * components <= 1 + 1e-12:
                raise ParameterError("share: components of this share sum to more than the total variance")
            return float(share) * self.total_variance * math.sqrt((1 - alignment) / self.facts.d)
        if self.eigenvalues is None:
            raise ParameterError("share: say which share of the total variance the smallest component holds")
        crowd = float(crowding(self.eigenvalues)[:components].max(initial=0.0))
        if math.isinf(crowd):
            raise InfeasiblePlan("declared eigenvalues are equal: their components have no direction")
        return math.inf if crowd == 0 else math.sqrt((1 - alignment) / crowd)

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON values."""
        grid = self.facts.grid
        components = None
        if self.eigenvalues is not None:
            cosines = self.law.alignments(self.eigenvalues).tolist()
            components = [
                {"share": value / self.total_variance, "alignment": cosine}
                for value, cosine in zip(self.eigenvalues, cosines, strict=True)
            ]
        return {
            "mechanism": self.mechanism,
            "reason": self.reason,
            "budget": str(self.request.budget),
            "mu_squared": str(self.mu_squared),
            "slack": self.slack,
            "adjacency": self.facts.adjacency.value,
            "unit": self.facts.unit,
            "rows": self.rows,
            "rows_public": self.facts.adjacency is Adjacency.REPLACE_ONE,
            "features": self.facts.d,
            "row_norm": grid.radius if grid.bounded else None,
            "bits": grid.bits,
            "steps": [step.to_dict() | described(step, self) for step in self.steps],
            "noise_sd": self.noise_sd,
            "noise_edge": self.noise_edge,
            "isotropic": self.law.isotropic,
            "robust": self.law.shares,
            "variances": self._variances(),
            "total_variance": self.total_variance,
            "total_variance_declared": self.declared,
            "resolved_share": self.resolved_share,
            "aligned_share": self.aligned_share,
            "frobenius_error": self.frobenius_error,
            "operator_error": self.operator_error,
            "components": components,
            "cells": None if self.cells is None else self.cells.to_dict(),
            "recursion": None if self.recursion is None else self.recursion.to_dict(),
            "memory_bytes": self.resources.memory_bytes,
            "passes": self.resources.passes,
            "draws": self.resources.draws,
            "seconds": self.resources.seconds,
            "warnings": list(self.warnings),
        }

    def _variances(self) -> dict[str, Any] | None:
        """What is expected of variances along directions, JSON values."""
        if self.looking is None:
            return None
        errors = None if self.spectrum is None else self.looking.errors(self.spectrum)
        known = None if errors is None else [value if math.isfinite(value) else None for value in errors]
        return self.looking.to_dict() | {"relative_errors": known}

    def __str__(self) -> str:
        return table(self.to_dict())


def described(step: StepPlan, plan: Plan) -> dict[str, Any]:
    """A step for people: rho, and its noise sd in units of the statistic and, of moments, in encoded units of
    what it estimates."""
    grid_sd = [math.ldexp(value, -step.shift) for value in step.sigma]
    width, rho = plan.facts.grid.step, step.charge.rho
    square = width**2 / plan.rows
    units = {"count": 1.0, "mean": width / plan.rows, "scatter": square, "augmented": square, "trace": square}
    unit = units.get(step.name)
    return {
        "rho": float(step.mu_squared / 2 if rho is None else rho),
        "sd_grid": grid_sd,
        "sd_encoded": None if unit is None else [value * unit for value in grid_sd],
    }


def plan(
    target: Any = "auto",
    *,
    n: int | None = None,
    d: int | None = None,
    schema: Schema | str | os.PathLike[str] | None = None,
    bounds: Any = None,
    total_variance: float | None = None,
    spectrum: Sequence[float] | None = None,
    **params: Any,
) -> Plan:
    """Plan a release.

    Parameters
    ----------
    target : estimator or str
        An estimator (its ``get_params()`` are used), or "auto" or a mechanism's name.
    n : int
        Number of rows. Default: the schema's ``rows`` (or ``rows_max`` under add/remove, where a guess
        is used for planning only).
    d : int
        Number of columns; not needed with a schema.
    schema, bounds
        As in the estimators. A mechanism may be planned with neither: rows then lie in a ball of radius
        ``row_norm`` (default 1), and results are relative to it.
    total_variance : float, optional
        Assumed trace of the covariance, encoded units; default the largest possible, B^2.
    spectrum : sequence of float, optional
        Assumed eigenvalues, encoded units.
    **params
        Settings as in the estimators (``epsilon``, ``delta``, ``center``, ...), over the target's own.

    Raises
    ------
    ParameterError, SchemaError, InfeasiblePlan
        As the run would raise them.
    """
    given = dict(target.get_params()) if hasattr(target, "get_params") else named(target)
    given |= params
    if schema is None and bounds is None:  # what is said here replaces what the estimator says
        schema, bounds = given.get("schema"), given.get("bounds")
    request = request_for(target, given)
    read = schema_of(schema, bounds, d)
    alone = schema is None and bounds is None and not hasattr(target, "get_params")
    if alone and request.row_norm is None and not open_ended(request):
        request = replace(request, row_norm=1.0)
    encoder = encoder_of(read, request)
    rows = rows_of(n, read, request)
    facts = facts_of(rows, read, encoder, request)

    mechanism = choose(request, facts)
    steps = mechanism.calibrate(facts)
    recursion = recursing(mechanism, steps, facts, rows)
    noise = law(steps, facts, rows, request.ddof) if recursion is None else recursion.law(facts.d, rows)
    assumed = _spectrum(spectrum, facts.d) if recursion is None else None
    relative = noise.shares or recursion is not None
    whole = float(facts.d) if recursion is not None else 1.0
    total = whole if relative else _total(total_variance, assumed, facts)
    warnings = plan_warnings(facts, request, encoder, rows=rows)
    declared = not relative and (total_variance is not None or assumed is not None)
    if declared and total < _SPREAD * facts.grid.radius**2:
        warnings.append(
            "the declared total variance is below 1 % of B^2, so noise is made for rows far larger than "
            "yours: lower row_norm, narrow the bounds, or give clip"
        )
    return Plan(
        request=request,
        facts=facts,
        encoder=encoder,
        rows=rows,
        steps=steps,
        law=noise,
        looking=looking(mechanism, steps, facts),
        cells=cell_noise(mechanism, steps, facts, rows),
        recursion=recursion,
        total_variance=total,
        declared=declared,
        spectrum=assumed,
        resources=resources(facts.d, rows, steps),
        mechanism=mechanism.name,
        reason=decide(request, facts).reason,
        slack=mechanism.slack(facts),
        warnings=tuple(warnings),
    )


def _spectrum(spectrum: Sequence[float] | None, d: int) -> tuple[float, ...] | None:
    if spectrum is None:
        return None
    values = tuple(sorted((float(value) for value in spectrum), reverse=True))
    if len(values) > d or not all(math.isfinite(value) and value >= 0 for value in values):
        raise ParameterError("spectrum must hold at most d finite eigenvalues, none negative")
    return values + (0.0,) * (d - len(values))


def _total(total: float | None, spectrum: Sequence[float] | None, facts: Facts) -> float:
    value = total if total is not None else (sum(spectrum) if spectrum is not None else facts.grid.radius**2)
    if not (math.isfinite(value) and value > 0):
        raise ParameterError("total_variance must be positive and finite")
    return float(value)
