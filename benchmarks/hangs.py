"""Compare searches for hangs with the components of the state graph, on many random programs.

    python benchmarks/hangs.py --seconds 600 --seed 0

Threads of the programs poll.  By turns they also wait for conditions, send messages (queues,
rendezvous channels, `select`), are stopped by assumptions, or run the same code.  Every strategy
that preserves hangs is asked, in each of its orders; where threads are interchangeable, with and
without symmetry.  Exit status 1 if there is a disagreement, with the seed.  Run from the root.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.soundness.disciplined_programs import disciplined_program
from tests.soundness.polling import with_alike_polling, with_polling
from tests.soundness.queue_programs import queue_program
from tests.soundness.random_programs import random_program
from tests.soundness.reductions import SECONDS, Agreement, Comparison, compare, consult
from tests.soundness.stopping_programs import stopping_program
from tests.soundness.symmetric_programs import symmetric_program
from tests.soundness.variants import prepared

import mazurka.ir.native.step
from mazurka.analysis.interchangeable import find_symmetry
from mazurka.analysis.quiet_loops import may_hang
from mazurka.ir.program import Kind, Program
from mazurka.ir.remembering import share_interpreter
from mazurka.search import SearchOptions
from mazurka.search.registry import load_all
from mazurka.stateful.hangs import QuietStates, examine_quiet

# Each program is searched for a few milliseconds: optimizing its code takes longer than that.
mazurka.ir.native.step.HUGE_PROGRAM = 0

STATES = 1000
ASKED = frozenset({"assert", "hang"})
GENERATORS = ("random", "disciplined", "queues", "stopping", "symmetric", "stopping")


def make_program(seed: int) -> Program:
    """A program in which threads poll, as it is or prepared."""
    rng = Random(seed)
    match GENERATORS[seed % len(GENERATORS)]:
        case "random":
            program = with_polling(random_program(rng, faults=False), rng)
        case "disciplined":
            program = with_polling(disciplined_program(rng), rng)
        case "queues":
            program = with_polling(queue_program(rng), rng)
        case "stopping":
            program = with_polling(stopping_program(rng), rng)
        case _:
            program = with_alike_polling(symmetric_program(rng, faults=False), rng)
    return prepared(program) if seed // len(GENERATORS) % 2 else program


def judge(seed: int, seen: Counter[str]) -> Iterator[str]:
    """What is wrong with the searches of one program."""
    program = make_program(seed)
    oracle = consult(program, STATES)
    if oracle is None:
        seen["too large"] += 1
        return
    hangs = bool(oracle.whole.hangs)
    kinds = {edge.kind for edge in program.edges}
    seen["programs"] += 1
    seen["with hangs"] += hangs
    seen["with await_"] += Kind.UNTIL in kinds
    seen["with assumptions"] += Kind.ASSUME in kinds
    interpreter = share_interpreter(program)
    quiet = QuietStates(interpreter)
    found = [examine_quiet(interpreter, state) for state in oracle.whole.states]
    if any(each is not None and each.hanging for each in found) != hangs:
        yield "the check of single states differs from the components"
    if found != [quiet.examine(state) for state in oracle.whole.states]:
        yield "what is remembered of threads is not what they do"
    seen["with excused hangs"] += any(each is not None and each.is_excused for each in found)
    if hangs and not may_hang(program):
        yield "it hangs, although its text says that it cannot"
    symmetries = (True, False) if find_symmetry(program) is not None else (True,)
    seen["with symmetry"] += len(symmetries) > 1
    for strategy in load_all():
        if "hang" not in strategy.preserves or not strategy.sound:
            continue
        for order in strategy.orders:
            for symmetry in symmetries:
                options = SearchOptions(
                    properties=ASKED, order=order, symmetry=symmetry, limit_seconds=SECONDS
                )
                comparison = compare(oracle, strategy, options)
                seen["searches"] += 1
                seen["inconclusive"] += comparison.agreement is Agreement.INCONCLUSIVE
                if comparison.agreement is Agreement.DISAGREES:
                    yield describe(comparison)


def describe(comparison: Comparison) -> str:
    options = comparison.options
    return f"{comparison} ({options.order}, symmetry {'on' if options.symmetry else 'off'})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first program")
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    seed, wrong, seen = options.seed, 0, Counter[str]()
    while time.monotonic() < end:
        for problem in judge(seed, seen):
            wrong += 1
            print(f"seed {seed}: {problem}", flush=True)
        seed += 1
    print(f"seeds {options.seed}..{seed - 1}: {wrong} disagreements")
    print(", ".join(f"{name} {count:,}" for name, count in seen.items()))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
