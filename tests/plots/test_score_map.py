"""The score map's picture: cells where they belong, panels, marks, synthetic points."""

import numpy as np
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from matplotlib.text import Text

from dpspectra import Column, Ledger, PrivateScoreMap, Schema
from dpspectra.core.errors import ParameterError
from dpspectra.plots import save, score_map
from dpspectra.plots.style import NOT_PRIVATE_GID, PRIVATE_GID
from dpspectra.testing import exact_noise, seeded_noise

SCHEMA = Schema((*Schema.from_bounds((-1, 1), 3).columns, Column("g", "category", categories=("0", "1"))))


def table() -> np.ndarray:
    generator = np.random.default_rng(0)
    rows = generator.normal(size=(400, 3)) * [0.3, 0.15, 0.02]
    return np.column_stack([rows, np.arange(400) % 2])


def fitted(noise=exact_noise, **settings) -> PrivateScoreMap:
    model = PrivateScoreMap(**{"epsilon": 2, "delta": 1e-6, "bins": 8, "schema": SCHEMA} | settings)
    with noise():
        return model.fit(table())


@pytest.fixture(scope="module")
def grouped() -> PrivateScoreMap:
    return fitted(groups="g")


def meshes(ax) -> list[QuadMesh]:
    return [item for item in ax.collections if isinstance(item, QuadMesh)]


def test_cells_are_drawn_where_they_are() -> None:
    model = fitted()
    ax = score_map(model)
    (mesh,) = meshes(ax)
    assert np.array_equal(mesh.get_array().filled(0.0), model.counts_[0].T)
    corners = mesh.get_coordinates()
    assert np.array_equal(corners[0, :, 0], model.edges_[0])
    assert np.array_equal(corners[:, 0, 1], model.edges_[1])
    assert ax.get_xlim() == pytest.approx(model.edges_[0][[0, -1]])
    assert ax.get_ylim() == pytest.approx(model.edges_[1][[0, -1]])
    assert ax.get_aspect() == 1.0


def test_axes_carry_released_shares_where_there_are_any() -> None:
    model = fitted(components=(1, 0))
    share = 100 * model.explained_variance_ratio_
    ax = score_map(model)
    assert ax.get_xlabel() == f"PC2 ({share[0]:.1f} %)"
    assert ax.get_ylabel() == f"PC1 ({share[1]:.1f} %)"
    robust = fitted(directions="spatial_sign")
    assert (score_map(robust).get_xlabel(), score_map(robust).get_ylabel()) == ("PC1", "PC2")


def test_one_panel_a_group_on_one_scale(grouped: PrivateScoreMap) -> None:
    first = score_map(grouped)
    panels = [ax for ax in first.figure.axes if meshes(ax) and ax.get_xlabel()]
    assert panels[0] is first
    assert [ax.get_title(loc="left").partition(":")[0] for ax in panels] == ["0", "1", "(other)"]
    assert {meshes(ax)[0].norm.vmax for ax in panels} == {grouped.counts_.max()}
    for place, ax in enumerate(panels):
        assert np.array_equal(meshes(ax)[0].get_array().filled(0.0), grouped.counts_[place].T)


def test_one_group_or_all_together_on_given_axes(grouped: PrivateScoreMap) -> None:
    together = score_map(grouped, ax=score_map(grouped, group="1").figure.add_subplot())
    assert np.array_equal(meshes(together)[0].get_array().filled(0.0), grouped.counts_.sum(axis=0).T)
    assert "about 400 rows" in together.get_title(loc="left")
    assert np.array_equal(
        meshes(score_map(grouped, group="1"))[0].get_array().filled(0.0), grouped.counts_[1].T
    )
    with pytest.raises(ParameterError, match="group must be one of '0', '1'"):
        score_map(grouped, group="2")


def test_points_are_said_to_be_synthetic(grouped: PrivateScoreMap) -> None:
    model = grouped
    ax = score_map(model, ax=Figure().add_subplot(), points=True)
    (line,) = ax.lines
    assert len(line.get_xdata()) == 400
    assert "synthetic" in ax.get_legend().get_texts()[0].get_text()
    rows = (table()[:, :3] - model.location_) @ model.components_.T
    drawn = {round(x, 9) for x in line.get_xdata()}
    assert not drawn & {round(x, 9) for x in rows[:, 0].tolist()}
    assert not score_map(model, ax=Figure().add_subplot()).lines


def test_a_release_is_as_good_as_its_model(tmp_path, grouped: PrivateScoreMap) -> None:
    one, other = (
        save(score_map(source), tmp_path / f"{name}.png").read_bytes()
        for name, source in (("a", grouped), ("b", grouped.release_))
    )
    assert one == other


def test_privacy_is_marked(tmp_path) -> None:
    def marks(model):
        return {text.get_gid() for text in score_map(model).figure.findobj(Text) if text.get_gid()}

    assert marks(fitted(lambda: seeded_noise(1))) == {NOT_PRIVATE_GID}
    ledger = Ledger.create(tmp_path / "l.db", epsilon=2, delta=1e-6)
    model = PrivateScoreMap(epsilon=2, delta=1e-6, bins=4, schema=SCHEMA, ledger=ledger).fit(table())
    assert marks(model) == {PRIVATE_GID}
    assert b"private=true" in save(score_map(model), tmp_path / "a.svg").read_bytes()


def test_an_empty_map_is_drawn() -> None:
    model = fitted(histogram="sparse", bins=40)
    model.counts_, model.least_ = np.zeros_like(model.counts_), 30
    ax = score_map(model, points=True)
    assert meshes(ax)[0].get_array().mask.all()
    assert "0 rows shown" in ax.get_title(loc="left")
