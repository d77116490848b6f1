"""Which counterexample to show: the one found, a shortest one, or one with fewer context switches.

After a depth-first search, `auto` wants the fewest context switches, and looks for them where that
is quick.  Where it is not, a breadth-first search may still be: it has fewer states, since it need
not tell apart who moved last.  A shortest schedule in which each thread runs in one piece is good
enough: only one with fewer threads could have fewer switches.  If there is no such schedule, it is
worth seconds to look for one with fewer switches than the best so far.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from mazurka.deadline import TimeLimitError, seconds_left, time_limit
from mazurka.errors import UnsupportedError
from mazurka.ir.program import Fault, Program
from mazurka.search import Move, Observer, SearchOptions, Violation

if TYPE_CHECKING:
    from mazurka.stateful.searches.minimize import FewestSwitches

QUICK_TRANSITIONS = 1 << 21
"""How far `auto` looks for the fewest context switches before it looks for a shortest schedule: a
fifth of a second."""

SHORT_TRANSITIONS = 1 << 22
"""How far it looks for a shortest schedule."""

CHEAP_SECONDS = 3.0
"""How long it looks for fewer context switches after that."""

CHEAP_TRANSITIONS = 1 << 22
"""The same with `--deterministic`, in transitions."""

TOO_LONG = 10_000
"""A schedule of more steps than this is nothing for people."""
LOOKING_SHARE = 0.75
"""The part of what is left of the time in which another counterexample may be looked for."""
REPLAY_SECONDS = 20e-6
"""About what replaying one step takes."""
REPLAY_MARGIN = 2.0
"""How much longer replaying may take where other processes run."""

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
) -> Selection:
    """Choose what to show.

    A breadth-first search has found a shortest one, which `auto` keeps.  Whoever interrupts the
    search for a better one gets the best so far, and so does whoever has set a time limit.
    """
    breadth_first = options.order == "bfs"
    as_found = Selection(found, "shortest" if breadth_first else "found")
    if found.kind == Fault.BOUND or len(found.path) < 2:
        return as_found
    offer = Alternative("--counterexample switches", FEWEST)
    improvement = _Improvement(program, replace(as_found, alternative=offer), observer)
    left = seconds_left()
    looking = None if left is None else spare_seconds(left, len(found.path))
    try:
        with suppress(KeyboardInterrupt, TimeLimitError), time_limit(looking):
            if wanted == "switches":
                improvement.find_switches(options)
            elif wanted == "auto" and not breadth_first:
                improvement.find_cheaply(options)
    except UnsupportedError:  # a circuit may have been searched whose states cannot be listed
        return as_found
    return improvement.best


def spare_seconds(left: float, steps: int) -> float:
    """How long to look for another counterexample: not so long that the time is up before the one
    that was found is replayed, unless it is too long for that anyway."""
    share, replaying = LOOKING_SHARE * left, REPLAY_SECONDS * steps
    return share if replaying >= left else min(share, max(left - REPLAY_MARGIN * replaying, 0.0))


class _Improvement:
    """Looks for other counterexamples to the violation that was found, and keeps the last."""

    def __init__(self, program: Program, found: Selection, observer: Observer) -> None:
        self.program = program
        self.found = found.violation
        self.observer = observer
        self.best = found

    def find_cheaply(self, options: SearchOptions) -> None:
        """Look where it is quick first; unless that was good enough, go on for some seconds."""
        cheap = _limit(options, CHEAP_SECONDS, CHEAP_TRANSITIONS)
        if self.find_switches(_stop_after(cheap, QUICK_TRANSITIONS)):
            return
        self.find_steps(_stop_after(cheap, SHORT_TRANSITIONS))
        best = self.best.violation.leading
        if runs_in_pieces(best) and self.find_switches(cheap, below=context_switches(best)):
            return
        if len(best) > TOO_LONG:
            seconds = max(CHEAP_SECONDS, len(best) * REPLAY_SECONDS)
            self.find_steps(_limit(options, seconds, CHEAP_TRANSITIONS))

    def find_steps(self, options: SearchOptions) -> bool:
        """Find one with the fewest steps within the limits of `options`; whether there is one."""
        from mazurka.stateful.searches.minimize import fewest_steps

        self.observer.message("looking for a shorter counterexample")
        return self.take(fewest_steps(self.program, self.found, options, self.observer), "shortest")

    @cached_property
    def by_switches(self) -> FewestSwitches:
        from mazurka.stateful.searches.minimize import FewestSwitches

        return FewestSwitches(self.program, self.found, self.observer)

    def find_switches(self, options: SearchOptions, below: int | None = None) -> bool:
        """Find one with the fewest switches, fewer than `below`; whether there is one.

        The second time, go on where the first search had to stop."""
        self.observer.message("looking for a counterexample with fewer context switches")
        return self.take(self.by_switches.find(options, below), "switches")

    def take(self, better: Violation | None, how: str) -> bool:
        if better is None:
            return False
        switches, steps = _cost(self.found)
        offer = Alternative("--counterexample found", FIRST, steps, switches)
        alike = _cost(better) == _cost(self.found)
        self.best = Selection(better, how, None if alike else offer)
        return True


def runs_in_pieces(path: tuple[Move, ...]) -> bool:
    """Whether some thread goes on after another one has run."""
    return context_switches(path) >= len({move.thread for move in path})


def _stop_after(options: SearchOptions, transitions: int) -> SearchOptions:
    most = options.limit_transitions
    transitions = transitions if most is None else min(transitions, most)
    return replace(options, limit_transitions=transitions)


def _limit(options: SearchOptions, seconds: float, transitions: int) -> SearchOptions:
    """Limit a search that is not asked for: it has half of what is left of the time, and where
    nothing may depend on time, a number of transitions."""
    if options.deterministic:
        return replace(options, limit_transitions=transitions)
    left = seconds_left()
    return replace(options, limit_seconds=seconds if left is None else min(seconds, left / 2))


def _cost(violation: Violation) -> tuple[int, int]:
    """The switches and the steps that lead to what was found; the loops of a hang do not count,
    since no schedule is without them."""
    return context_switches(violation.leading), len(violation.leading)


def context_switches(path: tuple[Move, ...]) -> int:
    """How often another thread goes on than the one that moved last."""
    return sum(one.thread != other.thread for one, other in pairwise(path))
