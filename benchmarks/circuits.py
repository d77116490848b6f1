"""Compare circuits with the interpreter and the native code on many random programs.

    python benchmarks/circuits.py --steps 1000000 --seed 0
    python benchmarks/circuits.py --verdicts 5000 --seed 0
    python benchmarks/circuits.py --verdicts 500 --strategy pdr
    python benchmarks/circuits.py --sets 1000 --seed 0

The first form takes so many random steps of random programs in the circuit and on the interpreter,
every eighth program also in native code, and compares outcomes, states, and who stands still.  The
second compares the verdicts of the strategies of the symbolic engine (or of `--strategy`), with
all interleavings that they have, with the interpreter's unreduced search.  The last compares the
stubborn sets of so many programs' circuits with those that the reference chooses in the same
states.  `--limit` ends each after so many seconds of processor time.  Exit status 1 if there is a
disagreement.  Run from the root.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from itertools import count, product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.soundness.circuit_agreement import CircuitWalks
from tests.soundness.reductions import Agreement, Subject, compare, consult
from tests.soundness.stubborn_circuits import StubbornCircuit

import mazurka.ir.native.step
from mazurka.search import SearchOptions
from mazurka.search.registry import load_strategy, strategy_names
from mazurka.symbolic.options import PLAIN_INTERLEAVINGS

# Each program takes a few milliseconds: optimizing its code takes longer than that.
mazurka.ir.native.step.HUGE_PROGRAM = 0

WALK = 20
"""Steps of each walk; a program has 64 walks."""
STATES = 1500
ROUNDS = {"sweeps": 12, "full": 25, "partial-order": 25, "transactions": 25, "peephole": 25}
PROPERTIES = (frozenset({"assert", "deadlock"}), frozenset({"assert", "race"}))
SECONDS = 20.0


def compare_steps(wanted: int, seed: int, limit: float) -> bool:
    steps, programs = 0, 0
    for number in count(seed):
        if steps >= wanted or time.process_time() > limit:
            break
        walks = CircuitWalks(Subject(number).program(), number, native=number % 8 == 0)
        problem = walks.find_disagreement(WALK)
        if problem is not None:
            print(f"{Subject(number)}: {problem}")
            return False
        steps, programs = steps + walks.steps, programs + 1
    print(f"{steps:,} steps of {programs:,} programs: no disagreement")
    return True


def compare_verdicts(wanted: int, seed: int, limit: float, names: list[str]) -> bool:
    strategies, tally = [load_strategy(name) for name in names], Counter[str]()
    for number in range(seed, seed + wanted):
        if time.process_time() > limit:
            break
        oracle = consult(Subject(number).program(), STATES)
        if oracle is None:
            tally["too large"] += 1
            continue
        for strategy, interleaving, properties in product(strategies, ROUNDS, PROPERTIES):
            if strategy.name != "bmc" and interleaving not in PLAIN_INTERLEAVINGS:
                continue
            tuning = {"interleaving": interleaving, "rounds": ROUNDS[interleaving]}
            options = SearchOptions(properties=properties, limit_seconds=SECONDS, tuning=tuning)
            found = compare(oracle, strategy, options)
            tally[f"{strategy.name}, {interleaving}: {found.agreement}"] += 1
            if found.agreement is Agreement.DISAGREES:
                print(f"{Subject(number)}, {strategy.name}, {interleaving}: {found}")
    for name, times in sorted(tally.items()):
        print(f"{times:8,} {name}")
    return not any(name.endswith(Agreement.DISAGREES) for name in tally)


def compare_sets(wanted: int, seed: int, limit: float) -> bool:
    programs = states = reduced = 0
    for number in range(seed, seed + wanted):
        if time.process_time() > limit:
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
    parser.add_argument("--limit", type=float, default=float("inf"))
    asked = parser.parse_args()
    began = time.process_time()
    right = True
    if asked.steps:
        right = compare_steps(asked.steps, asked.seed, asked.limit)
    if asked.verdicts:
        names = asked.strategy or strategy_names("symbolic")
        right = compare_verdicts(asked.verdicts, asked.seed, asked.limit, names) and right
    if asked.sets:
        right = compare_sets(asked.sets, asked.seed, asked.limit) and right
    print(f"{time.process_time() - began:.1f} s of processor time")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
