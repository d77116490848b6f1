"""Let a thread be left in the middle of its code, where it has no scheduling point.

A search switches threads before operations that it sees.  To check that nothing was overlooked, a
run can be given one more place: an instruction of observed code, before which a thread stands like
before an operation that touches nothing (`Pause`).  The interpreter itself switches threads between
any two instructions, so whatever such a run does, the program can do.

The interpreter calls a trace function before each instruction (`sys.settrace`, frame by frame).  It
is set in one thread of one run, by the run itself (`scheduler.Scheduler`), and taken back with
whatever else the thread has set.

From Python 3.12 on, a trace function that one thread sets changes the code that all threads run,
and the interpreter has been seen to crash where another trace function was set as well.  So there
is none of this (`IS_POSSIBLE`).
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

IS_POSSIBLE: Final = sys.version_info < (3, 12)
Trace: TypeAlias = Callable[[FrameType, str, Any], Any]
_PRIVATE: Final = frozenset(
    {
        "CACHE",
        "COPY",
        "COPY_FREE_VARS",
        "DELETE_FAST",
        "EXTENDED_ARG",
        "IS_OP",
        "KW_NAMES",
        "LOAD_CLOSURE",
    }
    | {"LOAD_CONST", "LOAD_FAST", "MAKE_CELL", "MAKE_FUNCTION", "NOP", "POP_EXCEPT", "POP_TOP"}
    | {"PRECALL", "PUSH_EXC_INFO", "PUSH_NULL", "RERAISE", "RESUME", "RETURN_CONST"}
    | {"RETURN_GENERATOR", "RETURN_VALUE", "STORE_FAST", "SWAP", "YIELD_VALUE"}
    | {"BUILD_CONST_KEY_MAP", "BUILD_LIST", "BUILD_MAP", "BUILD_SLICE", "BUILD_TUPLE"}
    | {"CHECK_EXC_MATCH", "END_FOR", "LIST_APPEND", "LOAD_FAST_AND_CLEAR", "LOAD_FAST_CHECK"}
)
"""Instructions that touch nothing but the frame's own variables, its stack and new objects."""


class Pause(Idle):
    """Stand before an instruction that is no scheduling point."""

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


class Interrupter(Protocol):
    """What is to happen in the middle of the code of some thread."""

    def choose_trace(self, run: Run, task: Task) -> Trace | None:
        """Return the trace function of a thread that is about to begin; None for none."""


def interrupt(run: Run, task: Task, interruption: Interrupter) -> None:
    """Let the present thread, which is about to run a task, be traced where that is wanted."""
    trace = interruption.choose_trace(run, task)
    if trace is not None:
        sys.settrace(trace)


class TracedCode(NamedTuple):
    """What is known of some code in which a thread may be left."""

    file: str
    function: str
    touching: frozenset[int]
    """The instructions that may touch what others can reach."""


_known: dict[CodeType, TracedCode | None] = {}
MOST_KNOWN = 10_000


def find_touching(code: CodeType) -> frozenset[int]:
    """Find the instructions of observed code that may touch what others can reach."""
    found = []
    follows_mark = False
    for one in dis.get_instructions(code):
        is_mark = one.opname == "LOAD_GLOBAL" and one.argval == MARK
        is_event = follows_mark and one.opname in ("LOAD_METHOD", "LOAD_ATTR")
        is_jump = one.opname.startswith(("JUMP", "POP_JUMP_IF_N", "POP_JUMP_FORWARD_IF_N"))
        if not (is_mark or is_event or is_jump or one.opname in _PRIVATE):
            found.append(one.offset)
        if one.opname not in ("CACHE", "EXTENDED_ARG"):
            follows_mark = is_mark
    return frozenset(found)


def find_code(run: Run, code: CodeType) -> TracedCode | None:
    """Return what is known of code that a thread enters; None where it cannot be left there: in
    code that is not observed, and while the thread does not do what the program says.

    To find that out is not the program's doing: the thread may be about to be left, and what it
    runs for us is not to be observed.
    """
    if run.ident != get_ident():
        return None
    try:
        return _known[code]
    except KeyError:
        if len(_known) >= MOST_KNOWN:
            _known.clear()
        found: TracedCode | None = run.do_aside(_look_at, code)
        _known[code] = found
        return found


def _look_at(code: CodeType) -> TracedCode | None:
    if not is_observed(code):
        return None
    return TracedCode(os.path.basename(code.co_filename), code.co_qualname, find_touching(code))


class InstructionSurvey:
    """Notes the instructions of one thread before which it could be left.

    Those that reach a scheduling point are left out: a switch there has been explored.  So are
    those that nobody else is there for.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self.found: list[CodePlace] = []
        self.count = 0
        """How many instructions have run."""
        self._visits: dict[tuple[CodeType, int], int] = {}
        self._last: tuple[int, CodePlace] | None = None

    def choose_trace(self, run: Run, task: Task) -> Trace | None:
        if task.path != self._path:
            return None

        def enter(frame: FrameType, event: str, argument: Any) -> Trace | None:
            if find_code(run, frame.f_code) is None:
                return None
            frame.f_trace_lines, frame.f_trace_opcodes = False, True
            return look

        def look(frame: FrameType, event: str, argument: Any) -> Trace:
            if event == "opcode" and not run.over:
                self._note(run, task, frame)
            return look

        return enter

    def _note(self, run: Run, task: Task, frame: FrameType) -> None:
        self.count += 1
        last, self._last = self._last, None
        if last is not None and last[0] == run.steps:
            self.found.append(last[1])
        code, offset = frame.f_code, frame.f_lasti
        known = _known.get(code)
        if known is None or offset not in known.touching:
            return
        visit = self._visits[code, offset] = self._visits.get((code, offset), 0) + 1
        if run.pending.count(None) < len(run.pending) - 1:
            place = CodePlace(task.path, known.file, known.function, offset, visit)
            self._last = run.steps, place


class LeaveAt:
    """Lets a thread stand before an instruction once."""

    def __init__(self, at: CodePlace) -> None:
        self.at = at
        self.is_reached = False
        self._visits = 0

    def choose_trace(self, run: Run, task: Task) -> Trace | None:
        at = self.at
        if task.path != at.thread:
            return None
        self.is_reached, self._visits = False, 0

        def enter(frame: FrameType, event: str, argument: Any) -> Trace | None:
            if frame.f_code.co_qualname != at.function:
                return None
            known = find_code(run, frame.f_code)
            if known is None or known.file != at.file:
                return None
            frame.f_trace_lines, frame.f_trace_opcodes = False, True
            return look

        def look(frame: FrameType, event: str, argument: Any) -> Trace | None:
            if event == "opcode" and frame.f_lasti == at.offset and not self.is_reached:
                self._visits += 1
                if self._visits == at.visit and not run.over:
                    self.is_reached = True
                    sys.settrace(None)
                    task.rounds = None
                    run.point(Pause())
                    return None
            return look

        return enter
