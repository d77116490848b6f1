"""Compare our property-directed reachability with that of ABC, on the same circuits.

Each circuit is one round of sweeps of a model that holds, with program counters in binary.  Both
get the same one: ours as clauses, ABC's as an AIGER file.  Times are those of the processor, in
seconds, for the search alone, one after the other.  `>` means that the limit has ended it; ABC
takes its limit by the clock.

    python benchmarks/invariants.py                      all models, 60 seconds each
    python benchmarks/invariants.py --only filter3 --limit 20

The exit status is 1 if the two come to different answers.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from mazurka.bench.harness import MODELS
from mazurka.checking import load_program
from mazurka.search.reading import Reading
from mazurka.symbolic.aiger.exporting import export_circuit
from mazurka.symbolic.aiger.writing import write_binary
from mazurka.symbolic.circuit import Circuit, Interleaving
from mazurka.symbolic.encoding import encode
from mazurka.symbolic.environment import BINARY
from mazurka.symbolic.invariants import find_unused_codes
from mazurka.symbolic.reaching import WayQuestion
from mazurka.symbolic.solving.property_directed import Progress, PropertyDirected, Proved

EXAMPLES = Path(__file__).parents[1] / "examples"
COUNTERS = MODELS / "symbolic" / "counters.py"
CASES: dict[str, tuple[Path, dict[str, str]]] = {
    "peterson": (EXAMPLES / "peterson.py", {}),
    "dekker": (EXAMPLES / "dekker.py", {}),
    "bakery": (EXAMPLES / "bakery.py", {}),
    "buffer": (EXAMPLES / "bounded_buffer.py", {}),
    "transfer": (EXAMPLES / "bank_transfer_ordered.py", {}),
    "waiter": (EXAMPLES / "philosophers_waiter.py", {}),
    "readers-writers": (EXAMPLES / "readers_writers.py", {}),
    "filter3": (EXAMPLES / "peterson_filter.py", {"N": "3"}),
    "filter4": (EXAMPLES / "peterson_filter.py", {"N": "4"}),
    "ticket": (EXAMPLES / "ticket_lock.py", {}),
    "counters-4x3": (COUNTERS, {"THREADS": "4", "TIMES": "3"}),
    "counters-2x10": (COUNTERS, {"THREADS": "2", "TIMES": "10"}),
    "daisy": (EXAMPLES / "daisy.py", {"FIXED": "1"}),
}


class Measured(NamedTuple):
    """What a search has answered, and the processor time that it took."""

    answer: str | None
    seconds: float

    def __str__(self) -> str:
        return f"{'' if self.answer else '>'}{self.seconds:.2f}"


class LimitReached(Exception):  # noqa: N818 - it is control flow, not an error
    """The time is up."""


def search_here(circuit: Circuit, bad: int, limit: float) -> Measured:
    """Our search, in this process."""
    question = WayQuestion(circuit, bad, find_unused_codes(circuit))
    began = time.process_time()

    def tell(_: Progress) -> None:
        if time.process_time() - began > limit:
            raise LimitReached

    answer: str | None = None
    try:
        if question.answer is None:
            found = PropertyDirected(question.problem, tell).search()
            answer = "proved" if isinstance(found, Proved) else "violated"
        else:
            answer = "proved"
    except LimitReached:
        pass
    return Measured(answer, time.process_time() - began)


def search_with_abc(command: str, circuit: Circuit, limit: float) -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "circuit.aig"
        path.write_bytes(write_binary(export_circuit(circuit, Interleaving.SWEEPS)))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        script = f"read {path}; orpos; pdr -T {max(int(limit), 1)}"
        told = subprocess.run([command, "-q", script], capture_output=True, text=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer = None
    if "Property proved" in told.stdout:
        answer = "proved"
    elif "was asserted in frame" in told.stdout:
        answer = "violated"
    used = (after.ru_utime, -before.ru_utime, after.ru_stime, -before.ru_stime)
    return Measured(answer, sum(used))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", choices=list(CASES), help="one model")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each search")
    options = parser.parse_args()
    command = shutil.which("berkeley-abc") or shutil.which("abc")
    if command is None:
        print("ABC is not installed: apt-get install berkeley-abc", file=sys.stderr)
        return 2
    print(f"{'model':<16} {'latches':>7} {'nodes':>7} {'ours':>8} {'ABC':>8} {'ratio':>6}")
    wrong = False
    for name in [options.only] if options.only else CASES:
        path, definitions = CASES[name]
        program = load_program(str(path), Reading(definitions=definitions))
        circuit = encode(program, Interleaving.SWEEPS, counters=BINARY)
        bad = circuit.graph.some([*circuit.bad.values(), *circuit.unknown.values()])
        ours = search_here(circuit, bad, options.limit)
        theirs = search_with_abc(command, circuit, options.limit)
        both = ours.answer is not None and theirs.answer is not None
        ratio = f"{ours.seconds / theirs.seconds:.1f}" if both else ""
        sizes = f"{len(circuit.latches):>7} {circuit.graph.nodes:>7,}"
        print(f"{name:<16} {sizes} {ours!s:>8} {theirs!s:>8} {ratio:>6}", flush=True)
        wrong |= both and ours.answer != theirs.answer
    return int(wrong)


if __name__ == "__main__":
    raise SystemExit(main())
