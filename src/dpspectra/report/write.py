"""Write a report folder: all of it, or nothing.

Everything is rendered in memory, written to a hidden folder beside the target, flushed to disk, and only
then renamed into place. An earlier report is replaced file by file with its old files kept aside until the
last new one is in place; ``report.html`` leaves first and comes last, so a folder that has one is whole.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..core.errors import ParameterError
from ..core.released import FORMAT
from ..plots.fitted import Fitted
from .html import render
from .kinds import pictures, summarise, tables
from .tables import FORMATS, encode

PAGE, RELEASE = "report.html", "release.json"
PICTURES = (
    "scree",
    "loadings",
    "correlation_circle",
    "correlation_heatmap",
    "score_map",
    "score_points",
    "score_groups",
)
TABLES = (
    "components",
    "explained_variance",
    "covariance",
    "covariance_raw",
    "correlation",
    "score_map",
    "second_moment",
    "precision",
    "whitener",
    "eigenvalues",
)
OWN = frozenset(
    [PAGE, RELEASE]
    + [f"{name}.{kind}" for name in PICTURES for kind in ("png", "svg")]
    + [f"{name}.{kind}" for name in TABLES for kind in FORMATS]
)
"""Every file name that a report of any kind or format may have."""


def write(
    estimator: Fitted,
    folder: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    format: str = "csv",  # noqa: A002
) -> list[Path]:
    """Write the report of a fitted estimator; reads released numbers only, costs nothing.

    Parameters
    ----------
    estimator : fitted ``PrivatePCA`` or ``PrivateCovariance``
    folder : made with its parents if missing; an empty one is used as it is
    overwrite : replace an earlier report's files in ``folder``; files of other names stay
    format : "csv", "json" or "parquet", of the tables

    Returns
    -------
    Paths of the files written: ``report.html``, ``release.json``, ``explained_variance``, ``covariance``,
    ``covariance_raw``, ``correlation`` (for PCA also ``components``), and each picture as PNG and SVG.

    Raises
    ------
    ParameterError : an unknown format, or a folder that ``check_folder`` refuses.
    OSError : the disk refused; the target is then as it was before.
    """
    target = Path(folder).resolve()
    if format not in FORMATS:
        raise ParameterError(f"format must be one of {', '.join(map(repr, FORMATS))}")
    check_folder(target, overwrite=overwrite)
    files = contents(estimator, format)
    with _stage(target, files) as stage:
        if target.is_dir() and any(target.iterdir()):
            _exchange(stage, target, list(files))
        else:
            if target.is_dir():
                target.rmdir()
            stage.rename(target)
        _flush(target)
        _flush(target.parent)
    return [target / name for name in files]


def check_folder(folder: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Refuse, with a ParameterError, a folder that ``write`` would refuse; touches nothing."""
    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise ParameterError("the report's folder is the name of a file")
    if not target.is_dir():
        return
    if any(target.iterdir()) and not overwrite:
        raise ParameterError("the report's folder is not empty: name a new one, or ask to overwrite")
    if any((target / name).is_dir() for name in OWN):
        raise ParameterError("the report's folder holds a folder with the name of one of the report's files")


def contents(estimator: Fitted, table_format: str) -> dict[str, bytes]:
    """Name and bytes of every file; the page comes last, as it should be written last."""
    private = bool(estimator.release_.private)
    files = {RELEASE: estimator.release_.to_json().encode()}
    for table in tables(estimator):
        files[f"{table.name}.{table_format}"] = encode(table, table_format, private)
    shown = pictures(estimator)
    for picture in shown:
        files[f"{picture.name}.png"], files[f"{picture.name}.svg"] = picture.png, picture.svg
    files[PAGE] = render(summarise(estimator), shown, tuple(files)).encode()
    return files


@contextmanager
def _stage(target: Path, files: dict[str, bytes]) -> Iterator[Path]:
    """A hidden folder beside the target with all files, flushed; gone at the end whatever happens."""
    target.parent.mkdir(parents=True, exist_ok=True)
    stage = target.parent / f".{target.name}.{secrets.token_hex(8)}"
    stage.mkdir()
    try:
        for name, content in files.items():
            with (stage / name).open("wb") as handle:
                handle.write(content)
                handle.flush()
                os.fsync(handle.fileno())
        _flush(stage)
        yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _exchange(stage: Path, target: Path, new: list[str]) -> None:
    """Replace the report in a folder that also holds files of others; undone if a step fails."""
    ours = OWN if _is_report(target) else frozenset(new)
    old = sorted((name for name in ours if (target / name).exists()), key=lambda name: name != PAGE)
    aside = stage / "replaced"
    aside.mkdir()
    undo: list[tuple[Path, Path]] = []
    try:
        for source, goal, chosen in ((target, aside, old), (stage, target, new)):
            for name in chosen:
                (source / name).replace(goal / name)
                undo.append((goal / name, source / name))
    except BaseException:
        for moved, back in reversed(undo):
            moved.replace(back)
        raise


def _is_report(folder: Path) -> bool:
    """True if the folder holds a release of ours, so that stale files of a report's names are ours too."""
    try:
        return bool(json.loads((folder / RELEASE).read_bytes())["format"] == FORMAT)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _flush(folder: Path) -> None:
    """Make renames in a folder last through a power cut, where the system offers it."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
