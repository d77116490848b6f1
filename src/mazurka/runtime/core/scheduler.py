"""One run of a real program: who runs, who stands where, and how it ends.

There is no thread that controls the others.  The thread that runs makes the decision itself, inside
`point`, and hands over directly to the chosen one.  Everything here is therefore touched by one
thread at a time, and needs no lock.

A run is over when nobody can go on, when the search abandons it, or when something inside breaks.
Whoever notices lets the test's own thread (number 0) go on, which unwinds first, and then lets the
others unwind one by one.  Meanwhile points let everything pass that need not wait.
"""

from __future__ import annotations

import sys
from _thread import allocate_lock, get_ident
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, TypeGuard

from mazurka.runtime.core import failures, spinning
from mazurka.runtime.core.batons import make_baton
from mazurka.runtime.core.host import Host
from mazurka.runtime.core.interruptions import interrupt
from mazurka.runtime.core.moment import PATIENCE, now
from mazurka.runtime.core.operations import Object, RealOperation, present
from mazurka.runtime.core.tasks import Begin, End, Join, Life, Path, Task, Unwind
from mazurka.stateless.runs import Abandon, Decider, Ended, Failed, Slip
from mazurka.system_limits import SystemLimitError, find_limit_of_program

_NO_TASK = Task(0, "0", Life("0"), [])
ASKED = 512
"""The search is asked about every so many steps at least: one that joins for ever has to end."""
UNWINDING = 1000
"""How many points a thread may reach while it unwinds before it is given up."""
FINALIZING = 100_000
"""How many more points finalizers may reach: a run may leave many objects."""


class Scheduler:
    """A run.  `ident` is the identity of the thread that runs under control, 0 if none does."""

    def __init__(self, program: Host | None, epoch: int) -> None:
        self.program = program
        self.epoch = epoch
        self.ident = 0
        self.running = _NO_TASK
        self.tasks: list[Task | None] = []
        self.pending: list[RealOperation | None] = []
        self.last = -1
        self.steps = 0
        self.limit = 0 if program is None else program.settings.max_steps
        self.free_threaded = program is not None and program.settings.free_threaded
        """Whether C code reads some containers in several steps (`python.traversals`)."""
        self.over = False
        self.ended = Ended()
        self.error: BaseException | None = None
        self.failures: list[Failed] = self.ended.failures
        self.found: list[tuple[Object, Hashable]] = []
        """Objects that existed before the run, and the states in which it found them; these are
        put back after it."""
        self.everybody = Object("threads", 0) if program is not None and program.lists else None
        """The list of all threads, where the program is known to look at it; its state is how many
        have been started."""
        self.executors: list[tuple[Any, Any]] = []
        """Executors and the threads that they have started in this run."""
        self.timed = False
        """Whether time has passed for any thread."""
        self.times: dict[Hashable, float] = {}
        self.latest = 0.0
        """The latest moment that anybody has slept to, or seen on a clock."""
        self.witness: Callable[[Sequence[RealOperation | None]], None] | None = None
        """Told of the end before threads unwind, while objects are as the last step left them."""
        self.gone = False
        """Whether everybody has unwound."""
        self.decide: Callable[[Sequence[RealOperation | None], Sequence[int], int], int] = _nobody
        self.prefix: Sequence[int] = ()
        """Who takes the first steps, where that need not be asked (`Decider.prefix`)."""
        self.settled = 0
        """How many steps that are."""
        self.left: Callable[[int], None] | None = None
        self.slip: Slip | None = None
        """Told of ends and joins, where these need not be asked about."""
        self.follow: Callable[[int], None] = _nowhere
        """Told of those of these steps after which a thread may know that it is alone."""

    # -- points ------------------------------------------------------------------------------

    def point(self, operation: RealOperation) -> None:
        """Stand before an operation; come back when it is this thread's turn to perform it."""
        if self.over:
            self._pass_through(operation)
            return
        me = self.running
        number = me.number
        self.ident = 0
        if operation.is_timed:
            operation.ends = me.time + operation.seconds
        if me.rounds is not None:
            operation = me.rounds.guard(operation)
        self.pending[number] = operation
        chosen = self._follow() if self.steps < self.settled else self._choose()
        if chosen != number:
            self.hand_over(chosen)
            me.baton.acquire()
            if self.over:
                self.ident = me.ident
                raise Unwind
        if operation.writes:
            me.rounds = None
        elif operation.can_spin:
            spinning.note_read(me, operation)
        if self.timed:
            self._pass_time_on(me, operation)
        self.ident = me.ident

    def _follow(self) -> int:
        """Choose as in the run before, which this one repeats so far; see `_choose`."""
        step = self.steps
        chosen = self.prefix[step]
        try:
            operation = self.pending[chosen]
        except IndexError:
            operation = None
        if operation is None or not (operation.free or operation.ready()):
            return self._choose()  # which will be told that this is not the same
        now.thread = chosen
        now.count = self.steps = step + 1
        now.idle = 0
        if now.limit != PATIENCE:
            now.forgive()
        if now.alone or type(operation) is Join:
            follow = self.follow
            follow(step)
        return chosen

    def slips(self, task: Task | None) -> TypeGuard[Task]:
        """Whether a thread passes an end or a join now without asking."""
        return not (
            self.slip is None
            or self.settled
            or self.over
            or task is None
            or task.rounds is not None
            or not self.steps % ASKED
        )

    def pass_by(self, task: Task, operation: RealOperation) -> None:
        """Let a thread pass an end or a join without a scheduling point."""
        slip = self.slip
        assert slip is not None
        self.last = now.thread = number = task.number
        now.count = self.steps = self.steps + 1
        now.idle = 0
        if now.limit != PATIENCE:
            now.forgive()
        slip(number, operation, self.pending)
        if self.timed:
            self._pass_time_on(task, operation)

    def _leave_prefix(self) -> None:
        """Ask the search from now on."""
        self.settled = 0
        if self.steps:
            self.last = self.prefix[self.steps - 1]
        assert self.left is not None
        self.left(self.steps)

    def _choose(self) -> int:
        """Return the number of the thread that goes on; -1 if the run is over."""
        if self.settled:
            self._leave_prefix()
        self.steps = step = self.steps + 1
        pending = self.pending
        try:
            if step > self.limit:
                raise failures.EndlessRunError(self.limit, self.running, self.tasks)
            enabled = [
                number
                for number, operation in enumerate(pending)
                if operation is not None and (operation.free or operation.ready())
            ]
            if not enabled:
                self.conclude()
                return -1
            decide = self.decide
            chosen = decide(pending, enabled, self.last)
            if chosen not in enabled:
                raise RuntimeError(f"thread {chosen} was chosen, but only {enabled} can go on")
        except Abandon:
            self.ended.abandoned = True
            self.conclude()
            return -1
        except BaseException as error:
            self._break(error)
            return -1
        self.last = now.thread = chosen
        now.count = step
        now.idle = 0
        if now.limit != PATIENCE:
            now.forgive()
        return chosen

    def _break(self, error: BaseException) -> None:
        """End the run because of an error inside, which the caller gets to know."""
        self.error = self.error or error
        self.conclude()

    def refuse(self, message: str) -> NoReturn:
        """End the run in an error: the running thread does something that cannot be controlled.
        No handler of the program's comes in between."""
        self.cut(failures.ControlError(message))
        raise Unwind

    def cut(self, error: BaseException) -> None:
        """End the run in an error where it is; whoever calls this sees to it that the running
        thread unwinds."""
        self.pending[self.running.number] = None  # it ends by itself
        self._break(error)

    def hand_over(self, chosen: int) -> None:
        """Let a thread go on; the test's own if the run is over (-1)."""
        task = self.tasks[chosen if chosen >= 0 else 0]
        assert task is not None
        self.running = task
        task.baton.release()

    def _pass_time_on(self, me: Task, operation: RealOperation) -> None:
        """Let time flow along the happens-before: nobody learns of an event before it happened."""
        now = me.time
        touches = operation.at(present) or ()
        for shared, _ in touches:
            now = max(now, self.times.get(shared.name, 0.0))
        for shared, written in touches:
            if written:
                self.times[shared.name] = now
        me.time = now

    # -- threads -----------------------------------------------------------------------------

    def create(self, path: Path, life: Life) -> Task:
        """Make a task for a thread that is about to start."""
        assert self.program is not None
        number, names = self.program.number_of(path)
        life.number = number
        task = Task(number, path, life, names)
        tasks = self.tasks
        while len(tasks) < number:
            tasks.append(None)
            self.pending.append(None)
        if len(tasks) == number:
            tasks.append(task)
            self.pending.append(None)
        else:
            tasks[number] = task
        return task

    def launch(self, task: Task, body: Callable[[], None]) -> None:
        """Let a task stand before its first operation."""
        assert self.program is not None
        task.body = body
        carrier = self.program.pool.carrier(task.number)
        task.carried_by(carrier)
        carrier.task = task
        task.life.state = "alive"
        self.pending[task.number] = Begin(task.life)

    def live(self, task: Task) -> Callable[[], None]:
        """Run the whole life of a thread, in its carrier; return what hands over to the next."""
        task.begun = True
        if not self.over:
            try:
                self._live(task)
            except BaseException as error:  # not the program's: those are caught below
                self._break(error)
        self.ident = 0
        task.life.state = "ended"
        task.body = None
        return self._depart if not self.over else self._go_home

    def _live(self, task: Task) -> None:
        if self.timed:
            self._pass_time_on(task, Begin(task.life))
        self.ident = task.ident
        body = task.body
        assert body is not None
        assert self.program is not None
        if self.program.interruption is not None:
            interrupt(self, task, self.program.interruption)
        try:
            body()
        except Unwind:
            pass
        except BaseException as error:
            self.fail(task, error)
        if task.carrier is not None and not self.over:
            task.carrier.forget()
        end = End(task.life)
        if self.slips(task):
            self.pass_by(task, end)
            return
        try:  # noqa: SIM105 - every thread of every run comes here
            self.point(end)
        except Unwind:
            pass

    def _depart(self) -> None:
        """Let the next thread go on: the running one has ended."""
        me = self.running
        self.pending[me.number] = None
        if me.life.joiner >= 0 and self.slips(waiting := self.tasks[me.life.joiner]):
            operation = self.pending[waiting.number]
            if type(operation) is Join and operation.shared is me.life:
                self.pass_by(waiting, operation)
                self.hand_over(waiting.number)
                return
        self.hand_over(self._follow() if self.steps < self.settled else self._choose())

    def _go_home(self) -> None:
        self.hand_over(0)

    def fail(self, task: Task, error: BaseException) -> None:
        """Note that an exception has left a thread."""
        if self.over:
            return
        self.ident, ident = 0, self.ident
        limit = find_limit_of_program(error)
        if limit is not None:  # it says nothing about the program
            self._break(SystemLimitError(limit))
            self.ident = ident
            return
        self.failures.append(failures.describe_exception(error, task.number, task.life.label))
        self.ident = ident

    def _skip(self, error: BaseException) -> None:
        """Note that the test ends this execution without failing; its other threads go on."""
        if self.over:
            return
        assert self.program is not None
        self.ident, ident = 0, self.ident
        skip = failures.describe_skip(error, self.program.settings.skips())
        self.ended.skipped = skip.text
        self.program.first_skip = self.program.first_skip or skip
        self.ident = ident

    def do_aside(self, action: Callable[..., Any], *arguments: Any) -> Any:
        """Let the running thread do something that is not the program's doing: what it enters
        meanwhile is not observed."""
        ident = get_ident()
        if self.ident != ident:
            return action(*arguments)
        self.ident = 0
        try:
            return action(*arguments)
        finally:
            self.ident = ident

    # -- the whole run -----------------------------------------------------------------------

    def run(self, test: Callable[[], object], decider: Decider) -> Ended:
        """Run the test as thread 0, here, and everything that it starts."""
        self.decide = decider.decide
        self.witness, self.left, self.slip = decider.over, decider.left, decider.slip
        self.prefix, self.follow = decider.prefix, decider.follow
        self.settled = len(self.prefix)
        main = self.create("0", Life("0"))
        main.life.label = "main"
        main.life.state = "alive"
        main.begun = True
        main.ident = get_ident()
        main.baton = make_baton()
        self.running = main
        propagated = self._live_as_main(test, main)
        if not self.over:
            self.pending[0] = None
            chosen = self._follow() if self.steps < self.settled else self._choose()
            if chosen >= 0:
                self.hand_over(chosen)
                main.baton.acquire()
        self._unwind_others()
        self.ident = 0
        if propagated is not None:
            raise propagated
        if self.error is not None:
            raise self.error
        return self.ended

    def _live_as_main(self, test: Callable[[], object], main: Task) -> BaseException | None:
        assert self.program is not None
        propagated: BaseException | None = None
        self.ident = main.ident
        if self.program.interruption is not None:
            interrupt(self, main, self.program.interruption)
        try:
            failures.refuse_unrun(test())
        except Unwind:
            pass
        except self.program.settings.propagate as error:
            propagated = error
            self.ended.abandoned = True
            if not self.over:
                self.conclude()
        except tuple(self.program.settings.skips()) as error:
            self._skip(error)
            main.daemon = True
        except BaseException as error:
            self.fail(main, error)
            main.daemon = True  # what it left behind is no finding of its own
        if self.program.leashed and not self.over:
            try:  # noqa: SIM105 - as for all other threads
                self.point(End(main.life))
            except Unwind:
                pass
        self.ident = 0
        main.life.state = "ended"
        return propagated

    def conclude(self) -> None:
        """End the run.  Where everybody stands is a finding, unless all have ended."""
        if not self.over:
            self.over = True
            standing = tuple(self.pending)
            self.ended.pending = standing
            if not self.ended.abandoned and self.error is None:
                try:
                    if self.witness is not None:
                        self.witness(standing)
                    self.failures.extend(failures.describe_standing(self.tasks, self.pending))
                except BaseException as error:
                    self.error = error

    # -- unwinding ---------------------------------------------------------------------------
    # An exception takes each thread out of where it stands (`tasks.Unwind`).  Their `finally`
    # blocks run through, and reach points; these let everything pass that need not wait.

    def _pass_through(self, operation: RealOperation) -> None:
        """Come to a point after the end of the run."""
        if self.gone:
            raise failures.ControlError(
                f"a point to {operation.kind} was reached outside of any run"
            )
        self.steps += 1
        me = self.running
        me.reached += 1
        if me.reached > UNWINDING:
            self._give_up(me)
        if not (operation.free or operation.ready()):
            raise Unwind

    def _give_up(self, task: Task) -> None:
        """Leave a thread that catches everything and goes on for ever: it cannot be ended."""
        assert self.program is not None
        self.error = failures.UnstoppableThreadError(task.life.label)
        self.ident = 0
        if task.number == 0:
            self.program.surrender(self.error)
        else:
            self.program.pool.forget(task.number)
            self.hand_over(0)
        _wait_for_ever()

    def _unwind_others(self) -> None:
        """Let the other threads unwind one by one, after the test's own."""
        main = self.tasks[0]
        assert main is not None
        self.running = main
        main.rounds = None
        if not self.over:
            self.conclude()
        for task in self.tasks[1:]:
            if task is None or self.pending[task.number] is None:
                continue
            if task.begun:
                self.running = task
                self.ident = task.ident
                task.baton.release()
                main.baton.acquire()
                task.rounds = None  # its frames know this run, and so nobody would let go
            else:
                assert task.carrier is not None
                task.carrier.task = None
                if task.thrown_away is not None:
                    task.thrown_away()
            self.pending[task.number] = None
        self.ident = 0
        self.running = main

    @contextmanager
    def unwinding(self) -> Iterator[None]:
        """Let finalizers run after the run as what unwinds does: observed, and without waiting for
        anything.  Their exceptions are not reported."""
        report, gone = sys.unraisablehook, self.gone
        sys.unraisablehook = lambda found: None
        self.running.reached = -FINALIZING
        self.gone, self.ident = False, get_ident()
        try:
            yield
        finally:
            self.gone, self.ident = gone, 0
            sys.unraisablehook = report


def _wait_for_ever() -> None:
    lock = allocate_lock()
    lock.acquire()
    lock.acquire()


def _nowhere(step: int) -> None:
    """Stand for `Decider.follow` before a run begins."""


def _nobody(pending: Sequence[Any], enabled: Sequence[int], last: int) -> int:
    raise RuntimeError("nobody decides: the run has not begun")


class Session:
    """Holds the run that goes on in this process; in between, one that controls nobody."""

    __slots__ = ("current",)

    def __init__(self) -> None:
        self.current = Scheduler(None, 0)


session = Session()
