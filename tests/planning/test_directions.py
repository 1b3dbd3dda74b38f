"""The choice of a direction mechanism: by public facts, as measured in benchmarks/directions.py."""

import math

import pytest

from dpspectra.core.facts import Facts, Grid
from dpspectra.core.privacy import Adjacency, Budget
from dpspectra.mechanisms.registry import mechanism
from dpspectra.planning.directions import best_directions, edges
from dpspectra.planning.law import law

CASES = [
    # n, d, epsilon, bounds believed, k -> what captured most, or as good as most
    ((569, 30, "1", False, 3), "spatial_sign"),
    ((569, 30, "1", True, 3), "spatial_sign"),
    ((569, 30, "0.5", False, 1), "spatial_sign"),
    ((569, 30, "0.4", False, 1), "spherical_kendall"),
    ((569, 30, "0.3", True, 1), "spherical_kendall"),
    ((1797, 64, "1", True, 3), "spatial_sign"),
    ((1797, 64, "3", False, 3), "spatial_sign"),
    ((10_000, 784, "1", True, 3), "spatial_sign"),
    ((10_000, 784, "3", False, 1), "spherical_kendall"),
    ((10_000, 784, "3", True, 1), "gaussian_moments"),
    ((48_842, 6, "1", True, 3), "gaussian_moments"),
    ((48_842, 6, "1", False, 3), "spherical_kendall"),
]


def facts(n: int | None, d: int, bounded: bool) -> Facts:
    grid = Grid(20, 1.0 if bounded else math.inf, (0.0,) * d, (1.0,) * d)
    adjacency = Adjacency.ADD_REMOVE if n is None else Adjacency.REPLACE_ONE
    return Facts(n, tuple(map(str, range(d))), grid, adjacency)


@pytest.mark.parametrize(("case", "expected"), CASES, ids=str)
def test_it_takes_what_was_measured_to_be_best(case, expected) -> None:
    n, d, epsilon, bounded, k = case
    budget, known = Budget.of(epsilon=epsilon, delta="1e-6"), facts(n, d, bounded)
    name, options, reason = best_directions(known, budget, bounded, k)
    assert name == expected
    assert reason
    mechanism(name)(budget=budget, **options).calibrate(known)  # the options are valid


def test_many_rows_are_paired_once_and_a_private_number_leaves_moments() -> None:
    budget = Budget.of(epsilon=1, delta="1e-6")
    assert best_directions(facts(10**6, 5, False), budget, False, 1)[1] == {"pairs": "disjoint"}
    assert best_directions(facts(10**4, 2, False), budget, False, 1)[1] == {"pairs": "all"}
    assert best_directions(facts(None, 5, True), budget, True, 1)[0] == "gaussian_moments"


def test_a_budget_in_mu_buys_no_selection() -> None:
    assert best_directions(facts(569, 30, False), Budget.of(mu="0.2"), False, 1)[0] == "spherical_kendall"


@pytest.mark.parametrize("name", ["spherical_kendall", "spatial_sign"])
def test_edges_are_those_of_the_calibrated_noise(name: str) -> None:
    """Within 1 %, and above for spatial_sign, whose Gaussian steps get what the selection leaves over."""
    budget, known = Budget.of(epsilon=1, delta="1e-6"), facts(2000, 20, False)
    plan = mechanism(name)(budget=budget).calibrate(known)
    assert edges(known, budget)[name] == pytest.approx(law(plan, known, 2000).edge, rel=0.03)
