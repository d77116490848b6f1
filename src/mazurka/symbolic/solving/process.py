"""The process in which a SAT solver runs: it reads commands, and answers.

The process imports this module and little else: starting it must not take longer than needed.  A
message is one byte that says what it is, the length of what follows in 32-bit numbers, and these
numbers.

| command | numbers | answer |
|---|---|---|
| `NEW` | the name of a solver, a character a number | none: the next solver is empty |
| `ADD` | clauses, each ended by 0 | none |
| `SOLVE` | assumptions | 1 or 0, microseconds spent on loading since the last answer, on solving, \
and the conflicts of all questions so far |
| `VALUES` | variables | 1 or 0 for each, in the last model |
| `CORE` | none | assumptions of the last question that cannot hold together |
| `PROVE` | a `Problem` of `mazurka.symbolic.solving.property_directed` | now and then `PROGRESS` \
with its three numbers, to be answered by `PROGRESS`; then `PROVED` with cubes, each ended by 0, \
or `FOUND` with the number of transitions and the values of all inputs, or `UNDECIDED` with the \
number of frames |
| `REACH` | a `ReachProblem` of `mazurka.symbolic.solving.reachability` | now and then `PROGRESS` \
with its three numbers, to be answered by `PROGRESS`; `FOUND` with the number of a target and for \
each frame the part and the values of all inputs, to be answered by `PROGRESS` with 1 to go on, or \
0 to end; where there are conditions and a fair cycle, `LASSO` with the number of frames before \
its loop, and for each frame the same, to be answered by `PROGRESS`; then `PROVED` with the number \
of passes, and of states, a digit a number |
"""

from __future__ import annotations

import contextlib
import ctypes
import signal
import struct
import sys
import time
from array import array
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

NEW, ADD, SOLVE, VALUES, CORE = b"N", b"A", b"S", b"V", b"C"
PROVE, PROGRESS, PROVED, FOUND, UNDECIDED = b"I", b"P", b"Y", b"F", b"U"
REACH, LASSO = b"R", b"L"
HEADER = struct.Struct("<cI")
NUMBER = "i"
NUMBER_BYTES = array(NUMBER).itemsize
MICROSECONDS = 1_000_000
MOST = 2**31 - 1
SET_DEATH_SIGNAL = 1
"""`PR_SET_PDEATHSIG` of Linux; other systems have no `prctl`."""


def write_message(stream: BinaryIO, command: bytes, numbers: bytes) -> None:
    stream.write(HEADER.pack(command, len(numbers) // NUMBER_BYTES))
    stream.write(numbers)


def read_message(stream: BinaryIO) -> tuple[bytes, array[int]] | None:
    """The next message; None at the end."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    command, count = HEADER.unpack(header)
    numbers = array(NUMBER)
    numbers.frombytes(stream.read(count * NUMBER_BYTES))
    return command, numbers


class Server:
    """One solver after another."""

    def __init__(self) -> None:
        self.solver: Any = None
        self.loading = 0.0
        self.model: list[int] = []

    def answer(self, command: bytes, numbers: array[int]) -> array[int] | None:
        started = time.perf_counter()
        if command == NEW:
            self.start("".join(map(chr, numbers)))
        elif command == ADD:
            self.load(numbers.tolist())
        elif command == SOLVE:
            return self.solve(numbers.tolist(), started)
        elif command == CORE:
            return array(NUMBER, self.solver.get_core() or ())
        else:
            return self.values(numbers)
        self.loading += time.perf_counter() - started
        return None

    def start(self, name: str) -> None:
        from pysat.solvers import Solver

        if self.solver is not None:
            self.solver.delete()
        self.solver, self.loading, self.model = Solver(name=name), 0.0, []

    def load(self, numbers: list[int]) -> None:
        add, start = self.solver.add_clause, 0
        find = numbers.index
        while start < len(numbers):
            end = find(0, start)
            add(numbers[start:end])
            start = end + 1

    def solve(self, assumptions: list[int], started: float) -> array[int]:
        found = self.solver.solve(assumptions=assumptions)
        if found:
            self.model = self.solver.get_model()
        solving = time.perf_counter() - started
        times = (min(int(each * MICROSECONDS), MOST) for each in (self.loading, solving))
        self.loading = 0.0
        conflicts = min((self.solver.accum_stats() or {}).get("conflicts", 0), MOST)
        return array(NUMBER, [int(bool(found)), *times, conflicts])

    def values(self, variables: array[int]) -> array[int]:
        model = self.model
        return array(NUMBER, [int(v <= len(model) and model[v - 1] > 0) for v in variables])


def prove(problem: array[int], send: Callable[[bytes, Sequence[int]], None]) -> None:
    """Look for an inductive invariant, and send what comes of it."""
    from mazurka.symbolic.solving import property_directed as prover

    search = prover.PropertyDirected(
        prover.Problem.from_numbers(problem), lambda progress: send(PROGRESS, progress)
    )
    answer = search.search()
    if isinstance(answer, prover.Proved):
        send(PROVED, [number for cube in answer.cubes for number in (*cube, 0)])
    elif isinstance(answer, prover.Undecided):
        send(UNDECIDED, answer)
    else:
        send(FOUND, [len(answer.frames), *(bit for frame in answer.frames for bit in frame)])


def reach(
    problem: array[int],
    send: Callable[[bytes, Sequence[int]], None],
    ask: Callable[[bytes, Sequence[int]], array[int]],
) -> None:
    """Find the reachable states, and send what comes of it."""
    from mazurka.symbolic.solving import fair_cycles, reachability

    def tell(*progress: int) -> None:
        ask(PROGRESS, progress)

    def report(target: int, frames: list[tuple[int, list[int]]]) -> bool:
        flat = [number for part, inputs in frames for number in (part, *inputs)]
        return bool(ask(FOUND, [target, *flat])[0])

    search = reachability.Reachability(
        reachability.ReachProblem.from_numbers(problem),
        lambda progress: tell(*progress),
        report,
    )
    if not search.search():
        return
    if search.conditions:
        lasso = fair_cycles.FairCycles(
            search, lambda nodes: tell(search.passes, search.rings, nodes)
        ).find()
        if lasso is not None:
            flat = [number for part, inputs in lasso.frames for number in (part, *inputs)]
            ask(LASSO, [lasso.loop, *flat])
    send(PROVED, [search.passes, *map(int, str(search.count()))])


def end_with_parent() -> None:
    """Have the system end this process when the one that started it is gone, where it can (Linux):
    a solver at work would not notice that nobody waits for its answer."""
    with contextlib.suppress(OSError, AttributeError, TypeError):  # the last one on Windows
        ctypes.CDLL(None).prctl(SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)


def serve() -> None:
    """Answer what comes on standard input; `Solver` starts a process that does so."""
    end_with_parent()
    server, source, target = Server(), sys.stdin.buffer, sys.stdout.buffer

    def send(command: bytes, numbers: Sequence[int]) -> None:
        write_message(target, command, array(NUMBER, numbers).tobytes())
        target.flush()
        if command == PROGRESS:
            read_message(source)  # nothing more is said before it has been heard

    def ask(command: bytes, numbers: Sequence[int]) -> array[int]:
        write_message(target, command, array(NUMBER, numbers).tobytes())
        target.flush()
        answer = read_message(source)
        if answer is None:
            raise SystemExit
        return answer[1]

    while (message := read_message(source)) is not None:
        if message[0] == PROVE:
            prove(message[1], send)
            continue
        if message[0] == REACH:
            reach(message[1], send, ask)
            continue
        answer = server.answer(*message)
        if answer is not None:
            send(message[0], answer)
