"""Exact laws against draws-free computations of another kind, and against the losses that pages prove."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dpspectra.core.privacy import Cost
from dpspectra.core.released import StepPlan
from dpspectra.testing import enumerate as exact
from dpspectra.testing.losses import Call, excess, spent


def plan(law: str, sigma: tuple[float, ...], cost: Cost | None = None, mu_squared: int = 0) -> StepPlan:
    return StepPlan("step", 3, 0, sigma, Fraction(1), Fraction(mu_squared), Fraction(1), "L", law, cost)


def call(law: str, values: list[int], scale: list[float]) -> Call:
    return Call(law, np.array(values), np.array(scale))


def slow_first(counts: list[int], target: int, scales: tuple[float, float], top: int = 60) -> list[float]:
    """The law of the first place by summing over all noise up to ``top``."""
    own, each = (np.exp(-np.arange(top) / scale) for scale in scales)
    own, each = own / own.sum(), each / each.sum()
    law = np.zeros(len(counts) + 1)
    for noise in product(range(top), repeat=1 + len(counts)):
        weight = own[noise[0]] * math.prod(each[v] for v in noise[1:])
        stops = [i for i, c in enumerate(counts) if c + noise[1 + i] >= target + noise[0]]
        law[stops[0] if stops else len(counts)] += weight
    return law.tolist()


def test_first_is_the_sum_over_all_noise() -> None:
    law = np.exp(exact.first(np.array([0, 3]), 2, (1.3, 0.9)))
    assert law == pytest.approx(slow_first([0, 3], 2, (1.3, 0.9)), rel=1e-9)


@pytest.mark.parametrize("scale", [0.7, 40.0])
def test_laws_are_laws(scale: float) -> None:
    counts = np.array([0, 3, 5, 1, 90])
    laws = [exact.first(counts, 4, (scale, 2 * scale)), exact.largest(counts, scale)]
    laws += [law for pair in exact.threshold(counts, counts[::-1], scale, 7) for law in pair]
    laws += [law for pair in exact.laplace(counts, counts[::-1], np.full(5, scale)) for law in pair]
    for law in laws:
        assert np.exp(law).sum() == pytest.approx(1, abs=1e-12)


def test_the_proven_loss_of_first_is_attained_and_never_passed() -> None:
    generator, scales = np.random.default_rng(3), (2.0, 3.0)
    for _ in range(40):
        counts = generator.integers(0, 9, 6)
        change = generator.integers(0, 2, 6) * generator.choice([-1, 1])
        p, q = (exact.first(c, 7, scales) for c in (counts, counts + change))
        seen = spent(
            plan("first", scales),
            call("first", counts.tolist(), [*scales, 7]),
            call("first", (counts + change).tolist(), [*scales, 7]),
        )
        assert max(exact.loss(p, q), exact.loss(q, p)) <= float(seen.epsilon) + 1e-9
    up = [exact.first(np.array([a, 0]), 200, scales) for a in (200, 201)]
    assert max(exact.loss(*up), exact.loss(*up[::-1])) == pytest.approx(1 / 2 + 1 / 3, rel=1e-3)


def test_the_threshold_of_the_page_has_its_delta() -> None:
    epsilon, delta = 1.0, 1e-6
    least = 1 + math.ceil(2 / epsilon * math.log(1 / (delta * (1 + math.exp(-epsilon / 2)))))
    for left, right in (([1, 0], [0, 1]), ([1, 5], [0, 6]), ([40, 0], [39, 1])):
        p, q = exact.together(exact.threshold(np.array(left), np.array(right), 2 / epsilon, least))
        assert max(exact.delta(p, q, epsilon), exact.delta(q, p, epsilon)) == pytest.approx(
            8.5337e-7, rel=1e-4
        )
    p, q = exact.together(exact.threshold(np.array([1, 0]), np.array([0, 1]), 2 / epsilon, least - 1))
    assert exact.delta(p, q, epsilon) > delta


def test_the_largest_loss_of_laplace_is_its_distance() -> None:
    (law,) = exact.laplace(np.array([3, 5]), np.array([3, 1000]), np.array([50.0, 50.0]))
    assert exact.loss(*law) == pytest.approx(995 / 50)
    assert exact.loss(*law[::-1]) == pytest.approx(995 / 50)


@pytest.mark.parametrize(
    ("law", "left", "right", "scale", "epsilon"),
    [
        ("laplace", [3, 0, 5], [1, 0, 6], [2.0, 2.0, 4.0], Fraction(5, 4)),
        ("largest", [3, 0, 5], [4, 0, 4], [4.0], Fraction(1, 2)),
        ("first", [3, 4, 5], [3, 4, 5], [2.0, 4.0, 9.0], 0),
        ("first", [3, 4, 5], [3, 5, 6], [2.0, 4.0, 9.0], Fraction(3, 4)),
        ("first", [3, 4, 5], [2, 3, 4], [2.0, 4.0, 9.0], Fraction(1, 2)),
        ("first", [3, 4, 5], [4, 3, 5], [2.0, 4.0, 9.0], 1),
    ],
)
def test_losses_by_formula(law: str, left, right, scale, epsilon) -> None:
    assert spent(plan(law, tuple(scale)), call(law, left, scale), call(law, right, scale)).epsilon == epsilon


def test_gaussian_losses_add_in_squares() -> None:
    found = spent(
        plan("gaussian", (2.0,)), call("gaussian", [3, 1], [2.0, 4.0]), call("gaussian", [1, 2], [2.0, 4.0])
    )
    assert found.mu_squared == Fraction(17, 16)


def test_excess_names_the_currency() -> None:
    half = Cost.pure(Fraction(1, 2), rho=Fraction(1, 8))
    assert excess(half, half) is None
    assert excess(Cost.pure(Fraction(51, 100), rho=Fraction(1, 9)), half) == "epsilon"
    assert excess(Cost.pure(Fraction(1, 2), rho=Fraction(1, 7)), half) == "rho"
    assert excess(half, Cost.gaussian(Fraction(1))) == "mu_squared"
