"""Compare programs with marks for races with the programs themselves, on many random ones.

    python benchmarks/race_marks.py [first seed] [seconds]

`tests/soundness/test_race_marks.py` does the same on a few.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.soundness.marked_races import REFUSED, SORTS, disagreement, program_of

from mazurka.stateful.reference.full import explore

STATES = 800


def main(first: int = 10_000, seconds: float = 120.0) -> int:
    counts: Counter[str] = Counter()
    end = time.process_time() + seconds
    seed = first
    while time.process_time() < end:
        for sort in SORTS:
            program = program_of(sort, seed)
            whole = None if program is None else explore(program, limit=STATES)
            if program is None or whole is None or not whole.complete:
                continue
            wrong = disagreement(program, whole)
            counts["programs"] += 1
            counts["with a race"] += bool(whole.races)
            counts[REFUSED] += wrong == REFUSED
            if wrong not in (None, REFUSED):
                counts["disagreements"] += 1
                print(f"{sort} {seed}: {wrong}")
        seed += 1
    print(f"seeds {first} to {seed - 1}:", dict(counts))
    return min(counts["disagreements"], 1)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
