"""What the numbers mean, in plain words."""

from __future__ import annotations

import numpy as np

from ..core.privacy import Adjacency
from ..core.released import Released
from ..plots.fitted import Fitted
from .card import number


def headline(estimator: Fitted) -> str:
    d, stands = len(estimator.eigenvalues_), estimator.n_resolved_
    what = f"component{'s' if d > 1 else ''} stand{'s' if stands == 1 else ''}"
    return f"{stands} of {d} {what} out of the noise"


def meaning(estimator: Fitted) -> list[str]:
    """Paragraphs for a reader who knows what a principal component is, but not differential privacy."""
    return [*_spectrum(estimator), *_directions(estimator), _intervals(estimator)]


def _spectrum(estimator: Fitted) -> list[str]:
    d, stands, edge = len(estimator.eigenvalues_), estimator.n_resolved_, float(estimator.noise_edge_)
    if not stands:
        return [
            "No eigenvalue rises above what the added noise produces by itself"
            + (f" (up to {number(edge)})" if np.isfinite(edge) else "")
            + ". The components and shares below describe noise, not the table. More rows, a larger privacy"
            " budget, tighter bounds or fewer columns would lower the noise."
        ]
    ratio, interval = float(estimator.ratio_[0]), np.asarray(estimator.ratio_intervals_)[0]
    text = ""
    if np.isfinite(ratio):
        share = float(np.asarray(estimator.ratio_)[np.asarray(estimator.resolved_, dtype=bool)].sum())
        text = f"PC1, as released, carries {percent(ratio)} of the released total variance"
        text += f"; the {stands} that stand out carry {percent(share)} together." if stands > 1 else "."
        if np.isfinite(interval).all():
            low, high = 100 * interval[0], percent(interval[1])
            text += f" The exact first component carries {low:.1f} to {high}"
            text += f" ({100 * estimator.level_:.0f} % interval)."
        text += " "
    rest = d - stands
    if rest:
        text += (
            f"The other {rest} cannot be told from noise: the noise added for privacy reaches up to an"
            f" eigenvalue of about {number(edge)} by itself. They are hatched in the scree plot and get no"
            " interval; do not read their directions."
        )
    else:
        text += "Every component lies above the height that the added noise reaches by itself."
    return [text]


def _directions(estimator: Fitted) -> list[str]:
    alignment = np.asarray(getattr(estimator, "alignment_", ()), dtype=np.float64)
    if not np.isfinite(alignment).any() or not estimator.n_resolved_:
        return []
    text = (
        "Alignment says how close a released direction is to the exact one: the expected squared cosine of"
        " the angle between them, 1 for the same direction and 0 for a right angle."
    )
    if estimator.resolved_[0] and np.isfinite(alignment[0]):
        text += f" For PC1 it is {alignment[0]:.3f}."
    return [text + " Signs are fixed by a rule from the component alone and carry no meaning."]


def _intervals(estimator: Fitted) -> str:
    if not np.isfinite(estimator.eigenvalue_intervals_).any():
        joint = estimator.release_.has("augmented")
        reason = ", as mean and covariance share one noisy matrix whose noise is not alike in all directions"
        return (
            f"No eigenvalue has an interval here{reason if joint else ''}. Bars and matrices are after"
            " denoising; the values before it are in the files."
        )
    return (
        f"Intervals aim to hold the exact value of this table in {100 * estimator.level_:.0f} % of releases."
        " They measure the noise added for privacy, not how far this table is from the population that it"
        " was drawn from. The variance along a released direction is a little lower than the exact eigenvalue"
        " that the interval is about, as the direction is a little off. A component with a near neighbour"
        " gets no interval even where it stands out. Bars and matrices are after denoising; the values before"
        " it are in the files."
    )


def limits(estimator: Fitted) -> list[str]:
    """What the guarantee does not cover, and what the numbers cannot say."""
    release = estimator.release_
    unit = release.facts.unit
    public = "column names, bounds, the number of columns, the mechanism's parameters"
    if release.facts.adjacency is Adjacency.REPLACE_ONE:
        public += ", the number of rows"
    return [
        f"Not protected, because public by assumption: {public}.",
        f"The unit of protection is one {unit}. Someone who is in several {unit}s is protected less, by as"
        " many times.",
        "Every further release from the same table adds to what is spent"
        + (
            "; the ledger adds it up."
            if release.recorded
            else ", and no ledger adds it up: this one is unrecorded."
        ),
        *_shortened(release),
        "Components of nearly equal variance are not separable: their plane means something, each direction"
        " alone does not, and intervals of exactly tied eigenvalues cover less often than stated.",
        f"Scores of single {unit}s (transform) are not private and are not part of this report.",
        "Out of scope: timing, memory and swap of the machine, and readers of the raw file.",
    ]


def _shortened(release: Released) -> list[str]:
    grid, unit = release.facts.grid, release.facts.unit
    if not grid.bounded:
        return []
    return [
        f"A {unit} farther than B = {grid.radius:.6g} from the centre is shortened to B before it is counted,"
        " which makes spread look smaller where many are that far."
    ]


def percent(share: float) -> str:
    """A share in percent."""
    return f"{100 * share:.1f} %"
