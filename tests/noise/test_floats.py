"""Float normals and Wishart noise: the errors that the slack is proved from, and the law.

False-alarm rate: 1e-9 each of the two tests of moments (eight sds and more).
"""

import math

import mpmath
import numpy as np
import pytest
from scipy.special import ndtri

from dpspectra.core.errors import InfeasiblePlan
from dpspectra.noise import floats
from dpspectra.noise.secure import SecureNoise
from dpspectra.postprocess import denoise_wishart
from dpspectra.postprocess.symmetric import unpack

POINTS = np.concatenate(
    [
        10.0 ** -np.linspace(0.31, 300, 150),
        np.linspace(1e-3, 0.5, 150),
        0.5 - 10.0 ** -np.linspace(1, 16, 40),
    ]
)


def test_quantiles_are_right_within_a_tenth_of_the_assumed_error() -> None:
    with mpmath.workdps(40):
        for point in POINTS.tolist():
            found = float(ndtri(point))
            exact = mpmath.mpf(found)
            for _ in range(3):
                exact -= (mpmath.ncdf(exact) - mpmath.mpf(point)) / mpmath.npdf(exact)
            error = abs(float(mpmath.mpf(found) - exact)) / max(1.0, abs(found))
            assert error <= floats.QUANTILE_ERROR / 10


def test_small_uniforms_get_further_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A draw whose first 63 bits are zero is made of the next 64, and so on."""
    words = iter([[0, 2**63, 2], [5, 0], [1, 7], [2**60 + 1, 9], [3]])
    monkeypatch.setattr(floats, "_words", lambda size: np.array(next(words)[:size], dtype=np.uint64))
    found = floats._half_uniforms(3)
    assert found[1] == (2**62 + 0.5) / 2**64
    assert found[0] == pytest.approx((5 * 2.0**64 + 1) / 2.0**192, rel=1e-15)
    assert found[2] == pytest.approx((1 * 2.0**128 + 7.5) / 2.0**192, rel=1e-15)


@pytest.mark.parametrize(("side", "scale"), [(1, 2.0**40), (3, 2.0**40), (12, 2.0**44)])
def test_float_products_are_within_the_bound_of_the_proof(side: int, scale: float) -> None:
    """The same normals in 50 digits: rounded noise differs by at most e + 1, and by far less than e."""
    rng = np.random.default_rng(side)
    first, second = rng.standard_normal((2, side, side + 1))
    noise = floats.rounded(first, second, scale)
    e = scale * floats._entry(side) * (4.3 * floats.QUANTILE_ERROR + 1.1 * (side + 5) * floats.UNIT)
    with mpmath.workdps(50):
        g, h = mpmath.matrix(first.tolist()), mpmath.matrix(second.tolist())
        exact = scale * (g * g.T - h * h.T)
        places = [(i, j) for i in range(side) for j in range(i, side)]
        assert len(noise) == len(places)
        assert all(abs(int(n) - exact[i, j]) <= e + 1 for n, (i, j) in zip(noise, places, strict=True))


def test_slack_is_what_the_proof_says() -> None:
    for side in (1, 2, 20, 200):
        scale = 2.0**40
        e = scale * floats._entry(side) * (4.3 * floats.QUANTILE_ERROR + 1.1 * (side + 5) * floats.UNIT)
        proved = 2 * side * (side + 1) / 2 * (e + 1) / floats.smoothing(side, scale)
        assert proved <= floats.wishart_slack(side, scale) <= 1.001 * proved
    assert floats.wishart_slack(200, 2.0**40) < 1e-5
    assert floats.wishart_slack(5, 2.0**20) > floats.wishart_slack(5, 2.0**40)


def test_noise_that_does_not_fit_is_refused() -> None:
    with pytest.raises(InfeasiblePlan, match="64-bit"):
        floats.wishart(3, 2.0**56)


@pytest.mark.statistical
def test_normals_have_the_moments_of_normals() -> None:
    n = 200_000
    draws = floats.normals(n)
    for power, exact, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs(float(np.mean(draws**power)) - exact) <= 9 * math.sqrt(variance / n)


@pytest.mark.statistical
def test_entries_have_the_declared_sd_and_fill_the_declared_edge() -> None:
    """A sum of about 4,000 squares, each of kurtosis below 15: nine sds are 9 sqrt(14/4000) of it."""
    side, scale = 90, 2.0**40
    values = SecureNoise().wishart(np.zeros(side * (side + 1) // 2, dtype=np.int64), side, scale)
    matrix = unpack(values.astype(np.float64), side)
    off = matrix[np.triu_indices(side, 1)]
    sd = denoise_wishart.entry_sd(side, scale)
    assert float(np.mean(off**2)) == pytest.approx(sd**2, rel=9 * math.sqrt(14 / len(off)))
    top = float(np.linalg.eigvalsh(matrix)[-1])
    assert 0.75 * denoise_wishart.EDGE < top / (scale * (side + 1)) < 1.35 * denoise_wishart.EDGE


def test_the_smoothing_is_the_same_where_it_is_drawn_and_decoded() -> None:
    assert floats.SMOOTHING == denoise_wishart.SMOOTHING
