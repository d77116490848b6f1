"""Compares what searches see of a real Python program with what brute force sees.

1. With the scheduling points that an unbounded search has learned to be needed: the executions that
   each search completes are those within the bound, and the reducing ones complete each once.
2. Searches that learn their points themselves, at each bound, see the outcomes that there are where
   every access is a point.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import product
from types import ModuleType

from tests.soundness.python_runs import Outcome, Searched, Subject, Whole, under_control

BOUNDS = (0, 1, 2, 3, None)
ALGORITHMS = ("algorithm-2", "algorithm-1", "cb-dfs")
REDUCTIONS = ("optimal-dpor", "source-dpor", "dpor")
ONCE = ("algorithm-2", "algorithm-1", *REDUCTIONS)
ALL_LEVELS = 3


@dataclass
class Agreement:
    """What was compared, and what did not agree."""

    schedules: int = 0
    executions: int = 0
    deepest: int = 0
    """The context bound of the execution that needs most preemptions."""
    patient: int = 0
    """Executions that need no early timeout, where others do."""
    fine_schedules: int = 0
    """Schedules with a point before every access; 0 if they were too many."""
    fine_bounds: int = 0
    """Bounds at which outcomes were compared with those of a point before every access."""
    failures: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def expect(self, fact: bool, problem: str) -> None:
        if not fact:
            self.problems.append(problem)


def compare(module: ModuleType, limit: int) -> Agreement | None:
    """None if the program has more schedules than `limit`."""
    agreement = Agreement()
    with under_control(module) as subject:
        unbounded = subject.search("algorithm-2", None, runs=limit)
        limits = unbounded.explored.limits
        if limits == (f"{limit:,} runs",):
            return None
        agreement.expect(not limits, f"the program may never end: {limits}")
        known = subject.program.restarts
        whole = subject.all_executions(limit)
        if whole is None:
            return None
        agreement.expect(
            subject.program.restarts == known, "brute force shows that more places need points"
        )
        _note(agreement, whole)
        for bound in BOUNDS:
            for algorithm in ALGORITHMS:
                found = subject.search(algorithm, bound)
                _compare_level(agreement, whole, found, algorithm, bound)
        _compare_levels(agreement, whole, subject)
        _compare_patient(agreement, whole, subject)
        for reduction in REDUCTIONS:
            found = subject.search(reduction, None)
            _compare_level(agreement, whole, found, reduction, None)
            blocked = found.explored.abandoned
            agreement.expect(
                reduction != "optimal-dpor" or not blocked, f"{blocked} runs of {reduction} in vain"
            )
    _compare_outcomes(agreement, module, limit, unbounded.outcomes)
    return agreement


def _note(agreement: Agreement, whole: Whole) -> None:
    agreement.schedules = whole.schedules
    agreement.executions = len(whole.bounds)
    agreement.deepest = max(whole.bounds.values())
    agreement.failures.update({kind for _, kinds in whole.outcomes.values() for kind in kinds})


def _compare_level(
    agreement: Agreement, whole: Whole, found: Searched, algorithm: str, bound: int | None
) -> None:
    where = f"{algorithm} with bound {bound}"
    expected, completed = whole.within(bound), found.logged.completed
    lost, strange = expected - set(completed), set(completed) - expected
    agreement.expect(not lost, f"{where} loses {len(lost)} of {len(expected)} executions")
    agreement.expect(not strange, f"{where} completes {len(strange)} that are not within the bound")
    agreement.expect(found.explored.complete, f"{where} is not complete: {found.explored.limits}")
    if algorithm in ONCE:
        agreement.expect(
            len(completed) == len(set(completed)), f"{where} completes executions again"
        )
        agreement.expect(
            found.explored.executions == len(completed), f"{where} counts other executions"
        )
    _compare_failures(agreement, whole, found, where, bound)


def _compare_failures(
    agreement: Agreement, whole: Whole, found: Searched, where: str, bound: int | None
) -> None:
    expected = _kinds(whole.outcomes_within(bound))
    seen = {failing.failed.kind for failing in found.explored.failures}
    agreement.expect(expected == seen, f"{where} sees {sorted(seen)} instead of {sorted(expected)}")
    for failing in found.explored.failures:
        agreement.expect(
            bound is None or failing.preemptions <= bound,
            f"{where}: a failure is said to need {failing.preemptions} preemptions",
        )


def _compare_levels(agreement: Agreement, whole: Whole, subject: Subject) -> None:
    for algorithm in ALGORITHMS:
        found = subject.search(algorithm, ALL_LEVELS, levels=True)
        for level in found.explored.levels:
            within = whole.within(level.bound)
            where = f"{algorithm}, level {level.bound}"
            if algorithm in ONCE:
                agreement.expect(
                    level.executions == len(within),
                    f"{where}: {level.executions} executions instead of {len(within)}",
                )
            everything = len(within) == len(whole.bounds)
            agreement.expect(
                level.exhaustive <= everything, f"{where} says that everything was seen"
            )
            agreement.expect(
                algorithm != "algorithm-2" or level.exhaustive == everything,
                f"{where} does not know that everything was seen",
            )


def _compare_patient(agreement: Agreement, whole: Whole, subject: Subject) -> None:
    """Where early timeouts are left out: the executions that need none, and no others."""
    if whole.patient == whole.bounds:
        return
    agreement.patient = len(whole.patient)
    for algorithm, bound in product(ALGORITHMS, (0, 2, None)):
        completed = subject.search(algorithm, bound, early=False).logged.completed
        expected = {ran for ran, least in whole.patient.items() if bound is None or least <= bound}
        agreement.expect(
            set(completed) == expected,
            f"{algorithm} with bound {bound} and no early timeouts completes"
            f" {len(set(completed))} executions instead of {len(expected)}",
        )


def _compare_outcomes(
    agreement: Agreement, module: ModuleType, limit: int, unbounded: set[Outcome]
) -> None:
    """What is left out by giving points to some accesses only: nothing that anybody could see.

    `unbounded` is what a search without a bound has seen that knew no points when it began.  The
    bounded ones follow each other under one control.  Each knows the points that the one before it
    has learned, as it would if it had begun knowing none: its lower levels are that search.
    """
    with under_control(module, everywhere=True) as subject:
        whole = subject.all_executions(limit)
        agreement.fine_schedules = whole.schedules if whole is not None else 0
        fine = {bound: _outcomes(subject, whole, bound, limit) for bound in BOUNDS}
    with under_control(module) as subject:
        for bound, expected in fine.items():
            if expected is None:
                continue
            outcomes = unbounded
            if bound is not None:
                outcomes = subject.search("algorithm-2", bound, levels=True).outcomes
            lost, strange = expected - outcomes, outcomes - expected
            agreement.expect(not lost, f"bound {bound}: outcomes are lost, {_some(lost)}")
            agreement.expect(not strange, f"bound {bound}: outcomes are strange, {_some(strange)}")
            agreement.fine_bounds += 1


def _outcomes(
    subject: Subject, whole: Whole | None, bound: int | None, limit: int
) -> set[Outcome] | None:
    if whole is not None:
        return whole.outcomes_within(bound)
    found = subject.search("algorithm-2", bound, runs=limit)
    return found.outcomes if found.explored.complete else None


def _kinds(outcomes: Iterable[Outcome]) -> set[str]:
    return {kind for _, kinds in outcomes for kind in kinds}


def _some(outcomes: set[Outcome]) -> str:
    return f"{len(outcomes)}: {min(outcomes, key=repr) if outcomes else ''}"
