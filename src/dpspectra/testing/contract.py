"""What every mechanism must satisfy: the theorem of ``mechanisms/base.py``, clause by clause.

``contract(mechanism, adjacency)`` runs every check of ``CHECKS``. A check looks at a ``Subject``, so the same
checks judge the real way of a release, a third party's table, and the planted faults of ``faults.py``.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..core.privacy import Adjacency, Cost
from ..core.released import Released, StepPlan
from ..mechanisms.base import Mechanism
from ..noise.base import FloatArray, IntArray, Noise
from .neighbours import Pair, pairs
from .sources import ExactNoise, Recorder, Replay, SeededNoise, in_force
from .statistics import check_independent, check_moments
from .subject import REAL, Cells, Subject

TIGHT = Fraction(98, 100)
"""Part of mu^2 that the worst pair must reach: sensitivities are tight within 1 %."""
_DRAWS = 8_000


class ContractViolation(AssertionError):
    """A clause of the contract does not hold."""


def contract(mechanism: Mechanism, adjacency: Adjacency, subject: Subject = REAL) -> None:
    """Run every check.

    Raises
    ------
    ContractViolation, LawViolation
        The first clause that does not hold.
    """
    for check in CHECKS.values():
        check(subject, mechanism, adjacency)


def run(
    subject: Subject, mechanism: Mechanism, cells: Cells, adjacency: Adjacency, inner: Noise
) -> tuple[Released, Recorder]:
    """One release of these cells under a noise source, recorded."""
    recorder = Recorder(inner)
    with in_force(recorder):
        released = subject.release(subject.open(cells, adjacency), subject.adapt(mechanism))
    return released, recorder


def both(
    subject: Subject, mechanism: Mechanism, pair: Pair, adjacency: Adjacency
) -> tuple[tuple[Released, Recorder], tuple[Released, Recorder]]:
    """The left table without noise, and the right one given the same earlier outputs."""
    left = run(subject, mechanism, pair.left, adjacency, ExactNoise())
    return left, run(subject, mechanism, pair.right, adjacency, Replay(left[1].outputs))


def plans_of(
    subject: Subject, mechanism: Mechanism, cells: Cells, adjacency: Adjacency
) -> Sequence[StepPlan]:
    """The steps that a release of these cells declares."""
    return subject.adapt(mechanism).calibrate(subject.open(cells, adjacency).facts)


def loss(left: IntArray, right: IntArray, sigma: FloatArray) -> Fraction:
    """sum (left - right)^2/sigma^2, exact: what the pair costs in a noise call, in units of mu^2."""
    change = (left - right).ravel()  # wraps like the sums themselves
    return sum(
        (
            Fraction(int(c)) ** 2 / Fraction(float(s)) ** 2
            for c, s in zip(change, sigma.ravel(), strict=True)
            if c
        ),
        Fraction(0),
    )


def losses(
    subject: Subject, mechanism: Mechanism, adjacency: Adjacency
) -> dict[str, tuple[Fraction, list[Fraction]]]:
    """Each step's declared mu^2, and what each pair of neighbours costs in it."""
    found: dict[str, tuple[Fraction, list[Fraction]]] = {}
    for pair in pairs(subject, adjacency):
        (_, left), (_, right) = both(subject, mechanism, pair, adjacency)
        plans = plans_of(subject, mechanism, pair.left, adjacency)
        for plan, (a, sigma), (b, _) in zip(plans, left.calls, right.calls, strict=True):
            found.setdefault(plan.name, (plan.mu_squared, []))[1].append(loss(a, b, sigma))
    return found


def _require(holds: bool, clause: str, *where: Any) -> None:
    if not holds:
        raise ContractViolation(": ".join([*(str(part) for part in where), clause]))


def check_calls(subject: Subject, mechanism: Mechanism, adjacency: Adjacency) -> None:
    """Neighbours see the same noise calls: number, order, shapes and scales, as declared."""
    for pair in pairs(subject, adjacency):
        (_, left), (_, right) = both(subject, mechanism, pair, adjacency)
        plans = plans_of(subject, mechanism, pair.left, adjacency)
        sizes = [plan.size for plan in plans]
        for side in (left, right):
            _require(
                [values.size for values, _ in side.calls] == sizes,
                "noise calls differ from the plan",
                pair.name,
            )
        for plan, (_, a), (_, b) in zip(plans, left.calls, right.calls, strict=True):
            _require(np.array_equal(a, b), "the noise scale depends on a row", pair.name, plan.name)
            _require(set(a.tolist()) <= set(plan.sigma), "noise scale not in the plan", pair.name, plan.name)


def check_domain(subject: Subject, mechanism: Mechanism, adjacency: Adjacency) -> None:
    """One step a plan, in order, of flat int64 arrays of the declared size."""
    for pair in pairs(subject, adjacency):
        released, _ = run(subject, mechanism, pair.right, adjacency, SeededNoise(1))
        plans = plans_of(subject, mechanism, pair.right, adjacency)
        _require(
            [step.plan for step in released.steps] == list(plans), "steps differ from the plan", pair.name
        )
        for step in released.steps:
            right = step.values.dtype == np.int64 and step.values.shape == (step.plan.size,)
            _require(right, "a step is not a flat int64 array of its size", pair.name, step.plan.name)


def check_sensitivity(subject: Subject, mechanism: Mechanism, adjacency: Adjacency) -> None:
    """No pair of neighbours, given equal earlier outputs, costs more than a step declares."""
    for name, (declared, measured) in losses(subject, mechanism, adjacency).items():
        _require(max(measured) <= declared, "neighbours differ by more than the declared sensitivity", name)


def check_tight(subject: Subject, mechanism: Mechanism, adjacency: Adjacency) -> None:
    """Some pair reaches each declared sensitivity within 1 % (steps in ``mechanism.loose`` are let off)."""
    loose: frozenset[str] = getattr(mechanism, "loose", frozenset())
    for name, (declared, measured) in losses(subject, mechanism, adjacency).items():
        _require(name in loose or max(measured) >= TIGHT * declared, "the sensitivity is not attained", name)


def check_arithmetic(subject: Subject, mechanism: Mechanism, adjacency: Adjacency) -> None:
    """mu^2 = Delta^2/min(sigma_d^2, 2 sigma_o^2) in each step; shares add to 1, costs to the total."""
    plans = plans_of(subject, mechanism, np.zeros((10, 3)), adjacency)
    for plan in plans:
        squares = [Fraction(value) ** 2 for value in plan.sigma]
        whitened = squares[0] if len(squares) == 1 else min(squares[0], 2 * squares[1])
        _require(
            plan.mu_squared == plan.sensitivity_squared / whitened, "mu^2 is not Delta^2/sigma^2", plan.name
        )
    _require(sum(plan.share for plan in plans) == 1, "the shares do not add to 1")
    total = subject.adapt(mechanism).cost(plans).mu_squared
    _require(total == sum(plan.mu_squared for plan in plans), "the steps do not add up to the cost")


class _Witness:
    """Stands in for a ledger, and notes the noise calls that came before a spend."""

    path = "witness"

    def __init__(self) -> None:
        self.costs: list[Cost] = []
        self.early = False

    def spend(self, label: str, cost: Cost, **facts: Any) -> None:
        self.costs.append(cost)

    def gaussian(self, values: IntArray, sigma: FloatArray) -> IntArray:
        self.early = self.early or not self.costs
        return values.copy()

    laplace = gaussian
    private = False
    silent = False
    entropy = "none (test: watching the ledger)"


def check_ledger(subject: Subject, mechanism: Mechanism, adjacency: Adjacency) -> None:
    """One ledger row a release, of its whole cost, committed before the first noise."""
    witness, adapted = _Witness(), subject.adapt(mechanism)
    with in_force(witness):
        released = subject.release(subject.open(np.zeros((10, 3)), adjacency), adapted, ledger=witness)
    _require(len(witness.costs) == 1, "a release is not exactly one ledger row")
    _require(not witness.early, "noise was drawn before the ledger committed")
    _require(witness.costs[0] == released.cost, "the ledger row is not the cost of the release")


class _Notes(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__(0)
        self.lines: list[tuple[str, int, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append((record.name, record.levelno, record.getMessage()))


def check_silence(subject: Subject, mechanism: Mechanism, adjacency: Adjacency) -> None:
    """Neighbours raise, warn and log alike; and no cell makes a release fail."""

    def heard(cells: Cells, inner: Noise) -> tuple[list[Any], list[IntArray]]:
        notes, root = _Notes(), logging.getLogger()
        level = root.level
        root.addHandler(notes)
        root.setLevel(0)
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    outputs = run(subject, mechanism, cells, adjacency, inner)[1].outputs
                except Exception as error:
                    raise ContractViolation(
                        f"a cell made the release fail: {type(error).__name__}"
                    ) from error
        finally:
            root.removeHandler(notes)
            root.setLevel(level)
        return [notes.lines, [(w.category, str(w.message)) for w in caught]], outputs

    for pair in pairs(subject, adjacency):
        left, outputs = heard(pair.left, ExactNoise())
        right, _ = heard(pair.right, Replay(outputs))
        _require(left == right, "neighbours warn or log differently", pair.name)


def check_hidden(subject: Subject, mechanism: Mechanism, adjacency: Adjacency) -> None:
    """Given the same noisy outputs, the release is the same text: nothing else tells neighbours apart."""
    for pair in pairs(subject, adjacency):
        outputs = run(subject, mechanism, pair.left, adjacency, ExactNoise())[1].outputs
        left, right = (
            run(subject, mechanism, cells, adjacency, Replay(outputs))[0] for cells in (pair.left, pair.right)
        )
        _require(left.to_json() == right.to_json(), "a release holds more than its noisy outputs", pair.name)


def check_exact(subject: Subject, mechanism: Mechanism, adjacency: Adjacency) -> None:
    """The order of the rows does not change one bit of what noise is added to."""
    cells = np.random.default_rng(2).normal(size=(400, 5)) * 0.4
    _, forth = run(subject, mechanism, cells, adjacency, ExactNoise())
    _, back = run(subject, mechanism, cells[::-1].copy(), adjacency, Replay(forth.outputs))
    same = all(np.array_equal(a, b) for (a, _), (b, _) in zip(forth.calls, back.calls, strict=True))
    _require(same, "the sums depend on the order of the rows")


def check_fresh(subject: Subject, mechanism: Mechanism, adjacency: Adjacency) -> None:
    """Two releases in a row carry different noise in every step of more than two numbers."""
    cells = np.zeros((10, 3))
    first, second = (run(subject, mechanism, cells, adjacency, subject.source())[0].steps for _ in range(2))
    for a, b in zip(first, second, strict=True):
        repeated = a.plan.size > 2 and bool((a.values == b.values).any())
        _require(not repeated, "two releases share noise", a.plan.name)


def check_noise(subject: Subject, mechanism: Mechanism, adjacency: Adjacency) -> None:
    """The source adds Gaussian noise of the asked sd, afresh at every call (false alarms: 2e-9 a run)."""
    source, zeros = subject.source(), np.zeros(_DRAWS, dtype=np.int64)
    plan = plans_of(subject, mechanism, np.zeros((10, 3)), adjacency)[-1]
    sigma = plan.sigma[0]
    first, second = (source.gaussian(zeros, np.full(_DRAWS, sigma)) for _ in range(2))
    check_moments(second, sigma)
    check_independent(first, second)


Check = Callable[[Subject, Mechanism, Adjacency], None]

CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        check_calls,
        check_domain,
        check_sensitivity,
        check_tight,
        check_arithmetic,
        check_ledger,
        check_silence,
        check_hidden,
        check_exact,
        check_fresh,
        check_noise,
    )
}
"""Every clause by its name, which planted faults refer to."""
