"""Everything that can be asked of a check, and the refusal of what makes no sense."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mazurka.deadline import refuse_long
from mazurka.errors import OptionError
from mazurka.ir.passes.merge import Granularity
from mazurka.search.options import (
    ALWAYS_LOOKED_FOR,
    ORDERS,
    PROPERTIES,
    Option,
    SearchOptions,
    one_of,
    require_positive,
)
from mazurka.search.reading import MODELS, Reading, granularity_of
from mazurka.search.registry import (
    AUTO,
    declared_options,
    default_of,
    load_all,
    load_strategy,
    require_engine,
    require_known,
    strategies_with,
    strategy_names,
)
from mazurka.search.strategy import Strategy

COUNTEREXAMPLES = ("auto", "found", "switches")
USUAL = ("assert", "deadlock", "hang")
"""What is looked for where nobody says."""
INDISPENSABLE = ("assert", "deadlock")
"""What a strategy must preserve even so."""


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """Everything that can be asked of a check."""

    engine: str = AUTO
    strategy: str = AUTO
    order: str = "dfs"
    properties: tuple[str, ...] | None = None
    """What to look for; None: what is usual, as far as the strategy can."""
    reading: Reading = field(default_factory=Reading)
    limit_seconds: float | None = None
    limit_bytes: int | None = None
    explore_all: bool = False
    explain: bool = False
    """Say what the engine has made of the program."""
    counterexample: str = "auto"
    self_check: bool = False
    deterministic: bool = False
    """The same answer every time, to the letter: nothing depends on time, and none is told."""
    symmetry: bool = True
    """Take interchangeable threads as one, where the strategy can do that."""
    tuning: Mapping[str, object] = field(default_factory=dict)
    """Values of the options that strategies declare, by name; what is missing is as usual."""

    def to_json(self) -> dict[str, object]:
        declared = declared_options()
        return {
            "engine": self.engine,
            "strategy": self.strategy,
            **self.reading.to_json(),
            **{name: self.tuning.get(name, declared[name].default) for name in declared},
            "symmetry": self.symmetry,
            "explore_all": self.explore_all,
            "deterministic": self.deterministic,
            "limit_seconds": self.limit_seconds,
            "limit_bytes": self.limit_bytes,
        }

    @property
    def required(self) -> tuple[str, ...]:
        """The properties that a strategy has to preserve."""
        return INDISPENSABLE if self.properties is None else self.properties

    def for_search(self) -> SearchOptions:
        return SearchOptions(
            properties=frozenset(self.required),
            dispensable=frozenset(USUAL) - frozenset(self.required),
            order=self.order,
            stop_at_first=not self.explore_all,
            explain=self.explain,
            limit_seconds=self.limit_seconds,
            limit_bytes=self.limit_bytes,
            symmetry=self.symmetry,
            self_check=self.self_check,
            deterministic=self.deterministic,
            tuning=self.tuning,
        )


def validate(options: CheckOptions) -> None:
    """Refuse options that make no sense before any work is done."""
    require_engine(options.engine)
    one_of("order", options.order, ORDERS)
    one_of("counterexample", options.counterexample, COUNTEREXAMPLES)
    for name in options.required:
        if name in ALWAYS_LOOKED_FOR:
            raise OptionError(f"{name} errors are always looked for, with any --property")
        one_of("property", name, PROPERTIES)
    validate_granularity(options)
    one_of("model", options.reading.model, MODELS)
    for name, value in (
        ("--limit-time", options.limit_seconds),
        ("--limit-memory", options.limit_bytes),
        ("--max-threads", options.reading.max_threads),
        ("--max-depth", options.reading.max_depth),
        ("--heap", options.reading.heap),
    ):
        require_positive(name, value)
    refuse_long("--limit-time", options.limit_seconds)
    if options.deterministic and options.limit_seconds is not None:
        raise OptionError(
            "--deterministic and --limit-time contradict each other: how far a search comes in a"
            " time is never the same; smaller constants (-D NAME=VALUE) make it shorter"
        )
    if options.tuning:
        validate_tuning(options.tuning)


def validate_tuning(tuning: Mapping[str, object]) -> None:
    declared = declared_options()
    for name, value in tuning.items():
        if name not in declared:
            known = ", ".join(declared)
            raise OptionError(f"there is no option {name!r}; strategies have: {known}")
        declared[name].validate(value)


def validate_granularity(options: CheckOptions) -> None:
    """A race is between two accesses; whole lines have others, and may exclude each other.  A line
    that changes something and changes it back would look as if it changed nothing."""
    granularity = granularity_of(options.reading)
    if granularity is None:
        return
    if not options.reading.merge:
        raise OptionError("--no-merge and --granularity both say what a step is; give one of them")
    if granularity is Granularity.LINE and "race" in options.required:
        raise OptionError("data races cannot be looked for with --granularity line")
    if granularity is Granularity.LINE and "hang" in options.required:
        raise OptionError("hangs cannot be looked for with --granularity line")


def choose_strategy(options: CheckOptions) -> Strategy | None:
    """The strategy asked for, or the engine's usual one; None if the engine is to choose."""
    name = options.strategy
    if name == AUTO:
        name = default_of(options.engine)
    else:
        require_known(name, sorted((AUTO, *strategy_names())))
    if name != AUTO:
        return require_able(load_strategy(name), options)
    tuned = list_tuned(options)
    for option in tuned:
        if option.implies:
            return require_able(load_strategy(option.implies), options)
    for option in tuned:
        able = " or ".join(strategies_with(option))
        raise OptionError(f"{option.flag} needs --strategy {able}")
    return None


def require_able(strategy: Strategy, options: CheckOptions) -> Strategy:
    """Refuse a strategy that cannot answer what is asked."""
    if options.engine not in (AUTO, strategy.engine):
        able = ", ".join(strategy_names(options.engine))
        raise OptionError(
            f"strategy {strategy.name!r} belongs to --engine {strategy.engine};"
            f" --engine {options.engine} has: {able}"
        )
    missing = [name for name in sort_properties(options.required) if name not in strategy.preserves]
    if missing:
        able = ", ".join(strategies_for(options.required)) or "none"
        raise OptionError(
            f"strategy {strategy.name!r} does not preserve {', '.join(missing)};"
            f" strategies that do: {able}"
        )
    for option in list_tuned(options):  # one that changes nothing is a misunderstanding
        if option not in strategy.options:
            able = " or ".join(strategies_with(option))
            raise OptionError(
                f"{option.flag} means nothing to strategy {strategy.name!r};"
                f" it is for --strategy {able}"
            )
    if options.order not in strategy.orders:
        orders = ", ".join(strategy.orders)
        raise OptionError(
            f"strategy {strategy.name!r} cannot search in order {options.order!r};"
            f" it knows: {orders}; --strategy full knows all"
        )
    if strategy.refuse is not None:
        strategy.refuse(options.for_search())
    return strategy


def list_tuned(options: CheckOptions) -> list[Option[Any]]:
    """The declared options that are not as usual, and that nobody may ignore."""
    if not options.tuning:
        return []
    return [
        option
        for name, option in declared_options().items()
        if options.tuning.get(name, option.default) != option.default and not option.ignorable
    ]


def strategies_for(properties: Iterable[str]) -> list[str]:
    asked = set(properties)
    return [each.name for each in load_all() if each.sound and asked <= each.preserves]


def sort_properties(properties: Iterable[str]) -> tuple[str, ...]:
    asked = set(properties)
    return tuple(name for name in PROPERTIES if name in asked)
