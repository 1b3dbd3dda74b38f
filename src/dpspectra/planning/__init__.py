"""What to expect before a budget is spent, from public facts only. No table is opened here."""

from .choose import choose
from .plan import Plan, plan

__all__ = ["Plan", "choose", "plan"]
