"""`--strategy auto`: a strategy for those who have not studied them.

Most models are small, and nothing beats a plain search of a small state space.  So the unreduced
search tries first, for `PILOT_TRANSITIONS`.  What it leaves unfinished is worth a reduction, and
which one depends on how the threads share data:

| program | first choice | beside it |
|---|---|---|
| races are asked for | `cpc`, which keeps them | `full` |
| locks that only their holders release | `cpc`: critical sections are transactions | `cartesian` |
| no such locks | `cartesian`: runs without conflicts become one step | `cpc` |
| hangs are asked for, and the threads poll | `cpc`, or `stubborn` without locks | the other one |
| more threads than vectors take | `cpc` | `stubborn` |

Strategies that run schedules are never chosen: they need executions that end, and store nothing.

The guess may be wrong, so where there is a second processor the other strategy searches on it, and
whoever comes to an end first has the answer.  Both are sound, so it does not matter who it is.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mazurka.analysis.futures import find_pattern_locks
from mazurka.errors import InternalError
from mazurka.ir.program import Program
from mazurka.search import CUT_SHORT, Chosen, Observer, Round, SearchOptions, SearchResult, Silent
from mazurka.search.registry import load_strategy
from mazurka.search.resources import default_limit_bytes, processors
from mazurka.stateful.cartesian_search import MOST_THREADS

PILOT = "full"
PILOT_TRANSITIONS = 1 << 15


@dataclass(frozen=True)
class Candidate:
    strategy: str
    reason: str


def search(program: Program, options: SearchOptions, observer: Observer) -> Chosen:
    """Try the plain search, and where it takes long, what suits the program."""
    if options.order != "dfs":
        reason = "breadth-first"
        return run(program, Candidate(PILOT, reason), options, observer)
    first = replace(options, limit_transitions=PILOT_TRANSITIONS, self_check=False)
    pilot = load_strategy(PILOT).run(program, first, observer)
    if "transitions" not in pilot.limits or ends_at_violation(pilot, options):
        reason = "few states"
        if options.self_check and CUT_SHORT.isdisjoint(pilot.limits):
            return run(program, Candidate(PILOT, reason), options, observer)
        return Chosen(load_strategy(PILOT), reason, pilot)
    left = options
    if options.limit_seconds is not None:
        seconds = max(options.limit_seconds - pilot.statistics.seconds, 1e-9)
        left = replace(options, limit_seconds=seconds)
    candidates = candidates_for(program, options)[: processors()]
    observer.message(f"{candidates[0].strategy}: {candidates[0].reason}")
    chosen = Portfolio(program, candidates, left, observer).run()
    return replace(chosen, result=count_as_round(pilot, chosen.result))


def ends_at_violation(result: SearchResult, options: SearchOptions) -> bool:
    return result.violation is not None and options.stop_at_first


def candidates_for(program: Program, options: SearchOptions) -> list[Candidate]:
    """What suits a program, the best guess first."""
    if "race" in options.properties:
        return [
            Candidate("cpc", "it keeps data races"),
            Candidate("full", "it was faster"),
        ]
    if len(program.threads) > MOST_THREADS:
        many = f"{len(program.threads)} threads"
        return [Candidate("cpc", many), Candidate("stubborn", "it was faster")]
    other = "stubborn" if "hang" in options.properties else "cartesian"
    if find_pattern_locks(program):
        return [Candidate("cpc", "the threads use locks"), Candidate(other, "it was faster")]
    return [Candidate(other, "no locks"), Candidate("cpc", "it was faster")]


def run(
    program: Program, candidate: Candidate, options: SearchOptions, observer: Observer
) -> Chosen:
    strategy = load_strategy(candidate.strategy)
    if not options.properties <= strategy.preserves:
        raise InternalError(f"{strategy.name} does not preserve what it is asked for")
    return Chosen(strategy, candidate.reason, strategy.run(program, options, observer))


def count_as_round(pilot: SearchResult, result: SearchResult) -> SearchResult:
    """A result with the pilot as its first round."""
    reason = f"more than {PILOT_TRANSITIONS:,} transitions: a reduction may pay"
    classes = tuple(replace(cell, round=cell.round + 1) for cell in result.classification)
    rounds = (Round(pilot.statistics, reason), *result.rounds)
    return replace(result, rounds=rounds, classification=classes)


class Background(Silent):
    """The observer of a search that runs beside another one: it may say why there is a pause."""

    def __init__(self, observer: Observer) -> None:
        self.observer = observer

    def notice(self, text: str) -> None:
        self.observer.notice(text)


class Portfolio:
    """Several searches at the same time; the first one that comes to its end has the answer."""

    def __init__(
        self,
        program: Program,
        candidates: Sequence[Candidate],
        options: SearchOptions,
        observer: Observer,
    ) -> None:
        self.program = program
        self.candidates = candidates
        self.observer = observer
        self.over = threading.Event()
        self.answers: dict[int, Chosen] = {}
        self.errors: list[BaseException] = []
        self.interrupted = False
        room = options.limit_bytes or default_limit_bytes()
        self.options = replace(
            options, limit_bytes=max(room // len(candidates), 1), cancelled=self.over.is_set
        )

    def run(self) -> Chosen:
        if len(self.candidates) == 1:
            return run(self.program, self.candidates[0], self.options, self.observer)
        others = [
            threading.Thread(target=self.work, args=(position,), daemon=True)
            for position in range(1, len(self.candidates))
        ]
        for other in others:
            other.start()
        self.work(0)
        try:
            for other in others:
                other.join()
        except KeyboardInterrupt:
            self.interrupted = True
            self.over.set()
            for other in others:
                other.join()
        return self.best()

    def work(self, position: int) -> None:
        observer = self.observer if position == 0 else Background(self.observer)
        try:
            chosen = run(self.program, self.candidates[position], self.options, observer)
        except BaseException as error:  # whatever it is, it is raised where somebody sees it
            self.errors.append(error)
            self.over.set()
            return
        self.answers[position] = chosen
        if is_answer(chosen.result, self.options) or "interrupted" in chosen.result.limits:
            self.over.set()

    def best(self) -> Chosen:
        """An answer if there is one, else whatever the first choice has to say."""
        if self.errors:
            raise self.errors[0]
        for chosen in self.answers.values():
            if is_answer(chosen.result, self.options):
                return chosen
        chosen = self.answers[0]
        if self.interrupted:
            limits = tuple({*chosen.result.limits, "interrupted"} - {"cancelled"})
            chosen = replace(chosen, result=replace(chosen.result, limits=limits))
        return replace(chosen, result=self.with_shared_memory(chosen))

    def with_shared_memory(self, chosen: Chosen) -> SearchResult:
        """A search that came to the end of its memory had only a part of what the user allows."""
        result = chosen.result
        if "memory" not in result.limits or self.options.limit_bytes is None:
            return result
        note = (
            f"{len(self.candidates)} searches ran side by side and shared the memory,"
            f" {self.options.limit_bytes / 1e6:,.4g} MB each;"
            f" --strategy {chosen.strategy.name} alone has all of it"
        )
        return replace(result, notes=(*result.notes, note))


def is_answer(result: SearchResult, options: SearchOptions) -> bool:
    return ends_at_violation(result, options) or CUT_SHORT.isdisjoint(result.limits)
