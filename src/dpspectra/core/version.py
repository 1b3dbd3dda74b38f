"""The library version, read from the installed package."""

from functools import cache
from importlib.metadata import PackageNotFoundError, version


@cache
def library_version() -> str:
    try:
        return version("dpspectra")
    except PackageNotFoundError:  # a source tree that was never installed
        return "0+source"
