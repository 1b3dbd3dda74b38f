"""``dpspectra mechanisms``: what can make a release."""

from __future__ import annotations

from .guard import guarded
from .talk import result


@guarded
def command() -> None:
    """List the mechanisms: names for --method, adjacencies they support, and their theorems."""
    from ..mechanisms.registry import mechanisms

    for name, kind in mechanisms().items():
        summary = (kind.__doc__ or "").strip().split("\n")[0]
        adjacencies = ", ".join(sorted(adjacency.value for adjacency in kind.adjacencies))
        result(f"{name}\n    {summary}\n    adjacency: {adjacencies}")
        result(f"    theorem: docs/mechanisms/{kind.theorem}")
