"""Finds mechanisms by walking this folder: a new one is a new file and no edit elsewhere."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from typing import Any

from ..core.errors import ParameterError

_NOT_MECHANISMS = {"base", "registry", "steps", "along", "allocation"}


@cache
def mechanisms() -> dict[str, type[Any]]:
    """Every mechanism class by its name, which is its file's name."""
    package = import_module(__package__ or "dpspectra.mechanisms")
    found: dict[str, type[Any]] = {}
    for module_info in pkgutil.iter_modules(package.__path__):
        if module_info.name in _NOT_MECHANISMS:
            continue
        module = import_module(f"{package.__name__}.{module_info.name}")
        for value in vars(module).values():
            if isinstance(value, type) and getattr(value, "name", None) == module_info.name:
                found[module_info.name] = value
    return dict(sorted(found.items()))


def mechanism(name: str) -> type[Any]:
    """The mechanism of that name; ParameterError lists the names there are."""
    known = mechanisms()
    if name not in known:
        raise ParameterError(f"method {name!r} is not one of: {', '.join(['auto', *known])}")
    return known[name]
