"""The scree plot shows released numbers, says what is noise, and marks what is not private."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from dpspectra import plots
from dpspectra.core.errors import ParameterError


def heights(ax):
    return {round(bar.get_x() + bar.get_width() / 2): bar.get_height() for bar in ax.patches}


def labels(ax):
    return [text.get_text() for text in ax.get_xticklabels()]


def shown_texts(ax):
    return [text.get_text() for text in ax.figure.findobj(Text) if text.get_text()]


def test_bars_are_the_denoised_eigenvalues(make):
    model = make(d=12)
    bars = heights(plots.scree(model))
    assert [bars[index + 1] for index in range(12)] == list(model.eigenvalues_)


def test_thirty_components_have_integer_ticks_and_percentages(make):
    model = make(d=30)
    ax = plots.scree(model)
    assert list(ax.get_xticks()) == list(range(1, 31))
    assert labels(ax)[0] == f"PC1 ({100 * model.ratio_[0]:.1f} %)"
    assert all(label.endswith("%)") for label in labels(ax))


def test_cumulative_line_is_a_percentage_of_the_released_trace(make):
    model = make(d=12, trace=100.0)
    right = plots.scree(model).figure.axes[1]
    (line,) = right.lines
    np.testing.assert_allclose(line.get_ydata(), 100 * np.cumsum(model.eigenvalues_) / 100.0)
    assert right.get_ylim()[0] == 0 and list(right.get_yticks()) == [0, 20, 40, 60, 80, 100]


def test_cumulative_line_stays_within_100_when_denoising_leaves_more_than_the_trace(make):
    right = plots.scree(make(d=12, trace=5.0)).figure.axes[1]
    assert max(right.lines[0].get_ydata()) == 100


def test_unknown_shares_are_left_out(make):
    ax = plots.scree(make(d=4, k=2, resolved=1, trace=-1.0))
    assert labels(ax) == ["PC1", "PC2", "PC3", "PC4"]
    assert not ax.figure.axes[1].lines


def test_noise_bars_are_hatched_and_the_band_ends_at_the_edge(make):
    ax = plots.scree(make(d=12, resolved=3, edge=0.6))
    hatched = {bar for bar, patch in enumerate(ax.patches[:12]) if patch.get_hatch()}
    assert len(hatched) == 9
    assert any(np.allclose(line.get_ydata(), 0.6) for line in ax.lines)


def test_intervals_only_where_resolved(make):
    ax = plots.scree(make(d=12, resolved=3))
    (bars,) = [item for item in ax.containers if item.get_label() == "90 % interval"]
    assert len(bars.lines[2][0].get_segments()) == 3


def test_no_curve_that_is_not_private_without_a_reference(make):
    ax = plots.scree(make())
    assert not [text for text in shown_texts(ax) if "not private" in text.lower()]


def test_reference_is_marked_in_the_picture(make):
    ax = plots.scree(make(), reference=[5.0, 3.0, 1.0])
    texts = shown_texts(ax)
    assert any("reference: not private" in text for text in texts)
    assert any(text == "reference (not private)" for text in texts)
    assert ax.get_ylim()[1] > 5


@pytest.mark.parametrize("reference", [[], [[1.0, 2.0]], [np.nan, 1.0], [np.inf]])
def test_reference_must_be_a_finite_vector(make, reference):
    with pytest.raises(ParameterError, match="reference"):
        plots.scree(make(), reference=reference)


@pytest.mark.parametrize("count", [0, -1, 13, True])
def test_n_components_out_of_range(make, count):
    with pytest.raises(ParameterError, match="n_components"):
        plots.scree(make(d=12), n_components=count)


def test_many_components_thin_their_labels(make):
    ax = plots.scree(make(d=784, k=5), n_components=784)
    assert ax.get_xticks()[0] == 1 and len(ax.get_xticks()) <= 20
    assert all(float(tick).is_integer() for tick in ax.get_xticks())


def test_draws_on_the_axes_it_is_given(make):
    ax = Figure().add_subplot()
    assert plots.scree(make(), ax=ax) is ax


def test_nothing_resolved_and_no_edge(make):
    ax = plots.scree(make(d=12, resolved=0, edge=float("nan")))
    assert "0 stand out" in ax.get_title(loc="left")
    assert np.isfinite(ax.get_ylim()).all()


def along(make, k=3, **settings):
    """A release of k directions: its spectrum has k entries, each with a noise of its own."""
    model = make(d=12, k=k, resolved=k, **settings)
    del model.covariance_, model.covariance_raw_, model.correlation_
    for name in ("eigenvalues_", "eigenvalues_raw_", "resolved_", "ratio_"):
        setattr(model, name, getattr(model, name)[:k])
    model.eigenvalue_intervals_ = np.full((k, 2), np.nan)
    model.noise_sd_ = 0.1 / np.arange(1, k + 1)
    model.noise_edge_ = 2.33 * model.noise_sd_
    return model


def test_each_direction_has_its_own_noise_band_and_whisker(make):
    model = along(make)
    ax = plots.scree(model)
    (band,) = [patch for patch in ax.patches if patch.get_label() == "noise band"]
    np.testing.assert_allclose(band.get_data().values, model.noise_edge_)
    (bars,) = [item for item in ax.containers if item.get_label() == "noise of 90 % of releases"]
    low, high = bars.lines[2][0].get_segments()[0][:, 1]
    np.testing.assert_allclose(high - low, 2 * 1.6449 * model.noise_sd_[0], rtol=1e-3)
    assert "share of the variance of these components" in ax.get_xlabel()


def test_several_releases_side_by_side(make):
    models = [along(make), make(d=12), along(make, seed=3)]
    ax = plots.scree(models, labels=["a", "b", "c"], reference=[4.0, 2.0, 1.0])
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {
        "a",
        "b",
        "c",
        "reference (not private)",
    }
    assert any("reference: not private" in text for text in shown_texts(ax))
    drawn = {item.get_label(): item.lines[0].get_ydata() for item in ax.containers}
    np.testing.assert_allclose(drawn["b"], models[1].eigenvalues_[:3])
    shares = plots.scree(models, labels=["a", "b", "c"], shares=True)
    drawn = {item.get_label(): item.lines[0].get_ydata() for item in shares.containers}
    assert all(sum(values) == pytest.approx(100) for values in drawn.values())
    assert shares.get_ylim()[1] <= 106


def test_one_release_that_is_not_private_marks_the_whole_picture(make):
    ax = plots.scree([make(), make(private=False)], labels=["a", "b"])
    assert any("NOT PRIVATE" in text for text in shown_texts(ax))


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"labels": ["a"]}, "labels"),
        ({"n_components": 4}, "n_components"),
        ({"n_components": True}, "n_comp"),
    ],
)
def test_a_comparison_names_what_is_wrong(make, wrong, match):
    with pytest.raises(ParameterError, match=match):
        plots.scree([along(make), make()], **wrong)
    with pytest.raises(ParameterError, match="list"):
        plots.scree(make(), shares=True)
    with pytest.raises(ParameterError, match="estimators"):
        plots.scree([])
