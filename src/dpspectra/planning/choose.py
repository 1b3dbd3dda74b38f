"""Which mechanism serves a request."""

from __future__ import annotations

from dataclasses import fields
from typing import cast

from ..core.errors import ParameterError
from ..core.request import Request
from ..mechanisms.base import Mechanism
from ..mechanisms.registry import mechanism

_DEFAULT = "gaussian_moments"


def choose(request: Request) -> Mechanism:
    """The configured mechanism of a request.

    Parameters
    ----------
    request : Request
        ``method`` is "auto" or the name of a mechanism. Its budget and centre go to the mechanism's
        fields ``budget`` and ``center``, where it has them.

    Raises
    ------
    ParameterError
        An unknown method, or pure DP (``delta=0``), which no covariance mechanism offers yet.
    """
    kind = mechanism(_DEFAULT if request.method == "auto" else request.method)
    if request.budget.pure:
        raise ParameterError(
            "delta=0: pure DP is not available yet for this estimator; give a delta above 0 "
            "(well below 1/n, for example delta=1e-6), or a budget as rho or mu"
        )
    settings = {"budget": request.budget, "center": request.layout, "trace": request.trace}
    known = {field.name for field in fields(kind)}
    return cast(Mechanism, kind(**{name: value for name, value in settings.items() if name in known}))


def reason(request: Request) -> str:
    """Why this mechanism, in one sentence."""
    if request.method != "auto":
        return "asked for by name"
    return "auto: the least noise for all entries at once, after which eigenvectors can be judged"
