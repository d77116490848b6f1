"""Record one run step by step: who did what, where, and how it ended.

A recorder stands between a program and the decider of a run.  Points lie before operations, and the
thread that asks is the one that has just arrived at its next one; so each call tells where that
thread stands now, and whose step is next.  What a step has read or written is known at the call
after it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from types import FrameType

from mazurka.runtime.core.daemons import Leashed
from mazurka.runtime.core.failures import find_awaited
from mazurka.runtime.core.names import forget_names
from mazurka.runtime.core.operations import (
    Idle,
    Object,
    RealOperation,
    TryOperation,
    present,
    purpose_at,
)
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.sites import SourceLine, in_executor, site_of, user_frame
from mazurka.runtime.core.spinning import Spin
from mazurka.runtime.core.tasks import Life, StartThread, Task, labels_of, shorten
from mazurka.runtime.primitives.condition import Notify, Wake
from mazurka.runtime.primitives.registry import say_once
from mazurka.runtime.python.iteration.loops import NextRound
from mazurka.runtime.sharing.accesses import DataAccess, SharedVariable, Structure
from mazurka.runtime.story.effects import (
    Before,
    Place,
    data_access,
    find_effects,
    find_place,
    kind_of,
    look_before,
    tell_outcome,
    tell_place,
)
from mazurka.runtime.story.failure import describe_changes
from mazurka.runtime.story.labels import Labels
from mazurka.runtime.story.library_steps import LibrarySteps
from mazurka.runtime.story.paths import is_library
from mazurka.runtime.story.story import Acquired, Effects, Lost, RecordedStep, Stands, Story
from mazurka.stateless.preemptions import Preemptions
from mazurka.stateless.runs import Decider, Ended, Operation, Runnable, Shared

_PATH = "\0"
"""Around the path of a thread in the text of a step, until the run has told all their names."""


def record(program: Runnable, decider: Decider) -> Story:
    """Run a program once and tell what happened."""
    forget_names(session.current)
    recorder = Recorder(decider)
    return recorder.tell(program.run(recorder))


class Recorder(Decider):
    """A decider that passes questions on to another, and writes down what happens."""

    def __init__(self, inner: Decider) -> None:
        self._inner = inner
        self._labels = Labels()
        self._sites: dict[int, SourceLine | None] = {}
        self._callers: dict[int, SourceLine | None] = {}
        self._inside: dict[int, bool] = {}
        self._places: dict[int, Place] = {}
        """Of accesses, by the identity of the operation."""
        self._words: dict[int, str] = {}
        """What operations do to files and settings, by the identity of the operation."""
        self._kept: list[Operation] = []
        self._open: tuple[RecordedStep, RealOperation, Before] | None = None
        """The step that is being taken."""
        self._library = LibrarySteps(self._labels)
        self._taken: dict[int, tuple[Shared, Acquired]] = {}
        """Who has last taken each lock and semaphore, by identity; what is in it stays alive, so
        that no other object gets its identity."""
        self._wasted: list[tuple[Shared, RecordedStep]] = []
        """Notifications when nobody waited."""
        self._tasks: dict[int, Task] = {}
        self._labels_by_path: dict[str, str] = {}
        self._steps: list[RecordedStep] = []
        self._numbers: dict[int, int] = {}
        """The numbers of the objects that steps touch, by identity."""
        self._objects: list[Shared] = []
        self._preemptions = Preemptions()
        self._story: Story | None = None

    # -- steps -------------------------------------------------------------------------------

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        frame = user_frame(sys._getframe(1))
        arrived = max(last, 0)
        operation = pending[arrived]
        self._finish_step()
        self._meet_threads()
        if operation is not None:
            self._arrive(arrived, operation, frame)
        chosen = self._inner.decide(pending, enabled, last)
        self._begin_step(pending, enabled, last, chosen)
        return chosen

    def _meet_threads(self) -> None:
        self._tasks.update((task.number, task) for task in session.current.tasks if task)

    def _arrive(self, thread: int, operation: Operation, frame: FrameType | None) -> None:
        """Note that a thread stands before an operation; `frame` is the nearest of the program."""
        self._sites[thread] = site_of(frame)
        self._callers[thread] = _find_caller(frame)
        self._inside[thread] = in_executor(sys._getframe(2))
        self._find_labels(operation, frame)
        self._library.arrive(self._tasks.get(thread), operation, sys._getframe(2), frame)

    def _find_labels(self, operation: Operation, frame: FrameType | None) -> None:
        access = data_access(operation)
        if access is not None:
            place = self._places[id(operation)] = find_place(access, self._labels, frame)
            self._labels.give(access.shared, place.whole)
            self._kept.append(operation)
            words = tell_place(operation)
            if words is not None:
                self._words[id(operation)] = words
            return
        if isinstance(operation, RealOperation):
            for shared in operation.objects():
                self._labels.meet(shared, frame)

    def _begin_step(
        self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int, chosen: int
    ) -> None:
        operation = pending[chosen]
        assert isinstance(operation, RealOperation)
        early = self._preemptions.early
        preempts = self._preemptions.take(pending, enabled, last, chosen)
        step = RecordedStep(
            number=len(self._steps) + 1,
            thread=chosen,
            kind=kind_of(operation),
            site=self._site_of(chosen, operation),
            text=_unwrap(operation).outcome(),
            effects=Effects(),
            inside=self._inside.get(chosen, False),
            starts=_started_by(operation),
            place=point_of(operation),
            preempts=preempts,
            early=operation.seconds if self._preemptions.early > early else None,
            touches=self._number_touches(operation),
            caller=self._callers.get(chosen),
        )
        self._steps.append(step)
        taken = operation.takes()
        if taken is not None:
            self._taken[id(taken)] = taken, Acquired(chosen, step.site)
        place = self._places.get(id(operation))
        self._open = (step, operation, look_before(operation, place))
        self._library.begin(chosen, operation, None if place is None else place.holder)
        wasted = isinstance(operation, Notify) and not operation.shared.state
        if wasted and chosen not in self._library.within:
            self._wasted.append((operation.shared, step))

    def _site_of(self, thread: int, operation: RealOperation) -> SourceLine | None:
        """Return the line that a step belongs to.  What is done to a file is said in words, so it
        belongs to the line of the project that has called the library for that."""
        caller = self._callers.get(thread)
        is_told = id(operation) in self._words and caller is not None
        return caller if is_told else self._sites.get(thread)

    def _number_touches(self, operation: RealOperation) -> dict[int, bool]:
        """Return what an operation touches that goes on now, as numbers."""
        found: dict[int, bool] = {}
        for shared, written in operation.at(present) or ():
            number = self._numbers.setdefault(id(shared), len(self._objects))
            if number == len(self._objects):
                self._objects.append(shared)  # which stays alive, so that its identity is its own
            found[number] = written or found.get(number, False)
        return found

    def _finish_step(self) -> None:
        """Write down what the last step, which has been taken, has read and written."""
        if self._open is not None:
            step, operation, known = self._open
            done, item = self._library.outcome(known.writes), self._library.item()
            step.text = self._describe(operation, done) + step.text
            if id(operation) in self._words:
                step.text += tell_outcome(operation, known)
            if item is not None:
                kind, label = step.kind, self._labels.of(_unwrap(operation).shared)
                step.text = f"{kind} {item} {'into' if kind == 'put' else 'from'} {label}"
            step.effects = self._library.effects() or find_effects(operation, known)
            step.subject = self._name_subject(operation)
            place = self._places.get(id(operation))
            step.is_element = place is not None and place.key is not None
            self._open = None

    def _describe(self, operation: RealOperation, done: str | None = None) -> str:
        if isinstance(operation, Spin) and id(operation) not in self._places:
            return self._describe(operation.operation, done)
        if isinstance(operation, Leashed):
            return self._describe(operation.operation)
        if isinstance(operation, Idle):
            return operation.kind
        if isinstance(operation, TryOperation):
            return self._describe(operation.wanted)
        place = self._places.get(id(operation))
        words = self._words.get(id(operation))
        if words is not None:
            return words
        if place is not None and done is not None:
            return f"cache of {place.text}: {done}"
        if place is not None:
            return f"{'use' if place.is_opaque else operation.kind} {place.text}"
        label = self._labels.of(operation.shared)
        if isinstance(operation.shared, Life):
            label = f"{_PATH}{operation.shared.path}{_PATH}"
        return f"{operation.kind} {label}"

    def _name_subject(self, operation: RealOperation) -> str:
        place = self._places.get(id(operation))
        if place is not None:
            return place.text
        bare = _unwrap(operation)
        return "" if isinstance(bare, Idle) else self._labels.of(bare.shared)

    # -- the end -----------------------------------------------------------------------------

    def over(self, pending: Sequence[Operation | None]) -> None:
        """Write the story at the end of the run, before threads that are stuck are unwound."""
        self._finish_step()
        last = session.current.running.number
        if last < len(pending) and (operation := pending[last]) is not None:
            self._arrive(last, operation, user_frame(sys._getframe(1)))
        self._meet_threads()
        tasks = [task for _, task in sorted(self._tasks.items())]
        threads = labels_of(tasks)
        self._labels_by_path = {task.path: threads[task.number] for task in tasks}
        self._name_threads()
        standing = {
            number: operation
            for number, operation in enumerate(pending)
            if isinstance(operation, RealOperation)
        }
        self._story = Story(
            ended=Ended(),
            threads=threads,
            paths={task.number: task.path for task in tasks},
            steps=self._steps,
            standing=[self._describe_end(number, one) for number, one in standing.items()],
            acquired={
                number: self._taken[id(wanted)][1]
                for number, operation in standing.items()
                if id(wanted := operation.takes()) in self._taken
            },
            lost=self._find_lost(standing.values()),
            calls=self._library.calls,
            objects=[getattr(shared, "kind", "") for shared in self._objects],
            seconds=self._tasks[0].time if 0 in self._tasks else 0.0,
        )

    def tell(self, ended: Ended) -> Story:
        """Return what was recorded, when the run is over."""
        if self._story is None:
            self.over(ended.pending)
        assert self._story is not None
        self._story.ended = ended
        return self._story

    def _name_threads(self) -> None:
        """Put names into texts, now that all threads are known, and which are called the same."""
        for step in self._steps:
            if _PATH in step.text:
                kind, path, outcome = step.text.split(_PATH)
                step.text = f"{kind}{shorten(self._labels_by_path.get(path, path))}{outcome}"

    def _describe_end(self, number: int, operation: RealOperation) -> Stands:
        paths = self._labels_by_path
        if isinstance(operation, Spin):
            text = describe_changes((shared for shared, _ in operation.seen), self._label)
        else:
            task = self._tasks[number]
            frame = sys._current_frames().get(task.ident) if task.begun else None
            text = operation.waits_for(purpose_at(frame))
            for shared in operation.objects():
                text = text.replace(str(shared), self._label(shared))
        holder, bare = operation.holder(), _unwrap(operation)
        return Stands(
            thread=number,
            kind=kind_of(operation),
            site=self._sites.get(number),
            waits=say_once(text),
            holder=paths.get(holder, holder) if holder else None,
            place=point_of(operation),
            awaited=find_awaited(self._tasks.values(), operation),
            subject="" if isinstance(bare, Idle) else self._label(bare.shared),
        )

    def _label(self, shared: Shared) -> str:
        """Return a label with the kind of object; threads and variables need none."""
        label = self._labels.of(shared)
        if isinstance(shared, Life):
            return self._labels_by_path.get(shared.path, label)
        if not isinstance(shared, Object) or isinstance(shared, (SharedVariable, Structure)):
            return label
        return label if label.startswith(f"{shared.kind} ") else f"{shared.kind} {label}"

    def _find_lost(self, standing: Iterable[RealOperation]) -> list[Lost]:
        waited = [operation.shared for operation in standing if isinstance(operation, Wake)]
        return [
            Lost(step.thread, self._labels.of(shared), step.site)
            for shared, step in self._wasted
            if any(shared is one for one in waited)
        ]


def point_of(operation: object) -> int | None:
    """Return the number of the place in the source that makes something an operation, if any."""
    if isinstance(operation, Spin):
        return point_of(operation.operation)
    return operation.site if isinstance(operation, (DataAccess, NextRound)) else None


def _find_caller(frame: FrameType | None) -> SourceLine | None:
    """Find the line of the project that has called the library in which a frame is, if any."""
    if frame is None or not is_library(frame.f_code.co_filename):
        return None
    while frame is not None and is_library(frame.f_code.co_filename):
        frame = user_frame(frame.f_back)
    return site_of(frame)


def _unwrap(operation: RealOperation) -> RealOperation:
    """Return the operation of the program that a thread performs in a loop, or on a leash."""
    while isinstance(operation, (Spin, Leashed)):
        operation = operation.operation
    return operation


def _started_by(operation: RealOperation) -> str | None:
    life = operation.shared if isinstance(operation, StartThread) else None
    return life.path if isinstance(life, Life) else None
