"""``dpspectra plan``: what to expect of a budget, from public facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import ParameterError
from .settings import PlanSettings, from_options
from .subject import components, model_arguments, public_schema, scree_arguments, variance_arguments
from .talk import result, result_json

if TYPE_CHECKING:
    from ..planning.plan import Plan


@from_options(PlanSettings)
def command(settings: PlanSettings) -> None:
    """Show what a release would cost and resolve. Opens no table and spends nothing.

    TABLE may be named, as for `dpspectra pca`, and is not opened: the number of rows comes from the schema
    or --rows.
    """
    from ..planning import plan

    if settings.format not in ("text", "json"):
        raise ParameterError("--format must be text or json")
    schema = public_schema(settings)
    estimator = _estimator(settings, model_arguments(settings, settings, schema))
    made = plan(estimator, schema=schema, n=settings.rows, total_variance=settings.total_variance)
    estimator.check_features(made.facts.d)
    show(made, as_json=settings.format == "json", share=settings.share)


def _estimator(settings: PlanSettings, given: dict[str, Any]) -> Any:
    """Of the method's purpose: components for "auto" and what finds a covariance or directions."""
    from ..estimators import PrivatePCA, PrivateScree, PrivateSecondMoment
    from ..mechanisms.registry import mechanism

    if settings.method != "auto" and mechanism(settings.method).serves == {"scree"}:
        kept = {name: value for name, value in given.items() if name not in ("ddof", "trace")}
        return PrivateScree(**kept | scree_arguments(settings))
    if settings.method != "auto" and mechanism(settings.method).serves == {"second moment"}:
        kept = {name: value for name, value in given.items() if name not in ("ddof", "denoise", "trace")}
        public = {"center": "public"} if settings.center == "private" else {}  # the option's default
        return PrivateSecondMoment(**kept | public)
    return PrivatePCA(components(settings.components), **given, **variance_arguments(settings))


def show(made: Plan, *, as_json: bool, share: float | None = None) -> None:
    """The plan to stdout, as a table or as JSON, with what a goal needs."""
    needed = {} if share is None else _needed(made, share)
    if as_json:
        result_json(made.to_dict() | ({"goal": {"share": share} | needed} if needed else {}))
        return
    result(str(made))
    for name, value in needed.items():
        result(f"{name} for squared cosine 0.9 of a component with {share:.3g} of the variance: {value:.4g}")


def _needed(made: Plan, share: float) -> dict[str, Any]:
    """Rows, and budget in the units it was named in, that reach the goal alone."""
    needed: dict[str, Any] = {"rows": made.needed_rows(share)}
    budget = made.request.budget
    if budget.epsilon is not None:
        needed["epsilon"] = made.needed_epsilon(share)
    elif budget.rho is not None:
        needed["rho"] = made.needed_rho(share)
    return needed
