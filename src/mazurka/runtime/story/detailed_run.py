"""Record a failing run once more, with the accesses that were no scheduling points.

What a lock protects costs no scheduling points, so a recorded run says nothing of it.  But to know
what has gone wrong, one has to know what was changed under the lock.  So the same schedule is run
with a point at every access, to see what several threads use, and then recorded with points at
these accesses.  Between two steps of the schedule a thread takes all its additional steps at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from mazurka.runtime.core.names import forget_names
from mazurka.runtime.core.operations import present
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.sites import sites
from mazurka.runtime.sharing.locations import learned
from mazurka.runtime.story.effects import data_access
from mazurka.runtime.story.moved_steps import RunOnce
from mazurka.runtime.story.recording import Recorder, point_of
from mazurka.runtime.story.story import Story
from mazurka.stateless.runs import Abandon, Decider, Ended, Operation

MOST_STEPS = 2000
"""Runs with more accesses are not recorded in detail."""


class DetailedRun(Decider):
    """Follows a schedule; at a place that was no point, the thread goes on."""

    def __init__(self, schedule: Sequence[int], points: frozenset[int]) -> None:
        self._schedule = schedule
        self._points = points
        self._next = 0
        self.uses: dict[object, tuple[set[int], set[int], set[bool]]] = {}
        """By the name of a thing: the threads that use it, the places, whether they change it."""
        self._counts: Counter[int] = Counter()
        """How often each place was passed."""

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        chosen = self._choose(pending, enabled, max(last, 0))
        self._note(chosen, pending[chosen])
        return chosen

    def _choose(
        self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int
    ) -> int:
        if self._is_additional(pending[last]):
            chosen = last
        elif self._next < len(self._schedule):
            chosen = self._schedule[self._next]
            self._next += not self._is_additional(pending[chosen])
        else:
            raise Abandon
        if chosen not in enabled:
            raise Abandon
        return chosen

    def _is_additional(self, operation: Operation | None) -> bool:
        place = point_of(operation)
        return place is not None and place not in self._points

    def _note(self, thread: int, operation: Operation | None) -> None:
        access = data_access(operation)
        if access is None:
            return
        self._counts[access.site] += 1
        for shared, written in access.at(present) or ():
            threads, places, writes = self.uses.setdefault(shared.name, (set(), set(), set()))
            threads.add(thread)
            places.add(access.site)
            writes.add(written)

    def find_shared(self) -> frozenset[int]:
        """Find the places of accesses to what several threads use and somebody changes."""
        return frozenset(
            place
            for threads, places, writes in self.uses.values()
            if len(threads) > 1 and True in writes
            for place in places
        )

    def count(self, places: Iterable[int]) -> int:
        """Count the accesses at these places."""
        return sum(self._counts[place] for place in places)


class Details:
    """A story in detail, and runs of the test with the same scheduling points."""

    def __init__(
        self, story: Story, run: RunOnce, points: frozenset[int], more: frozenset[int]
    ) -> None:
        self.story = story
        self._run = run
        self._points = points
        """The scheduling points of the search."""
        self._more = more
        """Those of the story."""

    def run(self, decider: Decider) -> Ended | None:
        """Run the test; what the run before has taught is forgotten."""
        set_points(self._more)
        return self._run(decider)

    def tell_about(self, places: Container[str]) -> Story:
        """Return the steps of the search, and those on things that people call by these names.

        So a report shows what was changed under a lock where that matters.  Whatever else happens
        at the same places in the source is told, too: a replay divides the run in the same way.
        """
        steps = self.story.steps
        wanted = {step.place for step in steps if step.subject in places} - {None}
        told = wanted | self._points | {None}
        kept = [step for step in steps if step.place in told]
        numbered = [replace(step, number=number) for number, step in enumerate(kept, 1)]
        return replace(self.story, steps=numbered)


@contextmanager
def detailed(story: Story, run: RunOnce) -> Iterator[Details | None]:
    """Record the run of a story in detail; the points are there until the end of the context.

    None where that is not possible: the run does something else, or is too long.
    """
    points = frozenset(learned.points)
    try:
        yield _record(story, run, points)
    finally:
        set_points(points)


def set_points(points: Iterable[int]) -> None:
    learned.points.clear()
    learned.points.update(points)


def _record(story: Story, run: RunOnce, points: frozenset[int]) -> Details | None:
    set_points(range(len(sites)))
    scout = DetailedRun(story.schedule, points)
    ended = run(scout)
    if ended is None or ended.abandoned:
        return None
    more = points | scout.find_shared()
    if scout.count(more) > MOST_STEPS:
        return None
    set_points(more)
    forget_names(session.current)
    recorder = Recorder(DetailedRun(story.schedule, points))
    ended = run(recorder)
    if ended is None or ended.abandoned:
        return None
    found = recorder.tell(ended)
    return Details(found, run, points, more) if _is_alike(story, found) else None


def _is_alike(story: Story, other: Story) -> bool:
    places = [(one.kind, one.file, one.line) for one in story.ended.failures]
    return places == [(one.kind, one.file, one.line) for one in other.ended.failures]
