"""The answer of an exploration: what is known, in which scope, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass

from mazurka.errors import MazurkaError
from mazurka.runtime.core.sites import is_plumbing, shown_path
from mazurka.runtime.story.recording import Stands, Story
from mazurka.runtime.story.telling import Acquired, Told, lost_text, reason
from mazurka.stateless.explored import Level
from mazurka.stateless.runs import Failed
from mazurka.version import __version__

HOLDS = "holds"
VIOLATED = "violated"
INCONCLUSIVE = "inconclusive"
ERROR = "error"
EXIT_STATUS = {HOLDS: 0, VIOLATED: 1, ERROR: 2, INCONCLUSIVE: 3}
WORST_FIRST = (2, 1, 3, 0)
UNSOUND = "unsound-strategy"
LOOKED_FOR = ("assert", "exception", "deadlock", "livelock", "leak")
"""What is always looked for; data races are an option."""
STUCK = ("deadlock", "livelock", "leak")
"""Violations that are about where threads stand."""


@dataclass(frozen=True, kw_only=True)
class Violation:
    """What goes wrong, and where; the run that shows it is the result's `story`."""

    kind: str
    message: str
    file: str | None = None
    line: int | None = None
    thread: int | None = None
    details: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        return {
            "kind": self.kind,
            "message": self.message,
            "file": self.file,
            "line": self.line,
            "details": list(self.details),
        }


def violation_of(failed: Failed, story: Story) -> Violation:
    return Violation(
        kind=failed.kind,
        message=_stuck(failed, story) if story.standing else failed.message,
        file=shown_path(failed.file) if failed.file else None,
        line=failed.line,
        thread=failed.thread,
        details=_details(failed, story),
    )


def _details(failed: Failed, story: Story) -> tuple[str, ...]:
    """With threads, and what they wait for, as the rest of the report calls them."""
    if failed.kind in STUCK:
        waiting = [_waiting(story, one) for one in story.standing if _is_told(failed, story, one)]
        return tuple(waiting) or failed.details
    first, *rest = failed.details or ("",)
    if first.startswith("in thread ") and failed.thread in story.threads:
        first = f"in thread {story.threads[failed.thread]}"
    return (first, *rest) if first else ()


def _is_told(failed: Failed, story: Story, stands: Stands) -> bool:
    """Whether a failure is about a thread; daemons that wait are none."""
    start = f"thread {story.threads.get(stands.thread)} waits "
    return any(line.startswith(start) for line in failed.details)


def _waiting(story: Story, stands: Stands) -> str:
    site = stands.site if stands.site is not None and not is_plumbing(stands.site) else None
    at = f" at {shown_path(site.file)}:{site.line}" if site is not None else ""
    return f"thread {story.threads.get(stands.thread)} {reason(story, stands, '')}{at}"


def _stuck(failed: Failed, story: Story) -> str:
    """What a thread waits for, in the words of the report."""
    opening = OPENINGS.get(failed.kind)
    stands = next((one for one in story.standing if one.thread == failed.thread), None)
    if opening is None or stands is None:
        return failed.message
    file = shown_path(failed.file) if failed.file else None
    if story.lost:
        opening = f"lost wake-up: {lost_text(story, story.lost[0], file)}; {opening}"
    return f"{opening}: {story.threads.get(stands.thread)} {reason(story, stands, file)}"


OPENINGS = {
    "deadlock": "nobody can go on",
    "livelock": "a thread goes round a loop for ever",
    "leak": "the test has returned, and a thread that is no daemon can never end",
}


@dataclass(kw_only=True)
class Result:
    """The result of `mazurka.explore`; true where the test holds."""

    input: str
    verdict: str
    scope: str = ""
    strategy: str = ""
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
    violation: Violation | None = None
    story: Story | None = None
    token: str | None = None
    replay_options: str = ""
    """What `mazurka replay` needs besides the token."""
    limits: tuple[str, ...] = ()
    not_observed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    error: MazurkaError | None = None

    def __bool__(self) -> bool:
        return self.verdict == HOLDS

    @property
    def exit_status(self) -> int:
        return EXIT_STATUS[self.verdict]

    def report(self, width: int | None = None) -> str:
        """The result for people, as plain text."""
        from mazurka.runtime.story.columns import report_text

        return report_text(self, width=width)

    def to_json(self) -> dict[str, object]:
        """The object that `--json` prints."""
        violated = self.violation
        return {
            "tool": "mazurka",
            "version": __version__,
            "input": self.input,
            "verdict": self.verdict,
            "scope": self.scope,
            "property": [*LOOKED_FOR, *(["race"] if self.races else [])],
            "strategy": self.strategy,
            "preemptions": self.preemptions,
            "seed": self.seed,
            "stats": self._stats(),
            "levels": [_level(level) for level in self.levels],
            "violation": violated.to_json() if violated else None,
            "trace": _trace(self.story) if violated and self.story else None,
            "ending": _ending(self.story) if violated and self.story else None,
            "replay": self.token,
            "limits": list(self.limits),
            "not_observed": list(self.not_observed),
            "notes": list(self.notes),
            "error": _error(self.error) if self.error else None,
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
    found: Acquired | None = story.acquired.get(thread) if isinstance(story, Told) else None
    if found is None or found.site is None:
        return None
    return {
        "thread": story.threads.get(found.thread, str(found.thread)),
        "file": shown_path(found.site.file),
        "line": found.site.line,
    }


def _error(error: MazurkaError) -> dict[str, object]:
    return {"message": error.message, "file": error.file, "line": error.line}


def worst(statuses: list[int]) -> int:
    """The exit status for several tests."""
    return next((status for status in WORST_FIRST if status in statuses), 0)
