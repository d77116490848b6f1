"""What goes wrong in a test, and what its threads wait for, in the words of the report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from mazurka.report.answer import Finding
from mazurka.runtime.core.sites import SourceLine, is_plumbing, shown_path
from mazurka.runtime.primitives.lock import OUTSIDE
from mazurka.runtime.sharing.accesses import Structure
from mazurka.runtime.story.diagnosis import Diagnosis
from mazurka.runtime.story.effects import key_of
from mazurka.runtime.story.paths import short_path
from mazurka.runtime.story.story import Lost, Stands, Story
from mazurka.stateless.runs import Failed, Shared

NOTHING = "for nothing that anybody could change"


def describe_changes(seen: Iterable[Shared], label: Callable[[Shared], str]) -> str:
    """Say what a thread that goes round a loop waits for: `for a change of serving[0]`.

    The thread has read variables and elements of containers.  To read an element is to read what
    is in the container, too; people would name the element alone, or the container where several
    were read.  `label` says what variables, locks and containers are called.
    """
    read = list(seen)
    owners = {
        id(element): (structure, token)
        for structure in read
        if isinstance(structure, Structure)
        for token, element in structure.elements.items()
    }
    elements: dict[int, list[str]] = {}
    for shared in read:
        if id(shared) in owners:
            structure, token = owners[id(shared)]
            elements.setdefault(id(structure), []).append(_name_element(label(structure), token))
    names = []
    for shared in read:
        if id(shared) not in owners:
            own = elements.get(id(shared), ())
            names.append(own[0] if len(own) == 1 else label(shared))
    known = ", ".join(dict.fromkeys(names))
    return f"for a change of {known}" if known else NOTHING


def _name_element(whole: str, token: object) -> str:
    key = key_of(token)
    return whole if key is None else f"{whole}[{key!r}]"


def describe_wait(story: Story, stands: Stands, file: str | None = None) -> str:
    """Say what a thread waits for and who has it; lines are those of `file`, unless named."""
    acquired = story.acquired.get(stands.thread)
    site = acquired.site if acquired is not None else None
    if stands.holder == OUTSIDE:
        who = ", taken before the test began, or by a thread that is not under control"
    elif stands.holder:
        own = stands.holder == story.threads.get(stands.thread)
        since = f" since {name_line(site, file)}" if site is not None else ""
        gone = not any(story.threads.get(one.thread) == stands.holder for one in story.standing)
        ended = ", which has ended" if gone else ""
        who = f", held by {stands.holder}{' itself' if own else ''}{since}{ended}"
    elif acquired is not None and "whose value is 0" in stands.waits:
        at = f" at {name_line(site, file)}" if site is not None else ""
        who = f", last acquired by {story.threads.get(acquired.thread)}{at}"
    else:
        who = ""
    return f"waits {stands.waits}{who}"


def describe_lost(story: Story, lost: Lost, file: str | None) -> str:
    """Tell a lost wake-up: `Thread-1 notified ready at line 12 when nobody waited`."""
    at = f" at {name_line(lost.site, file)}" if lost.site is not None else ""
    return f"{story.threads.get(lost.thread)} notified {lost.label}{at} when nobody waited"


def name_line(site: SourceLine, file: str | None) -> str:
    """Name a line: `line 12`; with its file where that is not `file`."""
    if is_plumbing(site):
        return "a call of the library"
    shown = shown_path(site.file)
    return f"line {site.line}" if file in (None, shown) else f"{short_path(site.file)}:{site.line}"


STUCK = ("deadlock", "livelock", "leak")
"""Kinds of failure that are about where threads stand."""
OPENINGS = {
    "deadlock": "nobody can go on",
    "livelock": "a thread goes round a loop for ever",
    "leak": "the test has returned, and a thread that is no daemon can never end",
}


@dataclass(frozen=True)
class EarlyTimeout:
    """A sleep, or a timeout, that ends although another thread could move."""

    sleeps: bool
    seconds: float
    file: str | None
    line: int | None

    def name(self, file: str | None) -> str:
        """Name it: `the timeout of 5 s at line 12`; with its file where that is not `file`."""
        place = f"line {self.line}" if self.file in (None, file) else f"{self.file}:{self.line}"
        at = "" if self.line is None else f" at {place}"
        return f"the {'sleep' if self.sleeps else 'timeout'} of {self.seconds:.4g} s{at}"

    def to_json(self) -> dict[str, object]:
        kind = "sleep" if self.sleeps else "timeout"
        return {"kind": kind, "seconds": self.seconds, "file": self.file, "line": self.line}


@dataclass(frozen=True)
class ThreadFailure(Finding):
    """What goes wrong in a test, where, and in which thread."""

    thread: int | None = None
    details: tuple[str, ...] = ()
    early: tuple[EarlyTimeout, ...] = ()
    """Sleeps and timeouts that end in the run although other threads could move."""
    needs_early: bool = False
    """No failure was found without them, in all executions within the bound."""
    diagnosis: Diagnosis | None = None
    """What it is due to, where that is known."""

    @property
    def condition(self) -> str:
        """When the test fails: `only if the timeout of 5 s at line 12 fires early`."""
        if not self.early:
            return ""
        names = [one.name(self.file) for one in self.early]
        several = len(names) > 1
        ends = "end" if several else "ends" if self.early[0].sleeps else "fires"
        named = f"{', '.join(names[:-1])} and {names[-1]}" if several else names[0]
        return f"{'only ' if self.needs_early else ''}if {named} {ends} early"

    def to_json(self) -> dict[str, object]:
        return {
            **super().to_json(),
            "details": list(self.details),
            "early_timeouts": [one.to_json() for one in self.early],
            "diagnosis": self.diagnosis.to_json() if self.diagnosis else None,
        }


def describe_failure(
    failed: Failed,
    story: Story,
    *,
    needs_early: bool = False,
    diagnosis: Diagnosis | None = None,
) -> ThreadFailure:
    """Put a failure into the words of the report on the run that shows it.

    `needs_early` says that no failure was found without early timeouts.
    """
    return ThreadFailure(
        kind=failed.kind,
        message=_describe_stuck(failed, story) if story.standing else failed.message,
        file=shown_path(failed.file) if failed.file else None,
        line=failed.line,
        thread=failed.thread,
        details=_describe_threads(failed, story),
        early=tuple(dict.fromkeys(_find_early(story))),
        needs_early=needs_early,
        diagnosis=diagnosis,
    )


def _find_early(story: Story) -> Iterator[EarlyTimeout]:
    for step in story.steps:
        if step.early is not None:
            site = step.site if step.site is not None and not is_plumbing(step.site) else None
            file, line = (None, None) if site is None else (shown_path(site.file), site.line)
            yield EarlyTimeout(step.kind == "sleep", step.early, file, line)


def _describe_threads(failed: Failed, story: Story) -> tuple[str, ...]:
    """Write the details with the names that the rest of the report has for threads and locks."""
    if failed.kind in STUCK:
        waiting = [
            _describe_waiting(story, one) for one in story.standing if _is_told(failed, story, one)
        ]
        return tuple(waiting) or failed.details
    first, *rest = failed.details or ("",)
    if first.startswith("in thread ") and failed.thread in story.threads:
        first = f"in thread {story.threads[failed.thread]}"
    return (first, *rest) if first else ()


def _is_told(failed: Failed, story: Story, stands: Stands) -> bool:
    """Whether a failure is about a thread; a daemon that waits is no failure."""
    start = f"thread {story.threads.get(stands.thread)} waits "
    return any(line.startswith(start) for line in failed.details)


def _describe_waiting(story: Story, stands: Stands) -> str:
    site = stands.site if stands.site is not None and not is_plumbing(stands.site) else None
    at = f" at {shown_path(site.file)}:{site.line}" if site is not None else ""
    return f"thread {story.threads.get(stands.thread)} {describe_wait(story, stands, '')}{at}"


def _describe_stuck(failed: Failed, story: Story) -> str:
    """Say what the thread waits for that a failure is about."""
    opening = OPENINGS.get(failed.kind)
    stands = next((one for one in story.standing if one.thread == failed.thread), None)
    if opening is None or stands is None:
        return failed.message
    file = shown_path(failed.file) if failed.file else None
    if story.lost:
        opening = f"lost wake-up: {describe_lost(story, story.lost[0], file)}; {opening}"
    return f"{opening}: {story.threads.get(stands.thread)} {describe_wait(story, stands, file)}"
