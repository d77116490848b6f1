"""The result of an exploration: what fails in which thread, the run that shows it, and its cost."""

from __future__ import annotations

from dataclasses import dataclass

from mazurka.report.answer import Answer, Finding
from mazurka.runtime.core.sites import is_plumbing, shown_path
from mazurka.runtime.story.story import Stands, Story
from mazurka.runtime.story.waits import describe_lost, describe_wait
from mazurka.stateless.explored import Level
from mazurka.stateless.runs import Failed

LOOKED_FOR = ("assert", "exception", "deadlock", "livelock", "leak")
"""What is always looked for; data races are an option."""
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
    """The details, with threads and what they wait for as the rest of the report calls them."""
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
    """What a thread waits for, in the words of the report."""
    opening = OPENINGS.get(failed.kind)
    stands = next((one for one in story.standing if one.thread == failed.thread), None)
    if opening is None or stands is None:
        return failed.message
    file = shown_path(failed.file) if failed.file else None
    if story.lost:
        opening = f"lost wake-up: {describe_lost(story, story.lost[0], file)}; {opening}"
    return f"{opening}: {story.threads.get(stands.thread)} {describe_wait(story, stands, file)}"


@dataclass(kw_only=True)
class Result(Answer):
    """The result of `mazurka.explore`; true where the test holds."""

    input: str
    strategy: str = ""
    violation: ThreadFailure | None = None
    story: Story | None = None
    """The run that shows the violation."""
    preemptions: int | None = None
    seed: int | None = None
    races: bool = False
    levels: tuple[Level, ...] = ()
    executions: int = 0
    partial_orders: int | None = None
    runs: int = 0
    steps: int = 0
    states: int = 0
    seconds: float = 0.0
    token: str | None = None
    replay_options: str = ""
    """What `mazurka replay` needs besides the token."""
    not_observed: tuple[str, ...] = ()

    def report(self, width: int | None = None) -> str:
        """The result for people, as plain text."""
        from mazurka.runtime.story.report import write_report

        return write_report(self, width=width)

    def search_json(self) -> dict[str, object]:
        violated, story = self.violation, self.story if self.violation else None
        return {
            "property": [*LOOKED_FOR, *(["race"] if self.races else [])],
            "strategy": self.strategy,
            "preemptions": self.preemptions,
            "seed": self.seed,
            "stats": self._stats(),
            "levels": [_level(level) for level in self.levels],
            "violation": violated.to_json() if violated else None,
            "trace": _trace(story) if story else None,
            "ending": _ending(story) if story else None,
            "replay": self.token,
            "limits": list(self.limits),
            "not_observed": list(self.not_observed),
        }

    def _stats(self) -> dict[str, object]:
        counted: dict[str, object] = {"executions": self.executions}
        if self.partial_orders is not None:
            counted["partial_orders"] = self.partial_orders
        return {
            **counted,
            "states": self.states,
            "transitions": self.steps,
            "runs": self.runs,
            "seconds": round(self.seconds, 6),
        }


def _level(level: Level) -> dict[str, object]:
    return {
        "preemptions": level.bound,
        "executions": level.executions,
        "complete": level.complete,
        "seconds": round(level.seconds, 6),
    }


def _trace(story: Story) -> list[dict[str, object]]:
    return [
        {
            "thread": story.threads.get(step.thread, str(step.thread)),
            "file": shown_path(step.site.file) if step.site else None,
            "line": step.site.line if step.site else None,
            "source": step.site.source if step.site else "",
            "operation": step.text,
            "reads": step.effects.reads,
            "writes": step.effects.writes,
            "choice": None,
            "preemption": step.preempts,
        }
        for step in story.steps
    ]


def _ending(story: Story) -> list[dict[str, object]]:
    return [
        {
            "thread": story.threads.get(stands.thread, str(stands.thread)),
            "file": shown_path(stands.site.file) if stands.site else None,
            "line": stands.site.line if stands.site else None,
            "source": stands.site.source if stands.site else "",
            "waits": stands.waits,
            "holder": stands.holder,
            "acquired": _acquired(story, stands.thread),
        }
        for stands in story.standing
    ]


def _acquired(story: Story, thread: int) -> dict[str, object] | None:
    """Where what a thread waits for was taken, and by whom."""
    found = story.acquired.get(thread)
    if found is None or found.site is None:
        return None
    return {
        "thread": story.threads.get(found.thread, str(found.thread)),
        "file": shown_path(found.site.file),
        "line": found.site.line,
    }
