"""The other statements of disciplined programs: waiting, hand-over, loops, atomic sections."""

from __future__ import annotations

from mazurka.ir.expressions import ONE, ZERO, Binary, Choice, Const, Element, Expr, Load, negate
from mazurka.ir.program import Assign, Check, Fault, Kind
from tests.soundness.disciplined_sections import LockingThread
from tests.soundness.disciplined_world import CAPACITY, HIGHEST, SIGNALS


class DisciplinedThread(LockingThread):
    # --- arrays and pointers -------------------------------------------------------------------

    def _protected(self, lock: int) -> bool:
        """Take the lock that belongs to what follows, unless there is none or it is forgotten."""
        taken = bool(lock) and not self.slips()
        if taken:
            self.acquire(Const(lock))
        return taken

    def _unprotect(self, lock: int, taken: bool) -> None:
        if taken:
            self.release(Const(lock), owned=lock in self.sharing.owned_locks)

    def do_element(self) -> None:
        array, lock = self.sharing.array, self.sharing.array_lock
        taken = self._protected(lock)
        cells = self.sharing.guarded[lock or self.sharing.locks[0]]
        shared = [*self.sharing.loose, *self.sharing.constants, *(cells if taken else ())]
        source = self.rng.choice((*self.locals, *shared))
        index: Expr = Load(Const(source))
        if "faults" not in self.world.features:
            index = Binary("mod", index, Const(len(array)))
        place = Element(Const(array[0]), index, len(array), 1)
        if source in self.locals:
            self.rng.choice((self._bump, self._write, self._judge))(place)
        else:
            self.rng.choice((self._bump, self._write, self._read))(place)
        self._unprotect(lock, taken)

    def do_pointer(self) -> None:
        """Point somewhere else, or follow the pointer: two shared cells in one step."""
        lock, pointer = self.sharing.pointer_lock, Const(self.sharing.pointer)
        taken = self._protected(lock)
        if self.rng.random() < 0.4:
            targets = self.world.cells[self.sharing.pointer].points or ()
            self.step(Kind.ACCESS, Assign(pointer, Const(self.rng.choice(targets))))
        else:
            self.rng.choice((self._bump, self._write, self._read))(Load(pointer))
        self._unprotect(lock, taken)

    # --- semaphores, events, barriers ----------------------------------------------------------

    def do_semaphore(self) -> None:
        """A semaphore as a lock; now and then somebody else gives it back."""
        if not self.slips():
            self.down(self.sharing.semaphore)
        self.touch(Const(self.sharing.by_semaphore))
        if self.slips():
            self.try_down(self.sharing.semaphore, self.locals[1])
        else:
            self.up(self.sharing.semaphore, 1, self.rng.choice((Fault.LOCK, Fault.BOUND)))

    def do_send(self) -> None:
        """The driver of paper 002: fill the parcel, then hand it over."""
        if "parcel" not in self.world.features:
            return
        self.touch(Const(self.sharing.parcel))
        self.up(self.sharing.signal, SIGNALS, Fault.BOUND)
        if self.slips():
            self.touch(Const(self.sharing.parcel))

    def do_receive(self) -> None:
        if not self.slips():
            self.down(self.sharing.signal)
        self.touch(Const(self.sharing.parcel))

    def do_event(self) -> None:
        """One side announces something, the other waits for it."""
        event, announced = self.sharing.event, Const(self.sharing.announced)
        match self.rng.randint(0, 5):
            case 0 | 1:
                self._write(announced)
                self.set_event(event)
                if self.slips():
                    self.touch(announced)
            case 2 | 3:
                self.await_event(event)
                self.touch(announced)
            case 4:
                self.inspect(Const(event), self.locals[1])
                test = Binary("ne", Load(Const(self.locals[1])), ZERO)
                self.branch(test, Kind.LOCAL, lambda: self.touch(announced))
            case _:
                if self.rng.random() < 0.4:
                    self.clear_event(event)
                else:
                    self.set_event(event)

    def do_barrier(self) -> None:
        self.pass_barrier(self.sharing.barrier, 2, self.locals[1])

    # --- queues, readers and writers, other threads ----------------------------------------------

    def do_put(self) -> None:
        waits = "faults" not in self.world.features or self.rng.random() < 0.7
        self.put(self.sharing.queue, CAPACITY, self.value(), waits=waits)

    def do_get(self) -> None:
        self.get(self.sharing.queue, CAPACITY, self.locals[0])
        if self.rng.random() < 0.5:
            self.require(self.guess(Load(Const(self.locals[0]))))

    def do_reader(self) -> None:
        self.begin_read(self.sharing.readers)
        place = Const(self.sharing.by_readers)
        self.rng.choice((self._write if self.slips() else self._read, self._compare))(place)
        self.end_read(self.sharing.readers)

    def do_writer(self) -> None:
        self.begin_write(self.sharing.readers)
        self.touch(Const(self.sharing.by_readers))
        self.release(Const(self.sharing.readers), owned=True)

    def do_outsider(self) -> None:
        """Ask about a thread, or wait for its end, whoever has created it."""
        status = self.sharing.status + self.rng.randrange(self.world.threads)
        if self.rng.random() < 0.5:
            self.inspect(Const(status), self.locals[1])
        elif self.slips():
            self.join(status)

    # --- conditions ----------------------------------------------------------------------------

    def do_wait_for(self) -> None:
        """Under the lock: wait until a cell is not 0, in a loop as one should, or only once."""
        lock = self.sharing.locks[0]
        cell = self.sharing.guarded[lock][0]
        self.acquire(Const(lock))
        head, seen = self.here, Const(self.locals[0])
        self.step(Kind.ACCESS, Assign(seen, Load(Const(cell))))
        start, inside, after = self.here, self.location(), self.location()
        ready = Binary("ne", Load(seen), ZERO)
        self.edge(start, inside, Kind.LOCAL, guard=negate(ready))
        self.edge(start, after, Kind.LOCAL, guard=ready)
        self.here = inside
        queued = self.sharing.queued
        timed = not queued and self.rng.random() < 0.3
        self.wait(self.sharing.waiters, lock, queued=queued, timed=timed)
        self.edge(self.here, after if self.slips() else head, Kind.LOCAL)
        self.here = after
        self.touch(Const(cell))
        self._leave(lock)

    def do_announce(self) -> None:
        """Under the lock: change the cell and wake one waiter or all."""
        lock = self.sharing.locks[0]
        if not self.slips():
            self.acquire(Const(lock))
        cell = Const(self.sharing.guarded[lock][0])
        self.step(Kind.ACCESS, Assign(cell, self.rng.choice((ONE, ONE, self.value()))))
        everyone = not self.sharing.queued or self.rng.random() < 0.4
        self.notify(self.sharing.waiters, lock, everyone=everyone)
        self._leave(lock)

    # --- assumptions and waiting for data --------------------------------------------------------

    def _condition(self) -> Expr:
        """About a cell that any thread may change, a protected one, or a local."""
        source = self.rng.choice((*self.shared_data(), *self.locals))
        operator = self.rng.choice(("ne", "ne", "eq"))
        return Binary(operator, Load(Const(source)), Const(self.rng.choice((0, 0, 1))))

    def do_assume(self) -> None:
        self.step(Kind.ASSUME, guard=ZERO if self.rng.random() < 0.2 else self._condition())

    def do_guard(self) -> None:
        """Wait until a condition holds, perhaps with an effect once it does."""
        cells = self.sharing.loose
        effects = [Assign(Const(cell), self.value()) for cell in cells[: self.rng.randint(0, 1)]]
        self.step(Kind.ACCESS if effects else Kind.UNTIL, *effects, guard=self._condition())

    # --- loops ---------------------------------------------------------------------------------

    def do_spin(self) -> None:
        """Never ends, at least on one branch (figures 1, 2, 3 and 8 of paper 000)."""
        match self.rng.randint(0, 3):
            case 0:
                self._endless()
            case 1 | 2:
                self.do_choose()
                self.branch(Binary("eq", self.local(), ZERO), Kind.LOCAL, self._endless)
            case _:
                self.do_choose()
                test = Binary("eq", self.local(), ZERO)
                self.branch(test, Kind.LOCAL, self._endless, self._endless)

    def _endless(self) -> None:
        if self.in_atomic:
            return
        head = self.here
        for _ in range(self.rng.randint(0, 2)):
            self.step(Kind.LOCAL)
        self.edge(self.here, head, Kind.LOCAL)
        self.here = self.location()
        self.ended = True

    def do_loop(self) -> None:
        """A loop that ends when it likes, or after a number of rounds, or when a cell changes."""
        head, local = self.here, Const(self.locals[1])
        match self.rng.randint(0, 3):
            case 0:
                self.step(Kind.CHOOSE, Assign(local, Choice()), choices=2)
                again: Expr = Binary("ne", Load(local), ZERO)
                kind = Kind.LOCAL
            case 1:
                grow = Binary("min", Binary("add", Load(local), ONE), Const(3))
                self.step(Kind.LOCAL, Assign(local, grow))
                again, kind = Binary("lt", Load(local), Const(2)), Kind.LOCAL
            case _:
                if self.rng.random() < 0.5:
                    self.do_local()
                again, kind = negate(self._condition()), Kind.ACCESS
        if self.in_atomic:
            return
        start, after = self.here, self.location()
        self.edge(start, head, kind, guard=again)
        self.edge(start, after, kind, guard=negate(again))
        self.here = after

    # --- atomic sections -----------------------------------------------------------------------

    def do_atomic(self) -> None:
        """One or two accesses, with or without the lock, or a wait, in one step."""
        if self.in_atomic:
            return
        self.in_atomic = True
        if self.rng.random() < 0.5:
            self.step(Kind.ATOMIC)
        else:
            self.do_local()
        for _ in range(self.rng.randint(1, 2)):
            statements = (self._any_access, self.do_assume, self._short_section, self.do_guard)
            self.rng.choice((self._any_access, self.do_choose, *statements))()
        self._leave_atomic()

    def _leave_atomic(self) -> None:
        inside = self.here
        self.in_atomic = False
        self.here = self.location()
        self.in_atomic = True
        self.edge(inside, self.here, Kind.LOCAL)
        self.in_atomic = False

    def do_choose_to_wait(self) -> None:
        """Choose between waiting and something else, in one step: one choice may be blocked."""
        if self.in_atomic:
            return
        if self.rng.random() < 0.7:
            self.step(Kind.ACCESS, Assign(Const(self.sharing.asked), ONE))
        self.in_atomic = True
        choice = Const(self.locals[0])
        self.step(Kind.CHOOSE, Assign(choice, Choice()), choices=self.rng.randint(2, 3))
        others = (self.do_own, self.do_own, self.do_loose, self._any_access, lambda: None)
        chosen = Const(self.rng.randint(0, 1))
        test = Binary("eq", Load(choice), chosen)
        self.branch(test, Kind.LOCAL, self._wait_somehow, self.rng.choice(others))
        self._leave_atomic()
        if self.rng.random() < 0.7:
            waited = Binary("ne", Load(choice), chosen)
            self.require(self.rng.choice((waited, self.guess(Load(choice)))))

    def do_answer(self) -> None:
        """Give the signal once somebody has asked; use a cell of another thread, or never do."""
        if self.in_atomic:
            return
        asked = Load(Const(self.sharing.asked))
        self.step(self.rng.choice((Kind.ASSUME, Kind.UNTIL)), guard=Binary("ne", asked, ZERO))
        self.up(self.sharing.signal, SIGNALS, Fault.BOUND)
        if self.rng.random() < 0.6:
            other = Const(self.rng.choice(list(self.sharing.owned.values())))
            unasked = Binary("eq", asked, ZERO)
            self.branch(unasked, Kind.ACCESS, lambda: self._write(other))

    def _wait_somehow(self) -> None:
        """Wait for what another thread may do, and leave a trace of it now and then."""
        if self.rng.random() < 0.6:
            self.down(self.sharing.signal)
        else:
            self.rng.choice((self._short_section, self.do_guard, self.do_assume))()
        if self.rng.random() < 0.3:
            self._any_access()

    def _any_access(self) -> None:
        self.touch(Const(self.rng.choice(self.shared_data())))

    def _short_section(self) -> None:
        lock = self.rng.choice(self.sharing.locks)
        self.acquire(Const(lock))
        self.touch(Const(self.rng.choice(self.sharing.guarded[lock])))
        self.release(Const(lock), owned=lock in self.sharing.owned_locks)


def observing(thread: DisciplinedThread) -> None:
    """A thread that only watches: it fails as soon as some cell has a certain value."""
    seen = Load(Const(thread.rng.choice(thread.shared_data())))
    bad = Binary("eq", seen, Const(HIGHEST))
    thread.edge(
        thread.here,
        thread.location(),
        Kind.ASSERT,
        Check(ZERO, Fault.ASSERT, "observed"),
        guard=bad,
        atomic=True,
    )
