"""PrivateScoreMap: attributes, groups, releases read back, clusters found."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from dpspectra import Column, Ledger, PrivateScoreMap, Released, Schema
from dpspectra.core.errors import BudgetExceeded, ParameterError, SchemaError
from dpspectra.instances.clusters import five_clusters
from dpspectra.postprocess.score_map import total_variation
from dpspectra.testing import exact_noise, seeded_noise

BUDGET = {"epsilon": 3, "delta": 1e-6}
SCHEMA = Schema(
    (
        *Schema.from_bounds((-1, 1), ["a", "b", "c"]).columns,
        Column("g", "category", categories=("x", "y")),
    )
)


@pytest.fixture
def frame() -> pd.DataFrame:
    generator = np.random.default_rng(1)
    rows = generator.normal(size=(600, 3)) * [0.3, 0.2, 0.05]
    data = pd.DataFrame(rows, columns=["a", "b", "c"])
    data["g"] = np.array(["x", "y", "never listed"], dtype=object)[
        generator.choice(3, size=600, p=[0.6, 0.3, 0.1])
    ]
    return data


def test_attributes_are_those_of_the_table_without_noise(frame: pd.DataFrame) -> None:
    with exact_noise():
        model = PrivateScoreMap(schema=SCHEMA, groups="g", bins=6, **BUDGET).fit(frame)
    sizes = [int((frame.g == name).sum()) for name in ("x", "y", "never listed")]
    assert list(model.groups_) == ["x", "y", "(other)"]
    assert model.group_totals_ == pytest.approx(sizes)
    assert model.counts_.shape == model.counts_raw_.shape == (3, 6, 6)
    assert model.edges_.shape == (2, 7)
    assert model.noise_sd_ == 0
    assert model.least_ == 0
    assert model.n_samples_ == 600
    assert model.components_.shape == (2, 3)
    assert model.components_ @ model.components_.T == pytest.approx(np.eye(2), abs=1e-9)
    assert abs(model.components_[0, 0]) > 0.99
    assert model.explained_variance_ratio_ == pytest.approx([0.09 / 0.1325, 0.04 / 0.1325], rel=0.15)
    assert list(model.feature_names_encoded_) == ["a", "b", "c"]
    assert not model.privacy_.private
    scores = ((frame[["a", "b", "c"]].to_numpy() - model.location_) / model.scale_) @ model.components_.T
    expected = np.histogram2d(*scores.T, bins=list(model.edges_))[0]
    assert np.array_equal(model.counts_raw_.sum(axis=0), expected)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"groups": "g", "components": (1, 0), "smooth": True},
        {"histogram": "sparse", "frame": 0.8, "share": 0.7},
        {"adjacency": "add-remove", "scaling": "bounds"},
        {"frame": "private", "directions": "spatial_sign"},
    ],
)
def test_a_release_is_read_back_whole(frame: pd.DataFrame, settings: dict) -> None:
    with seeded_noise(2):
        model = PrivateScoreMap(schema=SCHEMA, bins=5, **BUDGET, **settings)
        model.fit(frame)
    text = model.release_.to_json()
    again = PrivateScoreMap.from_release(Released.from_json(text))
    for name in ("counts_", "counts_raw_", "edges_", "components_", "location_", "explained_variance_ratio_"):
        assert np.array_equal(getattr(again, name), getattr(model, name), equal_nan=True), name
    assert list(again.groups_) == list(model.groups_)
    assert (again.least_, again.noise_sd_) == (model.least_, model.noise_sd_)
    assert np.array_equal(again.sample()[0], model.sample()[0])
    with seeded_noise(2):  # the settings are whole too
        refitted = clone(again).fit(frame)
    assert np.array_equal(refitted.counts_raw_, model.counts_raw_)


def test_no_exact_count_survives_the_fit(frame: pd.DataFrame) -> None:
    """Under add/remove neither n nor the size of a group is in anything that is kept."""
    frame = pd.concat([frame] * 8, ignore_index=True).iloc[:4657]
    sizes = {4657, *frame.g.value_counts().tolist()}
    with seeded_noise(4):
        model = PrivateScoreMap(schema=SCHEMA, groups="g", bins=5, adjacency="add-remove", **BUDGET).fit(
            frame
        )
    kept = json.loads(model.release_.to_json())
    numbers = {number for step in kept["steps"] for number in step["values"]} | {kept["rows"]}
    assert not sizes & numbers
    shown = np.concatenate([model.group_totals_, [model.n_samples_], model.counts_raw_.sum(axis=(1, 2))])
    assert not sizes & set(shown.tolist())
    assert pickle.loads(pickle.dumps(model)).n_samples_ == model.n_samples_


def test_the_whole_budget_is_spent_once(frame: pd.DataFrame, tmp_path) -> None:
    ledger = Ledger.create(tmp_path / "l.db", epsilon=3, delta="1e-6")
    model = PrivateScoreMap(schema=SCHEMA, bins=4, ledger=ledger, **BUDGET).fit(frame)
    assert ledger.remaining("table").epsilon == 0
    assert model.privacy_.private
    with pytest.raises(BudgetExceeded):
        clone(model).fit(frame)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"groups": "absent"}, SchemaError, "no column 'absent'"),
        ({"groups": "a"}, SchemaError, "no column 'a' of kind"),
        ({"groups": 3}, ParameterError, "groups must be"),
        ({"smooth": "yes"}, ParameterError, "smooth"),
        ({"components": (0, 7)}, ParameterError, "components"),
        ({"scaling": "private"}, ParameterError, "scaling"),
        ({"method": "clipped_mean"}, ParameterError, "score map"),
        ({"directions": "laplace"}, ParameterError, "directions"),
        ({"bins": 0}, ParameterError, "bins"),
    ],
)
def test_refusals(frame: pd.DataFrame, settings: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        PrivateScoreMap(schema=SCHEMA, **BUDGET, **settings).fit(frame)


def clusters(seed: int, **settings) -> tuple[PrivateScoreMap, np.ndarray, np.ndarray]:
    """A map of the five clusters by cluster, the table and its labels; rows beyond length 20 are clipped."""
    rows, labels = five_clusters()
    schema = Schema(
        (
            *Schema.from_bounds((-25, 25), 20).columns,
            Column("cluster", "category", categories=tuple("01234")),
        )
    )
    with seeded_noise(seed):
        model = PrivateScoreMap(
            **{"schema": schema, "groups": "cluster", "bins": 24, "row_norm": 20.0, **BUDGET, **settings}
        ).fit(np.column_stack([rows, labels]))
    return model, rows, labels


@pytest.mark.parametrize("seed", [0, 1])
def test_five_clusters_are_found_at_epsilon_3(seed: int) -> None:
    model, rows, labels = clusters(seed, smooth=True)
    centres = np.array([rows[labels == label].mean(axis=0) for label in range(5)])
    scores = (centres - model.location_) @ model.components_.T
    middles = (model.edges_[:, 1:] + model.edges_[:, :-1]) / 2
    for label, score in enumerate(scores):
        first, second = np.unravel_index(np.argmax(model.counts_[label]), (24, 24))
        mode = np.array([middles[0, first], middles[1, second]])
        assert np.linalg.norm(mode - score) < 2.5, (
            label
        )  # cells are 1.8 wide, two clusters have sd 2.2 and 2.8
    assert model.group_totals_[:5] == pytest.approx([1000] * 5, abs=200)
    assert model.group_totals_[5] < 200


def test_the_map_is_near_the_exact_one_at_epsilon_3() -> None:
    rows, _ = five_clusters()
    with seeded_noise(3):
        model = PrivateScoreMap(bounds=(-25, 25), row_norm=20.0, bins=24, **BUDGET).fit(rows)
    scores = (rows - model.location_) @ model.components_.T
    inside = np.clip(scores, model.edges_[:, 0] + 1e-9, model.edges_[:, -1] - 1e-9)
    exact = np.histogram2d(*inside.T, bins=list(model.edges_))[0]
    assert total_variation(model.counts_[0], exact) < 0.12
