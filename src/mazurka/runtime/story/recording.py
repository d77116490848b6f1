"""One run, told step by step: who did what, where, and how it ended.

A recorder stands between a program and the decider of a run.  Points lie before operations, and the
thread that asks is the one that has just arrived at its next one; so each call tells where that
thread stands now, and whose step is next.  What a step has read or written is known at the call
after it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import NamedTuple

from mazurka.runtime.core.leash import Leashed
from mazurka.runtime.core.operations import Attempt, Idle, Object, Step
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.sites import SourceLine, in_executor, site_of, user_frame
from mazurka.runtime.core.spinning import Spin
from mazurka.runtime.core.tasks import Life, Start, Task
from mazurka.runtime.core.thread_names import brief, labels_of
from mazurka.runtime.primitives.conditions import Notify, Wake
from mazurka.runtime.python.turning import Again
from mazurka.runtime.sharing.accesses import Access, Structure, Variable
from mazurka.runtime.story.changes import changes_of
from mazurka.runtime.story.effects import (
    Before,
    Effects,
    Place,
    before,
    data_access,
    effects_of,
    kind_of,
    place_of,
)
from mazurka.runtime.story.labels import Labels
from mazurka.runtime.story.library_steps import LibrarySteps
from mazurka.stateless.preemptions import Preemptions
from mazurka.stateless.runs import Decider, Ended, Operation, Runnable, Shared

_PATH = "\0"
"""Around the path of a thread in the text of a step, until the run has told all their names."""
QUIET = frozenset({"begin", "end"})
"""Steps that say nothing to people: the column begins, the column ends."""


@dataclass(kw_only=True)
class RecordedStep:
    """A step of a run."""

    number: int
    thread: int
    kind: str
    site: SourceLine | None
    text: str
    effects: Effects
    inside: bool = False
    """It happens inside the machinery of an executor, which nobody wants to read about."""
    starts: str | None = None
    """The path of the thread that it starts."""
    place: int | None = None
    """The number of the place in the source that made it an operation (`Learned.points`)."""
    preempts: bool = False
    """It comes after a switch away from a thread that could have gone on."""


@dataclass(frozen=True, kw_only=True)
class Stands:
    """Where a thread stands at the end of a run."""

    thread: int
    kind: str
    site: SourceLine | None
    waits: str
    holder: str | None = None
    place: int | None = None


class Lost(NamedTuple):
    """A notification of the program's when nobody waited."""

    thread: int
    label: str
    site: SourceLine | None


@dataclass(kw_only=True)
class Story:
    """A recorded run."""

    ended: Ended
    threads: dict[int, str] = field(default_factory=dict)
    """What people call the threads, by number."""
    paths: dict[int, str] = field(default_factory=dict)
    """Their paths, which are the same in every exploration."""
    steps: list[RecordedStep] = field(default_factory=list)
    standing: list[Stands] = field(default_factory=list)
    lost: list[Lost] = field(default_factory=list)
    """Notifications that nobody waited for, on objects that somebody waits for at the end."""
    calls: dict[int, str] = field(default_factory=dict)
    """What threads call that stand in the library without any line of the program."""

    @property
    def schedule(self) -> tuple[int, ...]:
        return tuple(step.thread for step in self.steps)

    @property
    def preemptions(self) -> int:
        return sum(step.preempts for step in self.steps)


class Recorder(Decider):
    """A decider that passes questions on to another, and writes down what happens."""

    def __init__(self, inner: Decider) -> None:
        self._inner = inner
        self._labels = Labels()
        self._sites: dict[int, SourceLine | None] = {}
        self._inside: dict[int, bool] = {}
        self._places: dict[int, Place] = {}
        """Of accesses, by the identity of the operation."""
        self._kept: list[Operation] = []
        self._open: tuple[RecordedStep, Step, Before] | None = None
        self._library = LibrarySteps(self._labels)
        self._wasted: list[tuple[Shared, RecordedStep]] = []
        self._over = False
        self._tasks: dict[int, Task] = {}
        self._paths: dict[int, str] = {}
        self._labels_by_path: dict[str, str] = {}
        self._standing: list[Stands] = []
        self._lost: list[Lost] = []
        self.threads: dict[int, str] = {}
        self.steps: list[RecordedStep] = []
        self._preemptions = Preemptions()

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        frame = user_frame(sys._getframe(1))
        arrived = max(last, 0)
        operation = pending[arrived]
        self.close()
        self._meet_threads()
        if operation is not None:
            self._arrive(arrived, operation, frame)
        chosen = self._inner.decide(pending, enabled, last)
        self._note(pending, enabled, last, chosen)
        return chosen

    def _arrive(self, thread: int, operation: Operation, frame: FrameType | None) -> None:
        self._sites[thread] = site_of(frame)
        self._inside[thread] = in_executor(sys._getframe(2))
        self._meet(operation, frame)
        self._library.arrive(self._tasks.get(thread), operation, sys._getframe(2), frame)

    def _meet(self, operation: Operation, frame: FrameType | None) -> None:
        access = data_access(operation)
        if access is not None:
            place = self._places[id(operation)] = place_of(access, self._labels, frame)
            self._labels.give(access.shared, place.whole)
            self._kept.append(operation)
            return
        for shared in _objects(operation):
            self._labels.meet(shared, frame)

    def _note(
        self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int, chosen: int
    ) -> None:
        operation = pending[chosen]
        assert isinstance(operation, Step)
        taken = RecordedStep(
            number=len(self.steps) + 1,
            thread=chosen,
            kind=kind_of(operation),
            site=self._sites.get(chosen),
            text=_outcome(operation),
            effects=Effects(),
            inside=self._inside.get(chosen, False),
            starts=_started_by(operation),
            place=_place_of(operation),
            preempts=self._preemptions.take(pending, enabled, last, chosen),
        )
        self.steps.append(taken)
        place = self._places.get(id(operation))
        self._open = (taken, operation, before(operation, place))
        self._library.begin(chosen, operation, None if place is None else place.holder)
        wasted = isinstance(operation, Notify) and not operation.shared.state
        if wasted and chosen not in self._library.within:
            self._wasted.append((operation.shared, taken))

    def close(self) -> None:
        """The last step has been taken: what did it read and write?"""
        if self._open is not None:
            taken, operation, known = self._open
            done = self._library.outcome(known.writes)
            taken.text = self._text(operation, done) + taken.text
            taken.effects = self._library.effects() or effects_of(operation, known)
            self._open = None

    def _text(self, operation: Step, done: str | None = None) -> str:
        if isinstance(operation, Spin) and id(operation) not in self._places:
            return self._text(operation.operation, done)
        if isinstance(operation, Leashed):
            return self._text(operation.operation)
        if isinstance(operation, Idle):
            return operation.kind
        if isinstance(operation, Attempt):
            return self._text(operation.wanted)
        place = self._places.get(id(operation))
        if place is not None and done is not None:
            return f"cache of {place.text}: {done}"
        if place is not None:
            return f"{'use' if place.is_opaque else operation.kind} {place.text}"
        label = self._labels.of(operation.shared)
        if isinstance(operation.shared, Life):
            label = f"{_PATH}{operation.shared.path}{_PATH}"
        return f"{operation.kind} {label}"

    def over(self, pending: Sequence[Operation | None]) -> None:
        """The run has come to its end; threads that are stuck have not been unwound yet."""
        self.close()
        self._over = True
        last = session.current.running.number
        if last < len(pending) and (operation := pending[last]) is not None:
            self._arrive(last, operation, user_frame(sys._getframe(1)))
        self._name_threads()
        self._standing = [
            self._stands(number, operation)
            for number, operation in enumerate(pending)
            if isinstance(operation, Step)
        ]
        self._lost = self._lost_for(pending)

    def _meet_threads(self) -> None:
        self._tasks.update((task.number, task) for task in session.current.tasks if task)

    def _name_threads(self) -> None:
        """Now it is known who has been started, and who is called the same."""
        self._meet_threads()
        tasks = [task for _, task in sorted(self._tasks.items())]
        self.threads = labels_of(tasks)
        self._paths = {task.number: task.path for task in tasks}
        self._labels_by_path = {path: self.threads[n] for n, path in self._paths.items()}
        for step in self.steps:
            if _PATH in step.text:
                kind, path, outcome = step.text.split(_PATH)
                step.text = f"{kind}{brief(self._labels_by_path.get(path, path))}{outcome}"

    def story(self, ended: Ended) -> Story:
        """To be called when the run is over."""
        if not self._over:
            self.over(ended.pending)
        return Story(
            ended=ended,
            threads=self.threads,
            paths=self._paths,
            steps=self.steps,
            standing=self._standing,
            lost=self._lost,
            calls=self._library.calls,
        )

    def _stands(self, number: int, operation: Step) -> Stands:
        paths = self._labels_by_path
        if isinstance(operation, Spin):
            text = changes_of((shared for shared, _ in operation.seen), self._called)
        else:
            text = operation.waits_for()
            for shared in _objects(operation):
                text = text.replace(str(shared), self._called(shared))
        holder = operation.holder()
        return Stands(
            thread=number,
            kind=kind_of(operation),
            site=self._sites.get(number),
            waits=text,
            holder=paths.get(holder, holder) if holder else None,
            place=_place_of(operation),
        )

    def _called(self, shared: Shared) -> str:
        label = self._labels.of(shared)
        if isinstance(shared, Life):
            label = self._labels_by_path.get(shared.path, label)
        return _with_sort(shared, label)

    def _lost_for(self, pending: Sequence[Operation | None]) -> list[Lost]:
        waited = [operation.shared for operation in pending if isinstance(operation, Wake)]
        return [
            Lost(taken.thread, self._labels.of(shared), taken.site)
            for shared, taken in self._wasted
            if any(shared is one for one in waited)
        ]


def _with_sort(shared: Shared, label: str) -> str:
    """A label, and what it is that is called so; threads and variables speak for themselves."""
    if not isinstance(shared, Object) or isinstance(shared, (Life, Variable, Structure)):
        return label
    return label if label.startswith(f"{shared.kind} ") else f"{shared.kind} {label}"


def _place_of(operation: object) -> int | None:
    if isinstance(operation, Spin):
        return _place_of(operation.operation)
    return operation.site if isinstance(operation, (Access, Again)) else None


def _started_by(operation: Step) -> str | None:
    life = operation.shared if isinstance(operation, Start) else None
    return life.path if isinstance(life, Life) else None


def _outcome(operation: Step) -> str:
    """How an attempt will end, now that it has been chosen."""
    if isinstance(operation, Spin):
        return _outcome(operation.operation)
    if not isinstance(operation, Attempt):
        return ""
    if operation.wanted.ready():
        return ": done"
    return ": timed out" if operation.patient else ": not now"


def record(program: Runnable, decider: Decider) -> Story:
    """Run a program once and tell what happened."""
    recorder = Recorder(decider)
    return recorder.story(program.run(recorder))


def _objects(operation: Operation) -> list[Shared]:
    """All objects that an operation is about."""
    if isinstance(operation, Spin):
        return [shared for shared, _ in operation.seen] + _objects(operation.operation)
    if isinstance(operation, Attempt):
        return _objects(operation.wanted)
    names = ("shared", "lock")
    return [found for name in names if isinstance(found := getattr(operation, name, None), Shared)]
