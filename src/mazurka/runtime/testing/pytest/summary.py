"""What the plugin says at the end of a session: what explored tests that have passed have shown.

A dot says that a test holds; it does not say that code has run whose accesses nobody has seen, nor
that nothing was explored at all.  Everything here is read off the reports of the tests, which come
from the worker processes of pytest-xdist as well.

This is loaded in every pytest session of an environment in which Mazurka is installed; so it
imports nothing of the engine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from mazurka.runtime.story.result import Result

EXPLORED = "mazurka"
"""The property of a test's report that says what its exploration has shown."""
NOT_OBSERVED = "mazurka_not_observed"
"""The one that names the code that has run without being observed."""
EXECUTIONS = "mazurka_executions"
"""The one that says how many executions there were."""
SEED = "mazurka_seed"
"""The one that says which seed the schedules were drawn from."""
OUTCOMES = ("passed", "failed", "error", "xfailed", "xpassed")
"""Of tests that have run."""
NO_FAILURES = ("passed", "skipped", "xfailed")
"""Of tests of which pytest shows no report."""
LONGEST = 300
"""How much of an error is told."""
MOST_LINES = 10
MOST_NAMES = 5


def note_result(item: pytest.Item, result: Result) -> None:
    """Let the report of a test say what was found."""
    scope = result.scope if result.error is None else " ".join(str(result.error).split())
    told = "; ".join((scope, *(f"note: {note}" for note in result.notes)))
    whole = told if result.skip is not None else f"{result.verdict}: {told}"
    item.user_properties.append((EXPLORED, whole))
    item.user_properties.append((EXECUTIONS, result.executions))
    if result.violation is None and result.error is None:
        item.add_report_section("call", "mazurka", f"{whole}\n")
    if result.seed is not None:
        item.user_properties.append((SEED, result.seed))
    unseen = (*result.not_observed, *result.left_out)
    if unseen:
        named = ", ".join(unseen[:MOST_NAMES])
        more = ", ..." if len(unseen) > MOST_NAMES else ""
        item.user_properties.append((NOT_OBSERVED, f"{named}{more}"))


STOPPED = pytest.StashKey[str]()
"""What is known of the test during which the session was interrupted."""


def describe_stopped(item: pytest.Item, result: Result) -> str:
    """Say how far the exploration of a test had come that somebody has interrupted."""
    number = result.executions
    many = f"{number:,} execution{'' if number == 1 else 's'}"
    return f"{item.nodeid} interrupted after {many} in {result.seconds:.1f} s; {result.scope}"


def note_error(item: pytest.Item, message: str) -> None:
    """Let the report of a test say that it could not be explored."""
    item.user_properties.append((EXPLORED, f"not explored: {message}"))


def summarize(terminal: Any, config: pytest.Config) -> None:
    """Print what there is to say; usually there is nothing."""
    lines = list(
        _list_explored(terminal) if config.get_verbosity() > 0 else _list_unobserved(terminal)
    )
    if config.get_verbosity() <= 0:
        lines.extend(_list_unexplored(terminal))
    if not config.getoption("collectonly") and (given := _list_given(config)):
        lines.extend(_list_useless(terminal, given))
    if lines:
        terminal.section("mazurka")
        for line in lines:
            terminal.line(line)
    whole = _count_explored(terminal)
    if whole:
        terminal.line(whole)
    stopped = config.stash.get(STOPPED, None)
    if stopped is not None:
        terminal.line(f"mazurka: {stopped}")


def _count_explored(terminal: Any) -> str:
    """Say in one line what the session has explored; nothing if that was nothing."""
    outcomes = (*OUTCOMES, "skipped")
    reports = [report for name in outcomes for report in terminal.stats.get(name, ())]
    told = {report.nodeid: read_properties(report) for report in reports}
    found = [one for one in told.values() if EXPLORED in one]
    if not found:
        return ""
    verdicts = Counter(one[EXPLORED].partition(":")[0] for one in found)
    explored = {name: verdicts[name] for name in WORDS if verdicts[name]}
    counts = ", ".join(f"{count} {WORDS[name]}" for name, count in explored.items())
    number = sum(explored.values())
    executions = sum(int(one.get(EXECUTIONS, 0)) for one in found)
    parts = [
        f"{number:,} test{'' if number == 1 else 's'} explored in {executions:,}"
        f" execution{'' if executions == 1 else 's'}{f': {counts}' if counts else ''}"
    ]
    if number < len(found):
        parts.append(f"{len(found) - number:,} could not be explored")
    names = [name for one in found for name in one.get(NOT_OBSERVED, "").split(", ") if name]
    unseen = list(dict.fromkeys(name for name in names if name != "..."))
    if unseen:
        more = ", ..." if len(unseen) > MOST_NAMES else ""
        parts.append(f"not observed: {', '.join(unseen[:MOST_NAMES])}{more}")
    return f"mazurka: {'; '.join(parts)}"


WORDS = {
    "holds": "held",
    "violated": "violated",
    "inconclusive": "inconclusive",
    "skipped": "skipped",
    "xfail": "expected to fail",
}
"""What the last line calls the verdicts of tests that were explored."""


def _list_unexplored(terminal: Any) -> Iterator[str]:
    """List the tests that have not failed, and could not be explored as `--mazurka` wants it."""
    reports = chain.from_iterable(terminal.stats.get(name, ()) for name in NO_FAILURES)
    told_of = [(report, read_properties(report)) for report in reports]
    found = [(report, told) for report, told in told_of if told.get(EXPLORED, "")[:6] == "error:"]
    for report, told in found[:MOST_LINES]:
        yield f"{report.nodeid} not explored: {told[EXPLORED].partition(': ')[2][:LONGEST]}"
    if len(found) > MOST_LINES:
        yield f"... and {len(found) - MOST_LINES} more: -v lists them"


def _list_useless(terminal: Any, given: list[str]) -> Iterator[str]:
    """List the options that have had no effect."""
    reports = [report for name in OUTCOMES for report in terminal.stats.get(name, ())]
    told = [read_properties(report) for report in reports]
    if told and not any(EXPLORED in properties for properties in told):
        yield (
            f"no test was explored, so {', '.join(given)} had no effect: mark a test with"
            " @pytest.mark.mazurka, decorate it with @mazurka.explore, or run `mazurka test"
            " FILE`, which explores all tests of a file"
        )
    elif told and _SEED in given and not any(SEED in properties for properties in told):
        yield (
            f"no test has random schedules, so {_SEED} had no effect: --mazurka-strategy=random"
            " (or pct) gives them to all explored tests"
        )


_SEED = "--mazurka-seed"


def read_properties(report: Any) -> dict[str, Any]:
    return dict(getattr(report, "user_properties", ()))


def _list_given(config: pytest.Config) -> list[str]:
    """List the options of the command line itself, not those of a configuration file."""
    names = [str(word).partition("=")[0] for word in config.invocation_params.args]
    given = [name for name in names if name.startswith("--mazurka-")]
    return [] if config.getoption("mazurka_threaded") and _SEED not in given else given


def _list_explored(terminal: Any) -> Iterator[str]:
    """List, with -v, what every explored test has shown."""
    for report in chain.from_iterable(terminal.stats.get(name, ()) for name in NO_FAILURES):
        told = read_properties(report).get(EXPLORED)
        if told is not None:
            yield f"{report.nodeid}: {told}"


def _list_unobserved(terminal: Any) -> Iterator[str]:
    """List the tests that have passed although some of their code was not observed."""
    passed = [(report, read_properties(report)) for report in terminal.stats.get("passed", ())]
    found = [(report, told) for report, told in passed if NOT_OBSERVED in told]
    for report, told in found[:MOST_LINES]:
        verdict = told[EXPLORED].partition(":")[0]
        yield f"{report.nodeid} {verdict}, not observed: {told[NOT_OBSERVED]}"
    if len(found) > MOST_LINES:
        yield f"... and {len(found) - MOST_LINES} more: -v lists them"
