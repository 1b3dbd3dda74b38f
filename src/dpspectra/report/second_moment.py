"""The report of a second moment: its dict and its tables."""

from __future__ import annotations

from typing import Any

from ..estimators.second_moment import PrivateSecondMoment
from ..plots.fitted import names
from .card import card_of, number
from .pictures import Picture
from .summary import FORMAT, FORMAT_VERSION, MOST_FEATURES, plain
from .tables import Table
from .words import limits, percent

KIND = "moments"
LOST = 1.0
"""Spectral error from which on the smallest direction says nothing."""


def summarise(model: PrivateSecondMoment) -> dict[str, Any]:
    """The report of a fitted ``PrivateSecondMoment`` as strict-JSON values; all of it is public."""
    release, shown = model.release_, slice(0, MOST_FEATURES)
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "kind": KIND,
        "label": release.label,
        "private": bool(release.private),
        "guarantee": release.guarantee.sentence(),
        "headline": headline(model),
        "meaning": meaning(model),
        "d": release.facts.d,
        "spectral_error": plain(model.spectral_error_),
        "eigenvalues": plain(model.eigenvalues_[shown]),
        "features": names(model)[shown],
        "second_moment": plain(model.second_moment_[shown, shown]),
        "precision": plain(model.precision_[shown, shown]),
        "card": card_of(release, [("Spectral error", number(model.spectral_error_))]),
        "limits": limits(model),
        "version": release.version,
    }


def headline(model: PrivateSecondMoment) -> str:
    if model.spectral_error_ >= LOST:
        return "Second moment whose smallest direction cannot be told from noise"
    return f"Second moment within about {percent(model.spectral_error_)} along every direction"


def meaning(model: PrivateSecondMoment) -> list[str]:
    """Paragraphs for a reader who does not know differential privacy."""
    first = (
        "The second moment says how large rows are along every direction, measured from a public centre."
        " Where the centre is the mean it is the covariance. Its inverse, the precision matrix, is what"
        " regressions, distances and whitening need, and it depends on the smallest directions most."
    )
    error = percent(model.spectral_error_)
    if model.spectral_error_ >= LOST:
        second = (
            "Noise reaches as far as the smallest direction, in which the precision matrix below describes"
            " noise. More rows, a larger privacy budget, tighter bounds or fewer columns would lower it."
        )
    else:
        second = (
            f"Along any direction the added noise changes the second moment by at most about {error}, and an"
            " entry of the precision matrix by about as much of the root of its two diagonal entries. This"
            " speaks of noise alone: not of rows that were shortened, nor of how far the table is from its"
            " population."
        )
    return [first, second]


def tables(model: PrivateSecondMoment) -> list[Table]:
    """Second moment, precision, whitening map and eigenvalues, uncut."""
    features = names(model)
    places = [f"direction {index + 1}" for index in range(len(features))]
    return [
        Table("second_moment", ("feature", *features), (features, *model.second_moment_.T)),
        Table("precision", ("feature", *features), (features, *model.precision_.T)),
        Table("whitener", ("direction", *features), (places, *model.whitener_.T)),
        Table("eigenvalues", ("direction", "eigenvalue"), (places, model.eigenvalues_)),
    ]


def pictures(_: PrivateSecondMoment) -> list[Picture]:
    """None: a precision matrix over many scales says more as a table."""
    return []
