"""The pytest plugin: `@pytest.mark.mazurka`, `--mazurka-preemptions` and its like, and replay.

Marked tests, and those with the decorator `mazurka.explore`, are explored instead of called; with
`--mazurka`, those that start threads are explored after they have been called (`threaded`).  The
plugin is loaded in every pytest session of an environment in which Mazurka is installed; so it
imports nothing of the engine before a test needs it.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Generator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mazurka.runtime.testing.mark import DecoratedTest, find_decorated
from mazurka.runtime.testing.pytest.annotations import annotate
from mazurka.runtime.testing.pytest.summary import (
    STOPPED,
    describe_stopped,
    note_error,
    note_result,
    summarize,
)
from mazurka.runtime.testing.pytest.threaded import (
    SECONDS,
    STARTED,
    is_candidate,
    run_then_explore,
    watch_starts,
)

if TYPE_CHECKING:
    from mazurka.runtime.exploring.options import ExploreOptions
    from mazurka.runtime.story.result import Result


NUMBERS: dict[str, tuple[type, str, str]] = {
    "seed": (int, "N", "for random and pct schedules"),
    "executions": (int, "N", "the most runs of a test; for random schedules, how many"),
    "seconds": (float, "S", "stop the search of a test after this many seconds"),
    "workers": (int, "N", "processes that search together"),
    "max-steps": (int, "N", "the most steps of an execution"),
    "patience": (float, "S", "report a call that nobody controls after this many seconds"),
}


NAMED = ("strategy", "races", "leave-out", "instrument", "timeouts", "semantics", "isolate")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("mazurka", "threads under every schedule (values for explored tests)")
    every = "explore every test that starts threads, for 10 seconds at most unless a limit is given"
    group.addoption("--mazurka", help=every, action="store_true", dest="mazurka_threaded")

    def add(name: str, text: str, **how: Any) -> None:
        group.addoption(f"--mazurka-{name}", help=text, **how)

    flag: dict[str, Any] = {"action": "store_true", "default": None}
    add("preemptions", "the most preemptions of an execution; none for any number", metavar="K")
    add(
        "strategy",
        "how to search: algorithm2 (the default), algorithm1, cb-dfs, optimal-dpor,"
        " source-dpor, dpor, sleep-sets, random, pct",
        metavar="NAME",
    )
    when = "when sleeps and timeouts may end: any (the default), or last-resort"
    add("timeouts", when, metavar="WHEN")
    lock = "whether threads run with a global lock: gil or free-threaded (default: as here)"
    add("semantics", lock, metavar="NAME")
    for name, (kind, metavar, text) in NUMBERS.items():
        add(name, text, type=kind, metavar=metavar)
    add("races", "report data races, even where the test passes", **flag)
    add("isolate", "explore each test in a separate process, so that it can end no other", **flag)
    leave = "do not observe this module or package; the verdict names it; repeatable"
    add("leave-out", leave, action="append", metavar="NAME")
    add("instrument", argparse.SUPPRESS, action="append")
    add(
        "real-time",
        "let time.sleep and the clocks follow the world instead of the schedule",
        **flag,
    )
    add("full-trace", "show rows of set-up and of libraries that are folded otherwise", **flag)
    add("replay", "run the failing schedule of a token again, and nothing else", metavar="TOKEN")


def read_command_line(config: pytest.Config) -> dict[str, Any]:
    """Read the options of the command line, by the names that `mazurka.explore` has for them."""
    found: dict[str, Any] = {
        name.replace("-", "_"): config.getoption(f"--mazurka-{name}") for name in (*NAMED, *NUMBERS)
    }
    if config.getoption("--mazurka-real-time"):
        found["virtual_time"] = False
    found = {name: value for name, value in found.items() if value is not None}
    bound = config.getoption("--mazurka-preemptions")
    if bound is not None:
        from mazurka.errors import read_number

        if bound != "none" and not bound.isdecimal():
            raise pytest.UsageError(f"--mazurka-preemptions needs a number or none, not {bound!r}")
        found["preemptions"] = None if bound == "none" else read_number(bound)
    return found


def check_options(config: pytest.Config) -> None:
    """Refuse what makes no sense before any test runs."""
    check_project(config.rootpath)
    given = read_command_line(config)
    if not given:
        return
    from mazurka.errors import MazurkaError
    from mazurka.runtime.exploring.options import refuse_useless

    try:
        refuse_useless(given)
    except MazurkaError as error:
        raise pytest.UsageError(f"--mazurka options: {error}") from None


def check_project(root: Path) -> None:
    """Refuse wrong options of the project in which the session runs."""
    try:
        text = (root / "pyproject.toml").read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return
    if not re.search(r"^\s*\[\s*tool\s*\.\s*mazurka", text, re.MULTILINE):
        return
    from mazurka.runtime.testing.configuration import ConfigurationError, read_project

    try:
        read_project(root / "any test")
    except ConfigurationError as error:
        raise pytest.UsageError(str(error)) from None


def keep_stderr() -> int:
    """Return a descriptor of standard error; pytest replaces that stream when it captures."""
    try:
        return os.dup(2)
    except OSError:  # it is closed
        return 2


STDERR = keep_stderr()
MARKER = "mazurka"
REPLAY = pytest.StashKey[Any]()
RESULTS = pytest.StashKey[list[Any]]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "mazurka(preemptions=2, **options): run the test under every schedule with at most so many"
        " preemptions",
    )
    config.stash[RESULTS] = []
    token = config.getoption("--mazurka-replay")
    if token:
        from mazurka.runtime.exploring.tokens import TokenError, decode

        try:
            config.stash[REPLAY] = decode(token)
        except TokenError as error:
            raise pytest.UsageError(f"--mazurka-replay: {error}") from None
    check_options(config)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out all tests but the one that a token names."""
    token = config.stash.get(REPLAY, None)
    if token is None:
        return
    from mazurka.runtime.exploring.tokens import make_portable

    path, _, name = token.test.partition("::")
    named = [item for item in items if item.nodeid.partition("::")[2] == name]
    chosen = (
        [item for item in named if item.nodeid == token.test]
        or [item for item in named if make_portable(item.path) == path]
        or named
    )
    if not chosen:
        raise pytest.UsageError(
            f"--mazurka-replay: the token is of {token.test}, which is not here"
        )
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Set up only the fixtures that all executions share; each sets up its own itself."""
    set_up = choose_set_up(item)
    if set_up is None:
        return (yield)
    item.setup = set_up  # type: ignore[method-assign]
    try:
        return (yield)
    finally:
        del item.setup


def choose_set_up(item: pytest.Item) -> Callable[[], None] | None:
    """Choose a set-up in place of pytest's own; an error is raised where pytest expects it."""
    try:
        if choose_options(item) is None:
            return None
    except pytest.UsageError as error:
        note_error(item, str(error))
        vars(item).setdefault("_explicit_tearDown")  # the tear-down of a case asks for it
        return partial(pytest.fail, str(error), pytrace=False)
    from mazurka.runtime.testing.pytest.fixtures import is_set_up_anew, set_up_wider

    return partial(set_up_wider, item) if is_set_up_anew(item) else None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Let an item explore itself where it is to be explored."""
    run = choose_run(item)
    if run is None:
        return (yield)
    item.runtest = run  # type: ignore[method-assign]
    try:
        return (yield)
    finally:
        del item.runtest


def choose_run(item: pytest.Item) -> Callable[[], None] | None:
    """Choose what runs in place of the test; None where it is called as always."""
    try:
        options = choose_options(item)
    except pytest.UsageError as error:  # of a marker that a fixture has added
        return partial(pytest.fail, str(error), pytrace=False)
    if options is not None:
        return partial(explore_item, item, options)
    if item.config.getoption("mazurka_threaded") and is_candidate(item):
        return partial(run_then_explore, item, item.runtest, partial(explore_threaded, item))
    return None


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """Note whether a fixture that belongs to one test starts threads."""
    if not request.config.getoption("mazurka_threaded") or fixturedef.scope != "function":
        return (yield)
    with watch_starts() as found:
        value = yield
    if found:
        request.node.stash[STARTED] = True
    return value


def choose_options(item: pytest.Item) -> ExploreOptions | None:
    """Choose how an item is explored, by its decorator, its marker and the command line."""
    if not isinstance(item, pytest.Function):
        return None
    marker = item.get_closest_marker(MARKER)
    decorated = find_decorated(item.function)
    replayed = item.config.stash.get(REPLAY, None) is not None
    if marker is None and decorated is None and not replayed:
        return None
    from mazurka.errors import MazurkaError
    from mazurka.runtime.exploring.options import combine_options, override_options
    from mazurka.runtime.testing.configuration import read_project
    from mazurka.runtime.testing.decorator import refuse_coroutines
    from mazurka.runtime.testing.pytest.fixtures import is_case, is_skipped

    if is_case(item) and is_skipped(item):
        return None
    try:
        refuse_coroutines(item.function)
        own = combine_options(read_project(item.path), *(read_layers(item, decorated) or [{}]))
        return override_options(own, read_command_line(item.config))
    except (MazurkaError, TypeError) as error:
        raise pytest.UsageError(f"{item.nodeid}: {error}") from None


def read_layers(item: pytest.Item, decorated: DecoratedTest | None) -> list[Mapping[str, Any]]:
    """Read what the markers and the decorator of an item give, from the farthest to the nearest."""
    from mazurka.runtime.exploring.options import read_marker

    layers: list[Mapping[str, Any]] = []
    for node in item.listchain():
        if node is item and decorated is not None:
            layers.append(decorated.given)
        found = [read_marker(mark) for mark in node.own_markers if mark.name == MARKER]
        # The marks of a class follow those of its bases; those of a function, the nearest is first.
        layers += found if isinstance(node, pytest.Class) else reversed(found)
    return layers


def explore_item(item: Any, options: ExploreOptions) -> None:
    """Explore a test; raises where it fails."""
    __tracebackhide__ = True
    from mazurka.runtime.testing.decorator import raise_failure

    raise_failure(note_found(item, options), options)


def explore_threaded(item: Any) -> None:
    """Explore a test that starts threads, and that nobody has marked; raises where it fails."""
    __tracebackhide__ = True
    from mazurka.errors import MazurkaError
    from mazurka.report.answer import VIOLATED
    from mazurka.runtime.exploring.options import combine_options, override_options
    from mazurka.runtime.testing.configuration import read_project
    from mazurka.runtime.testing.decorator import ExplorationFailure

    given = read_command_line(item.config)
    try:
        project = read_project(item.path)
        limited = {"seconds", "executions"} & {*project, *given}
        first = {} if limited else {"seconds": SECONDS}
        options = override_options(combine_options(first, project, {}), given)
    except (MazurkaError, TypeError) as error:
        pytest.fail(f"{item.nodeid}: {error}", pytrace=False)
    result = note_found(item, options)
    if result.skip is not None:
        raise result.skip.error
    if result.verdict == VIOLATED:
        raise ExplorationFailure(result)


def note_found(item: Any, options: ExploreOptions) -> Result:
    """Explore a test, and let its report say what was found."""
    __tracebackhide__ = True
    try:
        result = find_result(item, options)
    except BaseException as error:  # among others, to end the session
        note_error(item, str(error))
        raise
    note_result(item, result)
    if result.skip is not None:
        item.stash[SKIPPED_AT] = result.skip.file, result.skip.line
    item.config.stash[RESULTS].append(result)
    return result


def find_result(item: Any, options: ExploreOptions) -> Result:
    """Explore an item, or follow the token of the command line."""
    __tracebackhide__ = True
    from mazurka.runtime.exploring.entry import conclude_interrupted, explore_test, replay_test
    from mazurka.runtime.exploring.options import Test
    from mazurka.runtime.exploring.progress import LastProgress
    from mazurka.runtime.program.lock_watch import LockWatch
    from mazurka.runtime.testing.decorator import skip_exceptions
    from mazurka.runtime.testing.pytest.fixtures import expose_reachable, make_body
    from mazurka.runtime.testing.pytest.state import ItemState

    LockWatch.complaints = STDERR
    decorated = find_decorated(item.function)
    function = decorated.function if decorated is not None else item.function
    token = item.config.stash.get(REPLAY, None)
    state = ItemState(item)
    with expose_reachable(item) as found, state.isolate():
        test = Test(
            body=make_body(item, function, state, found),
            name=name_item(item),
            function=function,
            skips=skip_exceptions,
            ends=lambda: (pytest.exit.Exception,),
        )
        if token is not None:
            return replay_test(test, options, token)
        progress, options = LastProgress(), options.with_seed()
        try:
            return explore_test(test, options, progress)
        except KeyboardInterrupt:
            if progress.last is not None:
                result = conclude_interrupted(test, options, progress.last)
                item.config.stash[STOPPED] = describe_stopped(item, result)
            raise


SKIPPED_AT = pytest.StashKey[tuple[str | None, int | None]]()
"""Where a test skips, in all of its executions."""


def name_item(item: Any) -> str:
    """Name a test so that `mazurka replay` finds it: from the root, unless that is elsewhere.

    pytest names tests from the root of the project; a path from there is found from any directory
    inside of it.  From above, the path has to begin where we are.
    """
    root = item.config.rootpath
    if Path.cwd().is_relative_to(root):
        return str(item.nodeid)
    from mazurka.runtime.exploring.tokens import make_portable

    return f"{make_portable(item.path)}::{item.nodeid.partition('::')[2]}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show our report of a failed exploration instead of a traceback through the engine."""
    report = yield
    if call.when == "call" and report.skipped and type(report.longrepr) is tuple:
        file, line = item.stash.get(SKIPPED_AT, (None, None))
        if file is not None and line is not None:
            report.longrepr = file, line, report.longrepr[2]
    if call.excinfo is not None and report.failed:
        decorator = sys.modules.get("mazurka.runtime.testing.decorator")
        error = call.excinfo.value
        if decorator is not None and isinstance(error, decorator.ExplorationFailure):
            report.longrepr = represent(item, error.result)
    return report


def represent(item: pytest.Item, result: Result) -> Any:
    """Represent a result as a text that pytest prints as it is, also from a worker process."""
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
        when = f" ({violated.condition})" if violated.condition else ""
        message = f"{violated.kind}{when}: {violated.message}"
    crash = ReprFileLocation(file, line or 0, message.splitlines()[0])
    full = bool(item.config.getoption("--mazurka-full-trace"))
    report = result.report(measure_width(item.config), full=full)
    text = [f"{part}\n" for part in report.splitlines()]
    trace = ReprTraceback([ReprEntryNative(text)], None, style="native")
    return ExceptionChainRepr([(trace, crash, None)])


def measure_width(config: pytest.Config) -> int | None:
    """Measure pytest's own frame; a worker process of pytest-xdist has none."""
    shows = config.pluginmanager.hasplugin("terminalreporter")
    return int(config.get_terminal_writer().fullwidth) if shows else None


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    summarize(terminalreporter, config)
    annotate(terminalreporter, config)
