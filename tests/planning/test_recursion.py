"""What a plan says of recursive preconditioning, against what releases then do."""

import numpy as np
import pytest

from dpspectra import PrivateSecondMoment, plan
from dpspectra.core.errors import InfeasiblePlan, ParameterError
from dpspectra.instances.subsamplable import conditioned_gaussian
from dpspectra.testing import seeded_noise

NORM = {"row_norm": 100.0, "center": "none"}


def spectral(rows, matrix):
    values, vectors = np.linalg.eigh(rows.T @ rows / len(rows))
    root = (vectors * values**-0.5) @ vectors.T
    return np.abs(np.linalg.eigvalsh(root @ matrix @ root) - 1).max()


@pytest.mark.parametrize(("n", "d"), [(2000, 3), (4000, 10), (20000, 20)])
def test_the_error_is_at_most_the_predicted_one(n, d) -> None:
    rows = conditioned_gaussian(n, d, 1e4)[0]
    norm = float(np.linalg.norm(rows, axis=1).max())
    model = PrivateSecondMoment(rho="0.5", row_norm=norm, center="none")
    predicted = plan(model, n=n, d=d).recursion.spectral_error
    errors = []
    for seed in range(9):
        with seeded_noise(seed):
            errors.append(spectral(rows, model.fit(rows).second_moment_))
    assert 0.25 * predicted < np.median(errors) < predicted


def test_one_release_wins_above_the_variance_that_the_plan_names() -> None:
    """Isotropic rows on the sphere of radius B have the largest smallest variance, B^2/d."""
    d, n = 5, 4000
    rows = conditioned_gaussian(n, d, 1.0)[0]
    for norm, pays in ((2.4, False), (24.0, True)):
        made = plan(PrivateSecondMoment(rho="0.5", row_norm=norm, center="none"), n=n, d=d)
        sphere = rows / np.linalg.norm(rows, axis=1)[:, None] * 2.4
        smallest = 2.4**2 / d / norm**2
        assert (smallest < made.recursion.pays_below) == pays
        found = {}
        for method in ("recursive", "gaussian_moments"):
            errors = []
            for seed in range(9):
                with seeded_noise(seed):
                    model = PrivateSecondMoment(rho="0.5", row_norm=norm, center="none", method=method)
                    errors.append(spectral(sphere, model.fit(sphere).second_moment_))
            found[method] = np.median(errors)
        assert (found["recursive"] < found["gaussian_moments"]) == pays


def test_least_rows_is_where_recursion_starts() -> None:
    few = plan(PrivateSecondMoment(rho="0.5", **NORM), n=100, d=6)
    assert few.mechanism == "gaussian_moments" and few.recursion is None
    with pytest.raises(InfeasiblePlan, match="rows") as caught:
        plan("recursive", n=100, d=6, rho="0.5")
    least = int("".join(c for c in str(caught.value).partition(" at this")[0] if c.isdigit()))
    assert plan("recursive", n=least + 1, d=6, rho="0.5").recursion.works
    with pytest.raises(InfeasiblePlan):
        plan("recursive", n=least - 1, d=6, rho="0.5")


def test_theory_is_refused_with_the_rows_it_would_need() -> None:
    theory = {"preset": "theory", "floor": 1.0, "subsample": 10}
    with pytest.raises(InfeasiblePlan, match="rows"):
        plan(PrivateSecondMoment(rho="0.5", **NORM, **theory, method="recursive"), n=1000, d=6)
    made = plan(PrivateSecondMoment(rho="0.5", **NORM, **theory, method="recursive"), n=10**6, d=6)
    assert made.recursion.works and made.recursion.reach == 1e4
    assert [step.name for step in made.steps][-1] == "last"


def test_a_plan_says_what_a_release_then_does() -> None:
    rows = conditioned_gaussian(500, 3, 100.0)[0]
    model = PrivateSecondMoment(rho=5, **NORM)
    made = plan(model, n=500, d=3)
    with seeded_noise(1):
        model.fit(rows)
    assert made.steps == tuple(step.plan for step in model.release_.steps)
    assert made.resources.passes == 10
    assert made.total_variance == 3 and not made.declared
    with pytest.raises(ParameterError, match="goals"):
        made.needed_rows(0.5)
    text = str(made)
    assert "spectral error" in text and "noise edge" not in text


def test_private_numbers_of_rows_are_guessed() -> None:
    model = PrivateSecondMoment(rho="0.5", **NORM, adjacency="add-remove")
    assert plan(model, n=10**5, d=3).recursion.works
    few = plan(model, n=20, d=3)
    assert not few.recursion.works
    assert "does not work with so few rows" in str(few)


def test_other_mechanisms_have_none() -> None:
    made = plan(PrivateSecondMoment(rho="0.5", accuracy="norm", **NORM), n=5000, d=3)
    assert made.mechanism == "gaussian_moments" and "one release" in made.reason
    assert made.recursion is None
