"""Deliberately broken diagnoses: each names a wrong step, or says what no run has shown.

Two things catch them.  The table of typical bugs has the sentence for each; and whatever is said
must be true of the recorded run: the steps at the lines that are named were taken in that order, by
those threads, and met in something that one of them changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

import mazurka
from mazurka.runtime.core.sites import SourceLine
from mazurka.runtime.story.critical_order import CriticalOrder, Interruption
from mazurka.runtime.story.diagnosing import OrderWords
from mazurka.runtime.story.moved_steps import Trials
from mazurka.runtime.story.story import RecordedStep, Story
from tests.unit.runtime.story import test_diagnosis as typical


def looks_around() -> None:
    """What is read before the check, and after it, has nothing to do with the failure."""
    box = typical.Box(pieces=1)

    def sell() -> None:
        before = box.pieces
        if box.pieces > 0:
            after = box.pieces
            assert before == 1 or after is not None
            box.pieces -= 1

    typical.run(sell, sell)
    assert box.pieces == 0


IN_CASE = {
    **typical.IN_CASE,
    looks_around: "check then act: Thread-2 checks box.pieces at +6 and acts at +9;"
    " Thread-1 sets it to 0 in between, at +9",
}
PROGRAMS = (
    looks_around,
    *(typical.lost_update, typical.check_then_act, typical.two_critical_sections),
    *(typical.lost_wake_up, typical.seen_half_done, typical.used_after_close),
)
SILENT = (typical.fails_always, typical.fails_in_another_way_instead)
"""Nothing can be said of these: they fail in every order."""


# -- what a diagnosis claims of the recorded run -------------------------------------------------


def is_true(story: Story, kind: str, lines: list[SourceLine]) -> bool:
    """Whether steps at these lines were taken as a diagnosis says."""
    if kind == "order":
        return any(
            one.thread != other.thread and meet(one, other)
            for number, one in enumerate(story.steps)
            for other in story.steps[number + 1 :]
            if (one.site, other.site) == tuple(lines)
        )
    first, second, *others = lines
    return any(
        one.thread == two.thread
        and all(came_between(story.steps[start + 1 : end], one, two, line) for line in others)
        for start, one in enumerate(story.steps)
        for end, two in enumerate(story.steps)
        if start < end and (one.site, two.site) == (first, second)
    )


def came_between(
    steps: tuple[RecordedStep, ...], one: RecordedStep, two: RecordedStep, line: SourceLine
) -> bool:
    """Whether another thread's step at a line lies there, and meets one of two steps."""
    return any(
        step.thread != one.thread and step.site == line and (meet(step, one) or meet(step, two))
        for step in steps
    )


def meet(one: RecordedStep, other: RecordedStep) -> bool:
    """Whether both steps touch something that one of them changes."""
    return any(
        thing in other.touches and (written or other.touches[thing])
        for thing, written in one.touches.items()
    )


def is_wrong(program: Callable[[], None]) -> bool:
    """Whether what is said of a program is not what should be said."""
    result = mazurka.explore(program, preemptions=2)
    assert result.violation is not None
    assert result.story is not None
    found = result.violation.diagnosis
    if program in SILENT:
        return found is not None
    if found is None:
        return True
    lines = [part for part in found.parts if isinstance(part, SourceLine)]
    start = program.__code__.co_firstlineno
    parts = [one if isinstance(one, str) else f"+{one.line - start}" for one in found.parts]
    said = f"{found.kind}: {''.join(parts)}" == IN_CASE[program]
    return not (said and is_true(result.story, found.kind, lines))


# -- mutants -------------------------------------------------------------------------------------

describe = CriticalOrder._describe


def passes_always(self: Trials, order: Any, rest: Any, goals: Any = ()) -> bool:
    """Guess instead of running the test with its steps moved."""
    return True


def meeting_steps(self: CriticalOrder, start: int, stop: int, steps: range) -> list[int]:
    """Steps of the thread that rests which meet one of the others."""
    own = [n for n in steps if self._steps[n].thread == self._steps[start].thread]
    return list(self._meeting(own, range(start + 1, stop)))


def first_of_all(self: CriticalOrder, start: int, stop: int) -> list[int]:
    """Name the first step of the thread as the one that the others must not come before."""
    return meeting_steps(self, start, stop, range(start + 1))[:1]


def last_of_all(self: CriticalOrder, start: int, stop: int) -> int | None:
    """Name the last step of the thread as the one that the others must not come after."""
    found = meeting_steps(self, start, stop, range(stop, len(self._steps)))
    return found[-1] if found else None


def earliest_meeting(
    self: CriticalOrder, firsts: Sequence[int], second: int, pause: range
) -> Interruption | None:
    """Name a step of the other thread that may only read."""
    steps, first = self._steps, firsts[0]
    before = self._find_meetings(steps[first], pause)
    after = self._find_meetings(steps[second], pause)
    return Interruption(steps[first], steps[second], before[0], after[0])


def swapped(
    self: CriticalOrder, firsts: Sequence[int], second: int, pause: range
) -> Interruption | None:
    """Take the check for the act."""
    found = describe(self, firsts, second, pause)
    if found is None:
        return None
    return Interruption(found.second, found.first, found.after, found.before)


def reads_meet(self: CriticalOrder, one: RecordedStep, other: RecordedStep) -> list[int]:
    """Let steps meet that both only read."""
    return [thing for thing in one.touches if thing in other.touches]


def always_an_update(self: OrderWords, found: Interruption, thing: int) -> str:
    return "lost update"


def other_way_round(self: CriticalOrder, one: int, other: int) -> bool:
    """Blame any pair of steps."""
    return True


MUTANTS: dict[str, tuple[type, str, Any]] = {
    "nothing is tried": (Trials, "passes", passes_always),
    "the check is the first step": (CriticalOrder, "_find_first", first_of_all),
    "the act is the last step": (CriticalOrder, "_find_second", last_of_all),
    "the other one only reads": (CriticalOrder, "_describe", earliest_meeting),
    "check and act are exchanged": (CriticalOrder, "_describe", swapped),
    "reads meet": (CriticalOrder, "_find_things", reads_meet),
    "everything is a lost update": (OrderWords, "_choose_kind", always_an_update),
    "any pair is to blame": (CriticalOrder, "_hold_back", other_way_round),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_the_mutant_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*MUTANTS[name])
    assert any(map(is_wrong, (*SILENT, *PROGRAMS)))


def test_the_original_is_not() -> None:
    assert not any(map(is_wrong, (*SILENT, *PROGRAMS)))
