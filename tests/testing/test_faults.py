"""Each planted fault is caught by the check that it names (test_contract.py: the real way passes all)."""

import pytest

from dpspectra.mechanisms.registry import mechanism
from dpspectra.testing.contract import CHECKS
from dpspectra.testing.faults import FAULTS, Fault, caught

KIND = mechanism("gaussian_moments")


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_the_named_check_catches_it(fault: Fault) -> None:
    assert caught(fault, KIND)


def test_every_fault_has_its_own_name_and_a_check() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert {fault.caught_by for fault in FAULTS} <= set(CHECKS)
