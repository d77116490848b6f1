"""`--strategy auto`: a strategy for those who have not studied them.

Most models are small, and nothing beats a plain search of a small state space.  So the unreduced
search tries first, for `PILOT_TRANSITIONS`.  What it leaves unfinished is worth a reduction.  Each
that can answer what is asked has a trial of `TRIAL_TRANSITIONS`; one that comes to its end has the
answer.  Otherwise the trials show what to expect (`TrialSearch.cost`):

- `cpc`, `stubborn` and `lock-patterns`: how many successors a state has, compared with `full`.  A
  reduction that leaves out half of them at each state leaves out far more than half of the states.
- `cartesian`: how many steps a vector has, compared with the successors of a state in `full`.  A
  vector whose prefixes have one step each is a plain expansion, and costs more.

Where threads are interchangeable, what a search expects is divided by the number of their renamings
if it takes them as one, as `full`, `stubborn` and `lock-patterns` do.

Not tried are `ample`, `cpc-strict` and `cycle-detection`, which search no less than `stubborn` and
`cpc`; `optimistic`, which takes at least the transitions of `cpc`; and strategies that run
schedules, which need executions that end.

All this is decided by counts, never by clocks, so that the choice is the same every time.  But it
is a guess.  Where there are more processors, the next best strategies search beside the first
choice, and whoever comes to an end first has the answer (`mazurka.stateful.race`).  Processors that
are left then search breadth-first together, without a reduction.  All are sound, so it does not
matter who it is, but for the counts; `--deterministic` does without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import factorial, prod

from mazurka.errors import UnsupportedError
from mazurka.ir.program import Program
from mazurka.search import (
    CUT_SHORT,
    Chosen,
    Observer,
    Round,
    SearchOptions,
    SearchResult,
    Statistics,
    Strategy,
)
from mazurka.search.registry import load_strategy
from mazurka.search.resources import MOST_WORKERS, address_space_is_limited, processors
from mazurka.stateful.race import Contender, Race, is_answer
from mazurka.stateful.variants import WORKERS

PILOT = "full"
PILOT_TRANSITIONS = 1 << 15
TRIAL_TRANSITIONS = 1 << 14
VECTORS = "cartesian"
MOST_RACING = 3
LEAST_WORKERS = 2
"""Fewer processors than so many do not search together."""
EFFORT = {PILOT: 1.0, "cpc": 1.8, "stubborn": 3.0, "lock-patterns": 3.0}
"""What a transition costs, in transitions of the plain search; measured by `benchmarks/auto.py`."""
GAIN = 2.6
"""How a smaller number of successors shows in all transitions: where a reduction leaves a part p
of the successors, it takes about p to the power of `GAIN` of the transitions (same benchmark)."""
VECTORS_COST, NO_GAIN = 0.7, 1.5
LEAST_STEPS = 1.6
"""Vectors of fewer steps than so many plain expansions are not worth making."""
CLOSING = 1.1
"""So few states are stored for each that has its vector: the search is about to end."""
DEEP = 8
"""If less than this part of the states has been left, little is known of their successors."""


def search(
    program: Program,
    options: SearchOptions,
    observer: Observer,
    find_rivals: Callable[[], list[Contender]] = list,
) -> Chosen:
    """Try the plain search, and where it takes long, what suits the program.

    `find_rivals` is asked then who else should search beside the first choice, on however few
    processors."""
    if options.order != "dfs":
        return run(program, Contender(load_strategy(PILOT), "breadth-first"), options, observer)
    pilot = try_out(program, PILOT, PILOT_TRANSITIONS, options, observer)
    assert pilot is not None
    if not pilot.is_unfinished(options):
        return accept(program, pilot, "few states", options, observer)
    trials = [pilot]
    for name in find_candidates(program, options):
        trial = try_out(program, name, TRIAL_TRANSITIONS, options, observer)
        if trial is None:
            continue
        if not trial.is_unfinished(options):
            chosen = accept(program, trial, "its trial came to an end", options, observer)
            return replace(chosen, result=count_as_rounds(trials, chosen.result))
        trials.append(trial)
    contenders = rank(trials, len(program.threads))
    alone = options.deterministic or address_space_is_limited()
    racing = 1 if alone else min(processors(), MOST_RACING)
    observer.message(f"{contenders[0].strategy.name}: {contenders[0].reason}")
    running = contenders[:racing]
    rivals = [] if alone else find_rivals()
    if any(each.begins is None for each in rivals):
        running = contenders[: max(racing - 1, 1)]
    running = [*running, *rivals]
    if not alone and WORKERS.name not in options.tuning:
        running += gather_workers(processors() - len(running))
    chosen = Race(program, running, options, observer).run()
    return replace(chosen, result=count_as_rounds(trials, chosen.result))


def gather_workers(spare: int) -> list[Contender]:
    """What the processors do that no strategy of one thread needs: nothing if they are few."""
    if spare < LEAST_WORKERS:
        return []
    tuning = {WORKERS.name: min(spare, MOST_WORKERS)}
    return [Contender(load_strategy(PILOT), f"{spare} workers were faster", tuning=tuning)]


def find_candidates(program: Program, options: SearchOptions) -> Iterator[str]:
    """Name the reductions that are sound for what is asked, and that can search the program."""
    from mazurka.analysis.futures import find_futures, find_pattern_locks
    from mazurka.stateful.searches import cartesian, persistent

    names = []
    if len(program.threads) <= cartesian.MOST_THREADS and "race" not in options.properties:
        names.append(VECTORS)  # for races it takes two searches, one of them of a larger program
    names.append("cpc")
    few = len(program.threads) <= persistent.MOST_THREADS
    if few and not find_futures(program).observers_meddle:
        names.append("lock-patterns" if find_pattern_locks(program) else "stubborn")
    for name in names:
        strategy = load_strategy(name)
        if strategy.sound and options.properties <= strategy.preserves:
            yield name


@dataclass(frozen=True)
class TrialSearch:
    """The beginning of a search, and what it shows."""

    strategy: Strategy
    result: SearchResult

    @property
    def statistics(self) -> Statistics:
        return self.result.statistics

    @property
    def renamings(self) -> int:
        """Up to how many states of the program the search takes as one: alike threads."""
        return prod(factorial(len(names)) for names in self.result.interchangeable)

    def is_unfinished(self, options: SearchOptions) -> bool:
        """Whether the end of the trial is all that has ended the search."""
        cut = CUT_SHORT.intersection(self.result.limits)
        return cut == {"transitions"} and not is_answer(self.result, options)

    def successors(self, threads: int) -> float:
        """How many successors a state has in this search.

        The states on the stack have been left by one transition each up to now, and a search may
        go down for long before it comes back, so they do not count."""
        counts = self.statistics
        left = counts.states - counts.depth
        if left * DEEP < counts.states:
            return float(threads)
        return min((counts.transitions - counts.depth) / left, float(threads))

    def cost(self, unreduced: float, threads: int) -> float:
        """What the whole search may cost, compared with the plain one."""
        if self.strategy.name == VECTORS:
            return self.cost_of_vectors(unreduced)
        part = self.successors(threads) / unreduced
        return float(EFFORT[self.strategy.name] * part**GAIN)

    def cost_of_vectors(self, unreduced: float) -> float:
        if self.statistics.states < CLOSING * self.vectors:
            return 0.0
        return VECTORS_COST if self.steps(unreduced) >= LEAST_STEPS else NO_GAIN

    @property
    def vectors(self) -> int:
        return max(self.statistics.expanded or 0, 1)

    def steps(self, unreduced: float) -> float:
        """How many plain expansions a vector stands for."""
        return self.statistics.transitions / self.vectors / unreduced

    def reason(self, unreduced: float, threads: int) -> str:
        """What speaks for the strategy, for people."""
        if self.strategy.name == PILOT:
            return "no reduction leaves out enough"
        if self.strategy.name == VECTORS:
            return f"{self.steps(unreduced):.1f} steps of each thread at a time"
        return (
            f"{self.successors(threads):.1f} successors a state,"
            f" {unreduced:.1f} without a reduction"
        )


def try_out(
    program: Program, name: str, transitions: int, options: SearchOptions, observer: Observer
) -> TrialSearch | None:
    """Begin a search; None for a reduction that cannot search this program."""
    tuning = {name: value for name, value in options.tuning.items() if name != WORKERS.name}
    short = replace(options, limit_transitions=transitions, self_check=False, tuning=tuning)
    strategy = load_strategy(name)
    try:
        return TrialSearch(strategy, strategy.run(program, short, observer))
    except UnsupportedError:
        if name == PILOT:
            raise
        return None


def rank(trials: list[TrialSearch], threads: int) -> list[Contender]:
    """The strategies that were tried, the most promising first; vectors are never the last of
    those that race, because they are the hardest to judge."""
    unreduced = trials[0].successors(threads)
    ranked = sorted(trials, key=lambda trial: trial.cost(unreduced, threads) / trial.renamings)
    for position, trial in enumerate(ranked[2:], 2):
        if trial.strategy.name == VECTORS:
            ranked.insert(1, ranked.pop(position))
    return [Contender(trial.strategy, trial.reason(unreduced, threads)) for trial in ranked]


def accept(
    program: Program, trial: TrialSearch, reason: str, options: SearchOptions, observer: Observer
) -> Chosen:
    """Take a trial that came to its end as the answer; a self-check needs another search."""
    if options.self_check and CUT_SHORT.isdisjoint(trial.result.limits):
        return run(program, Contender(trial.strategy, reason), options, observer)
    return Chosen(trial.strategy, reason, trial.result)


def run(
    program: Program, contender: Contender, options: SearchOptions, observer: Observer
) -> Chosen:
    return Race(program, [contender], options, observer).run()


def count_as_rounds(trials: list[TrialSearch], result: SearchResult) -> SearchResult:
    """A result with the trials before it as its first rounds."""
    earlier = [
        Round(trial.statistics, f"{trial.strategy.name} was tried for {limit:,} transitions")
        for trial, limit in zip(trials, tried_for(trials), strict=True)
    ]
    classes = tuple(
        replace(cell, round=cell.round + len(earlier)) for cell in result.classification
    )
    return replace(result, rounds=(*earlier, *result.rounds), classification=classes)


def tried_for(trials: list[TrialSearch]) -> list[int]:
    return [PILOT_TRANSITIONS] + [TRIAL_TRANSITIONS] * (len(trials) - 1)
