"""What a strategy declares of itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mazurka.search.observer import Observer
from mazurka.search.options import Option, SearchOptions
from mazurka.search.result import SearchResult

if TYPE_CHECKING:
    from mazurka.ir.program import Program


@dataclass(frozen=True)
class Strategy:
    """One way to search.  The module that declares it is imported to list its options, so what
    `run` needs is imported by `run`."""

    name: str
    summary: str
    preserves: frozenset[str]
    """The properties for which a complete search without violation means that they hold."""
    orders: tuple[str, ...]
    run: Callable[[Program, SearchOptions, Observer], SearchResult]
    sound: bool = True
    """False for a strategy that is unsound by design: it finds violations, never excludes them."""
    options: tuple[Option[Any], ...] = ()
    """The options of its own, beyond those that all strategies have."""
    over_schedules: bool = False
    """It runs schedules to their end and stores no states, so it needs executions that end."""
    engine: str = ""
    """The package that it is a part of; entered by the registry."""


@dataclass(frozen=True)
class Chosen:
    """Which strategy gave the answer where nobody has named one, and why it was asked."""

    strategy: Strategy
    reason: str
    result: SearchResult
