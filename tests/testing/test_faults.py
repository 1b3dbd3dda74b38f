"""Each planted fault is caught by the check that it names, and what it is planted in passes every check.

The real way under gaussian_moments passes all in test_contract.py. False-alarm rate: 1e-10 a law, registered.
"""

import pytest

from dpspectra.core.privacy import Adjacency
from dpspectra.testing.contract import CHECKS
from dpspectra.testing.faults import FAULTS, Fault, caught
from dpspectra.testing.subject import FREE, REAL
from dpspectra.testing.toys import TOYS


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_the_named_check_catches_it(fault: Fault) -> None:
    assert caught(fault)


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize("subject", [REAL, FREE], ids=["bounded", "free"])
@pytest.mark.parametrize("name", TOYS)
def test_the_honest_toy_passes(name: str, subject, check) -> None:
    check(subject, TOYS[name], Adjacency.REPLACE_ONE)


def test_every_fault_has_its_own_name_and_a_check() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert {fault.caught_by for fault in FAULTS} <= set(CHECKS)
