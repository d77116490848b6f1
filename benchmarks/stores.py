"""Compare searches that keep their states on disk or as bits with searches in memory.

    python benchmarks/stores.py --seconds 600 --seed 0

Random programs, some with interchangeable threads, are searched in memory, on disk with so little
memory that every level takes several runs, and with a few bits for each state.  On disk, counts and
verdicts must be the same, and counterexamples as short; bits may miss states, must find nothing
that is not there, and never prove anything (`tests/soundness/disk_searches.py`).  Exit status 1 if
something is not so, with the seed.  Run from the root.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.soundness.disk_searches import (
    difference,
    require_no_proof,
    require_shortest,
    search_stored,
)
from tests.soundness.judging import judge_programs
from tests.soundness.random_programs import random_program
from tests.soundness.symmetric_programs import started_program, symmetric_program

import mazurka.ir.native.step
from mazurka.ir.passes.liveness import reset_dead_locals
from mazurka.ir.program import Program
from mazurka.stateful.beyond_memory import disk_search

# Each program is searched for a few milliseconds: optimizing its code takes longer than that.
mazurka.ir.native.step.HUGE_PROGRAM = 0

MOST_TRANSITIONS = 20_000
RUNS = (2, 3, 16)
BITS_MEMORY = (1 << 12, 1 << 14, 1 << 22)


def draw(seed: int) -> Program:
    chance, faults = Random(seed), seed % 3 != 0
    if seed % 4 == 2:
        return reset_dead_locals(symmetric_program(chance, faults=faults, leaks=seed % 8 == 2))
    if seed % 4 == 3:
        return reset_dead_locals(started_program(chance, faults=faults))
    return reset_dead_locals(random_program(chance, faults=faults))


def judge(seed: int) -> bool:
    """Judge one program; whether it has few enough states."""
    program = draw(seed)
    if "transitions" in search_stored(program, limit_transitions=MOST_TRANSITIONS).limits:
        return False
    disk_search.MOST_RUNS = RUNS[seed % len(RUNS)]
    symmetry = seed % 5 != 0
    wrong = difference(program, symmetry=symmetry)
    assert wrong is None, wrong
    require_shortest(program, symmetry=symmetry)
    for limit_bytes in BITS_MEMORY:
        require_no_proof(program, limit_bytes=limit_bytes, symmetry=symmetry, hashes=1 + seed % 4)
    return True


if __name__ == "__main__":
    sys.exit(judge_programs(judge, __doc__.splitlines()[0]))
