"""Which strategies of the symbolic engine check temporal formulas; loaded before any search."""

from __future__ import annotations

from mazurka.errors import OptionError

FORMULA_STRATEGIES = ("bdd", "bmc", "k-induction", "pdr", "portfolio")
"""As `mazurka.symbolic.temporal.searches` has them; the last one is taken where nobody chose."""


def require_able(strategy: str) -> None:
    """Refuse a strategy that cannot check formulas."""
    if strategy not in FORMULA_STRATEGIES:
        known = ", ".join(FORMULA_STRATEGIES)
        raise OptionError(f"strategy {strategy!r} checks no temporal formulas; these do: {known}")
