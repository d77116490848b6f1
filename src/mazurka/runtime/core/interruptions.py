"""Leave a thread in the middle of its code, where it has no scheduling point.

A search switches threads before operations that it sees.  To check that nothing was overlooked, a
run can be given one more place: an instruction of observed code, before which a thread stands like
before an operation that touches nothing (`Pause`).  The interpreter itself switches threads between
any two instructions, so the program can do all that such a run does.

An `InstructionHook` is called before the instructions of one thread.  On Python 3.11, a trace
function calls it (`sys.settrace`, frame by frame), which the thread itself sets and which is taken
back with all else that the thread has set.  From 3.12 on, `sys.monitoring` calls it: local events
of the code in question, so that other code runs as fast as ever.  (A trace function that one thread
sets there changes the code that all threads run, and the interpreter has been seen to crash where
another trace function was set as well.)
"""

from __future__ import annotations

import dis
import os
import sys
from _thread import get_ident
from collections.abc import Callable, Sequence
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from mazurka.runtime.core.operations import Idle, RealOperation
from mazurka.runtime.core.sites import MARK, is_observed
from mazurka.runtime.core.tasks import Task

Trace: TypeAlias = Callable[[FrameType, str, Any], Any]
_PRIVATE: Final = (
    *("CACHE", "CHECK_EXC_MATCH", "COPY", "DELETE_FAST", "END_FOR", "EXTENDED_ARG", "IS_OP"),
    *("KW_NAMES", "LIST_APPEND", "LOAD_CLOSURE", "LOAD_COMMON_CONSTANT", "LOAD_CONST"),
    *("LOAD_FAST", "LOAD_SMALL_INT", "SET_FUNCTION_ATTRIBUTE"),
    *("MAKE_", "NOP", "NOT_TAKEN", "POP_EXCEPT", "POP_ITER", "POP_TOP", "PRECALL"),
    *("PUSH_EXC_INFO", "PUSH_NULL", "RERAISE", "RESUME", "RETURN_", "STORE_FAST", "SWAP"),
    *("YIELD_VALUE", "BUILD_CONST_KEY_MAP", "BUILD_LIST", "BUILD_MAP", "BUILD_SLICE"),
    *("BUILD_TUPLE", "JUMP", "POP_JUMP_IF_N", "POP_JUMP_FORWARD_IF_N"),
)
"""How instructions begin that touch nothing but the frame's own variables, its stack and new
objects."""


class Pause(Idle):
    """Stand before an instruction that is not a scheduling point."""

    __slots__ = ()
    kind = "goes on here"
    writes = True  # whatever the thread may have waited for in a loop, it is something new


class CodePlace(NamedTuple):
    """An instruction that a thread comes to, the same in every run of the same program."""

    thread: str
    """The path of the thread: `0.2` is the second that the test creates."""
    file: str
    """Without its folders."""
    function: str
    offset: int
    visit: int
    """The how-manieth time the thread comes there, from 1."""


class Run(Protocol):
    """What is needed of the run in which a thread is left (`scheduler.Scheduler`)."""

    ident: int
    steps: int
    over: bool

    @property
    def pending(self) -> Sequence[RealOperation | None]:
        """Where the threads stand."""

    def point(self, operation: RealOperation) -> None:
        """Stand before an operation; come back when it is this thread's turn to perform it."""

    def do_aside(self, action: Callable[..., Any], *arguments: Any) -> Any:
        """Let the running thread do something that is not the program's doing."""


class KnownCode(NamedTuple):
    """Some observed code, in which a thread may be left."""

    code: CodeType
    file: str
    function: str
    touching: frozenset[int]
    """The instructions that may touch data of other threads."""


def find_touching(code: CodeType) -> frozenset[int]:
    """Find the instructions of observed code that may touch data of other threads."""
    found = []
    follows_mark = False
    for one in dis.get_instructions(code):
        is_mark = one.opname == "LOAD_GLOBAL" and one.argval == MARK
        is_event = follows_mark and one.opname in ("LOAD_METHOD", "LOAD_ATTR")
        if not (is_mark or is_event or one.opname.startswith(_PRIVATE)):
            found.append(one.offset)
        if one.opname not in ("CACHE", "EXTENDED_ARG"):
            follows_mark = is_mark
    return frozenset(found)


_known: dict[int, KnownCode] = {}
"""By the identity of the code, which is kept: to hash a code object takes long."""
MOST_KNOWN = 10_000


def _find(run: Run, code: CodeType) -> KnownCode:
    """Return what is known of observed code.

    To find that out is not the program's doing: the thread may be about to be left, and must not
    be observed meanwhile.
    """
    found = _known.get(id(code))
    if found is None:
        if len(_known) >= MOST_KNOWN:
            _known.clear()
        found = _known[id(code)] = run.do_aside(_look_at, code)
    return found


def _look_at(code: CodeType) -> KnownCode:
    file = os.path.basename(code.co_filename)
    return KnownCode(code, file, code.co_qualname, find_touching(code))


class InstructionHook:
    """What happens before the instructions of one thread."""

    def __init__(self, thread: str) -> None:
        self.thread = thread
        """The path of the thread."""

    def begin(self) -> None:
        """Forget the run before: the thread is about to begin in another one."""

    def wants(self, known: KnownCode) -> bool:
        """Return whether to be called before the instructions of some code."""
        return True

    def reach(self, run: Run, task: Task, known: KnownCode, offset: int) -> None:
        """Do something before an instruction."""
        raise NotImplementedError


def interrupt(run: Run, task: Task, hook: InstructionHook) -> None:
    """Call a hook before the instructions of the present thread, if it is the hook's."""
    if task.path == hook.thread:
        hook.begin()
        _start(run, task, hook)


def _trace(run: Run, task: Task, hook: InstructionHook) -> None:
    """Let a trace function call a hook."""

    def enter(frame: FrameType, event: str, argument: Any) -> Trace | None:
        if run.ident != get_ident() or not is_observed(frame.f_code):
            return None
        known = _find(run, frame.f_code)
        if not hook.wants(known):
            return None
        frame.f_trace_lines, frame.f_trace_opcodes = False, True

        def look(frame: FrameType, event: str, argument: Any) -> Trace:
            if event == "opcode" and not run.over:
                hook.reach(run, task, known, frame.f_lasti)
            return look

        return look

    sys.settrace(enter)


class _Monitor:
    """Calls a hook by `sys.monitoring`, as one of its tools."""

    TOOLS: Final = (3, 5)
    """The numbers it may have; 0 to 2 are those of debuggers, of coverage and of profilers, 4 is
    that of `sharing.monitoring`, and 5 is kept for optimizers, of which there are few."""

    def __init__(self) -> None:
        self._monitoring: Any = getattr(sys, "monitoring", None)
        self._tool: int | None = None
        self._watched: dict[int, KnownCode] = {}
        """By the identity of the code: the code that has local events."""

    def find_tool(self) -> int | None:
        """Return a number that is free."""
        return next((one for one in self.TOOLS if not self._monitoring.get_tool(one)), None)

    def start(self, run: Run, task: Task, hook: InstructionHook) -> None:
        self.stop()
        monitoring, watched = self._monitoring, self._watched
        tool, events = self.find_tool(), monitoring.events
        assert tool is not None

        def is_there() -> bool:
            return bool(get_ident() == run.ident == task.ident)

        def enter(code: CodeType, offset: int) -> Any:
            if not is_observed(code):
                return monitoring.DISABLE
            if is_there() and id(code) not in watched and hook.wants(_find(run, code)):
                watched[id(code)] = _find(run, code)
                monitoring.set_local_events(tool, code, events.INSTRUCTION)
            return None

        def look(code: CodeType, offset: int) -> None:
            if is_there() and not run.over:
                hook.reach(run, task, watched[id(code)], offset)

        monitoring.use_tool_id(tool, "mazurka: interruptions")
        self._tool = tool
        monitoring.register_callback(tool, events.PY_START, enter)
        monitoring.register_callback(tool, events.INSTRUCTION, look)
        monitoring.set_events(tool, events.PY_START)

    def stop(self) -> None:
        tool, self._tool = self._tool, None
        if tool is None:
            return
        monitoring = self._monitoring
        monitoring.set_events(tool, 0)
        for known in self._watched.values():
            monitoring.set_local_events(tool, known.code, 0)
        self._watched.clear()
        for event in (monitoring.events.PY_START, monitoring.events.INSTRUCTION):
            monitoring.register_callback(tool, event, None)
        monitoring.free_tool_id(tool)


_monitor: Final = _Monitor()
_TRACES: Final = sys.version_info < (3, 12)
_start: Final = _trace if _TRACES else _monitor.start


def is_possible() -> bool:
    """Return whether a hook can be called now: other tools may have left no number."""
    return _TRACES or _monitor.find_tool() is not None


def stop_interrupting() -> None:
    """Call no hook any more.  The thread itself takes back its trace function."""
    _monitor.stop()


class InstructionSurvey(InstructionHook):
    """Notes the instructions of one thread before which it could be left.

    Those that reach a scheduling point are left out: a switch there has been explored.  So are
    those that run while no other thread could go on.
    """

    def __init__(self, thread: str) -> None:
        super().__init__(thread)
        self.found: list[CodePlace] = []
        self.count = 0
        """How many instructions have run."""
        self._visits: dict[tuple[int, int], int] = {}
        self._last: tuple[int, CodePlace] | None = None

    def reach(self, run: Run, task: Task, known: KnownCode, offset: int) -> None:
        self.count += 1
        last, self._last = self._last, None
        if last is not None and last[0] == run.steps:
            self.found.append(last[1])
        if offset not in known.touching:
            return
        key = id(known.code), offset
        visit = self._visits[key] = self._visits.get(key, 0) + 1
        if any(
            one is not None and (one.free or one.ready())
            for number, one in enumerate(run.pending)
            if number != task.number
        ):
            place = CodePlace(task.path, known.file, known.function, offset, visit)
            self._last = run.steps, place


class LeaveAt(InstructionHook):
    """Lets a thread stand before an instruction once."""

    def __init__(self, at: CodePlace) -> None:
        super().__init__(at.thread)
        self.at = at
        self.begin()

    def begin(self) -> None:
        self.is_reached, self._visits = False, 0

    def wants(self, known: KnownCode) -> bool:
        return (known.file, known.function) == (self.at.file, self.at.function)

    def reach(self, run: Run, task: Task, known: KnownCode, offset: int) -> None:
        if offset != self.at.offset or self.is_reached:
            return
        self._visits += 1
        if self._visits == self.at.visit:
            self.is_reached = True
            task.rounds = None
            run.point(Pause())
