"""The stability histogram: cells that hold rows, shown where a noisy count passes a public threshold.

Claim (lemma L-sparse of score_map.md): counts get discrete Laplace noise of scale s, that is
P(k) = (1 - q)/(1 + q) q^|k| with q = exp(-1/s); a cell is shown if its exact count is not 0 and its noisy one
at least ``least``. If one row moves at most ``moved`` counts, each by 1 (2 under replace-one, 1 under
add/remove), this is (moved/s, delta)-DP with delta = P(1 + noise >= least) = q^(least - 1)/(1 + q); no
smaller delta holds, for any epsilon.
"""

from __future__ import annotations

import math
from fractions import Fraction

from .exact import log


def least_shown(scale: float, delta: Fraction) -> int:
    """The smallest threshold whose delta is at most ``delta`` in (0, 1), for a noise scale."""
    needed = scale * (-log(delta) - math.log1p(math.exp(-1 / scale)))
    # The margin is far above the rounding of the line before and far below one count.
    return 1 + max(0, math.ceil(needed * (1 + 2.0**-40) + 2.0**-40))
