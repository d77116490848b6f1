"""Look for failures that need a switch where the search sees no access to shared data.

A search switches threads at accesses that it sees.  Should Python or C code touch something in a
way that the runtime does not know, no switch is tried there, and a failure that needs one is
missed.  So a search that has found nothing is checked: the test is run some more times, and each
time one thread is left before one instruction that is no scheduling point, until nobody else can
go on.  Whatever fails then is a real failure: the interpreter may switch threads there, too.

This proves nothing: one switch is tried, at some places, behind the shortest way to them.  The
claim of a verdict is the search's own.  But it depends on nothing that the search depends on,
neither on the catalogue of what code does to its arguments nor on which places threads share.

Which instructions, and how many runs: every thread in turn goes first, wherever a switch is free.
`interruptions.InstructionSurvey` notes the instructions that it comes to while others are there.
They are tried in an order in which those come first that have been tried least often in other
threads, or at earlier visits, until `MOST_RUNS` runs or `MOST_INSTRUCTIONS` instructions.  Both are
counts, so that the answer does not depend on how fast a machine is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from mazurka.runtime.core.interruptions import (
    CodePlace,
    InstructionHook,
    InstructionSurvey,
    LeaveAt,
    Pause,
    is_possible,
)
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.exploring.observed_program import ObservedProgram
from mazurka.runtime.story.diagnosis import Diagnosis
from mazurka.runtime.story.story import Story
from mazurka.stateless.explored import RunOptions
from mazurka.stateless.preemptions import Preemptions, find_giving_way
from mazurka.stateless.runs import Abandon, Decider, Failed, Operation

MOST_RUNS = 150
MOST_INSTRUCTIONS = 1_000_000
MAIN = "0"
"""The path of the test's own thread; those of others are known after a run."""
MOST_THREADS = 8
"""How many threads are looked at."""


@dataclass(frozen=True)
class Unseen:
    """A failure that needs a switch before an instruction at which nothing shared is seen."""

    failed: Failed
    at: CodePlace
    schedule: tuple[int, ...]


class GoFirst(Decider):
    """Lets one thread go first where the switch is free, and all others where it pauses.

    So a run has one preemption, that of the pause: a switch which a search with a bound of one has
    not left out.
    """

    def __init__(self, first: int, options: RunOptions) -> None:
        self._first = first
        self._options = options
        self._preemptions = Preemptions()
        self.schedule: list[int] = []
        self.has_switched = False
        """Whether anybody has gone on while the thread paused."""

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        if len(self.schedule) >= self._options.max_steps:
            raise Abandon
        chosen = self._choose(pending, enabled, last)
        self._preemptions.take(pending, enabled, last, chosen)
        self.schedule.append(chosen)
        return chosen

    def _choose(
        self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int
    ) -> int:
        giving = find_giving_way(pending, enabled)
        ready = [thread for thread in enabled if thread not in giving]
        first = self._first
        if isinstance(pending[first] if first < len(pending) else None, Pause):
            others = [thread for thread in ready if thread != first]
            self.has_switched = self.has_switched or bool(others)
            return self._preemptions.choose_free(pending, others, last) if others else first
        if first in ready and last not in ready:
            return first
        return self._preemptions.choose_free(pending, enabled, last)


def find_unseen(program: ObservedProgram, options: RunOptions) -> Unseen | None:
    """Run a test with switches that a search does not try; return the first failure."""
    if not (MOST_RUNS and is_possible()):
        return None
    paths = {0: MAIN}
    surveys: dict[int, InstructionSurvey] = {}
    while len(surveys) < min(len(paths), MOST_THREADS):
        thread = next(number for number in sorted(paths) if number not in surveys)
        survey = surveys[thread] = InstructionSurvey(paths[thread])
        if _run(program, GoFirst(thread, options), survey):
            survey.found.clear()  # to be traced makes a difference to it
        paths.update({task.number: task.path for task in session.current.tasks if task})
    average = sum(survey.count for survey in surveys.values()) / len(surveys)
    candidates = [(thread, one) for thread, survey in surveys.items() for one in survey.found]
    for number, (thread, at) in enumerate(_sort(candidates)[:MOST_RUNS]):
        if number * average > MOST_INSTRUCTIONS or _is_late(options):
            break
        decider = GoFirst(thread, options)
        failures = _run(program, decider, LeaveAt(at))
        if failures and decider.has_switched:
            return Unseen(failures[0], at, tuple(decider.schedule))
    return None


UNSEEN_SCOPE = (
    "the failure was found afterwards, and needs a switch where nothing shared is seen to be used;"
    " so the search does not switch there, and there may be other failures of this kind"
)


def diagnose_unseen(story: Story) -> Diagnosis:
    """Say where a thread is left, and who runs meanwhile."""
    paused = next(step for step in story.steps if step.kind == Pause.kind)
    before = story.steps[: paused.number - 1]
    since = max((step.number for step in before if step.thread == paused.thread), default=0)
    others = dict.fromkeys(story.threads[step.thread] for step in before[since:])
    return Diagnosis(
        "unseen access",
        (
            f"{story.threads[paused.thread]} is left in the middle of ",
            paused.site or "its code",
            f", and {' and '.join(others)} {'run' if len(others) > 1 else 'runs'} meanwhile",
        ),
    )


def _sort(candidates: Sequence[tuple[int, CodePlace]]) -> list[tuple[int, CodePlace]]:
    """Sort instructions so that those come first of which the least like have been tried."""
    tried: Counter[tuple[str, str, int]] = Counter()
    ranked = []
    for thread, one in candidates:
        key = one.file, one.function, one.offset
        ranked.append((tried[key], thread, one))
        tried[key] += 1
    ranked.sort(key=lambda item: item[0])
    return [(thread, one) for _, thread, one in ranked]


def _run(program: ObservedProgram, decider: Decider, interruption: InstructionHook) -> list[Failed]:
    """Run a test once with an interruption, and return how it fails.

    A loop that waits is no failure here: rewritten instructions tell of a change before they make
    it, so a thread that is left in between has others wait for a change that is still to come.
    """
    with program.interrupted_by(interruption):
        failures = program.run(decider).failures
    return [failed for failed in failures if failed.kind != "livelock"]


def _is_late(options: RunOptions) -> bool:
    return options.allowance is not None and options.allowance.find_exceeded() is not None
