"""Find out what a failure is due to.

A diagnosis says only what is known.  For threads that wait for each other in a circle the end of
the run is enough.  Everything else is a statement on the order of steps, and was found by running
the test with the steps in another order, in which it passes (`critical_order`).  Where nothing was
found nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from mazurka.runtime.core.failures import find_cycle
from mazurka.runtime.core.sites import SourceLine, is_plumbing
from mazurka.runtime.core.tasks import shorten
from mazurka.runtime.story.critical_order import CriticalOrder, Interruption, WrongOrder
from mazurka.runtime.story.detailed_run import Details, detailed
from mazurka.runtime.story.diagnosis import Diagnosis, Part
from mazurka.runtime.story.effects import DELETED, NOT_THERE
from mazurka.runtime.story.failure import STUCK
from mazurka.runtime.story.moved_steps import RunOnce, Trials
from mazurka.runtime.story.story import RecordedStep, Stands, Story
from mazurka.stateless.runs import Failed


class Diagnosed(NamedTuple):
    """What a failure is due to, if that is known, and the story with the steps that say so."""

    diagnosis: Diagnosis | None
    story: Story


def diagnose(failed: Failed, story: Story, run: RunOnce | None = None) -> Diagnosed:
    """Find out what a failure is due to; `run` runs the test again, where that may be done."""
    found = diagnose_standing(failed, story)
    if found is not None or run is None or failed.kind == "race":
        return Diagnosed(found, story)
    with detailed(story, run) as details:
        found = None if details is None else _diagnose_order(failed, details)
        if details is None or found is None:
            return Diagnosed(None, story)
        return Diagnosed(found, details.tell_about(found.places))


def _diagnose_order(failed: Failed, details: Details) -> Diagnosis | None:
    story = details.story
    critical = CriticalOrder(story, Trials(story.steps, details.run))
    interrupted = critical.find_interrupted()
    if interrupted is not None:
        return OrderWords(story, failed).describe_interrupted(interrupted)
    wrong = critical.find_wrong_order(failed.thread)
    return None if wrong is None else OrderWords(story, failed).describe_wrong(wrong)


# -- threads that wait for each other ------------------------------------------------------------


def diagnose_standing(failed: Failed, story: Story) -> Diagnosis | None:
    """Say who waits for whom, where threads wait in a circle or for one that has ended."""
    if failed.kind not in STUCK:
        return None
    standing = {stands.thread: stands for stands in story.standing}
    awaited = {thread: stands.awaited for thread, stands in standing.items()}
    circle = [standing[one] for one in find_cycle(awaited, (failed.thread, *standing))]
    if circle:
        shown = all(_place_of(stands.site) for stands in circle)
        return _describe_circle(story, circle) if shown else None
    last, thread = None, failed.thread
    while thread in standing:
        last, thread = thread, awaited[thread]
    if last is not None and thread is not None and story.acquired.get(last):
        return _describe_kept(story, standing[last], thread)
    return None


def _describe_circle(story: Story, circle: list[Stands]) -> Diagnosis:
    parts: list[Part] = []
    for stands in circle:
        if parts:
            parts.append("; ")
        parts += _describe_waiting(story, stands)
    kind = "deadlock cycle" if len(circle) > 1 else "waits for itself"
    return Diagnosis(kind, tuple(parts))


def _describe_waiting(story: Story, stands: Stands) -> Iterator[Part]:
    name, awaited = _name(story, stands.thread), stands.awaited
    assert stands.site is not None
    assert awaited is not None
    acquired = story.acquired.get(stands.thread)
    if stands.holder is None:
        yield from (f"{name} waits for the end of {_name(story, awaited)} at ", stands.site)
        return
    itself = awaited == stands.thread
    who = "it holds itself" if itself else f"{_name(story, awaited)} holds"
    yield from (f"{name} waits for {stands.subject} at ", stands.site, f", which {who}")
    if acquired is not None and _place_of(acquired.site) is not None:
        assert acquired.site is not None
        yield from (" since ", acquired.site)


def _describe_kept(story: Story, stands: Stands, holder: int) -> Diagnosis | None:
    """Say that a thread has ended that has not given back what another one waits for."""
    acquired = story.acquired[stands.thread]
    if stands.holder is None or _place_of(acquired.site) is None or acquired.thread != holder:
        return None
    assert acquired.site is not None
    name = _name(story, holder)
    text = f"{name} has ended without releasing {stands.subject}, which it acquired at "
    return Diagnosis("never released", (text, acquired.site))


# -- the order of steps --------------------------------------------------------------------------

CHECK = re.compile(r"(if|elif|while|assert)\b|.*\bif\b.*\belse\b")
"""A line that decides something."""
DATA = ("variable", "container")
ITEM = re.compile(r"(put|get) (.+) (into|from) .+")
"""What a step says that puts something into a queue, or takes it out."""
DURING = "during iteration"
LONGEST = 24
"""Of values that are told."""
VERBS = {
    "put": "puts into",
    "get": "gets from",
    "wait": "waits for",
    "notify": "notifies",
    "is_set": "looks at",
    "look at": "looks at",
    "task_done": "calls task_done of",
    "shutdown": "shuts down",
}


class OrderWords:
    """Puts into words which order of steps a failure needs."""

    def __init__(self, story: Story, failed: Failed) -> None:
        self._story = story
        self._failed = failed

    # -- interrupted -------------------------------------------------------------------------

    def describe_interrupted(self, found: Interruption) -> Diagnosis | None:
        steps = (found.first, found.second, found.before.other, found.after.other)
        if any(_place_of(step.site) is None for step in steps):
            return None
        places = frozenset(step.subject for step in steps)
        if found.before.thing == found.after.thing and found.before.other is found.after.other:
            return replace(self._describe_one_thing(found, found.before.thing), places=places)
        return replace(self._describe_two_things(found), places=places)

    def _describe_one_thing(self, found: Interruption, thing: int) -> Diagnosis:
        """The thread meets the same step of another one before and after it."""
        first, second, other = found.first, found.second, found.before.other
        me, they = self._name(first), self._name(other)
        if self._is_iterated(first):
            through = (f"{me} goes through {first.subject} at ", _line(first))
            meanwhile = (f"; {they} changes it meanwhile, at ", _line(other))
            return Diagnosis("changed during iteration", (*through, *meanwhile))
        kind = self._choose_kind(found, thing)
        verb = self._act(first, thing)
        again = self._act(second, thing, it=second.subject == first.subject)
        if kind == CHECK_ACT and self._is_data(thing) and not self._finds_nothing(first, thing):
            verb, again = f"checks {first.subject}", "acts"
        elif again == self._act(first, thing, it=True):
            again = "again"
        act = self._act(other, thing, it=other.subject == first.subject)
        between = f"; {they} {act} in between, at "
        parts = (f"{me} {verb} at ", _line(first), f" and {again} at ", _line(second))
        return Diagnosis(kind, (*parts, between, _line(other)))

    def _describe_two_things(self, found: Interruption) -> Diagnosis:
        """The others do one thing that has to come after, and another that has to come before."""
        first, second = found.first, found.second
        one, other = found.before.other, found.after.other
        parts: list[Part] = [f"{self._name(first)} ", *self._tell(first, found.before.thing)]
        parts += [" and ", *self._tell(second, found.after.thing)]
        parts += [f"; in between {self._name(one)} ", *self._tell(one, found.before.thing)]
        if one is not other:
            who = "" if one.thread == other.thread else f"{self._name(other)} "
            parts += [f" and {who}", *self._tell(other, found.after.thing)]
        return Diagnosis(self._choose_kind(found, found.before.thing), tuple(parts))

    def _choose_kind(self, found: Interruption, thing: int) -> str:
        first, second, other = found.first, found.second, found.after.other
        if self._story.lost and other.kind == "notify":
            return "lost wake-up"
        if first.touches[thing]:
            return "not atomic"
        if CHECK.match(_line(first).source) or self._finds_nothing(first, thing):
            return CHECK_ACT
        same = found.after.thing == thing
        return "lost update" if same and self._overwrites(second, thing) else "not atomic"

    def _is_iterated(self, step: RecordedStep) -> bool:
        """Whether the failure is that what a thread goes through has changed meanwhile."""
        return DURING in self._failed.message and self._failed.thread == step.thread

    # -- wrong order -------------------------------------------------------------------------

    def describe_wrong(self, found: WrongOrder) -> Diagnosis | None:
        first, second, thing = found.first, found.second, found.thing
        if _place_of(first.site) is None or _place_of(second.site) is None:
            return None
        later = self._act(second, thing, it=first.subject == second.subject)
        return Diagnosis(
            "order",
            (
                *(f"{self._name(first)} ", *self._tell(first, thing)),
                *(f" before {self._name(second)} {later} at ", _line(second)),
                "; the other way round the test passes",
            ),
            frozenset({first.subject, second.subject}),
        )

    # -- steps -------------------------------------------------------------------------------

    def _tell(self, step: RecordedStep, thing: int) -> tuple[Part, ...]:
        return (f"{self._act(step, thing)} at ", _line(step))

    def _act(self, step: RecordedStep, thing: int, *, it: bool = False) -> str:
        """Say what a step does to a thing: `reads box.value`, `sets it to None`."""
        what = "it" if it else step.subject
        if (found := ITEM.fullmatch(step.text)) is not None:
            return f"{found[1]}s {found[2]} {found[3]} {what}"
        if step.text.endswith(": timed out"):
            return f"stops waiting for {what}"
        if not self._is_data(thing):
            kind = step.kind.removeprefix("timed ").removeprefix("try to ")
            return f"{VERBS.get(kind, f'{kind}s')} {what}"
        if not self._changes(step, thing):
            if not self._finds_nothing(step, thing):
                return f"reads {what}"
            return "looks for it in vain" if it else f"finds no {what}"
        value = step.effects.writes.get(step.subject, "")
        is_one = step.is_element or self._story.objects[thing] == "variable"
        if not is_one or not 0 < len(value) <= LONGEST:
            return f"changes {what}"
        return f"deletes {what}" if value == DELETED else f"sets {what} to {value}"

    def _changes(self, step: RecordedStep, thing: int) -> bool:
        """Whether a step changes a thing, or that element of it which the step is about: to give
        another value to a key leaves the container as it is."""
        return step.touches[thing] or (
            step.is_element
            and self._story.objects[thing] == "container"
            and step.subject in step.effects.writes
        )

    def _overwrites(self, step: RecordedStep, thing: int) -> bool:
        """Whether a step gives another value to what has one: an item that is added to a list
        leaves the others there."""
        is_one = step.is_element or self._story.objects[thing] == "variable"
        return is_one and self._changes(step, thing)

    def _finds_nothing(self, step: RecordedStep, thing: int) -> bool:
        """Whether a step looks for an element that is not there."""
        return (
            step.is_element
            and not self._changes(step, thing)
            and step.effects.reads.get(step.subject) == NOT_THERE
        )

    def _is_data(self, thing: int) -> bool:
        return self._story.objects[thing] in DATA

    def _name(self, step: RecordedStep) -> str:
        return _name(self._story, step.thread)


CHECK_ACT = "check then act"


def _line(step: RecordedStep) -> SourceLine:
    assert step.site is not None
    return step.site


def _place_of(site: SourceLine | None) -> SourceLine | None:
    return None if site is None or is_plumbing(site) else site


def _name(story: Story, thread: int) -> str:
    return shorten(story.threads.get(thread, str(thread)))
