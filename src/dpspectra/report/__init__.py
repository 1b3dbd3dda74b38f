"""The report of a release: a plain dict, one self-contained page, and a folder of tables and pictures."""

from .html import render
from .kinds import summarise
from .write import write

__all__ = ["render", "summarise", "write"]
