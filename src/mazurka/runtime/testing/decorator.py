"""`mazurka.explore`: a decorator for tests, and a function for everything else.

A test may be a method of `unittest.TestCase`: every execution has a fresh case, set up anew.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, overload

from mazurka.errors import OptionError
from mazurka.report.answer import ERROR, INCONCLUSIVE, UNOBSERVED, VIOLATED
from mazurka.runtime.core.failures import explain_now
from mazurka.runtime.exploring.entry import explore_test
from mazurka.runtime.exploring.options import (
    ExploreOptions,
    Test,
    combine_options,
    guess_meaning,
    read_options,
)
from mazurka.runtime.exploring.tokens import make_portable
from mazurka.runtime.story.result import Result
from mazurka.runtime.testing.configuration import read_project
from mazurka.runtime.testing.mark import DecoratedTest, mark_decorated


def is_case(kind: type) -> bool:
    """Whether a class is a test case of `unittest`, which is slow to import for nothing."""
    unittest = sys.modules.get("unittest")
    return unittest is not None and issubclass(kind, unittest.TestCase)


def skip_exceptions() -> Mapping[type[BaseException], str]:
    """Return the exceptions by which a test ends an execution without failing, with verbs."""
    unittest, pytest = sys.modules.get("unittest"), sys.modules.get("pytest")
    found: dict[type[BaseException], str] = {}
    if unittest is not None:
        found[unittest.SkipTest] = "skip"
    if pytest is not None:
        found |= {pytest.skip.Exception: "skip", pytest.xfail.Exception: "xfail"}
    return found


def is_case_method(args: tuple[Any, ...]) -> bool:
    """Whether the arguments are those of a method of a test case."""
    return bool(args) and is_case(type(args[0]))


def bind_arguments(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Callable[[], Any]:
    """Bind a function to its arguments; a method of a test case runs on a fresh case."""
    if not is_case_method(args):
        return lambda: function(*args, **kwargs)
    case = args[0]
    kind, name = type(case), case._testMethodName
    return lambda: run_case(kind(name), function, args[1:], kwargs)


def run_case(
    case: Any, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Do what `TestCase.run` does, and raise the first exception, failures before skips.

    As there, `tearDown` and each clean-up run whatever the parts before them have raised, but
    `tearDown` only after a `setUp` that has not.
    """
    errors: list[BaseException] = []

    def attempt(part: Callable[..., Any], *positional: Any, **named: Any) -> Any:
        try:
            return part(*positional, **named)
        except BaseException as error:
            if not errors:
                explain_now(error)
            errors.append(error)

    returned = None
    runs_loop = hasattr(case, "_setupAsyncioRunner")  # it has asyncSetUp and its like
    if runs_loop:
        case._setupAsyncioRunner()
    try:
        attempt(case._callSetUp)
        if not errors:
            returned = attempt(function, case, *args, **kwargs)
            attempt(case._callTearDown)
        while case._cleanups:
            cleanup, positional, named = case._cleanups.pop()
            attempt(case._callCleanup, cleanup, *positional, **named)
    finally:
        if runs_loop:
            case._tearDownAsyncioRunner()
    if errors:
        skips = tuple(skip_exceptions())
        raise next((error for error in errors if not isinstance(error, skips)), errors[0])
    return returned


Function = TypeVar("Function", bound=Callable[..., Any])


class ExplorationFailure(AssertionError):  # noqa: N818 - an assertion that failed, for test runners
    """A test that fails under some schedule; the text is the report."""

    def __init__(self, result: Result) -> None:
        super().__init__(result.report())
        self.result = result


def name_test(function: Callable[..., Any]) -> str:
    """`tests/test_bank.py::Class::test`."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    file = make_portable(code.co_filename) if code is not None else "?"
    name = getattr(function, "__qualname__", type(function).__name__)
    return f"{file}::{name.replace('.<locals>.', '.').replace('.', '::')}"


def make_test(function: Callable[..., Any], body: Callable[[], Any]) -> Test:
    """The test that a function is, with a body that needs no arguments."""
    return Test(body=body, name=name_test(function), function=function, skips=skip_exceptions)


def refuse_coroutines(function: Callable[..., Any]) -> None:
    """Refuse a function of which a call runs nothing."""
    kinds = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)
    if any(is_kind(function) for is_kind in kinds):
        name = getattr(function, "__qualname__", repr(function))
        raise OptionError(
            f"{name} is a coroutine or a generator; mazurka.explore takes functions that start"
            " threads"
        )


def raise_failure(result: Result, options: ExploreOptions) -> Result:
    """Raise where a test fails, where a limit has ended its exploration that nobody has set, or
    where every execution skips."""
    if result.skip is not None:
        raise result.skip.error
    failed = result.verdict in (VIOLATED, ERROR) or UNOBSERVED in result.limits
    if failed or (result.verdict == INCONCLUSIVE and not options.is_limited):
        raise ExplorationFailure(result) from None
    return result


def choose_options(function: Callable[..., Any], given: Mapping[str, Any]) -> ExploreOptions:
    """Choose how a function is explored: as it is told, and otherwise as its project says."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    project = {} if code is None else read_project(code.co_filename)
    return combine_options(project, given)


def decorate(function: Callable[..., Any], given: Mapping[str, Any]) -> Callable[..., Any]:
    """Wrap a test so that a call explores it."""
    refuse_coroutines(function)

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Result | None:
        __tracebackhide__ = True
        test = make_test(function, bind_arguments(function, args, kwargs))
        options = choose_options(function, given)
        result = raise_failure(explore_test(test, options), options)
        return None if is_case_method(args) else result  # `unittest` wants tests to return nothing

    mark_decorated(wrapper, DecoratedTest(function, given))
    return wrapper


@overload
def explore(function: Function, /) -> Function: ...


@overload
def explore(
    *,
    preemptions: int | None = 2,
    strategy: str = "algorithm2",
    seed: int | None = None,
    executions: int | None = None,
    seconds: float | None = ...,  # 12 s of the processor
    races: bool = False,
    leave_out: Iterable[str] = (),
    virtual_time: bool = True,
    patience: float = 5.0,
    max_steps: int = 10_000,
    workers: int = 1,
    isolate: bool = False,
    timeouts: str = "any",
    semantics: str = ...,  # that of the interpreter
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
    seconds: float | None = ...,  # 12 s of the processor
    races: bool = False,
    leave_out: Iterable[str] = (),
    virtual_time: bool = True,
    patience: float = 5.0,
    max_steps: int = 10_000,
    workers: int = 1,
    isolate: bool = False,
    timeouts: str = "any",
    semantics: str = ...,  # that of the interpreter
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
    or without a bound `optimal-dpor`, `source-dpor`, `dpor`, `sleep-sets`, or `random`, `pct`),
    `seed`, limits `executions` and `seconds`, `races` (report data races, too),
    `leave_out` (modules and packages not to observe), `virtual_time`, `patience`, the seconds
    after which a call that nobody controls is reported, `max_steps`, the most steps of an
    execution, `workers`, the number of processes that search together, `isolate`, to explore in a
    separate process, and `timeouts`: sleeps and timeouts may end at `"any"` time, or as a
    `"last-resort"`, when nobody else can move.  `semantics` says whether threads run with a global
    lock, `"gil"`, or `"free-threaded"`; unless given, as on the interpreter that runs.
    """
    read_options(given)
    if function is None:
        return lambda test: decorate(test, given)
    if not callable(function):
        raise OptionError(
            f"mazurka.explore takes a function, not {function!r}; options are given by name"
            f"{guess_meaning(function)}"
        )
    if not given:
        return decorate(function, given)
    refuse_coroutines(function)
    return explore_test(make_test(function, function), choose_options(function, given))
