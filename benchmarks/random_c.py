"""Compare random C programs with what a compiler makes of them, or strategies with each other.

    python benchmarks/random_c.py --programs 2000 --seed 0 --jobs 8
    python benchmarks/random_c.py --memory 500 --seed 0 --jobs 8
    python benchmarks/random_c.py --overflow 500 --seed 0 --jobs 8
    python benchmarks/random_c.py --addresses 1000 --seed 0 --jobs 8
    python benchmarks/random_c.py --concurrent 200 --seed 0 --jobs 8
    python benchmarks/random_c.py --concurrent 1000 --heap --seed 0 --jobs 8

Each sequential program computes with integers of all widths, pointers, structures and arrays,
without undefined behaviour, and prints a checksum.  gcc runs it; the interpreter must come to the
same one.  The half with 32-bit pointers needs gcc's 32-bit libraries; without them it is skipped,
and the script says so.

Each program with `--memory` allocates, frees and follows pointers, rightly or not; the interpreter
must come to a fault where gcc's address sanitizer does, and nowhere else.

Each program with `--overflow` is one operation on numbers at the ends of their types; the same
goes for it and gcc's sanitizer of signed overflow, shifts and divisions.

Each program with `--addresses` compares pointers to objects some of which are no more, and numbers
of threads.  The interpreter must find all that such a program may print, with any allocator, and
nothing else; what it prints when gcc has compiled it is one of that.

Each concurrent program has two threads, locks, atomics, pointers and assumptions; with `--heap` it
also allocates, frees and compares pointers, and waits with a limit of time.  All strategies
that can must have the verdict that exploring every interleaving on the interpreter gives, without
any reduction; `--strategies` names those to be tried.

A line is printed for each part of the programs as it is done; a disagreement names its seed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.unit.frontend.c import address_code
from tests.unit.frontend.c.against_gcc import (
    compile_and_run_all,
    find_checksum,
    find_fault,
    run_sanitized,
)
from tests.unit.frontend.c.concurrent_agreement import SOUND, find_disagreements
from tests.unit.frontend.c.concurrent_code import random_concurrent
from tests.unit.frontend.c.memory_code import random_memory_use
from tests.unit.frontend.c.overflow_code import NAMES as OVERFLOW_NAMES
from tests.unit.frontend.c.overflow_code import random_overflow
from tests.unit.frontend.c.random_code import random_program

from mazurka.errors import MazurkaError
from mazurka.ir.program import Fault

PART = 25
"""So many programs are compiled together."""
ARITHMETIC = "signed-integer-overflow,shift,integer-divide-by-zero"
MODELS = ("ilp32", "lp64")


def compare_with_gcc(seeds: list[int]) -> tuple[Counter[str], list[str]]:
    """What was done, and what disagrees, for some sequential programs."""
    done: Counter[str] = Counter()
    wrong = []
    sources = [random_program(Random(seed)) for seed in seeds]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for model in MODELS:
            expected = compile_and_run_all(sources, model, folder)
            if expected is None:
                done["not compiled"] += len(seeds)
                continue
            for seed, source, value in zip(seeds, sources, expected, strict=True):
                done[model] += 1
                try:
                    found = find_checksum(source, model, folder)
                except MazurkaError as error:
                    wrong.append(f"seed {seed} ({model}): {error}")
                    continue
                if found != value:
                    wrong.append(f"seed {seed} ({model}): {found}, but gcc has {value}")
    return done, wrong


def compare_with_sanitizer(
    seeds: list[int], *, overflow: bool = False
) -> tuple[Counter[str], list[str]]:
    """The same for programs that may use memory wrongly, or overflow."""
    done: Counter[str] = Counter()
    wrong = []
    make = random_overflow if overflow else random_memory_use
    sources = [make(Random(seed)) for seed in seeds]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        expected = (
            run_sanitized(sources, folder, ARITHMETIC, OVERFLOW_NAMES)
            if overflow
            else run_sanitized(sources, folder)
        )
        if expected is None:
            return Counter({"not compiled": len(seeds)}), []
        for seed, source, faulty in zip(seeds, sources, expected, strict=True):
            try:
                fault = find_fault(source, folder, overflow=overflow)
            except MazurkaError as error:
                wrong.append(f"seed {seed}: {error}")
                continue
            done["undecided" if fault is Fault.BOUND else "faulty" if faulty else "right"] += 1
            if fault is not Fault.BOUND and (fault is not None) != faulty:
                wrong.append(f"seed {seed}: {fault}, but the sanitizer says {faulty}")
    return done, wrong


def compare_with_allocators(seeds: list[int]) -> tuple[Counter[str], list[str]]:
    """The same for programs that compare addresses."""
    done: Counter[str] = Counter()
    wrong = []
    programs = [address_code.make_statements(Random(seed)) for seed in seeds]
    sources = [address_code.show_program(each) for each in programs]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        printed = compile_and_run_all(sources, "lp64", folder, address_code.NAMES, "-O0")
        if printed is None:
            done["not compiled"] += len(seeds)
            printed = []
        for seed, program, source in zip(seeds, programs, sources, strict=True):
            expected = address_code.find_answers(program)
            try:
                found = address_code.explore_answers(source, folder)
            except MazurkaError as error:
                wrong.append(f"seed {seed}: {error}")
                continue
            done["one answer" if len(expected) == 1 else "several answers"] += 1
            if found != expected:
                wrong.append(f"seed {seed}: {found ^ expected} is found or expected alone")
            if printed and printed[seed - seeds[0]] not in found:
                wrong.append(f"seed {seed}: gcc's program prints {printed[seed - seeds[0]]}")
    return done, wrong


def compare_strategies(
    seeds: list[int], strategies: tuple[str, ...], *, memory: bool
) -> tuple[Counter[str], list[str]]:
    """The same for concurrent programs and all strategies."""
    done: Counter[str] = Counter()
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        for seed in seeds:
            source = random_concurrent(Random(seed), memory=memory)
            verdict, disagreeing = find_disagreements(source, Path(name), strategies)
            done[verdict] += 1
            wrong += [f"seed {seed}: {each}" for each in disagreeing]
    return done, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=200, help="sequential ones, against gcc")
    parser.add_argument("--memory", type=int, default=0, help="these instead, by a sanitizer")
    parser.add_argument("--overflow", type=int, default=0, help="these instead, by a sanitizer")
    parser.add_argument("--addresses", type=int, default=0, help="these instead, by all allocators")
    parser.add_argument("--heap", action="store_true", help="concurrent ones with a heap and waits")
    parser.add_argument("--concurrent", type=int, default=0, help="these instead, by strategies")
    parser.add_argument("--strategies", help="separated by commas; all that are sound unless given")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    if not arguments.concurrent and shutil.which("gcc") is None:
        print("there is no gcc")
        return 2
    count = arguments.concurrent or arguments.memory or arguments.overflow or arguments.addresses
    count = count or arguments.programs
    part = 5 if arguments.concurrent else PART
    names = SOUND if arguments.strategies is None else tuple(arguments.strategies.split(","))
    compare = compare_with_sanitizer if arguments.memory else compare_with_gcc
    if arguments.overflow:
        compare = partial(compare_with_sanitizer, overflow=True)
    if arguments.concurrent:
        compare = partial(compare_strategies, strategies=names, memory=arguments.heap)
    if arguments.addresses:
        compare = compare_with_allocators
    every = list(range(arguments.seed, arguments.seed + count))
    parts = [every[start : start + part] for start in range(0, count, part)]
    done: Counter[str] = Counter()
    bad = 0
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for number, each in enumerate(as_completed([pool.submit(compare, p) for p in parts]), 1):
            counted, wrong = each.result()
            done += counted
            bad += len(wrong)
            for line in wrong:
                print(line, flush=True)
            told = ", ".join(f"{many} {what}" for what, many in sorted(done.items()))
            print(f"{number} of {len(parts)} parts: {told}; {bad} disagreements", flush=True)
    if done["not compiled"]:
        print("some could not be compiled: is gcc-multilib installed?")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
