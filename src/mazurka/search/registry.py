"""Finds strategies by name.

A strategy is one file in `mazurka.stateful.strategies` that defines `STRATEGY`.  Its name is the
file's name with dashes for underscores.  Nothing else has to be edited to add one.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil

from mazurka.errors import OptionError
from mazurka.search.strategy import Strategy


def strategy_names() -> list[str]:
    """All strategies, without importing any."""
    from mazurka.stateful import strategies

    return sorted(
        module.name.replace("_", "-") for module in pkgutil.iter_modules(strategies.__path__)
    )


def require_known(name: str, known: list[str]) -> None:
    if name not in known:
        close = difflib.get_close_matches(name, known, 1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise OptionError(f"unknown strategy {name!r}; there are: {', '.join(known)}{hint}")


def load_strategy(name: str) -> Strategy:
    require_known(name, strategy_names())
    module = importlib.import_module(f"mazurka.stateful.strategies.{name.replace('-', '_')}")
    strategy = module.STRATEGY
    assert isinstance(strategy, Strategy)
    return strategy
