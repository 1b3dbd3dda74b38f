"""Every mechanism found by the registry, in every configuration and adjacency, satisfies every clause.

False-alarm rate: 2e-9 a configuration (the two noise checks), registered.
"""

import pytest

from dpspectra.testing.contract import CHECKS
from dpspectra.testing.subject import REAL, all_variants

CASES = [
    pytest.param(mechanism, adjacency, id=f"{mechanism.name}-{adjacency.value}-{i}")
    for i, (mechanism, adjacency) in enumerate(all_variants())
]


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize(("mechanism", "adjacency"), CASES)
def test_contract(mechanism, adjacency, check) -> None:
    check(REAL, mechanism, adjacency)
