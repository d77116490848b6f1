"""The pytest plugin: `@pytest.mark.mazurka`, `--mazurka-preemptions` and its like, and replay.

Marked tests, and those with the decorator `mazurka.explore`, are explored instead of called.  The
plugin is loaded in every pytest session of an environment in which Mazurka is installed; so it
imports nothing of the engine before a test needs it.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

from mazurka.runtime.pytest_options import add_options, check_options, options_given

if TYPE_CHECKING:
    from mazurka.runtime.options import Options
    from mazurka.runtime.results import Result

MARKER = "mazurka"
DECORATED = "__mazurka_explore__"
REPLAY = pytest.StashKey[Any]()
RESULTS = pytest.StashKey[list[Any]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "mazurka(preemptions=2, **options): run the test under every schedule with at most so many"
        " preemptions",
    )
    config.stash[RESULTS] = []
    token = config.getoption("--mazurka-replay")
    if token:
        from mazurka.runtime.tokens import TokenError, decode

        try:
            config.stash[REPLAY] = decode(token)
        except TokenError as error:
            raise pytest.UsageError(f"--mazurka-replay: {error}") from None
    check_options(config)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Wrong options end the session here; a token names one test, and the others are left out."""
    token = config.stash.get(REPLAY, None)
    if token is None:
        for item in items:
            options_of(item)
        return
    chosen = [item for item in items if item.nodeid == token.test]
    if not chosen:
        name = token.test.partition("::")[2]
        chosen = [item for item in items if item.nodeid.partition("::")[2] == name]
    if not chosen:
        raise pytest.UsageError(
            f"--mazurka-replay: the token is of {token.test}, which is not here"
        )
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Executions set up their own fixtures; here only those are that all of them share."""
    if options_of(item) is None:
        return (yield)
    from mazurka.runtime.pytest_fixtures import is_set_up_anew, set_up_wider

    if not is_set_up_anew(item):
        return (yield)
    item.setup = lambda: set_up_wider(item)  # type: ignore[method-assign]
    try:
        return (yield)
    finally:
        del item.setup


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Let an item explore itself where it is to be explored."""
    options = options_of(item)
    if options is None:
        return (yield)
    item.runtest = lambda: explore_item(item, options)  # type: ignore[method-assign]
    try:
        return (yield)
    finally:
        del item.runtest


def options_of(item: pytest.Item) -> Options | None:
    """How an item is to be explored: by its decorator, its marker and the command line."""
    if not isinstance(item, pytest.Function):
        return None
    marker = item.get_closest_marker(MARKER)
    explored = getattr(item.function, DECORATED, None)
    replayed = item.config.stash.get(REPLAY, None) is not None
    if marker is None and explored is None and not replayed:
        return None
    from mazurka.errors import MazurkaError
    from mazurka.runtime.explore import options_from, overridden
    from mazurka.runtime.pytest_fixtures import is_case, is_skipped

    if is_case(item) and is_skipped(item):
        return None
    if marker is not None and marker.args:
        raise pytest.UsageError(
            f"{item.nodeid}: the marker mazurka takes options by name: preemptions=2"
        )
    try:
        own = options_from(
            dict(marker.kwargs) if marker is not None else {},
            explored.options if explored is not None else None,
        )
        return overridden(own, options_given(item.config))
    except (MazurkaError, TypeError) as error:
        raise pytest.UsageError(f"{item.nodeid}: {error}") from None


def explore_item(item: Any, options: Options) -> None:
    """Explore a test; raises where it fails."""
    __tracebackhide__ = True
    from mazurka.runtime.exploration import explore_test, replay_test
    from mazurka.runtime.explore import raise_for, refuse_coroutines
    from mazurka.runtime.options import Test
    from mazurka.runtime.pytest_fixtures import NO_FAILURES, body_of

    explored = getattr(item.function, DECORATED, None)
    function = explored.function if explored is not None else item.function
    refuse_coroutines(function)
    test = Test(
        body=body_of(item, function),
        name=item.nodeid,
        function=function,
        propagate=NO_FAILURES,
    )
    token = item.config.stash.get(REPLAY, None)
    replayed = token is not None
    result = replay_test(test, options, token) if replayed else explore_test(test, options)
    told = "; ".join((result.scope, *(f"note: {note}" for note in result.notes)))
    item.user_properties.append((MARKER, f"{result.verdict}: {told}"))
    item.config.stash[RESULTS].append(result)
    raise_for(result, options)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """The report of a failed exploration is ours, without the frames of the engine."""
    report = yield
    if call.excinfo is not None and report.failed:
        result = getattr(call.excinfo.value, "result", None)
        if result is not None and hasattr(result, "report"):
            report.longrepr = representation(item, result)
    return report


def representation(item: pytest.Item, result: Result) -> Any:
    """A text that pytest prints as it is, also after its way through a worker process."""
    from _pytest._code.code import (
        ExceptionChainRepr,
        ReprEntryNative,
        ReprFileLocation,
        ReprTraceback,
    )

    file, line, _ = item.location
    violated = result.violation
    message = str(result.error) if result.error is not None else result.scope
    if violated is not None:
        file, line = violated.file or file, violated.line or line
        message = f"{violated.kind}: {violated.message}"
    crash = ReprFileLocation(file, line or 0, message.splitlines()[0])
    text = [f"{part}\n" for part in result.report().splitlines()]
    trace = ReprTraceback([ReprEntryNative(text)], None, style="native")
    return ExceptionChainRepr([(trace, crash, None)])


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """What the explored tests that passed have shown, with -v."""
    if config.get_verbosity() < 1:
        return
    lines = [
        f"{report.nodeid}: {value}"
        for report in terminalreporter.stats.get("passed", [])
        for name, value in getattr(report, "user_properties", ())
        if name == MARKER
    ]
    if lines:
        terminalreporter.section("mazurka")
        for line in lines:
            terminalreporter.line(line)
