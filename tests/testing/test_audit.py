"""Audits of the real sampler stay below the claim; audits of thin noise do not.

False-alarm rate of each audit: 1e-9 (Clopper-Pearson), registered, never retried.
"""

from dataclasses import replace

import pytest

from dpspectra.core.privacy import Adjacency, Budget
from dpspectra.mechanisms.gaussian_moments import GaussianMoments
from dpspectra.testing.audit import audit
from dpspectra.testing.sources import SeededNoise
from dpspectra.testing.subject import REAL, cases

BUDGET = Budget.of(mu=1)
# The first configuration of each mechanism, adjacency and kind of table; test_contract.py runs them all.
CASES = {str(case): case for case in reversed(cases(Budget.of(epsilon=5, delta="1e-6")))}


class Thin(SeededNoise):
    """A fraction of the noise."""

    factor = 0.9

    def gaussian(self, values, sigma):
        return super().gaussian(values, self.factor * sigma)


@pytest.mark.statistical
@pytest.mark.parametrize("name", CASES)
def test_no_bound_exceeds_its_claim(name: str) -> None:
    case = CASES[name]
    found = audit(case.mechanism, case.adjacency, runs=2_000, subject=case.subject)
    assert found.passed


@pytest.mark.slow
@pytest.mark.statistical
def test_a_longer_audit_of_the_default() -> None:
    found = audit(GaussianMoments(BUDGET), Adjacency.REPLACE_ONE, runs=30_000, d=2)
    assert found.passed
    assert found.mu_bound > 0.8
    assert found.smallest_fault > 0.88


@pytest.mark.parametrize("center", ["private", "joint", "fixed"])
def test_thin_noise_is_exposed(center: str) -> None:
    thin = replace(REAL, source=lambda: Thin(3))
    found = audit(
        GaussianMoments(BUDGET, center=center), Adjacency.REPLACE_ONE, runs=400_000, d=2, subject=thin
    )
    assert not found.passed
    assert found.mu_bound > found.claimed_mu
    assert 0.93 < found.smallest_fault < 1


def test_right_seeded_noise_passes_a_long_audit() -> None:
    exactly = replace(REAL, source=lambda: SeededNoise(4))
    found = audit(GaussianMoments(BUDGET), Adjacency.REPLACE_ONE, runs=400_000, d=2, subject=exactly)
    assert found.passed
    assert found.mu_bound > 0.93
    assert found.epsilon_bound > 0.8 * found.claimed_epsilon
