"""Each planted fault is caught by the check that it names, and by no accident: the real way passes it."""

import pytest

from dpspectra.mechanisms.registry import mechanism
from dpspectra.testing.contract import CHECKS
from dpspectra.testing.faults import FAULTS, Fault, caught
from dpspectra.testing.subject import REAL

KIND = mechanism("gaussian_moments")


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_the_named_check_catches_it(fault: Fault) -> None:
    assert caught(fault, KIND)


@pytest.mark.parametrize("check", sorted({fault.caught_by for fault in FAULTS}))
def test_without_a_fault_nothing_is_caught(check: str) -> None:
    adjacencies = {fault.adjacency for fault in FAULTS if fault.caught_by == check}
    for adjacency in adjacencies:
        assert not caught(Fault("none", check, REAL, adjacency), KIND)


def test_every_fault_has_its_own_name_and_a_check() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert {fault.caught_by for fault in FAULTS} <= set(CHECKS)
