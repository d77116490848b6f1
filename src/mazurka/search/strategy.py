"""What a strategy declares of itself, and the observer that is told how its search goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from mazurka.search.options import Option, SearchOptions
from mazurka.search.result import SearchResult, Statistics

if TYPE_CHECKING:
    from mazurka.ir.program import Program


class Observer(Protocol):
    """Told how a search goes; it may draw that, and never decides anything."""

    def progress(self, statistics: Statistics) -> None:
        """The counts so far, a few times a second."""

    def message(self, text: str) -> None:
        """What is being done now; worth showing on a terminal only."""

    def notice(self, text: str) -> None:
        """Why there is an unexpected pause; shown even where there is no terminal."""


class Silent:
    """An observer that ignores everything."""

    def progress(self, statistics: Statistics) -> None: ...
    def message(self, text: str) -> None: ...
    def notice(self, text: str) -> None: ...


Search: TypeAlias = "Callable[[Program, SearchOptions, Observer], SearchResult]"
"""Searches a program."""


@dataclass(frozen=True)
class Strategy:
    """One way to search.  The module that declares it is imported to list its options, so what
    `run` needs is imported by `run`."""

    name: str
    summary: str
    preserves: frozenset[str]
    """The properties for which a complete search without violation means that they hold; for a
    strategy with a weakness, those that it looks for."""
    orders: tuple[str, ...]
    """Orders that it can search in; only `dfs` where the order means nothing to it."""
    run: Search
    weakness: str = ""
    """Why a strategy that is unsound by design may miss violations: `it may ...`.  It finds
    violations, and never excludes them."""
    options: tuple[Option[Any], ...] = ()
    """The options of its own, beyond those that all strategies have."""
    refuse: Callable[[SearchOptions], None] | None = None
    """Raises `OptionError` for options that make no sense together."""
    over_schedules: bool = False
    """It runs schedules to their end and stores no states, so it needs executions that end."""
    uses_locks: bool = False
    """What it leaves out depends on which locks are held; flags that serve as locks then get owners
    (`mazurka.search.flag_locks`)."""
    takes_any_choice: bool = False
    """It need not try the outcomes of a choice one by one; for others some are chosen where there
    are too many (`mazurka.search.sampled`)."""
    reduces: bool = True
    """It leaves out what cannot change the verdict, and the scope of the verdict says so."""
    engine: str = ""
    """The package that it is a part of; entered by the registry."""

    @property
    def sound(self) -> bool:
        """Whether a complete search proves that the properties hold."""
        return not self.weakness


@dataclass(frozen=True)
class Chosen:
    """Which strategy gave the answer where nobody has named one, and why it was asked."""

    strategy: Strategy
    reason: str
    result: SearchResult
