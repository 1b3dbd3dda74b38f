"""Save a picture as PNG, SVG or PDF with the privacy flag in its metadata; equal pictures, equal bytes."""

from __future__ import annotations

import io
import os
import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from ..core.errors import ParameterError
from ..core.version import library_version
from .style import NOT_PRIVATE_GID, PRIVATE_GID

FORMATS = ("png", "svg", "pdf")
# Fixed, so that identifiers in an SVG depend on the drawing alone; letters as outlines need no font.
DETERMINISTIC: dict[Any, Any] = {"svg.hashsalt": "dpspectra", "svg.fonttype": "path"}


def save(picture: Axes | Figure, path: str | os.PathLike[str]) -> Path:
    """Write a picture of this package; the format follows from the suffix.

    Parameters
    ----------
    picture : Axes or Figure with at least one plot of this package
    path : file ending in .png, .svg or .pdf; replaced if it exists

    Returns
    -------
    The path. The metadata hold the title, the guarantee as shown in the picture, and the keyword
    ``private=true`` or ``private=false`` (any plot that is not private makes it false).

    Raises
    ------
    ParameterError : another suffix, or a figure without a plot of this package.
    """
    target = Path(path)
    target.write_bytes(encode(picture, target.suffix.lower().removeprefix(".")))
    return target


def encode(picture: Axes | Figure, file_format: str) -> bytes:
    """The bytes that ``save`` writes; ``file_format`` is "png", "svg" or "pdf"."""
    if file_format not in FORMATS:
        raise ParameterError("path must end in .png, .svg or .pdf")
    figure = picture if isinstance(picture, Figure) else picture.get_figure(root=True)
    assert figure is not None
    buffer = io.BytesIO()
    with mpl.rc_context(DETERMINISTIC), warnings.catch_warnings():
        # A column's name may hold a sign that the font lacks: a box is drawn for it.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure.savefig(
            buffer, format=file_format, dpi=150, facecolor="white", metadata=metadata(figure, file_format)
        )
    return buffer.getvalue()


def metadata(figure: Figure, file_format: str) -> dict[str, Any]:
    """Metadata of a picture, read back from the privacy marks that it shows."""
    marks = [text for text in figure.findobj(Text) if text.get_gid() in (PRIVATE_GID, NOT_PRIVATE_GID)]
    if not marks:
        raise ParameterError("the figure holds no plot of dpspectra")
    private = all(mark.get_gid() == PRIVATE_GID for mark in marks)
    titles = [title for ax in figure.axes if (title := ax.get_title(loc="left"))]
    said = "; ".join(dict.fromkeys(mark.get_text() for mark in marks))
    program = f"dpspectra {library_version()}"
    common = {"Title": "; ".join(titles), "Keywords": f"private={str(private).lower()}"}
    if file_format == "png":
        return common | {"Description": said, "Software": program}
    if file_format == "svg":
        return common | {"Description": said, "Creator": program, "Date": None}
    return common | {"Subject": said, "Creator": program, "CreationDate": None}
