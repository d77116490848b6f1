"""Which counterexample to show: the one that was found, or one with fewer context switches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

from mazurka.deadline import seconds_left
from mazurka.ir.program import Fault, Program
from mazurka.search import Move, Observer, SearchOptions, SearchResult, Violation

CHEAP_SECONDS = 3.0
"""How long `auto` looks for a counterexample with fewer context switches."""

CHEAP_TRANSITIONS = 1 << 22
"""The same with `--deterministic`, in transitions."""

TOO_LONG = 10_000
"""A schedule of more steps than this is nothing for people."""
REPLAY_SECONDS = 20e-6
"""About what replaying one step takes."""

FEWEST = "the one with the fewest context switches"
FIRST = "the one that the search met first"


@dataclass(frozen=True)
class Alternative:
    """Another counterexample to the same violation, and the option that shows it."""

    option: str
    what: str
    steps: int | None = None
    switches: int | None = None


@dataclass(frozen=True)
class Selection:
    """The counterexample to show, how it was chosen, and what else can be had."""

    violation: Violation
    how: str
    """`found`, `shortest` or `switches`."""
    alternative: Alternative | None = None


def select(
    program: Program,
    found: Violation,
    wanted: str,
    options: SearchOptions,
    observer: Observer,
    search: Callable[[SearchOptions], SearchResult] | None = None,
) -> Selection:
    """Choose what to show.

    A breadth-first search has found a shortest one, which `auto` keeps.  After a depth-first
    search `auto` looks for one with fewer switches, but not for long; if there is none to be had
    and the schedule is so long that nobody could read it, `search` looks for a shortest one
    within the time that replaying the long one would take.  Whoever interrupts that still gets
    what was found.
    """
    breadth_first = options.order == "bfs"
    as_found = Selection(found, "shortest" if breadth_first else "found")
    if found.kind == Fault.BOUND or len(found.path) < 2:
        return as_found
    if wanted == "auto" and not breadth_first:
        options = _limit(options, CHEAP_SECONDS, CHEAP_TRANSITIONS)
    elif wanted != "switches":
        return replace(as_found, alternative=Alternative("--counterexample switches", FEWEST))
    shortest: Violation | None = None
    try:
        fewest = _fewest_switches(program, found, options, observer)
        if fewest is None and wanted == "auto" and search is not None:
            shortest = _shortest(found, options, observer, search)
    except KeyboardInterrupt:
        fewest = None
    if shortest is not None:
        return Selection(shortest, "shortest", _offer_first(found))
    if fewest is None:
        return replace(as_found, alternative=Alternative("--counterexample switches", FEWEST))
    if _cost(fewest) == _cost(found):
        return Selection(fewest, "switches")
    return Selection(fewest, "switches", _offer_first(found))


def _offer_first(found: Violation) -> Alternative:
    return Alternative(
        "--counterexample found", FIRST, len(found.path), context_switches(found.path)
    )


def _shortest(
    found: Violation,
    options: SearchOptions,
    observer: Observer,
    search: Callable[[SearchOptions], SearchResult],
) -> Violation | None:
    """A shortest counterexample in place of one that is too long to read."""
    if len(found.path) <= TOO_LONG:
        return None
    seconds = max(CHEAP_SECONDS, len(found.path) * REPLAY_SECONDS)
    observer.message("looking for a shorter counterexample")
    limited = _limit(options, seconds, CHEAP_TRANSITIONS)
    result = search(replace(limited, order="bfs", stop_at_first=True))
    violation = result.violation
    return None if violation is None or violation.kind == Fault.BOUND else violation


def _limit(options: SearchOptions, seconds: float, transitions: int) -> SearchOptions:
    """Limit a search that is not asked for: it has half of what is left of the time, and where
    nothing may depend on time, a number of transitions."""
    if options.deterministic:
        return replace(options, limit_transitions=transitions)
    left = seconds_left()
    return replace(options, limit_seconds=seconds if left is None else min(seconds, left / 2))


def _cost(violation: Violation) -> tuple[int, int]:
    return context_switches(violation.path), len(violation.path)


def context_switches(path: tuple[Move, ...]) -> int:
    """How often another thread goes on than the one that moved last."""
    return sum(one.thread != other.thread for one, other in pairwise(path))


def _fewest_switches(
    program: Program, found: Violation, options: SearchOptions, observer: Observer
) -> Violation | None:
    from mazurka.stateful.searches.minimize import fewest_switches

    observer.message("looking for a counterexample with fewer context switches")
    return fewest_switches(program, found, options, observer)
