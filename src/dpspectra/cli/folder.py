"""The output folder: refused before anything is spent if the report could not be written into it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from ..core.errors import ParameterError


def check_output(folder: Path | None, overwrite: bool, file_format: str) -> None:
    """Refuse an unknown format, a folder that holds something else, and one that cannot be written to."""
    from ..report.tables import FORMATS
    from ..report.write import check_folder

    if file_format not in FORMATS:
        raise ParameterError(f"--format must be one of {', '.join(FORMATS)}")
    if folder is None:
        return
    try:
        check_folder(folder, overwrite=overwrite)
    except ParameterError as error:
        raise ParameterError(f"--out: {error} (--overwrite)") from None
    check_writable(folder)


def check_writable(path: Path) -> None:
    """Refuse a path below which nothing can be made, by making a file that has no name.

    Permission bits are not enough to tell: the superuser and read-only file systems ignore them.
    """
    place = path.absolute()
    while not place.exists():
        place = place.parent
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        raise ParameterError(f"{str(path)!r} cannot be written: {error.strerror}") from None
