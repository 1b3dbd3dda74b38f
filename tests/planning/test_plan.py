"""Plans hold the numbers of the run, and their predictions are what simulation shows."""

import json
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from dpspectra.core.errors import InfeasiblePlan, ParameterError, SchemaError
from dpspectra.core.privacy import Adjacency
from dpspectra.core.request import Request
from dpspectra.core.schema import Column, Schema
from dpspectra.engines import open_table
from dpspectra.planning import plan
from dpspectra.planning.choose import choose
from dpspectra.planning.resources import check_memory
from dpspectra.planning.warn import plan_warnings
from dpspectra.postprocess.decode import decode
from dpspectra.postprocess.uncertainty import detection_edge
from dpspectra.release import release
from dpspectra.rows.encode import Encoder
from dpspectra.testing.sources import exact_noise, seeded_noise

BUDGET = {"epsilon": 1, "delta": "1e-6"}


class Settings:
    """Stands in for an estimator: public settings and nothing else."""

    def __init__(self, **params):
        self.params = params

    def get_params(self, deep=True):
        return self.params


def cells(n: int, d: int, spectrum: list[float], seed: int = 0) -> np.ndarray:
    """Rows about the origin whose exact covariance (ddof=0) has these eigenvalues, norms below 1."""
    generator = np.random.default_rng(seed)
    x = generator.uniform(-1, 1, size=(n, d))
    x -= x.mean(axis=0)
    u, _, v = np.linalg.svd(x, full_matrices=False)
    return u * np.sqrt(n * np.array(spectrum)) @ v


# ------------------------------------------------------------------------------- numbers of the run


@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
@pytest.mark.parametrize("center", ["private", "joint", "public", "none"])
@pytest.mark.parametrize("budget", [BUDGET, {"rho": "0.1"}, {"mu": 2}])
def test_steps_equal_those_of_the_release(adjacency: str, center: str, budget: dict) -> None:
    schema = Schema((Column("a", bounds=(0, 10)), Column("b", bounds=(-1, 1)), Column("c", bounds=(0, 2))))
    settings = budget | {"center": center, "adjacency": adjacency, "scaling": "bounds"}
    planned = plan("auto", n=100, schema=schema, **settings)
    request = Request.of(**settings)
    encoder = Encoder.build(schema, origin=request.origin, scaling="bounds")
    table = open_table(np.ones((100, 3)), encoder, request.adjacency)
    assert planned.facts == table.facts
    with seeded_noise(1):
        released = release(table, choose(request, table.facts))
    assert planned.steps == tuple(step.plan for step in released.steps)
    assert planned.slack == released.guarantee.slack
    assert planned.mu_squared == released.cost.mu_squared
    found = decode(released)
    if adjacency == "replace-one":
        assert planned.noise_sd == pytest.approx(found.noise_sd, rel=1e-12)
    assert planned.law.rows_sd == pytest.approx(found.rows_sd, rel=1e-12)
    assert planned.law.isotropic == found.isotropic


def test_an_estimator_is_planned_by_its_settings() -> None:
    by_hand = plan("gaussian_moments", n=500, bounds=(0, 1), d=4, **BUDGET)
    estimator = Settings(bounds=(0, 1), n_components=3, method="auto", schema=None, ledger=None, **BUDGET)
    assert plan(estimator, n=500, d=4).steps == by_hand.steps
    assert plan(estimator, n=500, d=4, epsilon=2).noise_sd < by_hand.noise_sd
    with pytest.raises(SchemaError, match="ways out"):  # C06: the run would refuse too
        plan(Settings(bounds=None, schema=None, **BUDGET), n=500, d=4)


def test_rows_come_from_the_schema() -> None:
    schema = Schema((Column("a", bounds=(0, 1)),), rows=1797, rows_max=5000)
    assert plan(schema=schema, **BUDGET).rows == 1797
    assert plan(schema=schema, adjacency="add-remove", **BUDGET).rows == 5000
    guess = plan(schema=schema, adjacency="add-remove", n=10, **BUDGET)
    assert guess.rows == 10
    assert guess.facts.rows is None
    for adjacency in ("replace-one", "add-remove"):
        with pytest.raises(ParameterError, match="n is missing"):
            plan(d=3, adjacency=adjacency, **BUDGET)


# -------------------------------------------------------------------------------------- predictions


SETTINGS = [
    (d, n, center, adjacency, epsilon)
    for d in (5, 30)
    for n, epsilon in ((500, 1), (4000, 4))
    for center in ("private", "joint", "none")
    for adjacency in ("replace-one", "add-remove")
]


def test_predicted_errors_are_within_ten_percent_in_the_median() -> None:
    """Frobenius and operator error, spread and edge of 11 seeded runs a setting, over 24 settings."""
    ratios: dict[str, list[float]] = {"frobenius": [], "operator": [], "sd": [], "edge": []}
    for number, (d, n, center, adjacency, epsilon) in enumerate(SETTINGS):
        spectrum = [0.1 / (j + 1) / d for j in range(d)]
        settings = {"epsilon": epsilon, "delta": "1e-6", "center": center, "adjacency": adjacency}
        planned = plan(n=n, d=d, spectrum=spectrum, row_norm=1.0, **settings)
        table = open_table(cells(n, d, spectrum), planned.encoder, Adjacency(adjacency))
        mechanism = choose(planned.request, planned.facts)
        with exact_noise():
            exact = decode(release(table, mechanism)).covariance
        with seeded_noise(number):
            errors = [decode(release(table, mechanism)).covariance - exact for _ in range(11)]
        above = np.triu_indices(d, 1)
        ratios["frobenius"].append(np.median([np.linalg.norm(e) for e in errors]) / planned.frobenius_error)
        ratios["operator"].append(np.median([np.linalg.norm(e, 2) for e in errors]) / planned.operator_error)
        ratios["sd"].append(np.std([e[above] for e in errors]) / planned.noise_sd)
        if planned.law.isotropic and d == 30:
            ratios["edge"].append(np.median([np.linalg.norm(e, 2) for e in errors]) / planned.noise_edge)
    for name, found in ratios.items():
        assert 0.9 <= np.median(found) <= 1.1, (name, found)
    assert max(ratios["frobenius"]) < 1.25
    assert min(ratios["frobenius"]) > 0.8


def test_predicted_alignment_of_a_crowded_spectrum() -> None:
    spectrum = [0.05, 0.04, 0.03, 0.01] + [0.001] * 16
    planned = plan(n=2000, d=20, spectrum=spectrum, center="none", row_norm=1.0, **BUDGET)
    table = open_table(cells(2000, 20, spectrum), planned.encoder)
    mechanism = choose(planned.request, planned.facts)
    with exact_noise():
        exact = np.linalg.eigh(decode(release(table, mechanism)).covariance)[1][:, ::-1]
    with seeded_noise(4):
        found = [decode(release(table, mechanism)).covariance for _ in range(60)]
    cosines = [(np.linalg.eigh(c)[1][:, ::-1] * exact).sum(axis=0)[:3] ** 2 for c in found]
    np.testing.assert_allclose(np.mean(cosines, axis=0), planned.law.alignments(spectrum)[:3], atol=0.03)
    assert planned.law.alignments(spectrum)[3] < 0.2  # near the edge the first-order law is pessimistic


def test_a_component_at_the_aligned_share_has_cosine_nine_tenths() -> None:
    d, n = 40, 3000
    settings = {"center": "none", "row_norm": 1.0} | BUDGET
    share = plan(n=n, d=d, total_variance=0.2, **settings).aligned_share
    spectrum = [0.2 * share] + [0.0] * (d - 1)
    planned = plan(n=n, d=d, spectrum=spectrum, total_variance=0.2, **settings)
    x = np.zeros((n, d))
    x[:, 0] = np.sqrt(0.2 * share) * np.where(np.arange(n) % 2, 1, -1)
    table = open_table(x, planned.encoder)
    mechanism = choose(planned.request, planned.facts)
    with seeded_noise(4):
        found = [decode(release(table, mechanism)).covariance for _ in range(100)]
    assert np.mean([np.linalg.eigh(c)[1][0, -1] ** 2 for c in found]) == pytest.approx(0.9, abs=0.02)
    # The component at the resolved share just passes the detection edge, in expectation.
    w = planned.resolved_share * 0.2
    needed = detection_edge(planned.noise_sd, d)
    assert w + d * planned.noise_sd**2 / w == pytest.approx(needed, rel=1e-3)


# -------------------------------------------------------------------------------------------- goals


def test_needed_rows_and_epsilon_reach_the_goal_and_no_less_does() -> None:
    settings = {"d": 10, "bounds": (0, 1), "delta": "1e-6"}
    start = plan(n=100, epsilon=1, **settings)
    rows = start.needed_rows(0.1, components=2)
    assert plan(n=rows, epsilon=1, **settings).aligned_share <= 0.1
    assert plan(n=rows - 1, epsilon=1, **settings).aligned_share > 0.1
    epsilon = start.needed_epsilon(0.1, components=2)
    assert plan(n=100, epsilon=epsilon, **settings).aligned_share <= 0.1
    assert plan(n=100, epsilon=0.99 * epsilon, **settings).aligned_share > 0.1
    rho = plan(n=100, d=10, bounds=(0, 1), rho=1).needed_rho(0.1)
    assert plan(n=100, d=10, bounds=(0, 1), rho=rho).aligned_share <= 0.1
    guess = plan(n=100, epsilon=1, adjacency="add-remove", **settings)
    assert guess.needed_rows(0.1) < rows  # half the sensitivity, squared


def test_goals_by_a_declared_spectrum() -> None:
    planned = plan(n=100, d=4, spectrum=[0.4, 0.3, 0.1], **BUDGET)
    rows = planned.needed_rows(components=3, alignment=0.8)
    reached = plan(n=rows, d=4, spectrum=[0.4, 0.3, 0.1], **BUDGET)
    assert min(reached.law.alignments(reached.spectrum)[:3]) >= 0.8
    assert planned.needed_rows(components=1, alignment=0.8) <= rows
    with pytest.raises(InfeasiblePlan, match="equal"):
        plan(n=100, d=4, spectrum=[0.4, 0.4], **BUDGET).needed_rows()


def test_impossible_goals_are_refused() -> None:
    planned = plan(n=100, d=4, **BUDGET)
    with pytest.raises(ParameterError, match="share"):
        planned.needed_rows()
    with pytest.raises(ParameterError, match="more than the total"):
        planned.needed_rows(0.6, components=2)
    for wrong in ({"alignment": 1.0}, {"alignment": 0}, {"components": 0}, {"components": 5}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            planned.needed_rows(0.1, **wrong)
    with pytest.raises(ParameterError, match="epsilon"):
        plan(n=100, d=4, rho=1).needed_epsilon(0.1)
    with pytest.raises(InfeasiblePlan, match="no budget"):
        plan(n=1, d=4, center="none", **BUDGET).needed_epsilon(1e-12)
    with pytest.raises(InfeasiblePlan, match="no number of rows"):
        planned.needed_rows(1e-14)


# ----------------------------------------------------------------------------------- memory, warnings


def test_c36_forty_thousand_columns_are_refused_with_the_size_and_the_way_out() -> None:
    with pytest.raises(InfeasiblePlan) as caught:
        check_memory(40_000, memory=64 * 2**30)
    text = str(caught.value)
    assert "8 d^2 bytes" in text
    assert "11.9 GiB each" in text
    assert "64.0 GiB" in text
    assert "fewer columns in the schema" in text
    check_memory(40_000, memory=2**50)
    check_memory(1000)


def test_c36_the_plan_refuses_before_it_makes_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpspectra.planning.resources.physical_memory", lambda: 2**30)
    with pytest.raises(InfeasiblePlan, match="memory"):
        plan(n=100, d=40_000, **BUDGET)
    monkeypatch.setattr("dpspectra.planning.resources.physical_memory", lambda: None)
    check_memory(40_000)  # a system that does not tell: nothing to compare with


def warnings_of(**settings) -> str:
    return " | ".join(plan(**settings).warnings)


def test_c16_one_column_over_ninety_percent_names_the_scaling() -> None:
    bounds = {"bill": (30, 65), "depth": (13, 23), "flipper": (150, 250), "mass": (2000, 7000)}
    settings = {"n": 300, "bounds": bounds} | BUDGET
    text = warnings_of(**settings)
    assert "'mass'" in text
    assert 'scaling="bounds"' in text
    assert "mass" not in warnings_of(scaling="bounds", **settings)
    in_kg = {"n": 300, "bounds": bounds | {"mass": (2, 7)}} | BUDGET
    assert plan(scaling="bounds", **in_kg).noise_edge == pytest.approx(
        plan(scaling="bounds", **settings).noise_edge
    )


def test_warnings_from_budget_and_size() -> None:
    quiet = {"n": 10_000, "d": 3, "bounds": (0, 1)}
    assert plan(**quiet, **BUDGET).warnings == ()
    assert "above 10" in warnings_of(**quiet, epsilon=11, delta="1e-6")
    assert "below 1/n" in warnings_of(**quiet, epsilon=1, delta="1e-4")
    assert "below 1/n" not in warnings_of(**quiet, epsilon=1, delta="0.99e-4")
    assert "noise edge" in warnings_of(n=5, d=30, bounds=(0, 1), **BUDGET)
    assert "lower row_norm" in warnings_of(**quiet, total_variance=1e-4, **BUDGET)


def test_run_time_warnings_do_not_know_a_private_number_of_rows() -> None:
    request = Request.of(epsilon=1, delta="0.5", adjacency="add-remove")
    facts = plan(n=5, d=30, epsilon=1, delta="0.5", adjacency="add-remove").facts
    assert plan_warnings(facts, request) == []
    assert len(plan_warnings(facts, request, rows=5)) == 2


# ------------------------------------------------------------------------------------------- choice


def test_auto_takes_the_moments_and_says_why() -> None:
    planned = plan(n=100, d=3, **BUDGET)
    assert planned.mechanism == "gaussian_moments"
    assert "auto" in planned.reason
    named = Request.of(center="joint", method="gaussian_moments", **BUDGET)
    assert choose(named, planned.facts).center == "joint"
    with pytest.raises(ParameterError, match=r"auto, .*gaussian_moments"):
        choose(Request.of(method="nothing", **BUDGET), planned.facts)


def test_pure_dp_is_refused_with_the_way_out() -> None:
    with pytest.raises(ParameterError, match=r"pure DP is not available yet.*delta=1e-6"):
        plan(n=100, d=3, epsilon=1, delta=0)


WRONG = [
    {"n": 0},
    {"n": True},
    {"n": 2.5},
    {"d": 0},
    {"d": 1.5},
    {"total_variance": -1},
    {"total_variance": np.nan},
    {"spectrum": [-1.0]},
    {"spectrum": [1.0] * 5},
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_wrong_arguments_are_named(wrong: dict) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        plan(**{"n": 100, "d": 4} | wrong, **BUDGET)


def test_columns_must_fit() -> None:
    schema = Schema((Column("a", bounds=(0, 1)),))
    with pytest.raises(ParameterError, match="not both"):
        plan(n=10, schema=schema, bounds=(0, 1), **BUDGET)
    with pytest.raises(ParameterError, match="d: "):
        plan(n=10, schema=schema, d=2, **BUDGET)
    with pytest.raises(ParameterError, match="d is missing"):
        plan(n=10, bounds=(0, 1), **BUDGET)
    assert plan(n=10, bounds=([0, 0], [1, 2]), **BUDGET).facts.d == 2
    assert plan(n=10, bounds={"a": (0, 1)}, **BUDGET).facts.features == ("a",)


# ------------------------------------------------------------------------------------------- printing


def test_it_prints_as_a_table_and_goes_to_json() -> None:
    planned = plan(n=1797, d=64, bounds=(0, 16), spectrum=[300, 100, 50], epsilon=11, delta="1e-6")
    text = str(planned)
    for word in ("gaussian_moments", "noise edge", "scatter", "mean", "component 3", "warning:", "passes"):
        assert word in text
    data = json.loads(json.dumps(planned.to_dict(), allow_nan=False))
    assert data["noise_edge"] == planned.noise_edge
    assert [step["name"] for step in data["steps"]] == ["mean", "scatter"]
    assert sum(step["rho"] for step in data["steps"]) == pytest.approx(float(planned.mu_squared) / 2)
    assert data["draws"] == 64 + 64 * 65 // 2
    assert data["steps"][1]["sd_encoded"][1] == pytest.approx(planned.noise_sd * 1796 / 1797)
    joint = str(plan(n=10, d=3, adjacency="add-remove", center="joint", **BUDGET))
    assert "a guess" in joint
    assert "not isotropic" in joint
    assert "none can be" in joint
    with pytest.raises(FrozenInstanceError):
        planned.rows = 3
