"""Locks of three kinds, and condition variables, which wait under a lock.

A *lock* is an owner cell (0: free, else the holder's number plus one); a recursive one also counts.
One with `owned` may be released by its holder only (a mutex); otherwise any thread may release it,
and the owner cell serves messages only.

A *read-write lock* has many readers, or one writer.  A writer cell holds the writer's number plus
one; a flag for each thread says whether it reads.  Nobody is preferred: a writer may starve, as
with the simplest of such locks.

A *condition* has a lock (its own, or one it was given, whose place is known statically) and its
waiters: a first-in, first-out queue of thread numbers where some thread calls `notify`, which
wakes the longest waiter as CPython does; one flag a thread where there is only `notify_all`, since
the order cannot matter then.  A notification that finds nobody waiting is lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from mazurka.frontend.kit.arithmetic import binary, both, conditional, either, total
from mazurka.frontend.kit.builder import ThreadBuilder
from mazurka.frontend.kit.shapes import CellForm, Reference, SyncShape
from mazurka.ir.expressions import ONE, ZERO, Const, Element, Expr, Load, negate
from mazurka.ir.program import Assign, Check, Fault, Kind, Operation, Role, Span


@dataclass(frozen=True)
class LockShape(SyncShape):
    owned: bool = True
    """Only the holder may release it."""
    depth: int = 0
    """How often the holder may take it; 0 for a lock that is not recursive."""
    title: str = "Mutex"

    def forms(self) -> tuple[CellForm, ...]:
        owner = CellForm("", 0, self.threads, Role.OWNER)
        if not self.depth:
            return (owner,)
        return (owner, CellForm(".count", 0, self.depth, Role.SYNC))

    # --- parts of steps, also used by conditions -----------------------------------------------

    def is_free(self, build: ThreadBuilder, lock: Reference) -> Expr:
        """Whether the acting thread could take the lock now."""
        owner = Load(lock.address)
        available = binary("eq", owner, ZERO)
        return either(available, binary("eq", owner, build.me)) if self.depth else available

    def take(self, build: ThreadBuilder, lock: Reference) -> tuple[Operation, ...]:
        """Take the lock, which is free."""
        if not self.depth:
            return (Assign(lock.address, build.me),)
        count = Load(lock.cell(1))
        message = f"`{lock.title}` is taken more than {self.depth} times over (--max-depth)"
        return (
            Check(binary("lt", count, Const(self.depth)), Fault.BOUND, message),
            Assign(lock.address, build.me),
            Assign(lock.cell(1), binary("add", count, ONE)),
        )

    def may_release(self, build: ThreadBuilder, lock: Reference) -> Expr:
        """Whether the acting thread may release the lock."""
        owner = Load(lock.address)
        return binary("eq", owner, build.me) if self.owned else binary("ne", owner, ZERO)

    def give_up(self, build: ThreadBuilder, lock: Reference) -> tuple[Operation, ...]:
        """Release the lock once, the check included."""
        message = (
            f"release of `{lock.title}`, which this thread does not hold"
            if self.owned
            else f"release of `{lock.title}`, which is not locked"
        )
        check = Check(self.may_release(build, lock), Fault.LOCK, message)
        if not self.depth:
            return (check, Assign(lock.address, ZERO))
        count = lock.cell(1)
        last = binary("eq", Load(count), ZERO)
        return (
            check,
            Assign(count, binary("sub", Load(count), ONE)),
            Assign(lock.address, conditional(last, ZERO, Load(lock.address))),
        )

    # --- operations ----------------------------------------------------------------------------

    def acquire(self, build: ThreadBuilder, lock: Reference, span: Span) -> None:
        """Wait for the lock and take it."""
        build.act(
            Kind.ACQUIRE,
            span,
            f"acquire {lock.title}",
            lock,
            *self.take(build, lock),
            guard=self.is_free(build, lock),
        )

    def try_acquire(self, build: ThreadBuilder, lock: Reference, span: Span) -> Expr:
        """Take the lock if it is free; returns whether it was."""
        return build.attempt(
            Kind.TRY_ACQUIRE,
            span,
            f"try to acquire {lock.title}",
            lock,
            *self.take(build, lock),
            success=self.is_free(build, lock),
            failure=negate(self.is_free(build, lock)),
        )

    def release(self, build: ThreadBuilder, lock: Reference, span: Span) -> None:
        """Release the lock; a fault where the thread may not."""
        build.act(Kind.RELEASE, span, f"release {lock.title}", lock, *self.give_up(build, lock))

    def locked(self, build: ThreadBuilder, lock: Reference, span: Span) -> Expr:
        """Whether somebody holds the lock at this moment."""
        held = binary("ne", Load(lock.address), ZERO)
        return build.inspect(span, f"{lock.title}.locked()", lock, held)


@dataclass(frozen=True)
class RWLockShape(SyncShape):
    title = "RWLock"

    def forms(self) -> tuple[CellForm, ...]:
        readers = (
            CellForm(f".reader[{number}]", 0, 1, Role.SYNC) for number in range(self.threads)
        )
        return (CellForm("", 0, self.threads, Role.OWNER), *readers)

    def acquire_read(self, build: ThreadBuilder, owner: Reference, span: Span) -> None:
        """Wait until nobody writes, and become a reader."""
        mine = owner.cell(1 + build.number)
        message = f"`{owner.title}` is read twice by this thread"
        build.act(
            Kind.ACQUIRE,
            span,
            f"acquire {owner.title} to read",
            owner,
            Check(binary("eq", Load(mine), ZERO), Fault.LOCK, message),
            Assign(mine, ONE),
            guard=binary("eq", Load(owner.address), ZERO),
        )

    def release_read(self, build: ThreadBuilder, owner: Reference, span: Span) -> None:
        """Stop reading."""
        mine = owner.cell(1 + build.number)
        message = f"release of `{owner.title}`, which this thread does not read"
        build.act(
            Kind.RELEASE,
            span,
            f"release {owner.title} (read)",
            owner,
            Check(binary("ne", Load(mine), ZERO), Fault.LOCK, message),
            Assign(mine, ZERO),
        )

    def acquire_write(self, build: ThreadBuilder, owner: Reference, span: Span) -> None:
        """Wait until nobody reads or writes, and become the writer."""
        build.act(
            Kind.ACQUIRE,
            span,
            f"acquire {owner.title} to write",
            owner,
            Assign(owner.address, build.me),
            guard=both(binary("eq", Load(owner.address), ZERO), self._no_reader(owner)),
        )

    def _no_reader(self, owner: Reference) -> Expr:
        """No thread reads, not even this one: turning a read into a write waits for ever."""
        result: Expr = ONE
        for number in reversed(range(self.threads)):
            result = both(binary("eq", Load(owner.cell(1 + number)), ZERO), result)
        return result

    def release_write(self, build: ThreadBuilder, owner: Reference, span: Span) -> None:
        """Stop writing."""
        message = f"release of `{owner.title}`, which this thread does not write"
        build.act(
            Kind.RELEASE,
            span,
            f"release {owner.title} (write)",
            owner,
            Check(binary("eq", Load(owner.address), build.me), Fault.LOCK, message),
            Assign(owner.address, ZERO),
        )


@dataclass(frozen=True)
class ConditionShape(SyncShape):
    lock: LockShape
    queued: bool
    """Keep the order of the waiters: somebody wakes them one at a time."""
    lock_address: int | None = None
    """A lock that was given, at a fixed address."""
    lock_offset: int | None = None
    """A lock that was given, in the same record, counted from the condition's address."""
    lock_title: str = ""

    title = "Condition"

    @property
    def _own_lock(self) -> bool:
        return self.lock_address is None and self.lock_offset is None

    @property
    def _first_waiter(self) -> int:
        return self.lock.size if self._own_lock else 0

    def forms(self) -> tuple[CellForm, ...]:
        own = self.lock.forms() if self._own_lock else ()
        most = self.threads if self.queued else 1
        waiters = (
            CellForm(f".waiting[{number}]", 0, most, Role.SYNC) for number in range(self.threads)
        )
        return (*own, *waiters)

    # --- the lock ------------------------------------------------------------------------------

    def lock_of(self, owner: Reference) -> Reference:
        """Find the lock that belongs to the condition."""
        if self.lock_address is not None:
            return Reference(self.lock, Const(self.lock_address), True, self.lock_title)
        if self.lock_offset is not None:
            return Reference(self.lock, owner.cell(self.lock_offset), True, self.lock_title)
        return Reference(self.lock, owner.address, True, owner.title)

    def _must_hold(self, build: ThreadBuilder, owner: Reference, what: str) -> Check:
        held = self.lock.may_release(build, self.lock_of(owner))
        return Check(held, Fault.LOCK, f"{what} on `{owner.title}` without holding its lock")

    # --- the waiters ---------------------------------------------------------------------------

    def _waiters(self, owner: Reference) -> list[Expr]:
        return [owner.cell(self._first_waiter + number) for number in range(self.threads)]

    def _mine(self, build: ThreadBuilder, owner: Reference) -> Expr:
        """The acting thread's place; while threads are still counted, it may be too far."""
        return owner.cell(self._first_waiter + build.number)

    def _enqueue(self, build: ThreadBuilder, owner: Reference) -> Operation:
        waiters = self._waiters(owner)
        if not self.queued:
            return Assign(self._mine(build, owner), ONE)
        length = total([binary("ne", Load(waiter), ZERO) for waiter in waiters])
        return Assign(Element(waiters[0], length, self.threads, 1), build.me)

    def _waits(self, build: ThreadBuilder, owner: Reference) -> Expr:
        """Whether the acting thread has not been notified yet."""
        waiters = self._waiters(owner)
        if not self.queued:
            return binary("ne", Load(self._mine(build, owner)), ZERO)
        result: Expr = ZERO
        for waiter in reversed(waiters):
            result = either(binary("eq", Load(waiter), build.me), result)
        return result

    def _dequeue(self, owner: Reference) -> tuple[Operation, ...]:
        """Let the longest waiter leave the queue, if there is one."""
        waiters = self._waiters(owner)
        moves = [Assign(place, Load(following)) for place, following in pairwise(waiters)]
        return (*moves, Assign(waiters[-1], ZERO))

    def _withdraw(self, build: ThreadBuilder, owner: Reference) -> tuple[Operation, ...]:
        """Let the acting thread leave the queue from wherever it stands.

        It changes places with the next in line until it is last.  Threads stand in line once, so
        two equal entries side by side are the sign of a change that is half done.
        """
        waiters = self._waiters(owner)
        if not self.queued:
            return (Assign(self._mine(build, owner), ZERO),)
        operations: list[Operation] = []
        for place, following in pairwise(waiters):
            here, there = Load(place), Load(following)
            moved = both(binary("eq", here, there), binary("ne", there, ZERO))
            operations += [
                Assign(place, conditional(binary("eq", here, build.me), there, here)),
                Assign(following, conditional(moved, build.me, there)),
            ]
        last = Load(waiters[-1])
        leave = conditional(binary("eq", last, build.me), ZERO, last)
        return (*operations, Assign(waiters[-1], leave))

    # --- operations ----------------------------------------------------------------------------

    def wait(
        self,
        build: ThreadBuilder,
        owner: Reference,
        span: Span,
        *,
        timed: bool = False,
        until: str = "",
    ) -> Expr:
        """Release the lock, wait for a notification, and take the lock again.

        With `timed` the thread may also wake up without one; returns whether it was notified.
        `until` is what the thread waits for, in the words of the source, if the wait says so.
        """
        lock = self.lock_of(owner)
        manner = f" until {until}" if until else ""
        count = self._enter_queue(build, owner, lock, span, manner)
        owned = self.lock.take(build, lock)
        if self.lock.depth:
            owned = (Assign(lock.address, build.me), Assign(lock.cell(1), count))
        free = binary("eq", Load(lock.address), ZERO)
        notified = both(negate(self._waits(build, owner)), free)
        text = f"wake up at {owner.title}{manner}"
        if not timed:
            build.act(Kind.WAKE, span, text, owner, *owned, guard=notified)
            return ONE
        return build.attempt(
            Kind.WAKE,
            span,
            text,
            owner,
            *owned,
            success=notified,
            failure=both(self._waits(build, owner), free),
            otherwise=(*self._withdraw(build, owner), *owned),
        )

    def _enter_queue(
        self, build: ThreadBuilder, owner: Reference, lock: Reference, span: Span, manner: str
    ) -> Expr:
        """Join the waiters and let go of the lock in one step; returns how often it was held."""
        operations: list[Operation] = [self._must_hold(build, owner, "wait")]
        count: Expr = ONE
        if self.lock.depth:
            kept = Const(build.take_temporary(Role.INT, span))
            operations += [Assign(kept, Load(lock.cell(1))), Assign(lock.cell(1), ZERO)]
            count = Load(kept)
        operations += [self._enqueue(build, owner), Assign(lock.address, ZERO)]
        build.act(Kind.WAIT, span, f"wait at {owner.title}{manner}", owner, *operations)
        return count

    def notify(self, build: ThreadBuilder, owner: Reference, span: Span, *, count: int = 1) -> None:
        """Wake the longest waiters, `count` of them if there are as many."""
        count = min(max(count, 0), self.threads)
        self._wake(build, owner, span, "notify", self._dequeue(owner) * count)

    def notify_all(self, build: ThreadBuilder, owner: Reference, span: Span) -> None:
        """Wake all waiters."""
        clear = tuple(Assign(waiter, ZERO) for waiter in self._waiters(owner))
        self._wake(build, owner, span, "notify_all", clear)

    def _wake(
        self,
        build: ThreadBuilder,
        owner: Reference,
        span: Span,
        name: str,
        operations: tuple[Operation, ...],
    ) -> None:
        held = self._must_hold(build, owner, name)
        build.act(Kind.NOTIFY, span, f"{name} {owner.title}", owner, held, *operations)
