"""Traps: how code that nobody has rewritten is noticed the moment it begins, whoever calls it.

Rewriting everything that a process has imported would take seconds.  Instead, every function that
could be rewritten gets a *trap* for its code: a few instructions that call back here.  The first
thread under control that enters the function, by whatever way (a call, an operator, a descriptor, a
callback of C code, a finalizer), runs the trap before any instruction of the function.  The module
of the function is rewritten then, and the call goes on in the rewritten code.  No way into a
function avoids its code, so none needs to be known here, and code that is never entered costs
nothing, in any run.

A trap looks like the code that it stands for: name, parameters, flags, file and line are the same,
so that whoever inspects a function sees no difference.  It takes what it has been called with from
its own frame, where defaults have been filled in.  Threads that are not under control run the
original code, by a *twin* of the function.

Code can run without a function: generators that were made before the exploration are watched
(`on_demand`), texts and code objects go through `exec` (`python.frames`), modules through the
import system (`observed_code.ImportFinder`).
"""

from __future__ import annotations

import dis
import sys
import warnings
from _thread import get_ident
from collections.abc import Callable, Iterable
from types import CodeType, FrameType, FunctionType
from typing import Any, Final

from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.sites import is_rewritten
from mazurka.runtime.rewrite.live_functions import Live, live_functions

_VARIABLE: Final = 0x04
_KEYWORDS: Final = 0x08
"""Flags of code: it takes any number of positional or of named arguments."""


def _compile_stub() -> CodeType:
    """Compile `return CALLED()`, where `CALLED` is the last constant."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # a text cannot be called
        whole = compile("def stub():\n return 'called'()", "<trap>", "exec")
    code = next(one for one in whole.co_consts if isinstance(one, CodeType))
    assert code.co_consts[-1] == "called"
    return code


_STUB: Final = _compile_stub()
_BEFORE: Final = _STUB.co_consts[:-1]
_NO_LINE: Final = b"\xf8"
"""The entry of a table of lines for one instruction that is on no line."""


def _make_cells(code: CodeType) -> bytes:
    """The instructions that begin a function whose variables are captured, or which captures some:
    without them, its frame does not tell what it has been called with."""
    names = code.co_varnames[: code.co_nlocals]
    found = [_instruction("MAKE_CELL", names.index(n)) for n in code.co_cellvars if n in names]
    if code.co_freevars:
        found.append(_instruction("COPY_FREE_VARS", len(code.co_freevars)))
    return b"".join(found)


def _instruction(name: str, argument: int) -> bytes:
    high = [dis.opmap["EXTENDED_ARG"], argument >> 8] if argument > 255 else []
    return bytes([*high, dis.opmap[name], argument & 255])


class Trap:
    """Stands for the code of one function; called by a few instructions in place of that code.

    Invariant: holds no reference to the function.  When the function dies, `forget` breaks the
    cycle between this object and its code, which the garbage collector does not see.
    """

    __slots__ = ("code", "function", "instructions", "meet", "twin")

    def __init__(self, live: Live, function: FunctionType) -> None:
        self.function = live
        self.code = code = function.__code__
        """The code of the function."""
        self.meet: Callable[[FunctionType], None] = _leave
        """Told that a thread under control enters the function; gives it other code."""
        self.twin: FunctionType | None = None
        cells = _make_cells(code)
        self.instructions: CodeType | None = code.replace(
            co_code=cells + _STUB.co_code,
            co_consts=(*_BEFORE, self),
            co_linetable=_NO_LINE * (len(cells) // 2) + _STUB.co_linetable,
            co_exceptiontable=b"",
            co_stacksize=max(code.co_stacksize, _STUB.co_stacksize),
        )

    def forget(self) -> None:
        """End, since the function has died."""
        self.instructions = self.twin = None

    def __call__(self) -> Any:
        """Go on with the call of the function, in rewritten code if the thread is under control."""
        frame = sys._getframe(1)
        positional, named = _arguments(frame, self.code)
        function = self.function()
        assert function is not None  # it is being called
        if session.current.ident != get_ident():
            return self._original(function)(*positional, **named)
        if function.__code__ is self.instructions:
            self.meet(function)
        if function.__code__ is self.instructions:  # nobody has made anything of it
            return self._original(function)(*positional, **named)
        return function(*positional, **named)

    def _original(self, function: FunctionType) -> FunctionType:
        """The function with its own code; defaults are among the arguments already."""
        if self.twin is None:
            space, cells = function.__globals__, function.__closure__
            self.twin = FunctionType(self.code, space, function.__name__, None, cells)
        return self.twin


def _arguments(frame: FrameType, code: CodeType) -> tuple[list[Any], dict[str, Any]]:
    """Take the arguments of a call from its frame, which has done nothing else yet."""
    values, names = frame.f_locals, code.co_varnames
    count, both = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    positional = [values[name] for name in names[:count]]
    named = {name: values[name] for name in names[count:both]}
    if code.co_flags & _VARIABLE:
        positional += values[names[both]]
        both += 1
    if code.co_flags & _KEYWORDS:
        named.update(values[names[both]])
    return positional, named


def is_trap(code: CodeType) -> bool:
    """Whether code is that of a trap."""
    return type(code.co_consts[-1:] and code.co_consts[-1]) is Trap


def _leave(function: FunctionType) -> None:
    """Make nothing of a function."""


class Traps:
    """The traps of one exploration."""

    def __init__(self, meet: Callable[[FunctionType], None]) -> None:
        self._meet = meet
        self._set: list[Trap] = []
        """Those that have been set; some of them have been taken out since."""

    def set_all(self, functions: Iterable[FunctionType]) -> None:
        """Set traps in functions."""
        self.set_in(map(live_functions.know, functions))

    def set_in(self, lives: Iterable[Live]) -> None:
        """Set traps in functions that have neither a trap nor rewritten code."""
        meet, add = self._meet, self._set.append
        for live in lives:
            function = live()
            if function is None:
                continue
            trap, code = live.trap, function.__code__
            if trap is None or trap.code is not code:
                if is_rewritten(code) or is_trap(code):
                    continue
                trap = live.trap = Trap(live, function)
            trap.meet = meet
            function.__code__ = trap.instructions
            add(trap)

    def is_set(self, function: FunctionType) -> bool:
        trap = live_functions.know(function).trap
        return trap is not None and function.__code__ is trap.instructions

    def remove(self, function: FunctionType) -> None:
        """Give a function its own code again."""
        trap = live_functions.know(function).trap
        if trap is not None:
            _disarm(trap)

    def remove_from(self, space: dict[str, Any]) -> list[FunctionType]:
        """Give the functions of a namespace their own code again, and return them."""
        return [
            function
            for live in live_functions.of_namespace(space)
            if live.trap is not None and (function := _disarm(live.trap))
        ]

    def remove_all(self) -> None:
        """Give all functions their own code again."""
        while self._set:
            _disarm(self._set.pop())


def _disarm(trap: Trap) -> FunctionType | None:
    """Give a function its own code again, if it is alive and still has the trap; return it."""
    trap.meet, trap.twin = _leave, None
    function: FunctionType | None = trap.function()
    if function is None or function.__code__ is not trap.instructions:
        return None
    function.__code__ = trap.code
    return function
