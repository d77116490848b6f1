"""A test function as a program that can be run again and again (`stateless.runs.Runnable`).

    with RealProgram(test) as program:
        ended = program.supervise(lambda: search(program))

Everything that is changed in the interpreter for an exploration is changed when the context is
entered, and put back when it is left, however that happens.
"""

from __future__ import annotations

import gc
import itertools
import sys
import threading
from _thread import get_ident
from collections.abc import Callable, Sequence
from contextvars import Context
from functools import lru_cache
from typing import Any, TypeVar

from mazurka.runtime.core import daemons, spinning
from mazurka.runtime.core.collection import collection
from mazurka.runtime.core.failures import ControlError, Skip
from mazurka.runtime.core.host import ControlSettings
from mazurka.runtime.core.interruptions import InstructionHook
from mazurka.runtime.core.names import UNLABELLED
from mazurka.runtime.core.operations import Object
from mazurka.runtime.core.patches import Patches
from mazurka.runtime.core.scheduler import Scheduler, session
from mazurka.runtime.core.tasks import Pool, Unwind, restore_hooks
from mazurka.runtime.primitives import registry
from mazurka.runtime.program.existing import Takeover, is_strange
from mazurka.runtime.program.process_state import ProcessState, hold_farewells
from mazurka.runtime.program.watchdog import Interrupted, Watchdog
from mazurka.runtime.sharing.locations import learned
from mazurka.runtime.sharing.monitoring import unobserved
from mazurka.runtime.sharing.older_files import older_files
from mazurka.runtime.sharing.older_settings import older_settings
from mazurka.runtime.sharing.older_whole import OlderWhole
from mazurka.stateless.runs import Decider, Ended, OutOfTime

Result = TypeVar("Result")
GARBAGE = 20_000
"""How many objects may be created before cycles among them are collected, between two runs."""


class RealProgram:
    """A test function whose threads run under control."""

    def __init__(self, test: Callable[[], object], settings: ControlSettings | None = None) -> None:
        self.settings = settings or ControlSettings()
        self._test = test
        self._numbers: dict[str, tuple[int, list[str]]] = {}
        self._epochs = itertools.count(1)
        self._outside = 0
        self._collected, self._collect_all = 0, 8
        self._entered = False
        self._watchdog: Watchdog | None = None
        self.lists = False
        """Whether it looks at the list of its threads."""
        self.leashed = False
        """Whether daemons are known to go on for ever (`runtime.core.daemons`)."""
        self.first_skip: Skip | None = None
        self.interruption: InstructionHook | None = None
        self.undo = Patches()

    # -- the interpreter ---------------------------------------------------------------------

    def __enter__(self) -> RealProgram:
        if session.current.program is not None:
            raise ControlError("an exploration is going on already; explorations cannot be nested")
        self.pool = Pool(lambda task: session.current.live(task))
        self._watchdog = Watchdog(self.settings.patience, self.settings.pin)
        self._watchdog.deadline = self.settings.deadline
        self._entered = True
        try:
            self._patch()
        except BaseException:
            self._leave()
            raise
        return self

    def _patch(self) -> None:
        spinning.learn_modules()
        session.current = Scheduler(self, 0)
        pairs = [*registry.replacements(self.undo, self.settings), *hold_farewells()]
        self._takeover = Takeover(self.undo, {id(real): ours for real, ours in pairs})
        self._takeover.everything(self._test)
        registry.install(self.undo)
        self.excepthook = threading.excepthook
        self.undo.names(pairs, _is_exempt)
        self._stop_collecting()
        self._hide_unwinding()
        self.state = ProcessState()  # with what has been changed for the exploration
        self.undo.append(self.state.restore)

    def _stop_collecting(self) -> None:
        """Collect cycles between runs only."""
        collection.pause()
        self.undo.append(collection.resume)

    def _hide_unwinding(self) -> None:
        """Let nobody hear of it when a thread unwinds in a destructor or a callback, whose
        exceptions the interpreter reports and ignores."""
        report = sys.unraisablehook

        def report_others(found: sys.UnraisableHookArgs) -> None:
            if not issubclass(found.exc_type, Unwind):
                report(found)

        sys.unraisablehook = report_others
        self.undo.append(lambda: setattr(sys, "unraisablehook", report))

    def __exit__(self, *error: object) -> None:
        self._leave()

    def _leave(self) -> None:
        self._entered = False
        session.current = Scheduler(None, 0)
        self.undo.undo()
        watchdog, self._watchdog = self._watchdog, None
        assert watchdog is not None
        watchdog.close()
        threading._active.pop(watchdog.home.ident, None)  # type: ignore[attr-defined]
        if watchdog.lost:
            self.pool.abandon()
        else:
            self.pool.dismiss()
            watchdog.home.dismiss()

    # -- runs --------------------------------------------------------------------------------

    def supervise(self, search: Callable[[], Result]) -> Result:
        """Run a whole search at home, so that its runs need not be brought there one by one."""
        watchdog = self._ready()
        return watchdog.call(search)

    def forget_deadline(self) -> None:
        """Let what is still to be done take as long as it takes."""
        self._ready().forget_deadline()

    @property
    def is_entered(self) -> bool:
        return self._entered

    def run(self, decider: Decider) -> Ended:
        if not self._entered:
            with self:
                return self.run(decider)
        watchdog = self._ready()
        if get_ident() == watchdog.home.ident:
            return self._run(decider, watchdog)
        return watchdog.call(lambda: self._run(decider, watchdog))

    def _ready(self) -> Watchdog:
        watchdog = self._watchdog
        if watchdog is None or not self._entered:
            raise ControlError("the program is not under control; enter its context first")
        if watchdog.lost:
            raise ControlError("the program is out of control, and can be run no more")
        return watchdog

    def _run(self, decider: Decider, watchdog: Watchdog) -> Ended:
        if watchdog.stopping:
            raise Interrupted
        if watchdog.is_late():
            raise OutOfTime
        run = Scheduler(self, next(self._epochs))
        if self.leashed:
            daemons.hold(run)
        session.current = run
        trace, profile = sys.gettrace(), sys.getprofile()
        registry.begin_run()
        try:
            # Free-threaded interpreters give what the main thread leaves in its context to others.
            return Context().run(run.run, self._test, decider)
        finally:
            if watchdog.lost:
                # The call came back after all, when the exploration was over: so is its search.
                raise Interrupted
            watchdog.home.forget_locals()
            restore_hooks(trace, profile)
            self._tidy(run)
            for name in (*older_files.put_back(), *self.state.put_back()):
                unobserved.lose(name)
            older_settings.put_back()

    def _tidy(self, run: Scheduler) -> None:
        """Leave nothing behind that the next run could meet, and no cycle through the run."""
        run.gone = True
        while run.found:
            shared, state = run.found.pop()
            shared.restore(state)
        registry.end_run(run)
        if gc.get_count()[0] > GARBAGE:
            self._collect()

    def _collect(self) -> None:
        """Look for cycles among what is new; among everything the more rarely the more there is,
        since a search may keep a lot, and all of it would be looked at."""
        self._collected += 1
        if self._collected < self._collect_all:
            gc.collect(1)
            return
        gc.collect()
        self._collect_all *= 2

    def hold_daemons(self) -> None:
        """Keep daemons on a leash, and their list up to date, from the next run on."""
        self.leashed = self.lists = True
        learned.news.append("daemon threads that never end")

    def surrender(self, error: BaseException) -> None:
        """Let the caller go on: the test's own thread, which calls this, cannot be ended."""
        assert self._watchdog is not None
        self._watchdog.surrender(error)

    # -- names and existing objects ----------------------------------------------------------

    def label_of(self, owner: object) -> str | None:
        """Return where an object was found before the first run, if it was."""
        return self._takeover.label_of(owner)

    def built_on(self, shared: Object) -> list[Object]:
        """Copy the older objects of the library whose state is guarded by a lock that a run meets,
        to be put back after the run."""
        return [OlderWhole(owner) for owner in self._takeover.built_on(shared)]

    def take_over(self, space: dict[str, Any], prefix: str) -> None:
        """Put what one dictionary holds under control, as before the first run."""
        self._takeover.take(space, prefix)

    def take_over_module(self, name: str, space: dict[str, Any]) -> None:
        """Put what a module of the library holds under control, whose code the test runs."""
        self._takeover.take_module(name, space)

    def out_of_reach(self) -> Sequence[tuple[str, Any]]:
        """Return the locks and queues that could not be replaced, each with where it is held."""
        return self._takeover.left

    def number_of(self, path: str) -> tuple[int, list[str]]:
        """Return the number of the thread with a path, and the names of what it creates."""
        found = self._numbers.get(path)
        if found is None:
            found = self._numbers[path] = (len(self._numbers), [])
        return found

    def keep(self, shared: Object) -> None:
        """Name an object that existed before the run; the same name for the whole exploration."""
        if shared.kept_by is not self:
            shared.kept_by = self
            self._outside += 1
            shared.name = shared.origin or f"{UNLABELLED}{self._outside}"


_KEPT = frozenset({"threading", "_thread", "_queue", "importlib._bootstrap", "logging"})


@lru_cache(maxsize=8192)
def _is_exempt(module: str) -> bool:
    """Whether a module keeps its names for what is replaced; asked of all, twice an exploration."""
    return is_strange(module) or module in _KEPT
