"""What a planted fault is, and whether its check catches it."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.privacy import Adjacency
from ...mechanisms.base import Mechanism
from ...mechanisms.gaussian_moments import GaussianMoments
from ..contract import CHECKS
from ..subject import REAL, Subject, variants


@dataclass(frozen=True)
class Fault:
    """A broken subject or mechanism.

    Attributes
    ----------
    name : what is wrong
    caught_by : a check of the contract
    subject, adjacency : where it bites
    mechanism : the broken mechanism; None plants the broken subject under every layout of gaussian_moments
    """

    name: str
    caught_by: str
    subject: Subject = REAL
    adjacency: Adjacency = Adjacency.REPLACE_ONE
    mechanism: Mechanism | None = None


def caught(fault: Fault) -> bool:
    """Whether the named check fails on some configuration with the fault planted."""
    kinds = variants(GaussianMoments) if fault.mechanism is None else [fault.mechanism]
    for mechanism in kinds:
        try:
            CHECKS[fault.caught_by](fault.subject, mechanism, fault.adjacency)
        except AssertionError:
            return True
    return False
