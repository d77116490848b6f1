"""A SAT solver in another process, from the side of who uses it.

CaDiCaL through python-sat cannot be interrupted: while it solves, no signal is handled.  So it runs
in a process of its own (`mazurka.symbolic.solving.process`), which is killed when a limit is
reached or the user presses Ctrl-C.  Starting the process takes longer than many searches: one that
is no longer needed is kept, and the next solver is made in it.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import time
from array import array
from collections.abc import Callable, Sequence
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

import numpy as np

from mazurka.deadline import check_time
from mazurka.processes import PIPE, python, start
from mazurka.symbolic.graphs.graph import Numbers
from mazurka.symbolic.solving.process import (
    ADD,
    CORE,
    FOUND,
    MICROSECONDS,
    NEW,
    NUMBER,
    PROGRESS,
    PROVE,
    SOLVE,
    UNDECIDED,
    VALUES,
    read_message,
    write_message,
)
from mazurka.symbolic.solving.property_directed import (
    Problem,
    Progress,
    Proved,
    Reached,
    Undecided,
)

DEFAULT_SOLVER = "cadical195"
SERVE = "mazurka.symbolic.solving.process:serve"
PULSE_SECONDS = 0.05
"""How often it is asked whether to go on while the solver works."""
MOST_UNSENT = 1 << 16
"""So many numbers of clauses wait until something is asked."""
MOST_SENT = 1 << 19
"""About so many numbers are sent at a time: the process reads the next ones when it has loaded
them, and nobody looks at limits until then."""
MOST_IDLE = 2
"""How many processes are kept for later."""

_idle: list[_Process] = []


class SolverFailure(Exception):  # noqa: N818 - it is a limit in most cases, not an error
    """The solver's process has ended by itself: most likely there was no memory left for it."""


class _Process:
    """A process that solves.  It answers each question with one message, and says nothing else, so
    that no thread need listen to it: where one stays, other code of this process must not fork."""

    def __init__(self) -> None:
        self.began = time.perf_counter()
        # With a session of its own: Ctrl-C is for us alone.
        self.process = start(python(SERVE), stdin=PIPE, stdout=PIPE, own_session=True)

    @property
    def input(self) -> BinaryIO:
        return cast(BinaryIO, self.process.stdin)

    def has_answered(self, seconds: float) -> bool:
        """Wait so long for an answer, or for the end of the process."""
        return bool(wait([cast(BinaryIO, self.process.stdout).fileno()], seconds))

    def read_answer(self) -> tuple[bytes, array[int]]:
        message = None
        with contextlib.suppress(OSError, ValueError):
            message = read_message(cast(BinaryIO, self.process.stdout))
        if message is None:
            raise SolverFailure
        return message

    def send(self, command: bytes, numbers: bytes) -> None:
        try:
            write_message(self.input, command, numbers)
            self.input.flush()
        except (OSError, ValueError) as error:
            raise SolverFailure from error

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                cast(BinaryIO, stream).close()

    def resident_bytes(self) -> int:
        """The memory of the process; 0 where the system does not tell."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            words = Path(f"/proc/{self.process.pid}/statm").read_text("ascii").split()
            return int(words[1]) * os.sysconf("SC_PAGE_SIZE")
        return 0

    def processor_seconds(self) -> float:
        """The processor time of the process; that of the clock where the system does not tell."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            text = Path(f"/proc/{self.process.pid}/stat").read_text("ascii", errors="replace")
            user, system = text.rpartition(")")[2].split()[11:13]
            return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
        return time.perf_counter() - self.began


class Solver:
    """What works in a process of its own.  Use it as a context: the process is given back, or
    killed.

    `waiting` is called while the process works, and between its answers where these are many and
    quick: some twenty times a second at most.  It may raise an exception to end that.  Without it,
    only the time limit is looked at.
    """

    loading_seconds = 0.0
    clauses = 0
    _solved = 0.0
    _ended: float | None = None
    """When the process was killed."""

    def __init__(self, waiting: Callable[[Self], None] | None = None) -> None:
        self.waiting: Callable[[Any], None] | None = waiting
        self._looked = time.perf_counter()
        """When `waiting` was called last."""
        self._process = _take_idle() or _Process()
        self._used_before = self._process.processor_seconds()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        alive = self._process.process.poll() is None
        if kind is None and alive and len(_idle) < MOST_IDLE:
            _idle.append(self._process)
        else:
            self.kill()

    def kill(self) -> None:
        """End the process: this solver answers nothing more."""
        self._ended = self._ended or time.perf_counter()
        self._process.kill()

    def resident_bytes(self) -> int:
        return self._process.resident_bytes()

    def processor_seconds(self) -> float:
        """What this solver has taken of a processor."""
        return self._process.processor_seconds() - self._used_before

    def _send(self, command: bytes, numbers: Sequence[int]) -> None:
        self._process.send(command, array(NUMBER, numbers).tobytes())

    def _hear(self) -> tuple[bytes, array[int]]:
        """Wait for the next message."""
        while True:
            if time.perf_counter() - self._looked >= PULSE_SECONDS:
                self.look_around()
            if self._process.has_answered(PULSE_SECONDS):
                return self._process.read_answer()

    def look_around(self) -> None:
        """Ask whether to go on."""
        if self.waiting is None:
            check_time()
        else:
            self.waiting(self)
        self._looked = time.perf_counter()


class SatSolver(Solver):
    """An incremental SAT solver."""

    conflicts = 0
    """How often it has had to go back: a measure of its work that no other work disturbs."""

    def __init__(
        self, name: str = DEFAULT_SOLVER, waiting: Callable[[Self], None] | None = None
    ) -> None:
        super().__init__(waiting)
        self._asked: float | None = None
        """When a question was asked that has not been answered."""
        self._unsent: list[int] = []
        """Single clauses: they are sent together, when something is asked or they are many."""
        self._send(NEW, list(name.encode("ascii")))

    def add(self, clauses: Numbers) -> None:
        """Add clauses, one behind the other, each ended by 0."""
        (ends,) = np.nonzero(clauses == 0)
        self.clauses += len(ends)
        start = 0
        while start < len(clauses):
            place = int(np.searchsorted(ends, start + MOST_SENT))
            end = int(ends[min(place, len(ends) - 1)]) + 1
            self._process.send(ADD, np.ascontiguousarray(clauses[start:end], np.int32).tobytes())
            start = end
            if start < len(clauses):
                self.look_around()

    def add_clause(self, literals: Sequence[int]) -> None:
        self.clauses += 1
        self._unsent += literals
        self._unsent.append(0)
        if len(self._unsent) > MOST_UNSENT:
            self._send_clauses()

    def _send_clauses(self) -> None:
        if self._unsent:
            self._send(ADD, self._unsent)
            self._unsent = []

    def solve(self, assumptions: Sequence[int] = ()) -> bool:
        """Whether there is a model in which the assumptions hold."""
        self.begin_solving(assumptions)
        return self._read_model(self._hear()[1])

    def begin_solving(self, assumptions: Sequence[int]) -> None:
        """The same for who does not wait: ask with `has_answered`, then hear."""
        self._send_clauses()
        self._send(SOLVE, assumptions)
        self._asked = time.perf_counter()

    @property
    def solving_seconds(self) -> float:
        """How long questions have taken; one that was not answered took until the process was
        killed."""
        if self._asked is None:
            return self._solved
        ended = self._ended or time.perf_counter()
        return self._solved + ended - self._asked

    def hear_of_model(self) -> bool:
        """Whether there is a model, as the process has answered."""
        return self._read_model(self._process.read_answer()[1])

    def _read_model(self, numbers: array[int]) -> bool:
        found, loading, solving, self.conflicts = numbers
        self.loading_seconds += loading / MICROSECONDS
        self._solved += solving / MICROSECONDS
        self._asked = None
        return bool(found)

    def values(self, variables: Sequence[int]) -> list[int]:
        """The values of variables in the last model; 0 for those that do not occur."""
        return list(self._ask(VALUES, variables))

    def core(self) -> list[int]:
        """Assumptions of the last question, which had no model, that cannot hold together."""
        return list(self._ask(CORE, ()))

    def prove(
        self, problem: Problem, tell: Callable[[Progress], None]
    ) -> Reached | Proved | Undecided:
        """Let the process look for an inductive invariant; `tell` hears of its progress, and may
        raise an exception to end it.  The clauses of this solver play no part in that."""
        self.begin_proof(problem)
        while True:
            found = self._read_proof(self._hear(), len(problem.inputs))
            if not isinstance(found, Progress):
                return found
            tell(found)
            self.go_on()

    def begin_proof(self, problem: Problem) -> None:
        """The same for who does not wait: ask with `has_answered`, then hear, then let it go on."""
        began = time.perf_counter()
        self._send(PROVE, problem.to_numbers())
        self.loading_seconds += time.perf_counter() - began

    def has_answered(self, seconds: float = 0.0) -> bool:
        """Whether there is something to hear of the proof; wait for it so long."""
        return self._process.has_answered(seconds)

    def hear_of_proof(self, inputs: int) -> Progress | Reached | Proved | Undecided:
        """What there is to hear; `inputs` are as many as the problem has."""
        return self._read_proof(self._process.read_answer(), inputs)

    @staticmethod
    def _read_proof(
        message: tuple[bytes, array[int]], inputs: int
    ) -> Progress | Reached | Proved | Undecided:
        command, numbers = message
        if command == PROGRESS:
            return Progress(*numbers)
        if command == UNDECIDED:
            return Undecided(*numbers)
        if command != FOUND:
            return Proved(_split(numbers))
        count = numbers[0]
        starts = range(1, 1 + count * inputs, inputs) if inputs else [1] * count
        return Reached([list(numbers[start : start + inputs]) for start in starts])

    def go_on(self) -> None:
        """Let a proof go on whose progress has been heard of."""
        self._send(PROGRESS, ())

    def _ask(self, command: bytes, numbers: Sequence[int]) -> array[int]:
        self._send(command, numbers)
        return self._hear()[1]


def _split(numbers: Sequence[int]) -> list[list[int]]:
    """What stands before each 0."""
    found: list[list[int]] = [[]]
    for number in numbers:
        if number:
            found[-1].append(number)
        else:
            found.append([])
    return found[:-1]


def _take_idle() -> _Process | None:
    """A process that is kept and has not ended meanwhile."""
    while _idle:
        process = _idle.pop()
        if process.process.poll() is None:
            return process
        process.kill()
    return None


@atexit.register
def close_idle() -> None:
    """End the processes that are kept for later."""
    while _idle:
        _idle.pop().kill()
