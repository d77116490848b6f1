"""A thread that is built statement by statement, and its synchronization.

The edges have the shapes that the front end gives them: kind, guard, operations, subject.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from mazurka.ir.expressions import ONE, ZERO, Binary, Conditional, Const, Element, Expr, Load
from mazurka.ir.program import FIRST_LOCATION, Assign, Check, Fault, Kind, Operation
from tests.soundness.building import ProgramBuilder, ThreadBuilder

NEW, STARTED, DONE = 0, 1, 2
"""What a thread's status cell holds."""


class SynchronizingThread(ThreadBuilder):
    """Code is added at `here`."""

    def __init__(self, program: ProgramBuilder, number: int) -> None:
        super().__init__(program, number)
        self.me = Const(number + 1)
        self.here = self.location()

    def step(
        self,
        kind: Kind,
        *operations: Operation,
        guard: Expr | None = None,
        choices: int = 1,
        subject: int | Expr | None = None,
    ) -> None:
        """One edge from here to a new location; one with a subject synchronizes."""
        self.ways(kind, [(guard, operations)], choices=choices, subject=subject)

    def ways(
        self,
        kind: Kind,
        alternatives: Iterable[tuple[Expr | None, tuple[Operation, ...]]],
        *,
        choices: int = 1,
        subject: int | Expr | None = None,
    ) -> None:
        """Edges that all lead from here to one new location."""
        following = self.location()
        about = Const(subject) if isinstance(subject, int) else subject
        for guard, operations in alternatives:
            self.edge(
                self.here,
                following,
                kind,
                *operations,
                guard=guard,
                choices=choices,
                atomic=subject is not None,
                subject=about,
            )
        self.here = following

    # --- locks ---------------------------------------------------------------------------------

    def acquire(self, lock: Expr) -> None:
        free = Binary("eq", Load(lock), ZERO)
        self.step(Kind.ACQUIRE, Assign(lock, self.me), guard=free, subject=lock)

    def release(self, lock: Expr, *, owned: bool) -> None:
        """With `owned` only the holder may do it; else whoever finds the lock taken."""
        held = Binary("eq", Load(lock), self.me) if owned else Binary("ne", Load(lock), ZERO)
        check = Check(held, Fault.LOCK, "release of a lock that is not held")
        self.step(Kind.RELEASE, check, Assign(lock, ZERO), subject=lock)

    def try_acquire(self, lock: Expr, answer: int) -> None:
        free = Binary("eq", Load(lock), ZERO)
        taken = Binary("ne", Load(lock), ZERO)
        self.ways(
            Kind.TRY_ACQUIRE,
            [
                (free, (Assign(lock, self.me), Assign(Const(answer), ONE))),
                (taken, (Assign(Const(answer), ZERO),)),
            ],
            subject=lock,
        )

    def acquire_again(self, lock: int, most: int) -> None:
        """A recursive lock: its owner, and how often it is held in the next cell."""
        owner, count = Load(Const(lock)), Load(Const(lock + 1))
        mine = Conditional(Binary("eq", owner, ZERO), ONE, Binary("eq", owner, self.me))
        self.step(
            Kind.ACQUIRE,
            Check(Binary("lt", count, Const(most)), Fault.BOUND, "recursion bound"),
            Assign(Const(lock), self.me),
            Assign(Const(lock + 1), Binary("add", count, ONE)),
            guard=mine,
            subject=lock,
        )

    def release_once(self, lock: int) -> None:
        owner, count = Load(Const(lock)), Load(Const(lock + 1))
        self.step(
            Kind.RELEASE,
            Check(Binary("eq", owner, self.me), Fault.LOCK, "release of a lock that is not held"),
            Assign(Const(lock + 1), Binary("sub", count, ONE)),
            Assign(Const(lock), Conditional(Binary("eq", count, ZERO), ZERO, owner)),
            subject=lock,
        )

    def inspect(self, cell: Expr, answer: int) -> None:
        """Ask whether a lock is taken or an event is set."""
        value = Binary("ne", Load(cell), ZERO)
        self.step(Kind.INSPECT, Assign(Const(answer), value), subject=cell)

    # --- semaphores, events, barriers ----------------------------------------------------------

    def down(self, semaphore: int) -> None:
        count = Load(Const(semaphore))
        less = Assign(Const(semaphore), Binary("sub", count, ONE))
        self.step(Kind.DOWN, less, guard=Binary("gt", count, ZERO), subject=semaphore)

    def up(self, semaphore: int, most: int, fault: Fault) -> None:
        more = Binary("add", Load(Const(semaphore)), ONE)
        check = Check(Binary("le", more, Const(most)), fault, "semaphore released too often")
        self.step(Kind.UP, check, Assign(Const(semaphore), more), subject=semaphore)

    def set_event(self, event: int) -> None:
        self.step(Kind.SET, Assign(Const(event), ONE), subject=event)

    def clear_event(self, event: int) -> None:
        self.step(Kind.CLEAR, Assign(Const(event), ZERO), subject=event)

    def await_event(self, event: int) -> None:
        self.step(Kind.AWAIT, guard=Binary("ne", Load(Const(event)), ZERO), subject=event)

    def pass_barrier(self, barrier: int, parties: int, position: int) -> None:
        """Two cells: how many are inside, and whether they are leaving."""
        inside, leaving = Load(Const(barrier)), Load(Const(barrier + 1))
        arrived = Binary("add", Load(Const(position)), ONE)
        self.step(
            Kind.ARRIVE,
            Assign(Const(position), inside),
            Assign(Const(barrier), arrived),
            Assign(Const(barrier + 1), Binary("eq", arrived, Const(parties))),
            guard=Binary("eq", leaving, ZERO),
            subject=barrier,
        )
        self.step(
            Kind.LEAVE,
            Assign(Const(barrier), Binary("sub", inside, ONE)),
            Assign(Const(barrier + 1), Conditional(Binary("eq", inside, ZERO), ZERO, ONE)),
            guard=Binary("ne", leaving, ZERO),
            subject=barrier,
        )

    # --- condition variables -------------------------------------------------------------------

    def wait(self, waiters: list[int], lock: int, *, queued: bool) -> None:
        """Join the waiters and let go of the lock; then take it again once notified."""
        check = self._must_hold(lock)
        mine: Expr = Const(waiters[self.number])
        entry: Expr = ONE
        waits: Expr = Binary("ne", Load(mine), ZERO)
        if queued:
            length: Expr = ZERO
            waits = ZERO
            for waiter in waiters:
                length = Binary("add", length, Binary("ne", Load(Const(waiter)), ZERO))
                waits = Conditional(Binary("eq", Load(Const(waiter)), self.me), ONE, waits)
            mine, entry = Element(Const(waiters[0]), length, len(waiters), 1), self.me
        release = Assign(Const(lock), ZERO)
        self.step(Kind.WAIT, check, Assign(mine, entry), release, subject=waiters[0])
        free = Binary("eq", Load(Const(lock)), ZERO)
        notified = Conditional(Binary("eq", waits, ZERO), free, ZERO)
        take = Assign(Const(lock), self.me)
        self.step(Kind.WAKE, take, guard=notified, subject=waiters[0])

    def notify(self, waiters: list[int], lock: int, *, everyone: bool) -> None:
        """Wake the first in the queue, or all."""
        operations: list[Operation] = [self._must_hold(lock)]
        if everyone:
            operations += [Assign(Const(waiter), ZERO) for waiter in waiters]
        else:
            operations += [Assign(Const(a), Load(Const(b))) for a, b in pairwise(waiters)]
            operations.append(Assign(Const(waiters[-1]), ZERO))
        self.step(Kind.NOTIFY, *operations, subject=waiters[0])

    def _must_hold(self, lock: int) -> Check:
        held = Binary("eq", Load(Const(lock)), self.me)
        return Check(held, Fault.LOCK, "the condition's lock is not held")

    # --- threads -------------------------------------------------------------------------------

    def create(self, thread: int, status: int, *arguments: Operation) -> None:
        start = Assign(Const(1 + thread), Const(FIRST_LOCATION))
        started = Assign(Const(status), Const(STARTED))
        following = self.location()
        self.edge(self.here, following, Kind.CREATE, *arguments, start, started, atomic=True)
        self.here = following

    def join(self, status: int) -> None:
        state = Load(Const(status))
        complaint = Check(ZERO, Fault.EXCEPTION, "join of a thread that has not been started")
        self.ways(
            Kind.JOIN,
            [
                (Binary("eq", state, Const(DONE)), ()),
                (Binary("eq", state, Const(NEW)), (complaint,)),
            ],
            subject=status,
        )
