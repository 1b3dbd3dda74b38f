"""A ledger that remembers whether it recorded a spend, so that a broken-off run can say so."""

from __future__ import annotations

from typing import Any

from ..accounting.ledger import Ledger


class WatchedLedger(Ledger):
    """A ledger of one run."""

    asked = False
    recorded = False

    def spend(self, *args: Any, **kwargs: Any) -> Any:
        self.asked = True
        spent = super().spend(*args, **kwargs)
        self.recorded = True
        return spent
