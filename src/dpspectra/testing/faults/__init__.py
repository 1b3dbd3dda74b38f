"""Planted faults: each breaks one piece of a release and names the check of the contract that catches it.

A checker that was never fed a fault proves nothing; ``caught(fault)`` is tested for every one. ``moments.py``
breaks the way of a release, under the real mechanism of sums; ``laws.py`` breaks a line of the toys.
"""

from .fault import Fault, caught
from .laws import FAULTS as _LAWS
from .moments import FAULTS as _MOMENTS

FAULTS: tuple[Fault, ...] = _MOMENTS + _LAWS
"""All planted faults; a new one names its check."""

__all__ = ["FAULTS", "Fault", "caught"]
