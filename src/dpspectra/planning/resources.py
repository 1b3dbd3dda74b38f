"""Memory, passes, draws and time of a release, from public facts.

The constants are measured on one ordinary machine and are good to a factor of two elsewhere.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..core.errors import InfeasiblePlan
from ..core.released import StepPlan

MATRICES = 13
"""d x d arrays of 8-byte numbers alive at the peak, measured (12.4 at d = 1,500): sums, noise, estimates,
eigenvectors and their intervals."""
BLOCK_ROWS = 8192
"""Rows of a block: the most whose product of integers is exact in a double at 20 bits."""

MORE_PASSES = re.compile(r"mean|early_\d+|norms|frame_1|cells|radius|centre_\d+|means|step_1")
"""Steps that visit the rows by themselves, beside the one that all releases have."""
ALL_PAIRS = "L-round"
"""The lemma of a step that visits all pairs of rows."""

_SECONDS_PER_DRAW = 11e-6
_CORES = 2  # the sampler's threads
_PRODUCTS_PER_SECOND = 1.5e10  # multiply-adds of the exact summary
_SECONDS_PER_PAIR = 1.7e-10  # times d
_SECONDS_PER_EIGEN = 1.2e-9  # times d^3
_SECONDS_FIXED = 0.05


@dataclass(frozen=True)
class Resources:
    """What a release takes: bytes at the peak, passes over the rows, noise draws, seconds."""

    memory_bytes: int
    passes: int
    draws: int
    seconds: float


def resources(d: int, rows: int, plans: Sequence[StepPlan]) -> Resources:
    """Predict a release of ``rows`` rows by its calibrated plan; reading a file comes on top."""
    draws = sum(plan.size for plan in plans)
    passes = 1 + sum(MORE_PASSES.fullmatch(plan.name) is not None for plan in plans)
    products = rows * d * d / _PRODUCTS_PER_SECOND
    if any(plan.lemma == ALL_PAIRS for plan in plans):
        products += rows * rows * d * _SECONDS_PER_PAIR
    seconds = _SECONDS_FIXED + draws * _SECONDS_PER_DRAW / _CORES + products + d**3 * _SECONDS_PER_EIGEN
    return Resources(memory_bytes(d), passes, draws, seconds)


def memory_bytes(d: int) -> int:
    """Peak memory beside the input: ``MATRICES`` of 8 d^2 bytes, and two blocks of rows."""
    return MATRICES * 8 * d * d + 2 * 8 * BLOCK_ROWS * d


def physical_memory() -> int | None:
    """Bytes of memory of this machine; None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def check_memory(d: int, *, memory: int | None = None) -> None:
    """Refuse d encoded columns that cannot fit, before a row is read.

    Parameters
    ----------
    d : int
        Number of encoded features, public.
    memory : int, optional
        Bytes that may be used; default: the physical memory of this machine.

    Raises
    ------
    InfeasiblePlan
        Shows what is needed, what there is, and the way out.
    """
    limit = physical_memory() if memory is None else memory
    needed = memory_bytes(d)
    if limit is not None and needed > limit:
        raise InfeasiblePlan(
            f"{d} encoded columns need {size(needed)} of memory ({MATRICES} matrices of 8 d^2 bytes, "
            f"{size(8 * d * d)} each) and this machine has {size(limit)}: list fewer columns in the schema, "
            "or use a machine with more memory"
        )


def size(count: int) -> str:
    """Bytes for people."""
    value, units = float(count), ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
    while value >= 1024 and len(units) > 1:
        value, units = value / 1024, units[1:]
    return f"{value:.0f} {units[0]}" if units[0] == "B" else f"{value:.1f} {units[0]}"
