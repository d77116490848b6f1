"""What a strategy declares of itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mazurka.ir.program import Program
from mazurka.search.observer import Observer
from mazurka.search.options import SearchOptions
from mazurka.search.result import SearchResult


@dataclass(frozen=True)
class Strategy:
    name: str
    summary: str
    preserves: frozenset[str]
    """The properties for which a complete search without violation means that they hold."""
    orders: tuple[str, ...]
    run: Callable[[Program, SearchOptions, Observer], SearchResult]
    sound: bool = True
    """False for a strategy that is unsound by design: it finds violations, never excludes them."""
    tuned_by: frozenset[str] = frozenset()
    """The options it listens to beyond those that all do: `cycle_rule`, `workers`, `proviso`."""
    over_schedules: bool = False
    """It runs schedules to their end and stores no states, so it needs executions that end."""
