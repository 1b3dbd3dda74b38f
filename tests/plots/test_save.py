"""Saved pictures: the privacy flag in the metadata, equal bytes, no pyplot."""

import subprocess
import sys

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from dpspectra import plots
from dpspectra.core.errors import ParameterError
from dpspectra.plots.save import encode
from dpspectra.plots.style import NOT_PRIVATE

PLOTS = [plots.scree, plots.loadings, plots.correlation_circle, plots.correlation_heatmap]


def keywords(path):
    if path.suffix == ".png":
        return Image.open(path).text["Keywords"]
    data = path.read_bytes()
    found = [flag for flag in (b"private=true", b"private=false") if flag in data]
    assert len(found) == 1
    return found[0].decode()


@pytest.mark.parametrize(
    ("plot", "suffix"), [*((plot, "png") for plot in PLOTS), (PLOTS[1], "svg"), (PLOTS[1], "pdf")]
)
@pytest.mark.parametrize("private", [True, False])
def test_metadata_carry_the_flag(make, tmp_path, plot, suffix, private):
    path = plots.save(plot(make(d=5, private=private)), tmp_path / f"picture.{suffix}")
    assert keywords(path) == f"private={str(private).lower()}"


@pytest.mark.parametrize("plot", PLOTS)
def test_a_release_that_is_not_private_is_stamped(make, plot):
    def stamps(model):
        ax = plot(model)
        return [text for text in ax.figure.findobj(Text) if text.get_text() == NOT_PRIVATE]

    assert len(stamps(make(private=False))) == 2
    assert not stamps(make(private=True))


def test_a_reference_makes_the_file_not_private(make, tmp_path):
    path = plots.save(plots.scree(make(), reference=[1.0]), tmp_path / "scree.png")
    assert keywords(path) == "private=false"
    assert "reference: not private" in Image.open(path).text["Description"]


def test_metadata_hold_guarantee_and_program(make, tmp_path):
    text = Image.open(plots.save(plots.scree(make()), tmp_path / "scree.png")).text
    assert "(ε, δ) = (1, 1e-06), replace-one" in text["Description"]
    assert text["Software"].startswith("dpspectra ") and "http" not in text["Software"]


def test_one_plot_that_is_not_private_makes_the_figure_so(make, tmp_path):
    figure = Figure()
    left, right = figure.subplots(1, 2)
    plots.scree(make(), ax=left)
    plots.correlation_heatmap(make(private=False), ax=right)
    assert keywords(plots.save(figure, tmp_path / "both.svg")) == "private=false"


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_equal_pictures_are_equal_bytes(make, tmp_path, suffix):
    first = plots.save(plots.correlation_circle(make()), tmp_path / f"first.{suffix}").read_bytes()
    second = plots.save(plots.correlation_circle(make()), tmp_path / f"second.{suffix}").read_bytes()
    assert first == second


def test_svg_has_no_date_and_no_text_that_needs_a_font(make, tmp_path):
    text = plots.save(plots.scree(make()), tmp_path / "scree.svg").read_text()
    assert "<dc:date>" not in text and "<text" not in text


def test_refusals(make, tmp_path):
    with pytest.raises(ParameterError, match=r"\.png, \.svg or \.pdf"):
        plots.save(plots.scree(make()), tmp_path / "scree.jpg")
    with pytest.raises(ParameterError, match="no plot"):
        plots.save(Figure(), tmp_path / "empty.png")


def test_pyplot_is_never_loaded():
    code = "import sys, dpspectra.plots; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_name_that_the_font_lacks_gives_no_warning(make):
    ax = plots.scree(make(d=5))
    ax.set_xlabel("\u5e74\u9f62")
    assert encode(ax, "png")
