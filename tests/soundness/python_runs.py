"""Brute force over the schedules of real Python programs, and the searches of paper 001 beside it.

Nothing of the searches is used to tell executions apart.  An execution is the set of its events,
each with its thread, its place in that thread's life, and what it touched in which version (the
actions <o, t, n, v, m> of the paper); its context bound is the fewest preemptions of its schedules.
"""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

from mazurka.runtime.core.host import ControlSettings
from mazurka.runtime.core.operations import present
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.exploring.observed_program import ObservedProgram, schedule_every_access
from mazurka.runtime.rewrite.selection import is_left_alone
from mazurka.stateless.explored import Explored, RunOptions
from mazurka.stateless.iterative import explore, find_search
from mazurka.stateless.runs import Decider, Ended, Operation, Slip, Touch
from tests.soundness.whole_runs import every_schedule

Versions: TypeAlias = tuple[tuple[str, int, bool], ...]
Execution: TypeAlias = frozenset[tuple[int, int, Versions]]
Outcome: TypeAlias = tuple[tuple[tuple[int, tuple[str, ...]], ...], tuple[str, ...]]
"""What the threads told, each for itself, and the kinds of failures."""

ALL = RunOptions(stop_at_first=False)
SETTINGS = ControlSettings(patience=5.0)
_numbers = itertools.count()


class Notes:
    """What the threads of a run tell, by thread."""

    def __init__(self) -> None:
        self.told: dict[int, list[str]] = {}

    def __call__(self, *values: object) -> None:
        """Threads that unwind after the run may say what they want."""
        if not session.current.over:
            self.told.setdefault(session.current.running.number, []).append(repr(values))


class Logged(Decider):
    """A program that knows of its last run which execution it was and how it came out.

    To the program it is a search: it lets through what the real one says of the steps that are
    settled, and of ends and joins.
    """

    def __init__(self, program: ObservedProgram, notes: Notes) -> None:
        self.program = program
        self.notes = notes
        self.completed: list[Execution] = []
        self.outcomes: dict[Execution, Outcome] = {}
        self.preemptions = 0
        self.early = 0
        """Steps that gave way while somebody could go on who did not."""
        self._events: list[tuple[int, int, Versions]] = []

    def run(self, decider: Decider) -> Ended:
        self._decider = decider
        self._before = self._events
        self._events = []
        self._steps: dict[int, int] = {}
        self._rested: dict[int, int] = {}
        self._versions: dict[str, int] = {}
        self.preemptions = self.early = 0
        self.notes.told.clear()
        end = self.program.run(self)
        if not end.abandoned:
            self._complete(end)
        return end

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        thread = self._decider.decide(pending, enabled, last)
        away = thread != last and last in enabled and not _gives_way(pending[last])
        early = False
        if _gives_way(pending[thread]):
            often = self._rested.get(thread, 0)
            hasty = not all(_gives_way(pending[other]) for other in enabled)
            early = hasty or any(self._rested.get(other, 0) < often for other in enabled)
            self.early += hasty and pending[thread].seconds > 0  # type: ignore[union-attr]
            self._rested[thread] = often + 1
        self.preemptions += away or early
        operation = pending[thread]
        assert operation is not None
        touches = operation.at(present)
        assert touches is not None
        self._take(thread, touches)
        return thread

    def _take(self, thread: int, touches: Sequence[Touch]) -> None:
        number = self._steps[thread] = self._steps.get(thread, 0) + 1
        self._events.append((thread, number, self._versions_of(touches)))

    @property
    def prefix(self) -> Sequence[int]:
        return self._decider.prefix

    def left(self, count: int) -> None:
        """So many steps were those of the run before."""
        self._events = self._before[:count]
        for thread, number, versions in self._events:
            self._steps[thread] = number
            for name, version, _ in versions:
                self._versions[name] = version
        self._decider.left(count)

    @property
    def slip(self) -> Slip | None:
        return None if self._decider.slip is None else self._pass

    def _pass(self, thread: int, operation: Operation, pending: Sequence[Operation | None]) -> None:
        touches = operation.at(present)
        assert touches is not None
        assert self._decider.slip is not None
        self._decider.slip(thread, operation, pending)
        self._take(thread, touches)

    def _versions_of(self, touches: Sequence[Touch]) -> Versions:
        written: dict[str, bool] = {}
        for shared, writes in touches:
            name = str(shared.name)
            written[name] = written.get(name, False) or bool(writes)
        versions = self._versions
        for name, writes in written.items():
            if writes:
                versions[name] = versions.get(name, 0) + 1
        return tuple(sorted((name, versions.get(name, 0), w) for name, w in written.items()))

    def over(self, pending: Sequence[Operation | None]) -> None:
        self._decider.over(pending)

    def _complete(self, end: Ended) -> None:
        ran = frozenset(self._events)
        told = tuple(sorted((thread, tuple(said)) for thread, said in self.notes.told.items()))
        outcome: Outcome = (told, tuple(sorted(failed.kind for failed in end.failures)))
        known = self.outcomes.setdefault(ran, outcome)
        if known != outcome:
            raise AssertionError(f"one execution has two outcomes: {known} and {outcome}")
        self.completed.append(ran)


def _gives_way(operation: Operation | None) -> bool:
    assert operation is not None
    yields = operation.yields
    return yields if isinstance(yields, bool) else yields(present)


@dataclass
class Searched:
    """What a search has completed."""

    logged: Logged
    explored: Explored

    @property
    def outcomes(self) -> set[Outcome]:
        return set(self.logged.outcomes.values())


@dataclass
class Whole:
    """All executions of a program, with their context bounds, and the outcomes of each."""

    bounds: dict[Execution, int] = field(default_factory=dict)
    patient: dict[Execution, int] = field(default_factory=dict)
    """Those of which some schedule has no early timeout, with the fewest preemptions of these."""
    outcomes: dict[Execution, Outcome] = field(default_factory=dict)
    schedules: int = 0

    def within(self, bound: int | None) -> set[Execution]:
        return {ran for ran, least in self.bounds.items() if bound is None or least <= bound}

    def outcomes_within(self, bound: int | None) -> set[Outcome]:
        return {self.outcomes[ran] for ran in self.within(bound)}


def brute_force(logged: Logged, limit: int) -> Whole | None:
    """Every schedule; None if there are more than `limit`."""
    whole = Whole()

    def seen(schedule: tuple[int, ...], end: Ended) -> None:
        ran = logged.completed[-1]
        whole.bounds[ran] = min(logged.preemptions, whole.bounds.get(ran, logged.preemptions))
        if not logged.early:
            least = whole.patient.get(ran, logged.preemptions)
            whole.patient[ran] = min(logged.preemptions, least)
        whole.schedules += 1

    finished = every_schedule(logged, limit, seen)
    whole.outcomes = dict(logged.outcomes)
    return whole if finished else None


def module_of(folder: Path, source: str) -> ModuleType:
    """A module with that source, imported."""
    name = f"random_python_{next(_numbers)}"
    file = folder / f"{name}.py"
    file.write_text(source)
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


class Subject:
    """A program under control."""

    def __init__(self, program: ObservedProgram, notes: Notes) -> None:
        self.program = program
        self.notes = notes

    def fresh(self) -> Logged:
        return Logged(self.program, self.notes)

    def search(
        self,
        algorithm: str,
        bound: int | None,
        levels: bool = False,
        runs: int | None = None,
        *,
        early: bool = True,
    ) -> Searched:
        """What one level completes, with nothing known from lower ones, or all levels together."""
        options = replace(ALL, max_runs=runs, early_timeouts=early)

        def search() -> Searched:
            logged = self.fresh()
            if levels:
                return Searched(logged, explore(logged, bound, algorithm, options))
            alone = find_search(algorithm)(logged, options)
            alone.explore(bound)
            return Searched(logged, alone.explored)

        return self.program.supervise(search)

    def all_executions(self, limit: int) -> Whole | None:
        return self.program.supervise(lambda: brute_force(self.fresh(), limit))


@contextmanager
def under_control(module: ModuleType, everywhere: bool = False) -> Iterator[Subject]:
    """The program of a module under control.

    `everywhere`: each access is a scheduling point, whether or not it needs to be one.
    """
    notes = Notes()

    def is_wanted(name: str, file: str) -> bool:
        return name == module.__name__

    def is_left(name: str, path: str) -> bool:
        return name.startswith("tests.") or is_left_alone(name, path)  # mutants of Mazurka, too

    with ObservedProgram(lambda: module.program(notes), is_wanted, SETTINGS, is_left) as program:
        if everywhere:
            schedule_every_access()
        yield Subject(program, notes)
