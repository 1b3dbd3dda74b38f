"""The command line: one file per command, heavy imports inside the commands."""

from .frame import app, main

__all__ = ["app", "main"]
