"""Compare random sequential C programs with what a compiler makes of them.

    python benchmarks/random_c.py --programs 2000 --seed 0

Each program computes with integers of all widths, pointers, structures and arrays, without
undefined behaviour, and prints a checksum.  gcc runs it; Mazurka must then prove that the checksum
has this value, and refute that it has another.  The half with 32-bit pointers needs gcc's 32-bit
libraries; without them it is skipped, and the script says so.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.unit.frontend.c.against_gcc import compile_and_run, fails
from tests.unit.frontend.c.random_code import random_program

from mazurka.errors import MazurkaError


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if shutil.which("gcc") is None:
        print("there is no gcc")
        return 2
    bad, done, skipped = 0, {"ilp32": 0, "lp64": 0}, 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for seed in range(arguments.seed, arguments.seed + arguments.programs):
            source = random_program(Random(seed))
            for model in done:
                value = compile_and_run(source, model, folder)
                if value is None:
                    skipped += 1
                    continue
                try:
                    agrees = not fails(source, model, value, folder)
                    agrees = agrees and fails(source, model, value ^ 1, folder)
                except MazurkaError as error:
                    agrees = False
                    print(f"seed {seed} ({model}): {error}")
                done[model] += 1
                if not agrees:
                    bad += 1
                    print(f"seed {seed} ({model}): disagrees", flush=True)
    print(f"{bad} disagreements; {done['lp64']} programs with lp64, {done['ilp32']} with ilp32")
    if skipped:
        print(f"{skipped} could not be compiled: is gcc-multilib installed?")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
