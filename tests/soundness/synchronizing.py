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
        atomic: bool = False,
        subject: int | Expr | None = None,
    ) -> None:
        """One edge from here to a new location; one with a subject is indivisible."""
        following = self.location()
        self._leads(following, kind, guard, operations, choices, atomic, subject)
        self.here = following

    def ways(
        self,
        kind: Kind,
        alternatives: Iterable[tuple[Expr | None, tuple[Operation, ...]]],
        *,
        subject: int | Expr,
    ) -> None:
        """Edges that all lead from here to one new location."""
        following = self.location()
        for guard, operations in alternatives:
            self._leads(following, kind, guard, operations, 1, True, subject)
        self.here = following

    def _leads(
        self,
        target: int,
        kind: Kind,
        guard: Expr | None,
        operations: tuple[Operation, ...],
        choices: int,
        atomic: bool,
        subject: int | Expr | None,
    ) -> None:
        self.edge(
            self.here,
            target,
            kind,
            *operations,
            guard=guard,
            choices=choices,
            atomic=atomic or subject is not None,
            subject=Const(subject) if isinstance(subject, int) else subject,
        )

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
        take = Assign(lock, self.me)
        free, taken = Binary("eq", Load(lock), ZERO), Binary("ne", Load(lock), ZERO)
        self._attempt(lock, take, free, taken, answer)

    def _attempt(
        self, about: Expr, effect: Operation, success: Expr, failure: Expr, answer: int
    ) -> None:
        self.ways(
            Kind.TRY_ACQUIRE,
            [
                (success, (effect, Assign(Const(answer), ONE))),
                (failure, (Assign(Const(answer), ZERO),)),
            ],
            subject=about,
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

    def try_down(self, semaphore: int, answer: int) -> None:
        count = Load(Const(semaphore))
        take = Assign(Const(semaphore), Binary("sub", count, ONE))
        some, none = Binary("gt", count, ZERO), Binary("le", count, ZERO)
        self._attempt(Const(semaphore), take, some, none, answer)

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

    # --- queues and readers-writer locks ---------------------------------------------------------

    def put(self, queue: int, capacity: int, item: Expr, *, waits: bool) -> None:
        """A count, then the slots; a queue without a bound of its own may outgrow its slots."""
        count = Load(Const(queue))
        room = Binary("lt", count, Const(capacity))
        limit = () if waits else (Check(room, Fault.BOUND, "too many items"),)
        self.step(
            Kind.PUT,
            *limit,
            Assign(Element(Const(queue + 1), count, capacity, 1), item),
            Assign(Const(queue), Binary("add", count, ONE)),
            guard=room if waits else None,
            subject=queue,
        )

    def get(self, queue: int, capacity: int, item: int) -> None:
        count = Load(Const(queue))
        slots = [Const(queue + 1 + place) for place in range(capacity)]
        self.step(
            Kind.GET,
            Assign(Const(item), Load(slots[0])),
            *(Assign(slot, Load(following)) for slot, following in pairwise(slots)),
            Assign(slots[-1], ZERO),
            Assign(Const(queue), Binary("sub", count, ONE)),
            guard=Binary("gt", count, ZERO),
            subject=queue,
        )

    def begin_read(self, lock: int) -> None:
        """An owner cell for the writer, then a flag for each reader."""
        mine = Const(lock + 1 + self.number)
        check = Check(Binary("eq", Load(mine), ZERO), Fault.LOCK, "read twice by this thread")
        free = Binary("eq", Load(Const(lock)), ZERO)
        self.step(Kind.ACQUIRE, check, Assign(mine, ONE), guard=free, subject=lock)

    def end_read(self, lock: int) -> None:
        mine = Const(lock + 1 + self.number)
        check = Check(Binary("ne", Load(mine), ZERO), Fault.LOCK, "not read by this thread")
        self.step(Kind.RELEASE, check, Assign(mine, ZERO), subject=lock)

    def begin_write(self, lock: int) -> None:
        nobody: Expr = ONE
        for number in reversed(range(self.program.threads)):
            reads = Load(Const(lock + 1 + number))
            nobody = Conditional(Binary("eq", reads, ZERO), nobody, ZERO)
        free = Conditional(Binary("eq", Load(Const(lock)), ZERO), nobody, ZERO)
        self.step(Kind.ACQUIRE, Assign(Const(lock), self.me), guard=free, subject=lock)

    # --- condition variables -------------------------------------------------------------------

    def wait(self, waiters: list[int], lock: int, *, queued: bool, timed: bool) -> None:
        """Join the waiters and let go of the lock; take it again once notified, or too late.

        Giving up needs no place in a queue, so `timed` is for waiters that have flags.
        """
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
        ways: list[tuple[Expr | None, tuple[Operation, ...]]] = [(notified, (take,))]
        if timed:
            late = Conditional(waits, free, ZERO)
            ways.append((late, (Assign(mine, ZERO), take)))
        self.ways(Kind.WAKE, ways, subject=waiters[0])

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
        self.step(Kind.CREATE, *arguments, start, started, atomic=True)

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
