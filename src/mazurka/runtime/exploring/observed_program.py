"""A program whose threads are under control and whose accesses are observed.

    with ObservedProgram(test, is_wanted) as program:
        explored = program.supervise(lambda: explore(program, bound=2))

A search over it (`stateless.runs.Runnable`) sees the operations of the program, accesses at
scheduling points among them.  Where a run shows that more places need points, or that objects need
other names, `RelearnError` is raised at the end of the run, and `supervise` begins the search anew,
until nothing is left to be learned.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import unwrap
from types import FrameType, ModuleType
from typing import Any, TypeVar

from mazurka.errors import MazurkaError
from mazurka.runtime.core.collection import YOUNG, collection
from mazurka.runtime.core.host import ControlSettings
from mazurka.runtime.core.insides import names_in
from mazurka.runtime.core.interruptions import InstructionHook, is_possible, stop_interrupting
from mazurka.runtime.core.moment import now
from mazurka.runtime.core.operations import present
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.sites import shown_path, site_of, sites
from mazurka.runtime.core.tasks import Join, StartThread
from mazurka.runtime.exploring.losses import losses
from mazurka.runtime.program.program import RealProgram
from mazurka.runtime.python.attributes import forget_all_classes, forget_classes
from mazurka.runtime.python.containers import forget_tokens
from mazurka.runtime.python.library.files import forget_files
from mazurka.runtime.python.library.finalizers import finalizers
from mazurka.runtime.python.library.identities import identities
from mazurka.runtime.python.library.views import forget_views
from mazurka.runtime.python.library.weak_references import forget_lives
from mazurka.runtime.python.places.files import knowledge
from mazurka.runtime.rewrite.live_functions import live_functions
from mazurka.runtime.rewrite.named_objects import find_named_objects
from mazurka.runtime.rewrite.observed_code import ObservedCode
from mazurka.runtime.rewrite.selection import Rule, is_left_alone, select_modules
from mazurka.runtime.sharing.exempt import find_memories
from mazurka.runtime.sharing.kept_by_c import older_in_c
from mazurka.runtime.sharing.locations import PLACE, learned, order
from mazurka.runtime.sharing.monitoring import unobserved
from mazurka.runtime.sharing.names import names
from mazurka.runtime.sharing.older_files import older_files
from mazurka.runtime.sharing.older_state import older_state
from mazurka.stateless.runs import Abandon, Decider, Ended, Operation, Slip

Result = TypeVar("Result")
_take = order.take
LONG = 1000
"""Of runs with so many steps it is told where they were given up."""
MOST = 300
"""How many runs may teach names and no place before it is clear that there is no end to it."""


class NothingObservedError(MazurkaError):
    """None of the test's functions could be observed; a verdict would be worth nothing."""


class RelearnError(Exception):
    """A run has shown that more is shared than was known; the search has to begin anew."""

    def __init__(self, news: Sequence[str], ended: Ended) -> None:
        super().__init__(", ".join(dict.fromkeys(news)))
        self.ended = ended
        """How the run ended.  Its schedule means nothing in the next search."""


class RestlessError(MazurkaError):
    """What the threads of a test share does not become known, however often it is run."""

    def __init__(self, news: Sequence[str]) -> None:
        super().__init__(
            "the exploration would begin anew for ever: execution after execution shows something"
            f" that threads share and that had to be known before, at last {', '.join(news)}."
            " Probably the test makes new types, or new names of attributes, each time it is run:"
            " make them once, where a module is imported, or let them be called the same each time"
        )


class OrderKeeper(Decider):
    """Passes questions on to a decider, and keeps the happens-before order of the run."""

    def __init__(self, decider: Decider, *, goes_on: bool) -> None:
        """`goes_on` says that the run before was this decider's, too, and taught nothing."""
        self._decider = decider
        self._decide = decider.decide
        prefix = decider.prefix
        self._prefix = prefix if goes_on else ()
        self._slip: Slip | None = None
        self.long_run = ""
        """Where a thread stood when a long run was given up."""
        if goes_on or not prefix:  # otherwise it has to be asked about everything
            self._slip = decider.slip
        order.begin(len(self._prefix))
        now.clear()
        now.repeats = bool(self._prefix)

    @property
    def prefix(self) -> Sequence[int]:
        return self._prefix

    def left(self, count: int) -> None:
        if self._prefix:
            self._decider.left(count)

    def follow(self, step: int) -> None:
        order.repeat(step)

    def over(self, pending: Sequence[Operation | None]) -> None:
        self._decider.over(pending)

    @property
    def slip(self) -> Slip | None:
        return None if self._slip is None else self._pass

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        decide = self._decide
        try:
            chosen = decide(pending, enabled, last)
        except Abandon:
            if len(order.events) >= LONG:
                self.long_run = _describe_place(sys._getframe(1))
            raise
        operation: Any = pending[chosen]
        alone = False
        if now.alone or type(operation) is Join:
            alone = _stays_alone(operation, chosen, pending)
        _take(chosen, operation.at(present) or (), alone)
        return chosen

    def _pass(self, thread: int, operation: Operation, pending: Sequence[Operation | None]) -> None:
        slip = self._slip
        assert slip is not None
        slip(thread, operation, pending)
        alone = False
        if now.alone or type(operation) is Join:
            alone = _stays_alone(operation, thread, pending)
        _take(thread, operation.at(present) or (), alone)


def _describe_place(frame: FrameType) -> str:
    """Name the thread that ran last, and where it stands."""
    site = site_of(frame)
    where = f" at {shown_path(site.file)}:{site.line}" if site else ""
    return f"{session.current.running.life.label} ran last{where}"


def _stays_alone(operation: Any, thread: int, pending: Sequence[Operation | None]) -> bool:
    """Whether nobody else is there once an operation has been performed, and its thread knows."""
    kind = type(operation)
    joins = kind is Join and order.join(thread, operation.joined)
    return (
        kind is not StartThread
        and pending.count(None) == len(pending) - 1
        and (now.alone or (joins and order.has_joined_all(thread, len(pending))))
    )


class ObservedProgram:
    """A test function whose threads are under control and whose accesses are observed."""

    def __init__(
        self,
        test: Callable[[], object],
        is_wanted: Rule,
        settings: ControlSettings | None = None,
        is_left: Rule = is_left_alone,
    ) -> None:
        self._test = test
        self.real = RealProgram(test, settings)
        self.code = ObservedCode(is_wanted, is_left)
        self.restarts = self.runs = 0
        self.long_run = ""
        """Where a thread stood when a long run was given up; empty if none was."""
        self._known: set[str] = set()
        """All that runs have taught."""
        self._vain = 0
        """How many of them have taught something, but no place."""
        self._used_up = 0
        """How many generators that are older than the runs have been resumed by one."""
        self._last: Decider | None = None
        """Who decided in the last run, unless that has taught something."""

    def __enter__(self) -> ObservedProgram:
        learned.clear()
        names.clear()
        identities.clear()
        unobserved.clear()
        forget_all_classes()
        collection.pause(live_functions.put_aside)
        try:
            self.code.__enter__()
            try:
                for memory, name in find_memories():
                    names.pin_memory(memory, name)
                self._name_objects(self.code.modules)
                self.real.__enter__()
                try:
                    self.code.entrances.watch_all()
                    unobserved.start_monitoring()
                except BaseException:  # it takes long enough to be interrupted
                    self.real.__exit__()
                    raise
            except BaseException:
                self.code.__exit__()
                raise
        except BaseException:
            collection.resume()
            raise
        return self

    def _name_objects(self, modules: Mapping[str, ModuleType]) -> None:
        for thing, name in find_named_objects(modules, None):
            names.pin(thing, name)
        for thing, name in find_named_objects({}, self._test):
            names.pin(thing, name, older=False)

    def _name_met_objects(self) -> None:
        """Name what the modules hold that the last run has met, and put their locks under
        control."""
        met = self.code.met
        if met:
            for name in met:
                self.real.take_over_module(name, names_in(self.code.modules[name]))
            self._name_objects({name: self.code.modules[name] for name in met})
            met.clear()
            gc.collect()  # what the runs so far have left in weak sets and the like is not older
            older_state.renew()
            older_in_c.clear()

    def __exit__(self, *error: object) -> None:
        try:
            unobserved.stop_monitoring()
            gc.collect(YOUNG)
            self.code.restore_made()
            self.real.__exit__(*error)
        finally:
            self.code.__exit__()
            names.clear()
            forget_all_classes()
            _forget_ends()
            knowledge.clear()
            older_files.clear()
            self._last = None  # a search refers to its program
            live_functions.refresh()
            collection.resume()

    @property
    def not_observed(self) -> list[str]:
        """What has run under control without being observed."""
        return sorted({*unobserved.packages, *self.unobserved_code})

    @property
    def unobserved_code(self) -> list[str]:
        """Python code among that: its accesses are no scheduling points, so nothing is proved."""
        if self.real.is_entered:
            self.code.entrances.name_resumed()
        return sorted(unobserved.code | unobserved.lost | learned.unordered)

    @property
    def last_schedule(self) -> list[int]:
        """The threads of the last run, step by step."""
        return [event[0] for event in order.events]

    # -- runs --------------------------------------------------------------------------------

    def run(self, decider: Decider) -> Ended:
        """Run the test once; raise `RelearnError` at its end if it has shown anything new."""
        forget_classes()
        self.code.forget_answers()
        _forget_ends()
        names.restart()
        learned.news.clear()
        is_original = not unobserved.lost
        try:
            keeper = OrderKeeper(decider, goes_on=self._last is decider)
            self._last = decider
            imported = len(sys.modules)
            ended = self.real.run(keeper)
            self.runs += 1
            if is_original:
                losses.note(ended)
            self.long_run = keeper.long_run or self.long_run
            if len(sys.modules) != imported and self.real.is_entered:
                self.code.entrances.watch_new()  # some loaders do not show what they load
        finally:
            if self.real.is_entered:  # otherwise the names are those of another exploration
                self._keep_used_up()
                names.restart()
                finalizers.put_back()
        if learned.news:
            self._last = None  # the same threads will take other steps
            learned.unordered.clear()
            self._require_news()
            self._name_met_objects()
            raise RelearnError(learned.news, ended)
        return ended

    @contextmanager
    def interrupted_by(self, interruption: InstructionHook | None) -> Iterator[None]:
        """Let something happen in the middle of threads' code, in the runs meanwhile."""
        if interruption is not None and not is_possible():
            raise MazurkaError(
                "other tools use sys.monitoring, and have left no number for Mazurka: run the test"
                " without them"
            )
        self.real.interruption = interruption
        try:
            yield
        finally:
            self.real.interruption = None
            stop_interrupting()

    def forget(self) -> None:
        """Forget what runs have taught, before another test is explored under the same control."""
        learned.clear()
        self._known.clear()
        self._vain = 0
        self._last = None

    def begin_search(self) -> None:
        """Forget what runs before a search have shown that nothing orders."""
        learned.unordered.clear()

    def _keep_used_up(self) -> None:
        """Let older objects stay as they are after a run that has resumed an older generator."""
        resumed = self.code.entrances.take_resumed()
        if resumed:
            for name in resumed:
                unobserved.lose(name)
            older_state.keep_all()
            older_in_c.clear()
            self._used_up += len(resumed)
            learned.news.append(f"{self._used_up} older generators have been resumed")

    def _require_news(self) -> None:
        """Give up where runs teach something for ever: only the number of places is bounded."""
        fresh = [one for one in dict.fromkeys(learned.news) if one not in self._known]
        self._known.update(fresh)
        if not any(one.startswith(PLACE) for one in fresh):
            self._vain += 1
        if not fresh or self._vain > MOST:
            raise RestlessError(fresh or learned.news)

    def supervise(self, search: Callable[[], Result]) -> Result:
        """Search again and again, under control, until a whole search has learned nothing."""
        return self.real.supervise(lambda: self._until_known(search))

    def _until_known(self, search: Callable[[], Result]) -> Result:
        while True:
            try:
                return search()
            except RelearnError:
                self.restarts += 1


def _forget_ends() -> None:
    """Let nobody wait any more for the ends of objects that earlier runs have made."""
    forget_tokens()
    forget_lives()
    forget_views()
    forget_files()


def observe_test(
    body: Callable[[], object],
    function: Callable[..., object],
    leave_out: Sequence[str],
    settings: ControlSettings,
) -> ObservedProgram:
    """Make a program of a test function, to be entered; `leave_out` names what not to observe."""
    is_wanted, is_left = select_modules(function, leave_out)
    return ObservedProgram(body, is_wanted, settings, is_left)


def require_observed(program: ObservedProgram, function: Callable[..., object]) -> None:
    """Refuse a test of which nothing could be rewritten: its runs would say nothing."""
    module = getattr(unwrap(function), "__module__", None)
    if program.code.functions and module in program.code.modules:
        return
    reasons = "; ".join(f"{name}: {why}" for name, why in program.code.skipped.items())
    code = getattr(unwrap(function), "__code__", None)
    raise NothingObservedError(
        f"nothing of this test can be observed ({reasons or f'no source of {module}'}): its shared"
        " accesses would be no scheduling points, and a verdict would be worth nothing",
        file=shown_path(code.co_filename) if code else None,
        line=code.co_firstlineno if code else None,
    )


def schedule_every_access() -> None:
    """Let every access be a scheduling point, whether or not anybody else has used its place."""
    learned.points.update(range(len(sites)))
