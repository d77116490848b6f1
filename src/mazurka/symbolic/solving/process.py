"""The process in which a SAT solver runs: it reads commands, and answers.

This file is run as a program, without the rest of Mazurka: starting it must not take longer than
needed.  A message is one byte that says what it is, the length of what follows in 32-bit numbers,
and these numbers.

| command | numbers | answer |
|---|---|---|
| `NEW` | the name of a solver, a character a number | none: the next solver is empty |
| `ADD` | clauses, each ended by 0 | none |
| `SOLVE` | assumptions | 1 or 0, microseconds spent on loading since the last answer, on solving |
| `VALUES` | variables | 1 or 0 for each, in the last model |
"""

from __future__ import annotations

import contextlib
import ctypes
import signal
import struct
import sys
import time
from array import array
from typing import Any, BinaryIO

NEW, ADD, SOLVE, VALUES = b"N", b"A", b"S", b"V"
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
        return array(NUMBER, [int(bool(found)), *times])

    def values(self, variables: array[int]) -> array[int]:
        model = self.model
        return array(NUMBER, [int(v <= len(model) and model[v - 1] > 0) for v in variables])


def end_with_parent() -> None:
    """Have the system end this process when the one that started it is gone, where it can (Linux):
    a solver at work would not notice that nobody waits for its answer."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)


def serve() -> None:
    end_with_parent()
    server, source, target = Server(), sys.stdin.buffer, sys.stdout.buffer
    while (message := read_message(source)) is not None:
        answer = server.answer(*message)
        if answer is not None:
            write_message(target, message[0], answer.tobytes())
            target.flush()


if __name__ == "__main__":
    serve()
