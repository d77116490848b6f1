"""Compare derived ranges of counters with the values that they really take.

    python benchmarks/counters.py --seconds 600 --seed 0

Random models count in loops: nested ones, with `break` and `continue`, negative steps, counters
that functions and other threads write, and threads that start again.  The interpreter runs each one
without ranges, and no value may be outside the range that was derived for its cell
(`tests/soundness/counting_models.py`).  Exit status 1 if one is, with the seed.  Run from the root.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.soundness.counting_models import CountingModel, escape, read_model
from tests.soundness.restarting import with_restart

from mazurka.errors import MazurkaError
from mazurka.ir.passes.ranges import infer_ranges
from mazurka.ir.program import Program


def has_ranges(program: Program) -> bool:
    """Whether the analysis finds a range for every cell."""
    try:
        infer_ranges(program)
    except MazurkaError:
        return False
    return True


def judge(seed: int, folder: Path, most_states: int) -> int:
    """Judge one model, and the same one with a thread that starts again; how many had ranges."""
    chance = Random(seed)
    program = read_model(CountingModel(chance).text, folder)
    judged = 0
    for other in (program, with_restart(program, chance)):
        if other is None or not has_ranges(other):
            continue
        wrong = escape(other, most_states)
        assert wrong is None, wrong
        judged += 1
    return judged


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first model")
    parser.add_argument("--states", type=int, default=2000, help="at most so many of a model")
    parser.add_argument("--only", type=int, help="show this model, and judge it alone")
    options = parser.parse_args()
    if options.only is not None:
        print(CountingModel(Random(options.only)).text)
        options.seed, options.seconds = options.only, 0
    end = time.monotonic() + options.seconds
    seed, judged, wrong = options.seed, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        while seed == options.seed or time.monotonic() < end:
            try:
                judged += judge(seed, Path(folder), options.states)
            except Exception:
                wrong += 1
                print(f"seed {seed}:")
                traceback.print_exc(file=sys.stdout)
            seed += 1
    print(f"{seed - options.seed:,} models, {judged:,} programs judged, {wrong:,} disagreements")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
