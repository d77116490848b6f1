"""What an exploration has found: the failure, the run that shows it, and what the search cost."""

from __future__ import annotations

from dataclasses import dataclass

from mazurka.report.answer import Answer
from mazurka.runtime.core.failures import Skip
from mazurka.runtime.core.sites import SourceLine, shown_path
from mazurka.runtime.story.failure import ThreadFailure
from mazurka.runtime.story.story import Story
from mazurka.stateless.explored import Level

LOOKED_FOR = ("assert", "exception", "deadlock", "livelock", "leak")
"""What is always looked for; data races are an option."""


@dataclass(kw_only=True)
class Findings(Answer):
    """All that an exploration has found: a result, without the report on it."""

    input: str
    strategy: str = ""
    violation: ThreadFailure | None = None
    story: Story | None = None
    """The run that shows the violation."""
    fails_plainly: bool = False
    """Whether a run of the test without Mazurka has failed, too."""
    preemptions: int | None = None
    seed: int | None = None
    races: bool = False
    semantics: str = "gil"
    """Whether the verdict is about threads with a global lock, or without."""
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
    skip: Skip | None = None
    """How the first execution has skipped, if all have."""
    left_out: tuple[str, ...] = ()
    """What the user does not want to be observed."""

    def search_json(self) -> dict[str, object]:
        violated, story = self.violation, self.story if self.violation else None
        return {
            "property": [*LOOKED_FOR, *(["race"] if self.races else [])],
            "strategy": self.strategy,
            "preemptions": self.preemptions,
            "seed": self.seed,
            "semantics": self.semantics,
            "stats": self._stats(),
            "levels": [_level(level) for level in self.levels],
            "violation": violated.to_json() if violated else None,
            "trace": _trace(story) if story else None,
            "ending": _ending(story) if story else None,
            "replay": self.token,
            "limits": list(self.limits),
            "not_observed": list(self.not_observed),
            "left_out": list(self.left_out),
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


def _place(site: SourceLine | None) -> dict[str, object]:
    if site is None:
        return {"file": None, "line": None, "source": ""}
    return {"file": shown_path(site.file), "line": site.line, "source": site.source}


def _trace(story: Story) -> list[dict[str, object]]:
    return [
        {
            "thread": story.threads.get(step.thread, str(step.thread)),
            **_place(step.site),
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
            **_place(stands.site),
            "waits": stands.waits,
            "holder": stands.holder,
            "acquired": _acquired(story, stands.thread),
        }
        for stands in story.standing
    ]


def _acquired(story: Story, thread: int) -> dict[str, object] | None:
    """The JSON object that says who has taken what a thread waits for, and where."""
    found = story.acquired.get(thread)
    if found is None or found.site is None:
        return None
    return {
        "thread": story.threads.get(found.thread, str(found.thread)),
        "file": shown_path(found.site.file),
        "line": found.site.line,
    }
