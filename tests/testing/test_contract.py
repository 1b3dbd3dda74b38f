"""Every mechanism found by the registry, in every audited configuration, adjacency and kind of table,
satisfies every clause.

False-alarm rate: 1e-10 a law and check of the noise of a configuration, registered.
"""

import pytest

from dpspectra.testing.contract import CHECKS
from dpspectra.testing.subject import cases

CASES = [pytest.param(case, id=f"{case}-{i}") for i, case in enumerate(cases())]


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize("case", CASES)
def test_contract(case, check) -> None:
    check(case.subject, case.mechanism, case.adjacency)
