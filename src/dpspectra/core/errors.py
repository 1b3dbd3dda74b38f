"""Every error this package raises on purpose.

Texts name parameters and columns, never a cell value nor a count that depends on one.
"""


class DpspectraError(Exception):
    """Base of all errors of the package."""


class ParameterError(DpspectraError, ValueError):
    """A public parameter is out of its domain; the text names it and the way out."""


class SchemaError(DpspectraError, ValueError):
    """The table's public shape (columns, types, names, declared rows) does not fit the schema."""


class BudgetExceeded(DpspectraError, ValueError):
    """The ledger's cap does not allow this release; nothing was read and nothing was spent."""


class InfeasiblePlan(DpspectraError, ValueError):
    """Public facts alone say the request cannot work (memory, rows, budget); nothing was spent."""


class StabilityTestFailed(DpspectraError, RuntimeError):
    """A private test declined to answer; its cost is spent."""


class LedgerError(DpspectraError, RuntimeError):
    """The ledger file is edited, cut, locked for too long or not a ledger."""


class UnrecordedRelease(UserWarning):
    """A release was made without a ledger: nobody adds up what the table has spent."""


class PlanWarning(UserWarning):
    """The plan, from public facts alone, expects a poor result; the text says why and the way out."""
