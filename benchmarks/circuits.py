"""Compare circuits with the interpreter and the native code on many random programs.

    python benchmarks/circuits.py --steps 1000000
    python benchmarks/circuits.py --verdicts 5000 --jobs 16 --seconds 3000
    python benchmarks/circuits.py --verdicts 500 --strategy pdr --strategy bdd
    python benchmarks/circuits.py --sets 1000

The first form takes so many random steps of random programs in the circuit and on the interpreter,
every eighth program also in native code, and compares outcomes, states, and who stands still.

The second compares the verdicts of the strategies of the symbolic engine (or of each `--strategy`)
on so many programs with the interpreter's unreduced search.  Each program is searched with every
interleaving that a strategy has (or with `--interleaving`), for assertions, deadlocks and races;
with `--sparse` in one of all these ways, in turn.  Programs that are too large for the interpreter
do not count.  `--jobs` is how many processes compare.  A line says every few seconds how it goes.
The table comes at the end, and also after `--seconds`, Ctrl-C or SIGTERM.  A program that shows a
disagreement is made small, unless the comparison has ended before.

Seeds from 1000000 on are programs whose assumptions stop threads, from 2000000 on programs whose
threads choose between waiting and going on.  The last form compares the stubborn sets of so many
programs' circuits with those that the reference chooses in the same states.  Exit status 1 if there
is a disagreement.  Run from the root.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import count, product
from pathlib import Path
from types import FrameType
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.soundness.circuit_agreement import CircuitWalks
from tests.soundness.processes import Lost, WorkingProcesses
from tests.soundness.reductions import Agreement, Subject, compare, consult, disagreement
from tests.soundness.shrink import listing, shrink
from tests.soundness.stubborn_circuits import StubbornCircuit

import mazurka.ir.native.step
from mazurka.errors import OptionError
from mazurka.ir.program import Program
from mazurka.search import SearchOptions, Strategy
from mazurka.search.registry import load_strategy, strategy_names
from mazurka.symbolic.options import INTERLEAVING
from mazurka.symbolic.options import ROUNDS as BOUND

# Each program takes a few milliseconds: optimizing its code takes longer than that.
mazurka.ir.native.step.HUGE_PROGRAM = 0

WALK = 20
"""Steps of each walk; a program has 64 walks."""
STATES = 1500
ROUNDS = {"sweeps": 12, "full": 25, "partial-order": 25, "transactions": 25, "peephole": 25}
ITERATIONS = 10
"""How often `events` follows each loop: twice as many may take it twice as long, and again."""
NONE = "-"
PROPERTIES = (
    frozenset({"assert"}),
    frozenset({"assert", "deadlock"}),
    frozenset({"assert", "race"}),
)
SECONDS = 20.0
PAUSE = 10.0
"""Seconds between lines that say how a comparison goes."""
LOOK = 1.0
"""Seconds without an answer after which the time is looked at."""


def compare_steps(wanted: int, seed: int, limit: float) -> bool:
    steps, programs = 0, 0
    for number in count(seed):
        if steps >= wanted or time.perf_counter() > limit:
            break
        walks = CircuitWalks(Subject(number).program(), number, native=number % 8 == 0)
        problem = walks.find_disagreement(WALK)
        if problem is not None:
            print(f"{Subject(number)}: {problem}")
            return False
        steps, programs = steps + walks.steps, programs + 1
    print(f"{steps:,} steps of {programs:,} programs: no disagreement")
    return True


@dataclass(frozen=True)
class SymbolicSearch:
    """One way to ask: a strategy, an interleaving where it has some, and properties."""

    strategy: Strategy
    interleaving: str
    properties: frozenset[str]

    @property
    def options(self) -> SearchOptions:
        tuning: dict[str, object] = {}
        if INTERLEAVING in self.strategy.options:
            tuning[INTERLEAVING.name] = self.interleaving
        if BOUND in self.strategy.options:
            tuning[BOUND.name] = ROUNDS.get(self.interleaving, ITERATIONS)
        return SearchOptions(properties=self.properties, limit_seconds=SECONDS, tuning=tuning)

    @property
    def is_possible(self) -> bool:
        """Whether the strategy takes such a question."""
        if not self.properties <= self.strategy.preserves:
            return False
        try:
            self.strategy.refuse(self.options)
        except OptionError:
            return False
        return True


@cache
def list_searches(name: str, only: str | None) -> list[SymbolicSearch]:
    """All ways to ask a strategy; `only` is the interleaving, where not all are wanted."""
    strategy = load_strategy(name)
    interleavings: Sequence[str] = (NONE,)
    if INTERLEAVING in strategy.options:
        interleavings = [each for each in INTERLEAVING.values if only in (None, each)]
    found = [SymbolicSearch(strategy, *each) for each in product(interleavings, PROPERTIES)]
    return [each for each in found if each.is_possible]


class Way(NamedTuple):
    """A search in the words of the table."""

    strategy: str
    interleaving: str
    properties: str


def name_way(search: SymbolicSearch) -> Way:
    return Way(search.strategy.name, search.interleaving, ",".join(sorted(search.properties)))


@dataclass
class ComparedProgram:
    """What the searches of one program have said; nothing if it is too large to be compared."""

    found: list[tuple[Way, Agreement]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


class SmallProgram(NamedTuple):
    """A problem again, with a small program that shows it."""

    problem: str
    listing: str


def compare_program(
    number: int, names: Sequence[str], only: str | None, *, sparse: bool
) -> Iterator[ComparedProgram | SmallProgram]:
    """Compare the verdicts about one program; then make it small for each problem.

    The second may take long, so problems are told before."""
    result = ComparedProgram()
    oracle = consult(Subject(number).program(), STATES)
    if oracle is None:
        yield result
        return
    wrong: list[SymbolicSearch] = []
    for name in names:
        ways = list_searches(name, only)
        for search in [ways[number % len(ways)]] if sparse else ways:
            found = compare(oracle, search.strategy, search.options)
            result.found.append((name_way(search), found.agreement))
            if found.agreement is Agreement.DISAGREES:
                result.problems.append(f"{Subject(number)}, {search.interleaving}: {found}")
                wrong.append(search)
    yield result
    for problem, search in zip(result.problems, wrong, strict=True):
        yield SmallProgram(problem, find_small(oracle.program, search))


def find_small(program: Program, search: SymbolicSearch) -> str:
    """A smaller program on which the search is still wrong."""

    def fails(smaller: Program) -> bool:
        return disagreement(smaller, search.strategy, search.options, STATES) is not None

    return listing(shrink(program, fails))


class Ended(Exception):  # noqa: N818 - it is control flow, not an error
    """Somebody has ended the comparison."""


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Raise `Ended` at Ctrl-C and at SIGTERM, once: `timeout` sends SIGTERM twice."""
    signals = (signal.SIGINT, signal.SIGTERM)

    def end(number: int, frame: FrameType | None) -> None:
        for each in signals:
            signal.signal(each, signal.SIG_IGN)
        raise Ended

    before = {each: signal.signal(each, end) for each in signals}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


@dataclass
class Comparing:
    """How far the comparison of verdicts is."""

    wanted: int
    tally: Counter[tuple[Way, Agreement]] = field(default_factory=Counter)
    programs: int = 0
    too_large: int = 0
    lost: int = 0
    being_made_small: int = 0

    def add(self, answer: ComparedProgram | SmallProgram | Lost) -> None:
        match answer:
            case ComparedProgram(found, problems):
                self.tally.update(found)
                self.programs += bool(found)
                self.too_large += not found
                self.being_made_small += len(problems)
                for problem in problems:
                    print(problem, flush=True)
            case SmallProgram(problem, text):
                self.being_made_small -= 1
                print(f"{problem}; in a small program:\n{text}", flush=True)
            case Lost():
                self.lost += 1
                print(answer, flush=True)

    @property
    def is_done(self) -> bool:
        return self.programs >= self.wanted and not self.being_made_small


def compare_verdicts(
    wanted: int,
    seed: int,
    limit: float,
    names: list[str],
    only: str | None,
    *,
    sparse: bool,
    jobs: int,
) -> bool:
    """Compare verdicts; with `sparse` a program is searched in one of all ways a strategy has.

    This process only waits: a signal that interrupted a search would look like its failure."""
    state = Comparing(wanted)
    began = told = time.perf_counter()
    compare_one = partial(compare_program, names=names, only=only, sparse=sparse)
    with ended_by_signals():
        try:
            with WorkingProcesses(compare_one, jobs) as processes:
                for answer in processes.answers(count(seed), LOOK):
                    if answer is not None:
                        state.add(answer)
                    now = time.perf_counter()
                    if now - told > PAUSE:
                        told = now
                        print(tell_progress(state, now - began), flush=True)
                    if state.is_done or now > limit:
                        break
        except Ended:
            print("ended before all programs were compared")
        ways = [name_way(each) for name in names for each in list_searches(name, only)]
        print_table(ways, state.tally)
        print(
            f"{state.programs:,} programs compared, {state.too_large:,} too large,"
            f" {state.lost:,} lost: seeds from {seed}",
            flush=True,
        )
    return count_wrong(state.tally) == 0 and not state.lost


def count_wrong(tally: Counter[tuple[Way, Agreement]]) -> int:
    return sum(times for (_, found), times in tally.items() if found is Agreement.DISAGREES)


def tell_progress(state: Comparing, seconds: float) -> str:
    return (
        f"{state.programs:,} of {state.wanted:,} programs, {state.tally.total():,} verdicts,"
        f" {count_wrong(state.tally):,} disagreements, {seconds:.0f} s"
    )


def print_table(ways: list[Way], tally: Counter[tuple[Way, Agreement]]) -> None:
    heads = (Agreement.AGREES, Agreement.INCONCLUSIVE, Agreement.DISAGREES)
    print(
        f"{'strategy':13}{'interleaving':15}{'properties':18}" + "".join(f"{h:>13}" for h in heads)
    )
    for way in ways:
        counts = "".join(f"{tally[way, head]:>13,}" for head in heads)
        print(f"{way.strategy:13}{way.interleaving:15}{way.properties:18}{counts}")
    print(f"{tally.total():,} verdicts, {count_wrong(tally):,} disagreements")


def compare_sets(wanted: int, seed: int, limit: float) -> bool:
    programs = states = reduced = 0
    for number in range(seed, seed + wanted):
        if time.perf_counter() > limit:
            break
        for patterns in (False, True):
            circuit = StubbornCircuit(Subject(number).program(), number, patterns=patterns)
            problem = circuit.find_disagreement(WALK)
            if problem is not None:
                print(f"{Subject(number)}, {'with' if patterns else 'without'} locks: {problem}")
                return False
            states, reduced = states + circuit.compared, reduced + circuit.reduced
        programs += 1
    print(f"{states:,} sets of {programs:,} programs, {reduced:,} reduced: no disagreement")
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--steps", type=int, default=0, help="compare so many random steps")
    add("--verdicts", type=int, default=0, help="compare verdicts about so many programs")
    add("--sets", type=int, default=0, help="compare the stubborn sets of so many programs")
    add("--seed", type=int, default=0, help="the first program's number")
    add("--strategy", action="append", choices=strategy_names("symbolic"), help="all unless given")
    add("--interleaving", choices=INTERLEAVING.values, help="all unless given")
    add("--sparse", action="store_true", help="search each program in one of all ways")
    add("--jobs", type=int, default=1, help="how many processes compare verdicts")
    add("--seconds", type=float, default=float("inf"), help="end after so many seconds")
    asked = parser.parse_args()
    began = time.perf_counter()
    limit = began + asked.seconds
    right = True
    if asked.steps:
        right = compare_steps(asked.steps, asked.seed, limit)
    if asked.verdicts:
        names = asked.strategy or strategy_names("symbolic")
        told = compare_verdicts(
            asked.verdicts,
            asked.seed,
            limit,
            names,
            asked.interleaving,
            sparse=asked.sparse,
            jobs=max(asked.jobs, 1),
        )
        right = told and right
    if asked.sets:
        right = compare_sets(asked.sets, asked.seed, limit) and right
    print(f"{time.perf_counter() - began:.1f} s")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
