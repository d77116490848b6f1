"""`mazurka.explore`: a decorator for tests, and a function for everything else."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from difflib import get_close_matches
from typing import Any, TypeVar, overload

from mazurka.errors import OptionError
from mazurka.report.outcome import ERROR, INCONCLUSIVE, VIOLATED
from mazurka.runtime.exploring.exploration import explore_test
from mazurka.runtime.exploring.options import SEARCHES, STRATEGIES, ExploreOptions, Test
from mazurka.runtime.exploring.tokens import portable
from mazurka.runtime.story.result import Result
from mazurka.runtime.testing.cases import fresh_case, is_case

Function = TypeVar("Function", bound=Callable[..., Any])
MARK = "__mazurka_explore__"
"""Where a decorated function keeps its options."""


class ExplorationFailure(AssertionError):  # noqa: N818 - an assertion that failed, for test runners
    """A test that fails under some schedule; the text is the report."""

    def __init__(self, result: Result) -> None:
        super().__init__(result.report())
        self.result = result


class DecoratedTest:
    """A decorated test: the user's function, and how to explore it."""

    def __init__(self, function: Callable[..., Any], options: ExploreOptions) -> None:
        self.function = function
        self.options = options

    def explore(self, *args: Any, **kwargs: Any) -> Result:
        body = fresh_case(self.function, args, kwargs)
        return explore_test(explorable(self.function, body), self.options)


def name_of(function: Callable[..., Any]) -> str:
    code = getattr(inspect.unwrap(function), "__code__", None)
    file = portable(code.co_filename) if code is not None else "?"
    name = getattr(function, "__qualname__", type(function).__name__)
    return f"{file}::{name.replace('.<locals>.', '.').replace('.', '::')}"


def explorable(
    function: Callable[..., Any], body: Callable[[], Any], name: str | None = None
) -> Test:
    return Test(body=body, name=name or name_of(function), function=function)


def refuse_coroutines(function: Callable[..., Any]) -> None:
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        name = getattr(function, "__qualname__", repr(function))
        raise OptionError(
            f"{name} is a coroutine or a generator; mazurka.explore takes functions that start"
            " threads"
        )


def raise_for(result: Result, options: ExploreOptions) -> Result:
    """A failed exploration raises.  So does one that a limit ended which nobody has asked for."""
    asked = options.executions is not None or options.seconds is not None or options.sampled
    failed = result.verdict in (VIOLATED, ERROR)
    if failed or (result.verdict == INCONCLUSIVE and not asked):
        raise ExplorationFailure(result) from None
    return result


def decorate(function: Callable[..., Any], options: ExploreOptions) -> Callable[..., Any]:
    refuse_coroutines(function)
    explored = DecoratedTest(function, options)

    @functools.wraps(function)
    def explores(*args: Any, **kwargs: Any) -> Result | None:
        __tracebackhide__ = True
        result = raise_for(explored.explore(*args, **kwargs), options)
        return None if is_case(args) else result  # `unittest` wants tests to return nothing

    setattr(explores, MARK, explored)
    return explores


@overload
def explore(function: Function, /) -> Function: ...


@overload
def explore(
    *,
    preemptions: int | None = 2,
    strategy: str = "algorithm2",
    seed: int | None = None,
    executions: int | None = None,
    seconds: float | None = None,
    races: bool = False,
    instrument: Iterable[str] = (),
    virtual_time: bool = True,
    patience: float = 5.0,
    max_steps: int = 10_000,
    workers: int = 1,
) -> Callable[[Function], Function]: ...


@overload
def explore(
    function: Callable[[], Any],
    /,
    *,
    preemptions: int | None = 2,
    strategy: str = "algorithm2",
    seed: int | None = None,
    executions: int | None = None,
    seconds: float | None = None,
    races: bool = False,
    instrument: Iterable[str] = (),
    virtual_time: bool = True,
    patience: float = 5.0,
    max_steps: int = 10_000,
    workers: int = 1,
) -> Result: ...


def explore(function: Callable[..., Any] | None = None, /, **given: Any) -> Any:
    """Run a test under every schedule with at most so many preemptions.

    As a decorator, with options or without, it makes a test that explores when it is called, and
    raises `ExplorationFailure` with a report if some schedule fails:

        @mazurka.explore(preemptions=2)
        def test_two_deposits(): ...

    With a function and at least one option it explores at once, and returns the result:

        result = mazurka.explore(scenario, preemptions=None)

    Options: `preemptions` (None for any number), `strategy` (`algorithm2`, `algorithm1`, `cb-dfs`,
    `random`, `pct`), `seed`, limits `executions` and `seconds`, `races` (report data races, too),
    `instrument` (more modules and packages to observe), `virtual_time`, `patience`, the seconds
    after which a call that nobody controls is reported, `max_steps`, the most steps of an
    execution, and `workers`, the number of processes that search together.
    """
    options = options_from(given)
    if function is None:
        return lambda test: decorate(test, options)
    if not callable(function):
        raise OptionError(
            f"mazurka.explore takes a function, not {function!r}; options are given by name"
            f"{_meant(function)}"
        )
    if not given:
        return decorate(function, options)
    refuse_coroutines(function)
    return explore_test(explorable(function, function), options)


def _meant(value: object) -> str:
    """Options have names; what was given without one may be guessed."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f": preemptions={value}"
    if isinstance(value, str):
        return f": {'strategy' if value in STRATEGIES else 'instrument'}={value!r}"
    return ": preemptions=2"


def options_from(given: dict[str, Any], base: ExploreOptions | None = None) -> ExploreOptions:
    """Options by name; one that does not exist is refused with those that do."""
    names = {field.name for field in fields(ExploreOptions)}
    for name in given:
        if name not in names:
            close = get_close_matches(name, names, 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            known = ", ".join(sorted(names))
            raise OptionError(f"there is no option {name!r}; there are {known}{hint}")
    if "instrument" in given:
        wanted = given["instrument"]
        given = {**given, "instrument": (wanted,) if isinstance(wanted, str) else tuple(wanted)}
    return replace(base or ExploreOptions(), **given)


def options_of_marker(marker: Any, base: ExploreOptions | None = None) -> ExploreOptions:
    """The options of `@pytest.mark.mazurka(...)`."""
    if marker.args:
        raise OptionError(f"the marker mazurka takes options by name{_meant(marker.args[0])}")
    return options_from(dict(marker.kwargs), base)


def check_given(given: dict[str, Any]) -> None:
    """Refuse options of the command line that no test could have.  A seed may be for tests that say
    themselves that their schedules are random."""
    takes_seed = "strategy" in given
    options_from({name: given[name] for name in given if name != "seed" or takes_seed})


def overridden(own: ExploreOptions, given: dict[str, Any]) -> ExploreOptions:
    """A test's own options, and those of the command line, which come first.

    Several processes are for one strategy only, and a seed is for others; a test whose strategy
    does not take one of these goes without it, or no session could have it that has both kinds of
    tests.  So does a test that is given another strategy than its own.
    """
    strategy = given.get("strategy", own.strategy)
    useless = {"seed"} if strategy in SEARCHES else set()
    if strategy != "algorithm2":
        useless.add("workers")
    if "strategy" in given:
        kept = {name: getattr(ExploreOptions(), name) for name in useless if name not in given}
        own = replace(own, **kept, strategy=strategy) if kept else own
    else:
        given = {name: value for name, value in given.items() if name not in useless}
    if "instrument" in given:
        given = {**given, "instrument": dict.fromkeys((*own.instrument, *given["instrument"]))}
    return options_from(given, own)
