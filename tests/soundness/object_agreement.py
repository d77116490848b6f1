"""Compares what explorations find of a program of `random_objects` with brute force.

1. The outcomes of all executions within the bound are those that brute force sees.
2. A test that forbids the outcome which needs most preemptions is violated.

An exploration may be inconclusive, since an older generator or an object of C code cannot be put
back.  It then proves nothing, and later executions begin in another state.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import mazurka
from mazurka.report.answer import ERROR, HOLDS, INCONCLUSIVE, VIOLATED
from mazurka.runtime.story.result import Result
from tests.soundness.opcode_runs import Outcomes, find_outcomes
from tests.soundness.python_runs import module_of

BOUND = 2
SCHEDULES = 20_000
"""Programs with more schedules are left out."""


@dataclass
class ObjectAgreement:
    """What was compared, and what did not agree."""

    seen: Outcomes
    verdict: str = ""
    reason: str = ""
    """Why the exploration is inconclusive."""
    problems: list[str] = field(default_factory=list)

    @property
    def outcomes(self) -> int:
        return len(self.seen.least)


def compare(source: str, folder: Path) -> ObjectAgreement | None:
    """None if the program has too many schedules."""
    seen = find_outcomes(source, BOUND, SCHEDULES)
    if not seen.complete:
        return None
    agreement = ObjectAgreement(seen)
    module = module_of(folder, source)
    try:
        _compare_outcomes(agreement, module, source)
        if len(seen.least) > 1:
            del sys.modules[module.__name__]
            module = module_of(folder, source)  # with an older generator that has not begun
            _compare_verdict(agreement, module)
    finally:
        del sys.modules[module.__name__]
    return agreement


def _compare_outcomes(agreement: ObjectAgreement, module: ModuleType, source: str) -> None:
    outcomes: set[str] = set()
    result = _explore(module, lambda: outcomes.add(module.program(module.in_threads)))
    agreement.verdict, problems = result.verdict, agreement.problems
    expected = agreement.seen.within(BOUND)
    if _is_left_open(result):
        agreement.reason = result.report().splitlines()[1].strip()
    elif result.verdict != HOLDS:
        problems.append(f"{result.verdict}: {result.report()}")
        return
    elif lost := expected - outcomes:
        problems.append(f"{len(lost)} of {len(expected)} outcomes are lost: {min(lost)}")
    if (strange := outcomes - expected) and result.verdict == HOLDS:
        strange -= set(find_outcomes(source, BOUND + 1, 4 * SCHEDULES).least)
        if strange:
            problems.append(f"{len(strange)} outcomes are strange: {min(strange)}")


def _compare_verdict(agreement: ObjectAgreement, module: ModuleType) -> None:
    least = agreement.seen.least
    rarest = max(sorted(least), key=lambda shown: least[shown])

    def never_shows_it() -> None:
        assert module.program(module.in_threads) != rarest

    result = _explore(module, never_shows_it)
    if result.verdict != VIOLATED and not (_is_left_open(result) and agreement.reason):
        agreement.problems.append(f"{result.verdict}, but there is the outcome {rarest}")


def _is_left_open(result: Result) -> bool:
    """Return whether a result says why there is no answer: executions may not be repeatable where
    something cannot be put back, which is an error of the test."""
    names_loss = result.verdict == ERROR and "cannot be put back" in str(result.error)
    return result.verdict == INCONCLUSIVE or names_loss


def _explore(module: ModuleType, test: Callable[[], None]) -> Result:
    test.__module__ = module.__name__
    return mazurka.explore(test, preemptions=BOUND)
