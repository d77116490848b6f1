"""Judge searches with symmetry by every renaming, on many random programs.

    python benchmarks/symmetry.py --seconds 600 --seed 0

The programs have threads of the same code; some give a thread's number away now and then, some
start and join them one after the other, and some have classes that keep each other's numbers.
`tests/soundness/renaming.py` says what must be true of each.  Exit status 1 if something is not,
with the seed.  Run from the root.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.soundness.judging import judge_programs
from tests.soundness.renaming import (
    RELATIONS,
    draw_keeping,
    draw_started,
    draw_subject,
    require_automorphisms,
    require_gathered,
    require_one_of_each,
    require_persistent,
)

import mazurka.ir.native.step
from mazurka.stateful.variants import Proviso

# Each program is searched for a few milliseconds: optimizing its code takes longer than that.
mazurka.ir.native.step.HUGE_PROGRAM = 0


def judge_started(seed: int) -> bool:
    """Judge a program that starts its threads one after the other."""
    subject = draw_started(Random(seed), faults=seed % 3 != 0)
    if subject is None:
        return False
    for strategy in RELATIONS:
        for proviso in Proviso:
            require_gathered(subject, strategy, proviso)
    return True


def judge(seed: int) -> bool:
    """Judge one program; whether it has interchangeable threads, and few enough states."""
    if seed % 4 == 3:
        return judge_started(seed)
    rng, faults = Random(seed), seed % 3 != 0
    if seed % 4 == 1:
        subject = draw_keeping(rng, faults=faults)
    else:
        subject = draw_subject(rng, faults=faults, leaks=seed % 8 == 0)
    if subject is None:
        return False
    require_automorphisms(subject)
    for order in ("dfs", "bfs"):
        require_one_of_each(subject, order)
    for strategy in RELATIONS:
        for proviso in Proviso:
            require_persistent(subject, strategy, proviso)
    return True


if __name__ == "__main__":
    sys.exit(judge_programs(judge, __doc__.splitlines()[0]))
