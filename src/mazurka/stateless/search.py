"""The loop that all searches over schedules share: run to the end, look back, back up, run again.

A search is a stack of **nodes**, one for each prefix of the present run.  Going forward, an
algorithm chooses an action at the last node; at the end of a run it looks for other orders that are
worth a run and notes them at the nodes where they part; then the stack is cut back to the last node
that has something left.  Only `choose` and `look_back` differ from algorithm to algorithm.

A **sleep set** (Godefroid, *Partial-Order Methods for the Verification of Concurrent Systems*, LNCS
1032, chapter 5) belongs to each node: moves that need not be taken from here, because whatever they
lead to has been seen.  After a move has been explored it sleeps at its node; an action that depends
on it wakes it up.  A run in which all that is enabled sleeps is given up: it is *blocked*.

Only programs whose executions all end can be searched in this way.  One that is seen to go round
(`Execution.endless`), or is longer than `max_steps`, ends the search with that limit, and there is
no verdict but what has been found.  Nor is one missed: a search that comes to its end has taken a
finite number of steps and has completed, for every finite run, one that extends an equivalent run;
an execution without an end has runs longer than all of those.

After a step that never came to an end (`Failure.unfinished`) the other threads go on, for otherwise
the orders in which the step comes later, or not at all, would never be found; but nothing that such
a step happens before is reported.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field

from mazurka.stateless.execution import Action, Execution, Failure, Move
from mazurka.stateless.trace import Events, Trace

PULSE_SECONDS = 0.1
"""How often somebody who watches is told."""
ENDLESS = (
    "some execution never ends ({place} repeats), so schedules cannot be run to their end;"
    " strategies that store states can answer (--strategy auto)"
)
BOUND = "bound"
"""The kind of failure that is a limit of the analysis, not an error in the program."""
DEADLOCK = "deadlock"


@dataclass(frozen=True, kw_only=True)
class ScheduleOptions:
    max_steps: int = 10_000
    """The longest execution."""
    stop_at_first: bool = False
    """End the search with the first failure or deadlock."""
    limit_seconds: float | None = None
    ignored: frozenset[str] = frozenset()
    """Kinds of failure that nobody asks for; `deadlock` may be one.  The runs go on after them."""


class Stopped(Exception):  # noqa: N818 - it is control flow, not an error of ours
    """Raised by whoever is told about progress, to end the search there."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that went wrong and the schedule that shows it: of a failure the last move.

    A failure's schedule has only what happens before it.  The first finding of a search comes
    after no other failure, unless an ignored one; later ones may.
    """

    kind: str
    message: str
    place: str
    schedule: tuple[Move, ...]


@dataclass
class Exploration:
    """What a search has seen.  Without limits it is complete."""

    executions: int = 0
    """Runs that came to an end: nobody could move any more."""
    blocked: int = 0
    """Runs given up because everything that could move was asleep."""
    transitions: int = 0
    """Steps taken, those of repeated prefixes not counted twice."""
    faults: int = 0
    """Steps taken that failed."""
    deadlocks: int = 0
    """Executions that ended in a deadlock."""
    depth: int = 0
    findings: list[Finding] = field(default_factory=list)
    """The first of each sort: by kind, message and place."""
    limits: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def kinds(self) -> set[str]:
        return {finding.kind for finding in self.findings}

    def add(self, finding: Finding) -> None:
        sort = (finding.kind, finding.message, finding.place)
        if all((known.kind, known.message, known.place) != sort for known in self.findings):
            self.findings.append(finding)
            if finding.kind == BOUND:
                self.limit(finding.message)

    def limit(self, message: str) -> None:
        self.limits = tuple(dict.fromkeys((*self.limits, message)))


@dataclass
class Node:
    """A prefix of the present run: what can happen next, and what has been decided about it."""

    actions: dict[int, tuple[Action, ...]]
    """The next actions of every thread, attempts of those that cannot move included."""
    enabled: list[Action]
    sleep: dict[Move, Action]
    """Moves that are covered elsewhere."""
    explored: set[Move] = field(default_factory=set)
    """Moves taken from here, to the end of whatever they lead to."""
    backtrack: set[int] = field(default_factory=set)
    """The threads that are to be explored from here."""

    def awake(self) -> list[Action]:
        return [
            action
            for action in self.enabled
            if action.move not in self.sleep and action.move not in self.explored
        ]


class ScheduleSearch(ABC):
    """A depth-first search over schedules."""

    uses_sleep_sets = True

    def __init__(
        self,
        execution: Execution,
        options: ScheduleOptions | None = None,
        progress: Callable[[Exploration], None] | None = None,
    ) -> None:
        self.execution = execution
        self.options = options or ScheduleOptions()
        self.progress = progress
        self.trace = Trace()
        self.nodes: list[Node] = []
        self.found = Exploration()
        self.unfinished: Events = 0
        """Events of the present run that never came to an end."""
        self.fresh = 0
        """The position of the first event that no earlier run had."""
        self.started = self.told = time.perf_counter()

    @abstractmethod
    def choose(self, position: int) -> Action | None:
        """What to do at a node now; None if nothing is left.  Asking twice changes nothing."""

    @abstractmethod
    def look_back(self) -> None:
        """At the end of a run: note at the nodes what other orders are worth a run."""

    def entered(self, position: int, by: Action | None) -> None:  # noqa: B027 - for those who need it
        """A node has been added."""

    def left(self, position: int, by: Action) -> None:  # noqa: B027 - for those who need it
        """All that follows an action at a node has been explored."""

    def run(self) -> Exploration:
        self.started = self.told = time.perf_counter()
        try:
            self.search()
        except Stopped:
            pass
        except KeyboardInterrupt:
            self.found.limit("interrupted")
        self.found.seconds = time.perf_counter() - self.started
        return self.found

    def search(self) -> None:
        self.execution.rewind(0)
        self.enter(None)
        while True:
            self.run_on()
            if self.is_over():
                return
            self.look_back()
            if not self.back_up():
                return

    def pulse(self) -> None:
        """Called all the time: see what time it is."""
        now = time.perf_counter()
        limit = self.options.limit_seconds
        if limit is not None and now - self.started >= limit:
            self.found.limit("time")
            raise Stopped
        if self.progress is not None and now - self.told >= PULSE_SECONDS:
            self.told = now
            self.found.seconds = now - self.started
            self.progress(self.found)

    def is_over(self) -> bool:
        """Whether to stop before everything has been seen."""
        place = self.execution.endless()
        if place is not None:
            self.found.limit(ENDLESS.format(place=place))
        too_long = len(self.trace) >= self.options.max_steps and bool(self.nodes[-1].awake())
        if too_long:
            self.found.limit(f"an execution takes more than {self.options.max_steps:,} steps")
        violated = bool(self.found.kinds - {BOUND})
        return place is not None or too_long or (self.options.stop_at_first and violated)

    def run_on(self) -> None:
        """Extend the present run to its end."""
        while (action := self.choose(len(self.trace))) is not None:
            if len(self.trace) >= self.options.max_steps or self.execution.endless() is not None:
                return
            self.pulse()
            self.take(action)
        self.end()

    def take(self, action: Action) -> None:
        failure = self.execution.step(action.move)
        self.trace.push(action)
        self.found.transitions += 1
        self.found.depth = max(self.found.depth, len(self.trace))
        if failure is not None:
            self.note(failure)
        self.enter(action)

    def enter(self, by: Action | None) -> None:
        threads = self.execution.threads()
        actions = {thread: self.execution.next_actions(thread) for thread in threads}
        enabled = [action for some in actions.values() for action in some if action.enabled]
        sleep = self.still_asleep(by) if by is not None and self.uses_sleep_sets else {}
        self.nodes.append(Node(actions, enabled, sleep))
        self.entered(len(self.trace), by)

    def still_asleep(self, by: Action) -> dict[Move, Action]:
        """What sleeps on after an action: one that depends on it may now lead somewhere else."""
        asleep = self.nodes[-1].sleep
        return {move: action for move, action in asleep.items() if not action.depends(by)}

    def note(self, failure: Failure) -> None:
        last = len(self.trace) - 1
        causes = self.trace.before[last]
        real = not causes & self.unfinished
        if failure.unfinished:
            self.unfinished |= 1 << last
        if real and failure.kind not in self.options.ignored:
            self.found.faults += 1
            schedule = tuple(action.move for action in self.trace.pick(causes))
            self.found.add(Finding(failure.kind, failure.message, failure.place, schedule))

    def end(self) -> None:
        """Nothing was chosen: the execution is complete, or the run is given up."""
        if self.nodes[-1].enabled:
            self.found.blocked += 1
            return
        self.found.executions += 1
        if DEADLOCK in self.options.ignored or self.unfinished:
            return
        if self.execution.deadlocked():
            self.found.deadlocks += 1
            self.found.add(Finding(DEADLOCK, "", "", self.trace.schedule))

    def back_up(self) -> bool:
        """Return to the last node that has something left; False if there is none."""
        while len(self.nodes) > 1:
            self.nodes.pop()
            action = self.trace.actions[-1]
            self.trace.pop()
            position = len(self.trace)
            self.unfinished &= ~(1 << position)
            node = self.nodes[-1]
            node.explored.add(action.move)
            if self.uses_sleep_sets:
                node.sleep[action.move] = action
            self.left(position, action)
            if self.choose(position) is not None:
                self.execution.rewind(position)
                self.fresh = position
                return True
        return False
