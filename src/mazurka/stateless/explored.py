"""What a search over whole runs reports, and the limits it keeps."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from mazurka.errors import MazurkaError
from mazurka.stateless.runs import Ended, Failed

TIME = "time"
TRANSITIONS = "transitions"
PROCESSOR_TIME = "processor time"
WAITING_TIME = "waiting time"
INTERRUPTED = "interrupted"


def run_limit(most: int) -> str:
    """The name of the limit that a search has met which may run a program so often."""
    return "1 run" if most == 1 else f"{most:,} runs"


class DivergedError(MazurkaError):
    """The program did not do the same again under the same schedule."""


class Exceeded(Exception):  # noqa: N818 - it is control flow, not an error of ours
    """A limit was reached in the midst of a computation; its argument names it."""


@dataclass(frozen=True)
class Allowance:
    """When a search ends that nobody has given a limit."""

    processor: float
    """On the clock of `time.process_time`, so that other programs on the machine do not matter."""
    world: float
    """On the clock of `time.perf_counter`: a test may wait instead, for a disk or in C code."""

    def find_exceeded(self) -> str | None:
        """Name the limit that has been reached, if any."""
        if time.process_time() > self.processor:
            return PROCESSOR_TIME
        return WAITING_TIME if time.perf_counter() > self.world else None


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    max_steps: int = 10_000
    """The longest execution; a longer one ends the search with that limit."""
    stop_at_first: bool = True
    """End the search with the first failure."""
    max_runs: int | None = None
    max_transitions: int | None = None
    """Stop after about so many steps, those of repeated prefixes not counted."""
    limit_seconds: float | None = None
    allowance: Allowance | None = None
    """When the search ends, unless somebody has given it a limit."""
    ignored: frozenset[str] = frozenset()
    """Kinds of failure that nobody asks for; the search goes on after them."""
    max_states: int | None = 2_000_000
    """How many prefixes of executions a search may know."""
    early_timeouts: bool = True
    """Whether a sleep or a timeout may end while others could move (`stateless.preemptions`)."""
    report_every: float = 0.1
    """Seconds between two calls of the progress hook."""


@dataclass(frozen=True, slots=True)
class Failing:
    """A failure, and the schedule that leads to it."""

    failed: Failed
    schedule: tuple[int, ...]
    """Moves; without nondeterministic steps, the numbers of threads."""
    preemptions: int
    taken: tuple[int, ...] = ()
    """The schedule of the run that failed, if the other one is only equivalent to it: where what a
    run sees is ordered by nothing, such as the end of an object, an equivalent one may pass."""


@dataclass(kw_only=True)
class Level:
    """What was seen with at most so many preemptions."""

    bound: int | None
    executions: int = 0
    """Terminal executions at this bound, those of lower levels included."""
    states: int = 0
    """States, as happens-before graphs, that the algorithm has stored."""
    failures: int = 0
    """Sorts of failure known at the end of this level."""
    complete: bool = False
    """Everything within the bound was seen."""
    exhaustive: bool = False
    """Everything was seen: no execution needs more preemptions."""
    seconds: float = 0.0


@dataclass(kw_only=True)
class Explored:
    """What a search has seen so far."""

    executions: int = 0
    """Terminal executions at the present bound."""
    runs: int = 0
    """How often the program was run, on all levels."""
    abandoned: int = 0
    """Runs that were ended early: all that could follow had been seen."""
    steps: int = 0
    """Steps taken, those of repeated prefixes not counted."""
    depth: int = 0
    """The longest execution."""
    states: int = 0
    failures: list[Failing] = field(default_factory=list)
    """The first of each sort: by kind, message and place."""
    levels: list[Level] = field(default_factory=list)
    limits: tuple[str, ...] = ()
    skipped: Counter[str] = field(default_factory=Counter)
    """How many of the executions have ended themselves early, by what they say (`Ended.skipped`).
    They are executions without a failure of their own."""
    left_out: bool = False
    """Whether early timeouts have been left out anywhere (`RunOptions.early_timeouts`)."""
    seconds: float = 0.0

    @property
    def complete(self) -> bool:
        """All that was asked for was seen."""
        return bool(self.levels) and self.levels[-1].complete and not self.limits

    @property
    def exhaustive(self) -> bool:
        """All executions were seen, however many preemptions they have."""
        return self.complete and self.levels[-1].exhaustive

    @property
    def kinds(self) -> set[str]:
        """The kinds of failure that are known."""
        return {failing.failed.kind for failing in self.failures}

    def is_new(self, failed: Failed) -> bool:
        """Whether no failure of this sort is known."""
        return all(_sort(known.failed) != _sort(failed) for known in self.failures)

    def add(self, failing: Failing) -> None:
        if self.is_new(failing.failed):
            self.failures.append(failing)

    def count_execution(self, end: Ended) -> None:
        """Count a terminal execution."""
        self.executions += 1
        if end.skipped is not None:
            self.skipped[end.skipped] += 1

    def limit(self, message: str) -> None:
        self.limits = tuple(dict.fromkeys((*self.limits, message)))


def _sort(failed: Failed) -> tuple[str, str, str | None, int | None]:
    return failed.kind, failed.message, failed.file, failed.line


Progress: TypeAlias = Callable[[Explored], None]
