"""Which order of steps a failure needs: found by moving steps, and running the test again.

**Interrupted.**  A thread is at rest for a while, and others take steps meanwhile: its *pause*.
The pause is moved to earlier and to later places in the thread's code.  Steps that touch nothing
that the others change, and change nothing that they touch, can be passed without any effect; so
only the others are tried, one after the other.  If the test passes once the pause lies before the
step `first`, and once it lies behind the step `second`, then the failure needs the others to come
in between the two.

**Wrong order.**  Where no pause is to blame, pairs of steps of two threads are exchanged that touch
the same thing one after the other.  If the test passes then, the failure needs their order.

Both are statements about runs that have taken place: one that fails, and one or two that pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mazurka.runtime.story.moved_steps import Trials
from mazurka.runtime.story.story import RecordedStep, Story

UNNAMED = frozenset({"", "lock", "rlock", "thread", "object"})
"""Kinds of objects that are no reason by themselves: they only keep threads apart."""
MOST_STEPS = 40
"""How many steps are passed on each side of a pause."""
MOST_PAUSES = 12
MOST_PAIRS = 12


@dataclass(frozen=True)
class Meeting:
    """A thing that two steps of different threads touch, and that one of them changes."""

    own: RecordedStep
    other: RecordedStep
    thing: int


@dataclass(frozen=True)
class Interruption:
    """A failure that needs others to come in between two steps of a thread."""

    first: RecordedStep
    second: RecordedStep
    before: Meeting
    """Why the first step has to come before the others."""
    after: Meeting
    """Why the second step has to come after them."""


@dataclass(frozen=True)
class WrongOrder:
    """A failure that needs one step to come before another one."""

    first: RecordedStep
    second: RecordedStep
    thing: int
    """What both touch."""


def _is_close(meeting: Meeting) -> bool:
    """Whether the other step is not about another element than the thread's own."""
    own, other = meeting.own, meeting.other
    return not (own.is_element and other.is_element) or own.subject == other.subject


class CriticalOrder:
    """Looks for the order that a failure needs."""

    def __init__(self, story: Story, trials: Trials) -> None:
        self._story = story
        self._steps = story.steps
        self._trials = trials

    # -- interrupted -------------------------------------------------------------------------

    def find_interrupted(self) -> Interruption | None:
        for start, stop in self._find_pauses()[:MOST_PAUSES]:
            first = self._find_first(start, stop)
            if not first:
                continue
            second = self._find_second(start, stop)
            if second is not None:
                return self._describe(first, second, range(start + 1, stop))
        return None

    def _find_pauses(self) -> list[tuple[int, int]]:
        """Find the positions between which threads rest; those that could go on come first."""
        last: dict[int, int] = {}
        found: list[tuple[bool, int, int]] = []
        for position, step in enumerate(self._steps):
            before = last.get(step.thread)
            if before is not None and before < position - 1:
                forced = not self._steps[before + 1].preempts
                found.append((forced, before, position))
            last[step.thread] = position
        return [(before, after) for _, before, after in sorted(found)]

    def _find_first(self, start: int, stop: int) -> list[int]:
        """Find the last step of a thread before its pause that the others must not come before.

        After it come the later ones of which that cannot be told apart: the pause cannot lie
        between.  Empty if there is none.
        """
        thread = self._steps[start].thread
        own = [n for n in range(start, -1, -1) if self._steps[n].thread == thread]
        untold: list[int] = []
        for position in self._meeting(own, range(start + 1, stop)):
            passed = self._pass_earlier(position, own, start, stop)
            if passed:
                return [position, *reversed(untold)]
            if passed is None:
                untold.append(position)
            else:
                untold.clear()
        return []

    def _pass_earlier(
        self, position: int, own: Sequence[int], start: int, stop: int
    ) -> bool | None:
        """Let the pause lie before a step, or before the lock under which that is taken."""
        thread = self._steps[start].thread
        for begin in (n for n in own if n <= position):
            if begin != position and "acquire" not in self._steps[begin].kind:
                continue
            moved = [n for n in range(begin, stop) if self._steps[n].thread != thread]
            held = [n for n in range(begin, start + 1) if self._steps[n].thread == thread]
            passed = self._try(range(begin), moved, held, range(stop, len(self._steps)))
            if passed is not None:
                return passed
        return None

    def _find_second(self, start: int, stop: int) -> int | None:
        """Find the first step of a thread after its pause that the others must not come after."""
        steps, thread = self._steps, self._steps[start].thread
        own = [n for n in range(stop, len(steps)) if steps[n].thread == thread]
        others = range(start + 1, stop)
        for position in self._meeting(own, others):
            ahead = [n for n in own if n <= position]
            held = [n for n in range(start + 1, position) if steps[n].thread != thread]
            rest = range(position + 1, len(steps))
            passed = self._try(range(start + 1), ahead, held, rest)
            if passed is None:
                return None
            if passed:
                return position
        return None

    def _try(
        self,
        before: range,
        moved: Sequence[int],
        held: Sequence[int],
        rest: range,
        *,
        firm: bool = False,
    ) -> bool | None:
        """Say whether the test passes if moved steps come before those that are held back.

        The first moved step that meets one that is held back may lead its thread elsewhere.  Unless
        the order is `firm`, it is enough that threads go on from there as far as they did.
        """
        passed = self._trials.passes([*before, *moved], [*held, *rest])
        if passed is not None or firm:
            return passed
        steps = self._steps
        for number, one in enumerate(moved, 1):
            if any(self._find_things(steps[one], steps[other]) for other in held):
                return self._trials.passes(
                    [*before, *moved[:number]], [*held, *rest], moved[number:]
                )
        return None

    def _meeting(self, own: Sequence[int], others: Sequence[int]) -> Iterator[int]:
        """Choose the steps that touch something that others change, or change what they touch."""
        found = 0
        for position in own:
            if any(self._find_things(self._steps[position], self._steps[n]) for n in others):
                yield position
                found += 1
                if found == MOST_STEPS:
                    return

    def _find_things(self, one: RecordedStep, other: RecordedStep) -> list[int]:
        """Find what two steps touch, and one of them changes, that people have a name for."""
        kinds = self._story.objects
        return [
            thing
            for thing, written in one.touches.items()
            if thing in other.touches
            and (written or other.touches[thing])
            and kinds[thing] not in UNNAMED
        ]

    def _describe(self, firsts: Sequence[int], second: int, pause: range) -> Interruption | None:
        """Say about which things the steps and the others meet: about the same, if there is one."""
        steps = self._steps
        after = self._find_meetings(steps[second], pause)
        wanted = {one.thing for one in after}
        for first in (*firsts, firsts[0]):
            before = self._find_meetings(steps[first], pause)
            both = {one.thing for one in before} & wanted
            if both:
                break
        before = [one for one in before if one.thing in both] or before
        after = [one for one in after if one.thing in both] or after
        return Interruption(steps[first], steps[second], before[-1], after[-1])

    def _find_meetings(self, own: RecordedStep, pause: range) -> list[Meeting]:
        """All meetings; those where the other one changes something come last, and of these the
        ones with the same element of a container, or with all of it."""
        found = [
            Meeting(own, self._steps[n], thing)
            for n in pause
            for thing in self._find_things(own, self._steps[n])
        ]
        return sorted(found, key=lambda one: (one.other.touches[one.thing], _is_close(one)))

    # -- wrong order -------------------------------------------------------------------------

    def find_wrong_order(self, failing: int | None) -> WrongOrder | None:
        pairs = sorted(
            self._find_pairs(),
            key=lambda pair: (
                failing in (self._steps[pair[0]].thread, self._steps[pair[1]].thread),
                pair[1],
            ),
            reverse=True,
        )
        for one, other in pairs[:MOST_PAIRS]:
            if self._hold_back(one, other) or self._let_pass(one, other):
                first, second = self._steps[one], self._steps[other]
                return WrongOrder(first, second, self._find_things(first, second)[-1])
        return None

    def _find_pairs(self) -> Iterator[tuple[int, int]]:
        """Find steps of two threads that touch the same thing one after the other."""
        touching: dict[int, list[int]] = {}
        for position, step in enumerate(self._steps):
            for thing in step.touches:
                if self._story.objects[thing] not in UNNAMED:
                    touching.setdefault(thing, []).append(position)
        found = {
            (one, other)
            for positions in touching.values()
            for one, other in pairwise(positions)
            if self._steps[one].thread != self._steps[other].thread
            and self._find_things(self._steps[one], self._steps[other])
        }
        yield from found

    def _hold_back(self, one: int, other: int) -> bool | None:
        """Let the thread of the first step wait until the second one has been taken."""
        steps, thread = self._steps, self._steps[one].thread
        moved = [n for n in range(one + 1, other + 1) if steps[n].thread != thread]
        held = [n for n in range(one, other) if steps[n].thread == thread]
        return self._try(range(one), moved, held, range(other + 1, len(steps)), firm=True)

    def _let_pass(self, one: int, other: int) -> bool | None:
        """Let the thread of the second step go on until it has taken that, before the first."""
        steps, thread = self._steps, self._steps[other].thread
        moved = [n for n in range(one + 1, other + 1) if steps[n].thread == thread]
        held = [n for n in range(one, other) if steps[n].thread != thread]
        return self._try(range(one), moved, held, range(other + 1, len(steps)), firm=True)
