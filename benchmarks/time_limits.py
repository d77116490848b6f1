"""Whether `--limit-time` holds in every phase: models that make one phase long each.

    python benchmarks/time_limits.py [--only NAME] [--limit 5] [--wall]

Each shape is a whole command in a process of its own, so starting Python counts.  Prints what it
took by the wall clock and in processor time (of all its processes and threads).

On a machine that has other work to do the wall clock says little.  So the command's own clock is
its processor time here, unless `--wall` is given, and a command is late if it takes a tenth more
than the limit by the clock that it goes by.  Circuits are searched by other processes, and go by
the wall clock always.  For `compare`, whose limit is for each strategy, the limit is multiplied.
The status is 1 if a command is late.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
TOLERANCE = 1.1
HOPELESS = 60
"""A command that takes so many times its limit is stopped."""
BY_WALL = "from mazurka.__main__ import main; main()"
BY_PROCESSOR = f"import os, time; time.perf_counter = lambda: sum(os.times()[:4]); {BY_WALL}"


@dataclass(frozen=True)
class Shape:
    """A command whose time goes into one phase."""

    name: str
    source: str
    options: tuple[str, ...] = ()
    command: str = "check"
    searches: int = 1
    """How often the limit may be used."""
    fresh_cache: bool = False
    wall: bool = False
    """Whether it goes by the wall clock in any case."""


def long_function(lines: int) -> str:
    body = "\n".join(f"    x = (x + {i % 3 + 1}) % 7" for i in range(lines))
    return f"x = 0\n\n\ndef f():\n    global x\n{body}\n\n\nthreads = [f(), f()]\n"


def long_local_function(lines: int) -> str:
    body = "\n".join(f"    a = (b + {i % 3 + 1}) % 7\n    b = a" for i in range(lines // 2))
    text = f"x = 0\n\n\ndef f():\n    global x\n    b = x\n{body}\n    x = b\n"
    return f"{text}\n\nthreads = [f(), f()]\n"


def long_loop(lines: int) -> str:
    """One polling loop of many lines: whether it may hang is a question about a large graph."""
    body = "\n".join(f"        a = (x + a + {i % 3}) % 7" for i in range(lines))
    text = f"x = 0\n\n\ndef f():\n    global x\n    a = 0\n    x = 1\n    while a < 9:\n{body}\n"
    return f"{text}\n\nthreads = [f(), f()]\n"


def branches(count: int) -> str:
    body = "\n".join(
        f"        if a{i} > x:\n            a{(i + 1) % count} = a{i} + 1\n            x = a{i} % 9"
        for i in range(count)
    )
    begin = "\n".join(f"    a{i}: Int[0, 99] = {i % 9}" for i in range(count))
    text = "from mazurka.model import Int\n\nx: Int[0, 99] = 0\n\n\ndef f():\n    global x\n"
    return f"{text}{begin}\n    while True:\n{body}\n\n\nthreads = [f(), f()]\n"


def deep_inlining(depth: int) -> str:
    functions = "".join(
        f"def f{i}(a):\n    f{i + 1}(a + 1)\n    f{i + 1}(a + 2)\n\n\n" for i in range(depth)
    )
    last = f"def f{depth}(a):\n    global x\n    x = a % 5\n\n\n"
    return f"x = 0\n\n\n{functions}{last}def main():\n    f0(0)\n\n\nthreads = [main(), main()]\n"


def unrolled(count: int) -> str:
    return (
        "from mazurka.model import Array, Mutex\n\n"
        f"locks = Array(Mutex, {count})\nmine = [locks[i] for i in range({count})]\n\n\n"
        "def f():\n    for a in mine:\n        for b in mine:\n            with a:\n"
        "                pass\n\n\nthreads = [f(), f()]\n"
    )


def module_run(rounds: int) -> str:
    return (
        "from mazurka.model import Array, Int\n\nxs = Array(Int[0, 9], 9)\n"
        f"for i in range({rounds}):\n    xs[i % 9] = (xs[(i + 1) % 9] + i) % 10\n\n\n"
        "def f(i):\n    xs[i] = 0\n\n\nthreads = [f(i) for i in range(2)]\n"
    )


def comprehension(count: int) -> str:
    return (
        f"N = sum(i % 7 for i in range({count}))\nx = 0\n\n\n"
        "def f():\n    global x\n    x = N % 5\n\n\nthreads = [f(), f()]\n"
    )


def wide_state(cells: int) -> str:
    return (
        f"from mazurka.model import Array, Int\n\nxs = Array(Int[0, 9], {cells})\n\n\n"
        f"def f(i):\n    k: Int[0, {cells}] = 0\n    while k < {cells}:\n"
        "        xs[k] = (xs[(k * 7 + i) % 11] + 1) % 10\n        k += 1\n\n\n"
        "threads = [f(i) for i in range(3)]\n"
    )


def many_threads(count: int, lines: int) -> str:
    body = "\n".join(f"    xs[(i + {k}) % {count}] = (xs[i] + {k}) % 10" for k in range(lines))
    return (
        f"from mazurka.model import Array, Int\n\nxs = Array(Int[0, 9], {count})\n\n\n"
        f"def f(i):\n{body}\n\n\nthreads = [f(i) for i in range({count})]\n"
    )


def alike_threads(count: int, lines: int) -> str:
    body = "\n".join(f"    x = (x + {k % 5}) % 10" for k in range(lines))
    text = (
        f"from mazurka.model import Int\n\nx: Int[0, 9] = 0\n\n\ndef f():\n    global x\n{body}\n"
    )
    return f"{text}\n\nthreads = [f() for _ in range({count})]\n"


def many_locks(count: int, threads: int) -> str:
    """Takes locks in nested blocks of a loop, some of them by an index that is not known."""
    return (
        f"from mazurka.model import Array, Int, Mutex\n\nlocks = Array(Mutex, {count})\n"
        f"data = Array(Int[0, 3], {count})\n\n\ndef f(i):\n    k: Int[0, {count - 1}] = i\n"
        "    while True:\n"
        + "".join(
            f"        with locks[k]:\n            data[k] = (data[k] + 1) % 4\n"
            f"        k = (k + {j}) % {count}\n"
            for j in range(1, 40)
        )
        + f"\n\nthreads = [f(i) for i in range({threads})]\n"
    )


def large_search(threads: int) -> str:
    return (
        f"from mazurka.model import Array, Int\n\nxs = Array(Int[0, 7], {threads})\n\n\n"
        "def f(i):\n    while True:\n"
        f"        xs[i] = (xs[i] + xs[(i + 1) % {threads}] + 1) % 8\n\n\n"
        f"threads = [f(i) for i in range({threads})]\n"
    )


def ending_search(threads: int, steps: int) -> str:
    return (
        f"from mazurka.model import Array, Int\n\nxs = Array(Int[0, {steps}], {threads})\n\n\n"
        f"def f(i):\n    for k in range({steps}):\n"
        f"        xs[i] = max(xs[(i + 1) % {threads}], k)\n\n\n"
        f"threads = [f(i) for i in range({threads})]\n"
    )


def stopped_states(threads: int) -> str:
    """Many states in which nobody moves because of an assumption."""
    return (
        "from mazurka.model import Array, Int, Mutex, assume\n\n"
        f"lock = Mutex()\nxs = Array(Int[0, 40], {threads})\n\n\n"
        "def f(i):\n    while xs[i] < 40:\n        xs[i] += 1\n        if xs[i] % 2:\n"
        f"            with lock:\n                assume(xs[(i + 1) % {threads}] < xs[i])\n\n\n"
        f"threads = [f(i) for i in range({threads})]\n"
    )


def long_trace(steps: int) -> str:
    return (
        f"from mazurka.model import Int\n\nx: Int[0, {steps}] = 0\ny: Int[0, 3] = 0\n\n\n"
        f"def f():\n    global x\n    while x < {steps}:\n        x += 1\n"
        f'    assert False, "far away"\n\n\ndef g():\n    global y\n    while True:\n'
        "        y = (y + 1) % 4\n\n\nthreads = [f(), g()]\n"
    )


def long_quiet_walk(steps: int) -> str:
    """A hang in which a thread's loop has many local states."""
    return (
        "from mazurka.model import Int\n\nx: Int[0, 1] = 0\n\n\ndef f():\n"
        f"    k: Int[0, {steps}] = 0\n    while True:\n        if x == 1:\n            break\n"
        f"        k = (k + 1) % {steps}\n\n\nthreads = [f(), f()]\n"
    )


def test_program(threads: int) -> str:
    return (
        "import threading\n\n\ndef test_counts():\n    total = [0]\n\n    def add():\n"
        "        for _ in range(9):\n            total[0] += 1\n\n"
        f"    threads = [threading.Thread(target=add) for _ in range({threads})]\n"
        "    for each in threads:\n        each.start()\n    for each in threads:\n"
        "        each.join()\n    assert total[0] >= 0\n"
    )


def slow_test() -> str:
    """One run is long: a loop that shares nothing."""
    return (
        "import threading\n\n\ndef test_slow():\n    done = []\n\n    def work():\n        n = 0\n"
        "        for i in range(300_000_000):\n            n += i\n        done.append(n)\n\n"
        "    threads = [threading.Thread(target=work) for _ in range(2)]\n"
        "    for each in threads:\n        each.start()\n    for each in threads:\n"
        "        each.join()\n    assert len(done) == 2\n"
    )


def mailboxes(nodes: int, room: int) -> str:
    """Queues of wide numbers: a state has thousands of bits, and there are many facts to guess."""
    return (
        "from mazurka.model import Int, Queue, choose\n\n"
        f"boxes = [Queue({room}, (Int[0, 65535], Int[0, 65535])) for _ in range({nodes})]\n\n\n"
        "def f(i):\n    seen: Int[0, 65535] = 0\n    while True:\n"
        f"        then = (i + 1) % {nodes}\n"
        "        if not boxes[i].empty():\n            a, b = boxes[i].get()\n"
        "            assert b == (7 * a) % 65536\n            seen = (seen + a) % 65536\n"
        "            if not boxes[then].full():\n                boxes[then].put((a, b))\n"
        "        elif choose(False, True) and not boxes[then].full():\n"
        "            seen = choose(range(65536))\n"
        "            boxes[then].put((seen, (7 * seen) % 65536))\n\n\n"
        f"threads = [f(i) for i in range({nodes})]\n"
    )


def wide_counters(threads: int) -> str:
    """Two counters of 32 bits that stay the same: many threads, and no proof in a short time."""
    return (
        "from mazurka.model import Int, Mutex\n\na: Int[0, 2**32 - 1] = 0\n"
        "b: Int[0, 2**32 - 1] = 0\nlock = Mutex()\n\n\ndef f(i):\n    global a, b\n"
        "    while True:\n        with lock:\n            x = a\n            y = b\n"
        "            if x < 2**31 and y < 2**31:\n                a = x + i\n"
        "                b = y + i\n        with lock:\n            assert a * b != 7\n\n\n"
        f"threads = [f(i) for i in range({threads})]\n"
    )


STORED = (
    "full",
    "ample",
    "cartesian",
    "cpc",
    "cpc-strict",
    "cycle-detection",
    "lock-patterns",
    "optimistic",
    "stubborn",
)
OVER_SCHEDULES = ("dpor", "optimal-dpor", "sleep-sets", "source-dpor")
ASSERT = ("--property", "assert")
CIRCUITS = ("bdd", "bmc", "events", "k-induction", "pdr", "portfolio")
INTERLEAVINGS = ("full", "partial-order", "transactions")


def list_shapes() -> Iterator[Shape]:
    yield Shape("read: long function", long_function(20_000))
    yield Shape("read: long function, full", long_function(5_000), ("--strategy", "full"))
    yield Shape("read: long local function", long_local_function(40_000))
    yield Shape("read: deep inlining", deep_inlining(15))
    yield Shape("read: unrolled loops", unrolled(150))
    yield Shape("read: module level", module_run(10_000_000))
    yield Shape("read: constants", comprehension(100_000_000))
    yield Shape("passes: branches", branches(400))
    yield Shape("analysis: long loop", long_loop(4_000))
    yield Shape("analysis: wide state", wide_state(20_000))
    yield Shape("analysis: many threads", many_threads(60, 40))
    yield Shape("analysis: alike threads", alike_threads(60, 300))
    for strategy in ("stubborn", "lock-patterns", "ample", "cpc", "cartesian", "optimistic"):
        chosen = ("--strategy", strategy)
        yield Shape(f"analysis: long loop, {strategy}", long_loop(1_500), (*ASSERT, *chosen))
        yield Shape(f"analysis: many locks, {strategy}", many_locks(60, 12), (*ASSERT, *chosen))
    for strategy in STORED:
        chosen = (*ASSERT, "--strategy", strategy)
        yield Shape(f"search: {strategy}", large_search(9), chosen)
    yield Shape("search: breadth-first", large_search(9), ("--order", "bfs", "--strategy", "full"))
    yield Shape("search: races", large_search(9), ("--property", "race", "--explore-all"))
    yield Shape("search: every violation", ending_search(6, 5), ("--explore-all",))
    yield Shape("search: static movers", many_locks(9, 5), ("--strategy", "cpc", "--movers=static"))
    for strategy in OVER_SCHEDULES:
        chosen = (*ASSERT, "--strategy", strategy)
        yield Shape(f"search: {strategy}", ending_search(5, 4), chosen)
        yield Shape(f"read: long function, {strategy}", long_function(4_000), chosen)
    yield Shape("search: auto", large_search(9))
    yield Shape("search: wide states", wide_state(900), ASSERT)
    yield Shape("search: alike threads", alike_threads(12, 12))
    yield Shape("search: stopped states", stopped_states(5))
    yield Shape("search: self-check", ending_search(4, 6), ("--self-check", "--strategy", "full"))
    for store in ("disk", "bitstate"):
        chosen = ("--strategy", "full", "--store", store)
        yield Shape(f"search: store {store}", large_search(9), chosen)
    yield Shape("search: store disk, wide", wide_state(900), (*ASSERT, *chosen[:3], "disk"))
    yield Shape("explain: long trace", long_trace(300_000), ASSERT)
    yield Shape("explain: whole trace", long_trace(300_000), (*ASSERT, "--full-trace"))
    switches = (*ASSERT, "--counterexample", "switches")
    yield Shape("explain: fewest switches", long_trace(3_000_000), switches)
    yield Shape("explain: drawing", long_trace(60_000), (*ASSERT, "--format", "svg"))
    yield Shape("explain: hang with long loops", long_quiet_walk(2_000_000))
    yield Shape("explain: breadth-first", long_trace(1_000_000), (*ASSERT, "--order", "bfs"))
    yield from list_circuits()
    yield Shape("compare", large_search(9), ASSERT, "compare", 13)
    yield Shape("compare: long function", long_function(20_000), ASSERT, "compare")
    yield Shape("test: many schedules", test_program(4), command="test")
    yield Shape("test: one long run", slow_test(), command="test")
    yield Shape("fresh cache", large_search(9), fresh_cache=True)


def list_circuits() -> Iterator[Shape]:
    """Shapes of the symbolic engine.  Its solvers are other processes, whose time this one hears of
    when they end: so these go by the wall clock."""
    for strategy in CIRCUITS:
        chosen = ("--strategy", strategy)
        yield Shape(f"circuit: mailboxes, {strategy}", mailboxes(4, 16), chosen, wall=True)
        yield Shape(f"circuit: counters, {strategy}", wide_counters(8), chosen, wall=True)
        races = ("--property", "race", *chosen)
        yield Shape(f"circuit: races, {strategy}", wide_counters(8), races, wall=True)
        explained = (*chosen, "--explain")
        yield Shape(f"circuit: explained, {strategy}", many_locks(12, 8), explained, wall=True)
        if strategy != "events":
            formula = (*chosen, "--ltl", "G F a == b")
            yield Shape(f"circuit: formula, {strategy}", wide_counters(4), formula, wall=True)
    for strategy in ("bdd", "bmc", "pdr"):
        for name in INTERLEAVINGS:
            chosen = ("--strategy", strategy, "--interleaving", name)
            yield Shape(f"circuit: {name}, {strategy}", many_locks(12, 8), chosen, wall=True)


@dataclass(frozen=True)
class Taken:
    """What a command took."""

    wall: float
    processor: float
    status: int
    said: str


def run(shape: Shape, limit: float, folder: Path, *, by_wall: bool) -> Taken:
    """Run a command to its end."""
    path = folder / f"test_{''.join(c if c.isalnum() else '_' for c in shape.name)}.py"
    path.write_text(shape.source)
    command = [sys.executable, "-c", BY_WALL if by_wall else BY_PROCESSOR]
    command += [shape.command, str(path), *shape.options]
    environment = dict(os.environ, COLUMNS="200")
    if shape.fresh_cache:
        environment["MAZURKA_CACHE_DIR"] = str(folder / "cache")
    output = folder / "output"
    with output.open("w") as out:
        started, before = time.perf_counter(), os.times()
        process = subprocess.Popen(
            [*command, "--limit-time", str(limit)],
            stdout=out,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=environment,
        )
        try:
            status = process.wait(HOPELESS * limit * shape.searches)
        except subprocess.TimeoutExpired:
            process.kill()
            status = process.wait()
        wall, after = time.perf_counter() - started, os.times()
    processor = after.children_user + after.children_system
    processor -= before.children_user + before.children_system
    lines = output.read_text(errors="replace").splitlines() or [""]
    return Taken(wall, processor, status, " ".join(lines[0].split())[:90])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="shapes whose names contain this")
    parser.add_argument("--limit", type=float, default=5.0)
    parser.add_argument("--wall", action="store_true", help="go by the wall clock")
    arguments = parser.parse_args()
    late = 0
    print(f"{'shape':40}{'wall':>8}{'processor':>11}{'status':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for shape in list_shapes():
            if arguments.only not in shape.name:
                continue
            by_wall = arguments.wall or shape.wall
            taken = run(shape, arguments.limit, Path(folder), by_wall=by_wall)
            seconds = taken.wall if by_wall else taken.processor
            is_late = seconds > TOLERANCE * arguments.limit * shape.searches
            late += is_late
            figures = f"{taken.wall:>8.2f}{taken.processor:>11.2f}{taken.status:>8}"
            print(f"{shape.name:40}{figures}{' late' if is_late else '':7}{taken.said}", flush=True)
    print(f"{late} late")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
