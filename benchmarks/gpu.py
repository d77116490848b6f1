"""Measure the search on a GPU, and compare it with the search on this machine's processors.

    python benchmarks/gpu.py                            the models of `mazurka bench speed`
    python benchmarks/gpu.py --large                    and 18 and 20 philosophers
    python benchmarks/gpu.py --examples                 counts and verdicts of all examples
    python benchmarks/gpu.py --seconds 60 --seed 0      random programs

Needs an NVIDIA GPU, its driver and the package `cuda-bindings`.  `seconds` are those of the search,
the second time that it runs; `compiling` is what LLVM and the driver take for the model's kernels.
Exit status 1 if something differs.  Run from the root.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.soundness.reductions import Subject
from tests.soundness.shared_searches import alone, by_workers, counts, difference

from mazurka.bench.speed import CASES
from mazurka.checking import load_program
from mazurka.ir.program import Program
from mazurka.search import SearchOptions, SearchResult, Silent
from mazurka.search.reading import Reading
from mazurka.search.resources import processors
from mazurka.stateful.device.cuda import CudaDevice
from mazurka.stateful.device.search import DeviceSearch
from mazurka.stateful.quotient import code_for

SPEED = SearchOptions(properties=frozenset({"assert"}), order="bfs", limit_bytes=1 << 40)
USUAL = replace(
    SPEED, properties=frozenset({"assert", "deadlock", "hang"}), symmetry=True, limit_bytes=1 << 32
)
LARGE = ({"N": 18}, {"N": 20})


class Gpu:
    def __init__(self) -> None:
        self.device = CudaDevice()

    def search(self, program: Program, options: SearchOptions) -> SearchResult:
        search = DeviceSearch(code_for(program, options), options, Silent(), self.device)
        try:
            return search.run()
        finally:
            search.release()


def models(*, large: bool) -> Iterator[tuple[str, Program, bool]]:
    """Each model, and whether the processors search it, too."""
    for case in CASES:
        yield case.name, case.load(case.constants), True
    for constants in LARGE if large else ():
        yield f"philosophers {constants['N']}", CASES[0].load(constants), False


def measure(gpu: Gpu, *, large: bool) -> bool:
    """Print the table; whether all counts are the same."""
    print(f"{'model':<18}{'words':>5}{'states':>15}{'transitions':>16}{'seconds':>9}"
          f"{'M states/s':>12}{'compiling':>11}{'processors':>12}  ratio")  # fmt: skip
    same = True
    for name, program, both in models(large=large):
        gpu.search(program, SPEED)
        before = gpu.device.compiling_seconds
        result = gpu.search(program, SPEED)
        made, compiling = result.statistics, gpu.device.compiling_seconds - before
        row = (f"{name:<18}{code_for(program, SPEED).layout.words:>5}{made.states:>15,}"
               f"{made.transitions:>16,}{made.seconds:>9.3f}"
               f"{made.states_per_second / 1e6:>12.1f}{compiling:>9.2f} s")  # fmt: skip
        if both:
            here = by_workers(processors())(program, replace(SPEED, limit_bytes=1 << 33))
            ratio = here.statistics.seconds / made.seconds
            row += f"{here.statistics.states_per_second / 1e6:>12.1f}  {ratio:.0f}"
            if counts(here) != counts(result):
                row += "  DIFFERENT COUNTS"
                same = False
        print(row, flush=True)
    return same


def compare_examples(gpu: Gpu) -> bool:
    """Print the examples whose verdict or counts differ; whether there is none."""
    same, compared = True, 0
    for path in sorted(Path("examples").glob("*.py")):
        program = load_program(path, Reading())
        here, there = alone(program, USUAL), gpu.search(program, USUAL)
        kinds = [each.violation.kind if each.violation else "holds" for each in (here, there)]
        equal = kinds[0] == kinds[1] and (here.violation or counts(here) == counts(there))
        compared += 1
        if not equal:
            print(f"{path}: {kinds}, {counts(here)} and {counts(there)}")
            same = False
    print(f"{compared} examples compared")
    return same


def compare_programs(gpu: Gpu, seed: int, seconds: float) -> bool:
    end, first, wrong = time.monotonic() + seconds, seed, 0
    while time.monotonic() < end:
        found = difference(Subject(seed).program(), gpu.search, symmetry=seed % 2 == 0)
        if found is not None:
            print(f"{Subject(seed)}: {found}", flush=True)
            wrong += 1
        seed += 1
    print(f"{seed - first} random programs compared, {wrong} differ")
    return wrong == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--examples", action="store_true")
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    gpu = Gpu()
    memory = gpu.device.free_bytes() / 2**30
    print(f"{gpu.device.name}, {memory:.0f} GiB free, {processors()} processors beside it")
    if given.seconds:
        return 0 if compare_programs(gpu, given.seed, given.seconds) else 1
    if given.examples:
        return 0 if compare_examples(gpu) else 1
    return 0 if measure(gpu, large=given.large) else 1


if __name__ == "__main__":
    sys.exit(main())
