"""The report of a release of directions, and of variances along them: its dict, tables and pictures."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import plots
from ..planning.auto import MOMENTS
from ..plots.fitted import Fitted, base, component_label, names
from .card import card_of, number
from .pictures import LOADINGS, Picture, picture, scree_alt
from .pictures import SCREE as WHOLE
from .summary import FORMAT, FORMAT_VERSION, loadings_of, plain, spectrum_of
from .tables import Table, explained
from .words import limits, percent

KIND = "directions"
TOTAL = "the released total variance"

SCREE = (
    "Bars: variance along each released direction, made not negative and not rising. Whiskers: what the"
    " added noise does in 90 % of releases. Orange: height that noise alone passes in one of a hundred. Small"
    " marks: values as released. Green: cumulative share of {base}."
)


def summarise(model: Any) -> dict[str, Any]:
    """The report of a fitted ``PrivateScree``, or of a ``PrivatePCA`` of robust directions, as strict-JSON
    values; all of it is a function of the release, so it is public."""
    release, k = model.release_, len(model.eigenvalues_)
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
        "n_resolved": int(model.n_resolved_),
        "level": float(model.level_),
        "total_variance": plain(model.total_variance_),
        "known": _known(model),
        "base": base(model),
        "intervals": bool(np.isfinite(model.eigenvalue_intervals_).any()),
        "spectrum": [
            row | {"noise_sd": plain(sd), "raw": plain(raw)}
            for row, sd, raw in zip(
                spectrum_of(model), _each(model, "noise_sd_"), model.eigenvalues_raw_, strict=False
            )
        ],
        "k": k,
        "loadings": loadings_of(model, model.alignment_ != 0),
        "card": card_of(release, noise(model)),
        "limits": limits(model),
        "version": release.version,
    }


def headline(model: Fitted) -> str:
    k, stands = len(model.eigenvalues_), model.n_resolved_
    if not _known(model):
        return f"{k} directions, {stands} of which stand out of the noise"
    verb = "stands" if stands == 1 else "stand"
    return f"{k} variances along released directions; {stands} {verb} out of the noise"


def noise(model: Fitted) -> list[tuple[str, str]]:
    """What the card says of the noise."""
    if not _known(model):
        return [("Variances", "none released")]
    sds = ", ".join(number(float(sd)) for sd in _each(model, "noise_sd_")[:10])
    return [("Noise sd of each variance, in units of the spectrum", sds)]


def meaning(model: Fitted) -> list[str]:
    """Paragraphs for a reader who knows what a principal component is, but not differential privacy."""
    return [*_variances(model), *_directions(model), _robust(model)]


def _variances(model: Fitted) -> list[str]:
    if not _known(model):
        return ["Only directions were released: the whole budget went to them, and nothing tells variances."]
    stands, moments = np.asarray(model.resolved_, dtype=bool), model.release_.mechanism == MOMENTS
    text = f"PC1, as released, has a variance of {number(float(model.eigenvalues_[0]))}"
    text += f" and carries {percent(float(model.ratio_[0]))} of {base(model)}."
    if not stands.all():
        first = int(np.flatnonzero(~stands)[0])
        height = number(float(_each(model, "noise_edge_")[first]))
        often = "by itself" if moments else "once in a hundred releases"
        text += f" PC{first + 1} cannot be told from noise, which reaches about {height} {often}."
    if moments:
        return [text, "Variances are the first eigenvalues of a noisy covariance, after denoising."]
    return [
        text,
        "Variances are means of half squared differences of rows that a secret draw has paired, so no centre"
        " was needed. Large squares may have been cut, which makes a variance with heavy tails look smaller."
        " They are then made not negative and not rising; the file explained_variance has them before.",
    ]


def _directions(model: Any) -> list[str]:
    alignment = np.asarray(model.alignment_, dtype=np.float64)
    if not np.isfinite(alignment).all():
        return []
    text = (
        "Alignment says how close a released direction is to the one that the same method would find without"
        " noise: the expected squared cosine of their angle, 1 for the same direction and 0 for one that"
        " cannot be told from noise."
    )
    return [f"{text} For PC1 it is {alignment[0]:.3f}. Signs are fixed by a rule and carry no meaning."]


def _robust(model: Fitted) -> str:
    method = model.release_.parameters.get("directions", model.release_.mechanism)
    if method == MOMENTS:
        return (
            "Errors speak of the noise added for privacy, not of how far this table is from its population."
        )
    return (
        "Directions come from signs: every row, or difference of rows, counts with length 1. They are those"
        " of the covariance where the cloud of points is an ellipsoid, and are little moved by outliers; for"
        " other data they may differ from it. Errors speak of the noise added for privacy alone."
    )


def tables(model: Any) -> list[Table]:
    """Components and explained variance, uncut."""
    labels = [f"PC{index + 1}" for index in range(len(model.components_))]
    found = explained(model)
    sds = ("noise_sd",), (_each(model, "noise_sd_"),)
    return [
        Table("components", ("component", *names(model)), (labels, *model.components_.T)),
        Table(found.name, found.columns + sds[0], found.data + sds[1]),
    ]


def pictures(model: Any) -> list[Picture]:
    """Scree plot and loadings, where variances are known."""
    if not _known(model):
        return []
    alt = scree_alt(model, headline(model), base(model))
    said = WHOLE.replace(TOTAL, base(model)) if model.release_.mechanism == MOMENTS else SCREE
    made = [picture("Scree plot", plots.scree, model, alt, said.format(base=base(model)))]
    if len(model.components_) >= 2:
        pair = f"{component_label(model, 0)} and {component_label(model, 1)}"
        made.append(
            picture("Loadings", plots.loadings, model, f"Arrows of the loadings on {pair}.", LOADINGS)
        )
    return made


def _known(model: Fitted) -> bool:
    """Whether variances were released."""
    return bool(np.isfinite(model.eigenvalues_).all())


def _each(model: Fitted, name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A number for each component."""
    value = np.asarray(getattr(model, name), dtype=np.float64)
    return np.broadcast_to(value, len(model.eigenvalues_))
