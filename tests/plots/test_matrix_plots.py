"""Loadings, correlation circle and heatmap: arrows only, honest scales, readable at every width."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.patches import Circle
from matplotlib.quiver import Quiver

from dpspectra import plots
from dpspectra.core.errors import ParameterError
from dpspectra.plots.correlation_circle import correlations
from dpspectra.plots.style import cut, thin


def arrow_tips(ax):
    arrows = [artist for artist in ax.collections if isinstance(artist, Quiver)]
    return np.concatenate([np.column_stack([artist.U, artist.V]) for artist in arrows])


def by_length(points):
    return points[np.lexsort(points.T)]


def test_loadings_are_arrows_without_points_on_equal_axes(make):
    model = make(d=12)
    ax = plots.loadings(model, (0, 2))
    np.testing.assert_allclose(by_length(arrow_tips(ax)), by_length(model.loadings_[:, [0, 2]]))
    assert not [artist for artist in ax.collections if isinstance(artist, PathCollection)]
    assert not [line for line in ax.lines if line.get_marker() not in (None, "None", "")]
    assert ax.get_aspect() == 1
    assert ax.get_xlabel() == f"PC1 ({100 * model.ratio_[0]:.1f} %)"
    assert ax.get_ylabel() == f"PC3 ({100 * model.ratio_[2]:.1f} %)"


def test_circle_has_unit_radius_and_holds_every_arrow(make):
    ax = plots.correlation_circle(make(d=12))
    (circle,) = [patch for patch in ax.patches if isinstance(patch, Circle)]
    assert circle.get_radius() == 1 and ax.get_aspect() == 1
    assert np.linalg.norm(arrow_tips(ax), axis=1).max() <= 1 + 1e-12


def test_correlations_with_all_components_have_length_one(make):
    model = make(d=6, k=6)
    np.testing.assert_allclose(np.linalg.norm(correlations(model), axis=1), 1)


def test_correlations_do_not_depend_on_units(make):
    model, other = make(d=6), make(d=6)
    units = np.array([1, 10, 100, 0.1, 2, 5.0])
    other.covariance_, other.scale_ = model.covariance_ * np.outer(units, units), units
    np.testing.assert_allclose(correlations(model), correlations(other))


def test_a_feature_without_variance_has_no_arrow(make):
    model = make(d=6)
    model.covariance_ = model.covariance_.copy()
    model.covariance_[2, :] = model.covariance_[:, 2] = 0
    assert (correlations(model)[2] == 0).all()
    assert len(arrow_tips(plots.correlation_circle(model))) == 5


@pytest.mark.parametrize("plot", [plots.loadings, plots.correlation_circle])
@pytest.mark.parametrize("components", [(0, 0), (0, 5), (-1, 0), (0,), (0, 1, 2)])
def test_components_must_be_two_kept_ones(make, plot, components):
    with pytest.raises(ParameterError, match="components"):
        plot(make(k=5), components)


def test_a_covariance_has_no_components_to_draw(make):
    model = make()
    del model.components_
    with pytest.raises(ParameterError, match="PrivatePCA"):
        plots.loadings(model)


def test_directions_lost_in_noise_say_so(make):
    assert "not told from noise" in plots.loadings(make(resolved=1)).get_title(loc="left")
    assert "not told from noise" not in plots.loadings(make(resolved=2)).get_title(loc="left")


@pytest.mark.parametrize("plot", [plots.loadings, plots.correlation_circle])
@pytest.mark.parametrize("d", [4, 12, 64, 784])
def test_names_do_not_overlap(make, plot, d):
    ax = plot(make(d=d, k=3))
    renderer = FigureCanvasAgg(ax.figure).get_renderer()
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent(renderer) for text in ax.texts if text.get_text().startswith("feature")]
    assert len(boxes) == min(d, 16)
    for index, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[index + 1 :])
        assert ax.bbox.x0 <= box.x0 and box.x1 <= ax.bbox.x1


def test_heatmap_is_centred_at_zero(make):
    model = make(d=12)
    ax = plots.correlation_heatmap(model)
    (image,) = ax.images
    assert image.get_clim() == (-1, 1)
    np.testing.assert_array_equal(image.get_array(), model.correlation_)


@pytest.mark.parametrize(("d", "numbers"), [(4, 16), (20, 400), (21, 0), (64, 0)])
def test_heatmap_numbers_up_to_twenty_columns(make, d, numbers):
    ax = plots.correlation_heatmap(make(d=d, k=2, resolved=1))
    assert len([text for text in ax.texts if text.get_text().lstrip("-")[:1].isdigit()]) == numbers


@pytest.mark.parametrize("d", [64, 784])
def test_heatmap_thins_its_labels(make, d):
    ax = plots.correlation_heatmap(make(d=d))
    assert 10 <= len(ax.get_xticks()) <= 40
    assert ax.get_xticklabels()[1].get_text() == f"feature_{int(ax.get_xticks()[1])}"


def test_names_that_look_like_mathematics_are_drawn_as_they_are(make):
    names = [f"$x_{{{index}}}^{{$" for index in range(6)]
    for plot in (plots.loadings, plots.correlation_circle, plots.correlation_heatmap):
        plot(make(d=6, names=names)).figure.draw_without_rendering()


def test_thin_and_cut():
    assert list(thin(30, 30)) == list(range(30))
    assert list(thin(784, 40))[:3] == [0, 20, 40]
    assert cut("short") == "short"
    assert len(cut("a rather long name of a column 17")) == 20 and cut("x" * 40 + "17").endswith("17")
