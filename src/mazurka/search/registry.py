"""Finds engines, their strategies, and the options that these declare.

A strategy is one file in `mazurka.<engine>.strategies` that defines `STRATEGY`.  Its name is the
file's name with dashes for underscores.  Nothing else has to be edited to add one, nor to add an
option of its own.  An engine is such a package, named in `ENGINES`; the package's `DEFAULT` is the
strategy for those who name none, or `auto` where `mazurka.<engine>.auto` chooses one.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from mazurka.errors import InternalError, OptionError, suggest
from mazurka.search.flag_locks import with_flag_locks
from mazurka.search.options import ORDERS, PROPERTIES, TAKEN, Option, SearchOptions, one_of
from mazurka.search.sampled import with_samples
from mazurka.search.strategy import Chosen, Observer, Strategy

if TYPE_CHECKING:
    from mazurka.ir.program import Program

ENGINES = ("stateful", "stateless", "symbolic")
AUTO = "auto"


def require_engine(name: str) -> None:
    one_of("engine", name, (AUTO, *ENGINES))


def strategy_names(engine: str = AUTO) -> list[str]:
    """The strategies of one engine, or of all, without importing any."""
    engines = ENGINES if engine == AUTO else (engine,)
    return sorted(
        module.name.replace("_", "-")
        for each in engines
        for module in pkgutil.iter_modules(_package(each).__path__)
    )


def _package(engine: str) -> Any:
    return importlib.import_module(f"mazurka.{engine}.strategies")


def require_known(name: str, known: list[str]) -> None:
    if name not in known:
        hint = suggest(name, known)
        raise OptionError(f"unknown strategy {name!r}; there are: {', '.join(known)}{hint}")


def load_strategy(name: str) -> Strategy:
    for engine in ENGINES:
        if name in strategy_names(engine):
            return _load(engine, name)
    require_known(name, strategy_names())
    raise AssertionError("strategies do not appear while one is looked for")


def load_all() -> list[Strategy]:
    """The strategies of all engines, sorted by name."""
    found = [_load(engine, name) for engine in ENGINES for name in strategy_names(engine)]
    return sorted(found, key=lambda strategy: strategy.name)


def _load(engine: str, name: str) -> Strategy:
    module = importlib.import_module(f"mazurka.{engine}.strategies.{name.replace('-', '_')}")
    strategy = getattr(module, "STRATEGY", None)
    if not isinstance(strategy, Strategy) or strategy.name != name:
        raise InternalError(f"{module.__file__} defines no STRATEGY whose name is {name!r}")
    for problem in _find_mistakes(strategy):
        raise InternalError(f"{module.__file__} declares {problem}")
    run = with_flag_locks(strategy.run) if strategy.uses_locks else strategy.run
    run = run if strategy.takes_any_choice else with_samples(run)
    return replace(strategy, engine=engine, run=run)


def _find_mistakes(strategy: Strategy) -> Iterator[str]:
    """Say what is wrong in the declaration of a strategy."""
    name = strategy.name
    if not isinstance(strategy.orders, tuple) or not set(strategy.orders) <= set(ORDERS):
        yield f"orders of strategy {name!r} that are no tuple of {', '.join(ORDERS)}"
    if not strategy.preserves <= set(PROPERTIES):
        yield f"properties of strategy {name!r} that are not among {', '.join(PROPERTIES)}"
    if not isinstance(strategy.options, tuple):
        yield f"options of strategy {name!r} that are no tuple"
        return
    for option in strategy.options:
        what = f"an option {option.name!r} of strategy {name!r}"
        if option.name in TAKEN:
            yield f"{what}, but all strategies have one of that name; rename it"
        if not (option.name.isidentifier() and option.name.islower()):
            yield f"{what}, which is no name of lower-case letters and underscores; rename it"
        try:
            option.validate(option.default)
        except OptionError as error:
            yield f"{what}, whose default is refused: {error}"


def default_of(engine: str) -> str:
    """The strategy that an engine takes where none is named; `auto` where `chooser` decides."""
    return cast(str, _package(ENGINES[0] if engine == AUTO else engine).DEFAULT)


def chooser(engine: str) -> Callable[[Program, SearchOptions, Observer], Chosen]:
    """How an engine whose default is `auto` chooses a strategy, and searches; without an engine,
    how one is chosen as well (`mazurka.auto`)."""
    name = "mazurka" if engine == AUTO else f"mazurka.{engine}"
    search = importlib.import_module(f"{name}.auto").search
    return cast("Callable[[Program, SearchOptions, Observer], Chosen]", search)


def declared_options() -> dict[str, Option[Any]]:
    """All options that strategies declare, by name."""
    declared: dict[str, Option[Any]] = {}
    for strategy in load_all():
        for option in strategy.options:
            first = declared.setdefault(option.name, option)
            if first != option:
                other = strategies_with(first)[0]
                raise InternalError(
                    f"{option.flag} is declared twice, differently: by strategies {other!r} and"
                    f" {strategy.name!r}; share one declaration, or rename one"
                )
    return dict(sorted(declared.items()))


def strategies_with(option: Option[Any]) -> list[str]:
    """The strategies that declare an option."""
    return [strategy.name for strategy in load_all() if option in strategy.options]
