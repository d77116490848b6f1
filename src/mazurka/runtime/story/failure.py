"""What goes wrong in a test, in the words of the report on the run that shows it."""

from __future__ import annotations

from dataclasses import dataclass

from mazurka.report.answer import Finding
from mazurka.runtime.core.sites import is_plumbing, shown_path
from mazurka.runtime.story.story import Stands, Story
from mazurka.runtime.story.waits import describe_lost, describe_wait
from mazurka.stateless.runs import Failed

STUCK = ("deadlock", "livelock", "leak")
"""Kinds of failure that are about where threads stand."""
OPENINGS = {
    "deadlock": "nobody can go on",
    "livelock": "a thread goes round a loop for ever",
    "leak": "the test has returned, and a thread that is no daemon can never end",
}


@dataclass(frozen=True)
class ThreadFailure(Finding):
    """What goes wrong in a test, where, and in which thread."""

    thread: int | None = None
    details: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        return {**super().to_json(), "details": list(self.details)}


def describe_failure(failed: Failed, story: Story) -> ThreadFailure:
    """Put a failure into the words of the report on the run that shows it."""
    return ThreadFailure(
        kind=failed.kind,
        message=_describe_stuck(failed, story) if story.standing else failed.message,
        file=shown_path(failed.file) if failed.file else None,
        line=failed.line,
        thread=failed.thread,
        details=_describe_threads(failed, story),
    )


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
