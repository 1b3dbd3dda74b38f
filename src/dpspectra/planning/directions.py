"""Which mechanism finds directions, from public facts alone.

All comparisons are of noise edges: the largest eigenvalue that noise alone makes, beside the trace of the
statistic. Of signs of rows and of pairs the trace is 1. Of second moments it is the total variance over B^2,
which is not known; bounds are mostly wide, so a tenth is assumed (``USED``).
"""

from __future__ import annotations

import math
from typing import Any

from ..accounting.exact import float_down, sqrt_down
from ..accounting.gaussian import calibrate
from ..core.facts import Facts
from ..core.privacy import Adjacency, Budget
from ..mechanisms.spatial_sign import CENTRE_SHARES, RADIUS_SHARE

USED = 0.1
"""Total variance over B^2 that is assumed of rows with public bounds."""
SMALL_EDGE = 0.1
"""sqrt(k) times the noise edge of second moments up to which they are taken: they need no shape of rows."""
FINE = 0.02
"""Noise edge of pairs up to which they are taken before signs of rows: the error of a method's shape is then
the larger one, and a difference is symmetric about 0 whatever the rows are."""
LOST = 0.08
"""sqrt(d)/(n mu) past which the centre that spatial signs need is lost in its noise."""
ALL_PAIRS = 20_000
"""Rows up to which all pairs take seconds."""

Choice = tuple[str, dict[str, Any], str]


def edges(facts: Facts, budget: Budget) -> dict[str, float]:
    """Noise edge beside the trace, of each direction mechanism on this table (replace-one, rows public).

    With x = sqrt(d)/(n mu): 4 x for pairs, whose sensitivity is 2 sqrt(2)/n; 2 x/sqrt(share) for signs of
    rows about a released centre; and the moments' 2 x/sqrt(0.9) over the part of B^2 that is used.
    """
    assert facts.rows is not None
    x = _noise(facts, budget)
    signs = 1 - float(RADIUS_SHARE + sum(CENTRE_SHARES))
    return {
        "spherical_kendall": 4 * x,
        "spatial_sign": 2 * x / math.sqrt(signs),
        "gaussian_moments": 2 * x / math.sqrt(0.9) / USED if facts.grid.bounded else math.inf,
    }


def best_directions(facts: Facts, budget: Budget, bounded: bool, k: int) -> Choice:
    """The mechanism to take, its options, and why in words.

    Parameters
    ----------
    facts : public facts of the table; under add/remove only second moments serve
    budget : of the directions
    bounded : whether rows have a public bound that is to be believed
    k : number of directions; more of them need a lower edge
    """
    if facts.rows is None or facts.adjacency is Adjacency.ADD_REMOVE:
        return "gaussian_moments", {}, "the only one for a private number of rows"
    found = edges(facts, budget)
    if bounded and facts.grid.bounded and math.sqrt(k) * found["gaussian_moments"] <= SMALL_EDGE:
        return "gaussian_moments", {}, "noise is small even for wide bounds"
    if budget.mu is None and found["spherical_kendall"] > FINE and _noise(facts, budget) <= LOST:
        reason = "signs of rows have half of the noise of pairs, which lets their centre be found"
        return "spatial_sign", {"center": "private"}, reason
    pairs = "all" if facts.rows <= ALL_PAIRS else "disjoint"
    return "spherical_kendall", {"pairs": pairs}, "pairs of rows need no bound and no centre"


def _noise(facts: Facts, budget: Budget) -> float:
    """sqrt(d)/(n mu)."""
    assert facts.rows is not None
    mu = float_down(sqrt_down(calibrate(budget, 1, 2.0**200).mu_squared))
    return math.sqrt(facts.d) / (facts.rows * mu)
