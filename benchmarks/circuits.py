"""Compare circuits with the interpreter and the native code on many random programs.

    python benchmarks/circuits.py --steps 1000000 --seed 0
    python benchmarks/circuits.py --verdicts 5000 --seed 0 --sparse
    python benchmarks/circuits.py --verdicts 500 --strategy pdr
    python benchmarks/circuits.py --sets 1000 --seed 0

The first form takes so many random steps of random programs in the circuit and on the interpreter,
every eighth program also in native code, and compares outcomes, states, and who stands still.  The
second compares the verdicts of the strategies of the symbolic engine (or of `--strategy`), with
all interleavings that they have, for assertions, deadlocks and races, with the interpreter's
unreduced search, and prints a table; with `--sparse` each program is searched in one of all ways
that a strategy has, in turn.  A program that shows a disagreement is made small.  Seeds from
1000000 on are programs whose assumptions stop threads, from 2000000 on programs whose threads
choose between waiting and going on.  The last form compares the stubborn sets of so many programs'
circuits with those that the reference chooses in the same states.  `--limit` ends each after so
many seconds.  Exit status 1 if there is a disagreement.  Run from the root.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from dataclasses import dataclass
from itertools import count, product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.soundness.circuit_agreement import CircuitWalks
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
MANY_STEPS = 100
"""For strategies without an interleaving."""
NONE = "-"
PROPERTIES = (
    frozenset({"assert"}),
    frozenset({"assert", "deadlock"}),
    frozenset({"assert", "race"}),
)
SECONDS = 20.0


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
            tuning[BOUND.name] = ROUNDS.get(self.interleaving, MANY_STEPS)
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


def list_searches(name: str) -> list[SymbolicSearch]:
    """All ways to ask a strategy."""
    strategy = load_strategy(name)
    interleavings = INTERLEAVING.values if INTERLEAVING in strategy.options else (NONE,)
    found = [SymbolicSearch(strategy, *each) for each in product(interleavings, PROPERTIES)]
    return [each for each in found if each.is_possible]


def compare_verdicts(
    wanted: int, seed: int, limit: float, names: list[str], *, sparse: bool
) -> bool:
    """Compare verdicts; with `sparse` a program is searched in one of all ways a strategy has."""
    asked = {name: list_searches(name) for name in names}
    tally: Counter[tuple[SymbolicSearch, Agreement]] = Counter()
    programs, too_large, right = 0, 0, True
    for number in range(seed, seed + wanted):
        if time.perf_counter() > limit:
            break
        oracle = consult(Subject(number).program(), STATES)
        if oracle is None:
            too_large += 1
            continue
        programs += 1
        for ways in asked.values():
            for search in [ways[number % len(ways)]] if sparse else ways:
                found = compare(oracle, search.strategy, search.options)
                tally[search, found.agreement] += 1
                if found.agreement is Agreement.DISAGREES:
                    right = False
                    print(f"{Subject(number)}, {search.interleaving}: {found}", flush=True)
                    show_small(oracle.program, search)
    print_table([each for ways in asked.values() for each in ways], tally)
    print(f"{programs:,} programs compared, {too_large:,} too large: seeds from {seed}")
    return right


def show_small(program: Program, search: SymbolicSearch) -> None:
    """Print a smaller program on which the search is still wrong."""

    def fails(smaller: Program) -> bool:
        return disagreement(smaller, search.strategy, search.options, STATES) is not None

    print(listing(shrink(program, fails)), flush=True)


def print_table(
    searches: list[SymbolicSearch], tally: Counter[tuple[SymbolicSearch, Agreement]]
) -> None:
    heads = (Agreement.AGREES, Agreement.INCONCLUSIVE, Agreement.DISAGREES)
    print(
        f"{'strategy':13}{'interleaving':15}{'properties':18}" + "".join(f"{h:>13}" for h in heads)
    )
    for each in searches:
        counts = "".join(f"{tally[each, head]:>13,}" for head in heads)
        properties = ",".join(sorted(each.properties))
        print(f"{each.strategy.name:13}{each.interleaving:15}{properties:18}{counts}")
    wrong = sum(times for (_, found), times in tally.items() if found is Agreement.DISAGREES)
    print(f"{tally.total():,} verdicts, {wrong:,} disagreements")


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
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--verdicts", type=int, default=0)
    parser.add_argument("--sets", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--strategy", action="append", choices=strategy_names("symbolic"))
    parser.add_argument("--sparse", action="store_true")
    parser.add_argument("--limit", type=float, default=float("inf"))
    asked = parser.parse_args()
    began = time.perf_counter()
    limit = began + asked.limit
    right = True
    if asked.steps:
        right = compare_steps(asked.steps, asked.seed, limit)
    if asked.verdicts:
        names = asked.strategy or strategy_names("symbolic")
        told = compare_verdicts(asked.verdicts, asked.seed, limit, names, sparse=asked.sparse)
        right = told and right
    if asked.sets:
        right = compare_sets(asked.sets, asked.seed, limit) and right
    print(f"{time.perf_counter() - began:.1f} s")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
