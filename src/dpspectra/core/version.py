"""The library version, read from the installed package."""

from importlib.metadata import PackageNotFoundError, version


def library_version() -> str:
    try:
        return version("dpspectra")
    except PackageNotFoundError:  # a source tree that was never installed
        return "0+source"
