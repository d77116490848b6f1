"""Random programs in which threads wait for each other, and assumptions stop some of them.

Few cells and short threads: locks, two flags, a semaphore.  Nothing fails, so that every execution
which ends does so because threads have finished, wait, or are stopped.
"""

from __future__ import annotations

from random import Random

from mazurka.ir.expressions import ONE, ZERO, Binary, Choice, Const, Expr, Load
from mazurka.ir.program import FINISHED, FIRST_LOCATION, Assign, Cell, Kind, Program, Role, Thread
from tests.soundness.building import ProgramBuilder
from tests.soundness.synchronizing import SynchronizingThread

STATEMENTS = ("section",) * 4 + ("assume",) * 3 + ("wait", "wait", "set", "set", "down", "up")
MOST = 2
"""How much the semaphore holds."""


def stopping_program(rng: Random) -> Program:
    """A program of two to four threads, one of which another one may create."""
    return _Stopping(rng, "stopping", rng.choice((2, 3, 3, 3, 4))).generate()


class _Stopping(ProgramBuilder):
    def generate(self) -> Program:
        rng = self.rng
        self.locks = [self.add(Cell(n, 0, self.threads, role=Role.OWNER)) for n in ("a", "b")]
        self.flags = [self.add(Cell(n, 0, 1, rng.randint(0, 1))) for n in ("x", "y")]
        self.semaphore = self.add(Cell("s", 0, MOST, rng.randint(0, 1), role=Role.SYNC))
        creates = self.threads > 2 and rng.random() < 0.3
        watches = self.threads > 2 and not creates and rng.random() < 0.15
        last = self.threads - 1
        return self.assemble(
            [self.watcher(last) if watches and number == last else
             self.worker(number, creates=creates) for number in range(self.threads)]
        )  # fmt: skip

    def worker(self, number: int, *, creates: bool) -> Thread:
        body = _Worker(self, number)
        for _ in range(self.rng.randint(1, 3)):
            body.statement()
        if creates and number == 0:
            counter = Const(self.threads)
            body.step(Kind.CREATE, Assign(counter, Const(FIRST_LOCATION)), atomic=True)
        loops = self.rng.random() < 0.1
        body.edge(body.here, FIRST_LOCATION if loops and not creates else FINISHED, Kind.LOCAL)
        return body.thread(active=not (creates and number == self.threads - 1))

    def watcher(self, number: int) -> Thread:
        body = _Worker(self, number)
        seen = Assign(Const(body.local), Load(Const(self.flags[0])))
        body.edge(body.here, FINISHED, Kind.ATOMIC, seen)
        return body.thread(observer=True)


class _Worker(SynchronizingThread):
    def __init__(self, program: _Stopping, number: int) -> None:
        super().__init__(program, number)
        self.shared = program
        self.local = program.add(Cell(f"l{number}", 0, 1, owner=number))

    def statement(self) -> None:
        if self.rng.random() < 0.15:
            self.do_atomic()
        else:
            getattr(self, "do_" + self.rng.choice(STATEMENTS))()

    def condition(self) -> Expr:
        one, other = (Load(Const(self.rng.choice(self.shared.flags))) for _ in range(2))
        return self.rng.choice(
            (Binary("eq", one, ONE), Binary("eq", one, ZERO), Binary("ne", one, other))
        )

    def do_section(self) -> None:
        """What is done under a lock, which now and then is not given back."""
        lock = Const(self.rng.choice(self.shared.locks))
        self.acquire(lock)
        for _ in range(self.rng.randint(0, 2)):
            self.statement()
        if self.rng.random() < 0.9:
            self.step(Kind.RELEASE, Assign(lock, ZERO), subject=lock)

    def do_assume(self) -> None:
        self.step(Kind.ASSUME, guard=ZERO if self.rng.random() < 0.4 else self.condition())

    def do_wait(self) -> None:
        self.step(Kind.UNTIL, guard=self.condition())

    def do_set(self) -> None:
        flag = Const(self.rng.choice(self.shared.flags))
        self.step(Kind.ACCESS, Assign(flag, Const(self.rng.randint(0, 1))))

    def do_down(self) -> None:
        self.down(self.shared.semaphore)

    def do_up(self) -> None:
        semaphore = Const(self.shared.semaphore)
        more = Binary("min", Binary("add", Load(semaphore), ONE), Const(MOST))
        self.step(Kind.UP, Assign(semaphore, more), subject=semaphore)

    def do_atomic(self) -> None:
        """A section that chooses, and then waits or is stopped, also by what it has chosen."""
        self.in_atomic = True
        self.step(Kind.ATOMIC)
        self.step(Kind.CHOOSE, Assign(Const(self.local), Choice()), choices=2)
        if self.rng.random() < 0.5:
            self.do_set()
        kind = self.rng.choice((Kind.ASSUME, Kind.UNTIL))
        flag = Load(Const(self.rng.choice(self.shared.flags)))
        self.step(kind, guard=Binary("eq", Load(Const(self.local)), flag))
        kind = self.rng.choice((Kind.ASSUME, Kind.UNTIL))
        self.in_atomic = False
        self.step(kind, guard=self.condition(), atomic=True)
