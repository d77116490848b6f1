"""Brute force on real threads: two functions, with a switch possible before each instruction.

This uses nothing of Mazurka.  `sys.settrace` stops a thread before each instruction of Python
code, also of the standard library's; a thread goes on when the schedule says so.  A schedule is the
thread that begins, and the numbers of the stops at which control passes to the other thread, each
of which is a preemption.  When a thread ends or waits for a lock, the other one goes on.

Before an instruction that uses nothing but the frame to which it belongs a switch would show
nothing that a switch before the next instruction does not show, so there are no stops.
"""

from __future__ import annotations

import _thread
import dis
import functools
import gc
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType, FrameType, ModuleType
from typing import Any

LOCAL = (
    *("CACHE", "COPY", "COPY_FREE_VARS", "DUP_TOP", "EXTENDED_ARG", "JUMP_BACKWARD"),
    *("JUMP_BACKWARD_NO_INTERRUPT", "JUMP_FORWARD", "KW_NAMES", "LOAD_CLOSURE", "LOAD_CONST"),
    *("LOAD_FAST", "LOAD_FAST_AND_CLEAR", "LOAD_FAST_CHECK", "LOAD_GLOBAL", "MAKE_CELL"),
    *("MAKE_FUNCTION", "NOP", "POP_EXCEPT", "POP_JUMP_FORWARD_IF_NONE", "PRECALL"),
    *("POP_JUMP_FORWARD_IF_NOT_NONE", "POP_TOP", "PUSH_EXC_INFO", "PUSH_NULL", "RESUME"),
    *("STORE_FAST", "SWAP", "BUILD_LIST", "BUILD_MAP", "BUILD_TUPLE", "IS_OP"),
)
"""Instructions that use nothing which another thread can change: programs assign no globals."""
IN_FUNCTIONS = ("RETURN_VALUE", "RETURN_CONST")
"""These, too, but for generators and coroutines, which others see ending."""
_SUSPENDING = 0x20 | 0x80 | 0x200
_codes: dict[CodeType, bytes] = {}


def _find_stops(code: CodeType) -> bytes:
    """By the position of an instruction: 1 if there is a stop before it."""
    stops = bytearray(len(code.co_code) + 2)
    for each in dis.get_instructions(code):
        is_local = each.opname in LOCAL or (
            each.opname in IN_FUNCTIONS and not code.co_flags & _SUSPENDING
        )
        stops[each.offset] = not is_local
    return bytes(stops)


@dataclass(frozen=True)
class Schedule:
    """The thread that begins, and the stops at which control passes."""

    first: int
    switches: tuple[int, ...] = ()


class OpcodeRun:
    """One run of two functions under a schedule."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.stops = 0
        """The stops until one thread has ended: only there a switch leads anywhere."""
        self._switches = set(schedule.switches)
        self._gates = [_thread.allocate_lock() for _ in range(2)]
        self._ended: list[int] = []
        self._all = _thread.allocate_lock()
        self._numbers: dict[int, int] = {}
        self._failed: list[BaseException] = []

    def together(self, *functions: Callable[[], None]) -> None:
        """Run two functions in two threads until both have ended."""
        assert len(functions) == 2
        for gate in self._gates:
            gate.acquire()
        self._all.acquire()
        for number, function in enumerate(functions):
            _thread.start_new_thread(self._run, (number, function))
        self._gates[self.schedule.first].release()
        self._all.acquire()
        if self._failed:
            raise self._failed[0]

    def _run(self, number: int, function: Callable[[], None]) -> None:
        self._numbers[_thread.get_ident()] = number
        self._gates[number].acquire()
        try:
            sys.settrace(self._enter)
            function()
        except BaseException as error:
            self._failed.append(error)
        finally:
            sys.settrace(None)
            self._ended.append(number)
            if len(self._ended) == 2:
                self._all.release()
            else:
                self._gates[1 - number].release()

    def _enter(self, frame: FrameType, event: str, value: Any) -> Any:
        if frame.f_code.co_filename == __file__:
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return self._stop

    def _stop(self, frame: FrameType, event: str, value: Any) -> Any:
        if event == "opcode" and not self._ended:
            code = frame.f_code
            stops = _codes.get(code)
            if stops is None:
                stops = _codes[code] = _find_stops(code)
            if stops[frame.f_lasti]:
                self.stops += 1
                if self.stops in self._switches:
                    self.give_way()
        return self._stop

    def give_way(self) -> bool:
        """Let the other thread go on, unless it has ended; tell whether that was so."""
        number = self._numbers[_thread.get_ident()]
        if self._ended:
            return False
        self._gates[1 - number].release()
        self._gates[number].acquire()
        return True


_present: list[OpcodeRun] = []


class WaitingLock:
    """A reentrant lock, for which a thread waits by letting the other one go on."""

    def __init__(self) -> None:
        self._owner = 0
        self._depth = 0

    def __enter__(self) -> None:
        me = _thread.get_ident()
        while self._owner not in (0, me):
            assert _present[-1].give_way(), "a thread has ended without releasing its lock"
        self._owner = me
        self._depth += 1

    def __exit__(self, *error: object) -> None:
        self._depth -= 1
        if not self._depth:
            self._owner = 0


@dataclass
class Outcomes:
    """What the schedules with at most so many preemptions show."""

    least: dict[str, int] = field(default_factory=dict)
    """By outcome: the fewest preemptions of a schedule that shows it."""
    schedules: int = 0
    complete: bool = True
    """Whether all schedules have been run."""

    def within(self, preemptions: int) -> set[str]:
        return {shown for shown, least in self.least.items() if least <= preemptions}


def find_outcomes(source: str, preemptions: int, most: int) -> Outcomes:
    """Run the function `program` of a source under all schedules with so many preemptions, each
    time in a new module; at most `most` of them."""
    found = Outcomes()
    code = compile(source, "program", "exec", dont_inherit=True)
    locks = vars(functools).get("RLock")
    was_enabled = gc.isenabled()
    gc.disable()  # or finalizers would run at any instruction
    gc.freeze()  # objects of the tests before: the collections here are about those of the runs
    if locks is not None:
        functools.RLock = WaitingLock  # type: ignore[attr-defined]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # coroutines that nobody awaits
            level = [Schedule(0), Schedule(1)]
            for bound in range(preemptions + 1):
                deeper: list[Schedule] = []
                for schedule in level:
                    if found.schedules >= most:
                        found.complete = False
                        return found
                    stops = _run(code, schedule, found)
                    if bound < preemptions:
                        begin = max(schedule.switches, default=0) + 1
                        deeper += [
                            Schedule(schedule.first, (*schedule.switches, stop))
                            for stop in range(begin, stops + 1)
                        ]
                level = deeper
            gc.collect()
    finally:
        if locks is not None:
            functools.RLock = locks  # type: ignore[attr-defined]
        gc.unfreeze()
        if was_enabled:
            gc.enable()
        _codes.clear()
    return found


def _run(code: CodeType, schedule: Schedule, found: Outcomes) -> int:
    """Run a program once; return the number of its stops."""
    module = ModuleType("random_objects_module")
    sys.modules[module.__name__] = module
    run = OpcodeRun(schedule)
    _present.append(run)
    try:
        exec(code, vars(module))
        shown = module.program(run.together)
    finally:
        _present.pop()
        del sys.modules[module.__name__]
    found.schedules += 1
    found.least.setdefault(shown, len(schedule.switches))
    if found.schedules % 200 == 0:
        gc.collect()
    return run.stops
