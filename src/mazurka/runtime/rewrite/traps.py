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
original code, by a *twin* of the function.  A twin has two frames more above it than the function
would; where it asks for frames by `sys._getframe`, it is given those of the program.

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
from operator import call
from types import CodeType, FrameType, FunctionType
from typing import Any, Final, NamedTuple

from mazurka.runtime.core.patches import is_forwarding
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.sites import is_rewritten
from mazurka.runtime.python.library.call_stack import frame_above
from mazurka.runtime.rewrite.live_functions import Group, Live, live_functions
from mazurka.runtime.sharing.monitoring import unobserved

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

    __slots__ = ("code", "function", "instructions", "is_audit_hook", "twin")

    def __init__(self, live: Live, function: FunctionType) -> None:
        self.function = live
        self.code = code = function.__code__
        """The code of the function."""
        self.twin: FunctionType | None = None
        self.is_audit_hook = False
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
        thread = get_ident()
        if (thread, self) in _beginning:  # called because of what stands below
            self.is_audit_hook = True
            return None
        _beginning.add((thread, self))
        try:
            positional, named = _arguments(sys._getframe(1), self.code)
            function = self.function()
            assert function is not None  # it is being called
            if self.is_audit_hook:
                unobserved.note_code(self.code.co_qualname, "an audit hook")
            target = function
            if self.is_audit_hook or session.current.ident != thread:
                target = self._original(function)
        finally:
            _beginning.discard((thread, self))
        if target is function:
            if function.__code__ is self.instructions:
                present.meet(function)
            if function.__code__ is self.instructions:  # nobody has made anything of it
                target = self._original(function)
        return target(*positional, **named)

    def _original(self, function: FunctionType) -> FunctionType:
        """The function with its own code; defaults are among the arguments already."""
        if self.twin is None:
            space, cells = function.__globals__, function.__closure__
            code = _ask_for_frames(self.code, space)
            self.twin = FunctionType(code, space, function.__name__, None, cells)
            present.has_twin.append(self)
        return self.twin


_beginning: Final[set[tuple[int, Trap]]] = set()
"""Threads, each with a trap that finds out what it stands for.  Only audit hooks are called
meanwhile: to ask for a frame and to make a function are events of which the interpreter tells them.
"""

_ASKED: Final = "_getframe"
_ANSWERED: Final = "_mazurka_getframe"


def _find_frame(depth: int = 0) -> FrameType:
    """Do what `sys._getframe` does, for a twin."""
    return frame_above(sys._getframe(1), depth)


setattr(sys, _ANSWERED, _find_frame)  # twins may outlive an exploration


def _ask_for_frames(code: CodeType, space: dict[str, Any]) -> CodeType:
    """Let code ask for frames of the program alone, where it does so by an attribute of `sys`."""
    if _ASKED not in code.co_names or _ASKED in space:
        return code
    names = (_ANSWERED if name == _ASKED else name for name in code.co_names)
    return code.replace(co_names=tuple(names))


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


class Present:
    """What traps tell, and to whom."""

    def __init__(self) -> None:
        self.traps: Traps | None = None
        self.meet: Callable[[FunctionType], None] = _leave
        """Told that a thread under control enters a function; gives it other code."""
        self.has_twin: list[Trap] = []


present: Final = Present()


class PreparedTraps(NamedTuple):
    """The traps of all functions of a namespace, as long as these are the same."""

    lives: list[Live]
    codes: list[CodeType]
    instructions: list[CodeType]


class PreparedParts(NamedTuple):
    """The functions of a namespace that belong to some parts of it, as long as all its functions
    have the code that they had."""

    parts: frozenset[str]
    lives: list[Live]
    codes: list[CodeType]
    """All functions of the namespace, and their code."""
    chosen: list[Live]

    def are_those_of(self, parts: frozenset[str]) -> bool:
        """Whether nothing has changed."""
        return self.parts is parts and all(
            function is None or function.__code__ is code
            for function, code in zip(map(call, self.lives), self.codes, strict=True)
        )


class Traps:
    """The traps of one exploration."""

    def __init__(self, meet: Callable[[FunctionType], None]) -> None:
        self._meet = meet
        self._set: list[Trap] = []
        """Those that have been set; some of them have been taken out since."""
        self._namespaces: list[PreparedTraps] = []
        """Those that have been set in all functions of a namespace."""

    def set_all(self, functions: Iterable[FunctionType]) -> None:
        """Set traps in functions."""
        self.set_in(map(live_functions.know, functions))

    def set_in(self, lives: Iterable[Live]) -> None:
        """Set traps in functions that have neither a trap nor rewritten code."""
        present.traps, present.meet = self, self._meet
        for live in lives:
            function = live()
            trap = None if function is None else _prepare(live, function)
            if function is not None and trap is not None:
                function.__code__ = trap.instructions
                self._set.append(trap)

    def set_in_namespace(self, group: Group) -> None:
        """Set traps in all functions of a namespace.  There are thousands."""
        present.traps, present.meet = self, self._meet
        prepared: PreparedTraps = group.traps or _prepare_all(group)
        changed: list[Live] = []
        self._namespaces.append(prepared)
        for live, code, instructions in zip(*prepared, strict=True):
            function = live()
            if function is None:
                continue
            if function.__code__ is code:
                function.__code__ = instructions
            else:
                changed.append(live)
        if changed:
            group.traps = None
            self.set_in(changed)

    def set_in_parts(self, group: Group, parts: frozenset[str]) -> None:
        """Set traps in those functions of a namespace that belong to some parts of it."""
        prepared: PreparedParts | None = group.parts
        if prepared is None or not prepared.are_those_of(parts):
            prepared = _find_parts(group, parts)
        self.set_in(prepared.chosen)

    def is_set(self, function: FunctionType) -> bool:
        live = live_functions.find(function)
        trap = None if live is None else live.trap
        return trap is not None and function.__code__ is trap.instructions

    def remove(self, function: FunctionType) -> None:
        """Give a function its own code again."""
        live = live_functions.find(function)
        if live is not None and live.trap is not None:
            _disarm(live.trap)

    def remove_from(self, space: dict[str, Any]) -> list[FunctionType]:
        """Give the functions of a namespace their own code again, and return them."""
        return [
            function
            for live in live_functions.of_namespace(space)
            if live.trap is not None and (function := _disarm(live.trap))
        ]

    def remove_all(self) -> None:
        """Give all functions their own code again."""
        for prepared in self._namespaces:
            for live, code, instructions in zip(*prepared, strict=True):
                function = live()
                if function is not None and function.__code__ is instructions:
                    function.__code__ = code
        self._namespaces.clear()
        while self._set:
            _disarm(self._set.pop())
        if present.traps is self:
            present.traps, present.meet = None, _leave
            while present.has_twin:
                present.has_twin.pop().twin = None


def _prepare(live: Live, function: FunctionType) -> Trap | None:
    """Make a trap for a function, unless there is one; None if its code is not its own."""
    trap: Trap | None = live.trap
    code = function.__code__
    if trap is None or trap.code is not code:
        if is_rewritten(code) or is_trap(code) or is_forwarding(code):
            return None
        trap = live.trap = Trap(live, function)
        live.group.traps = None
    return trap


def _prepare_all(group: Group) -> PreparedTraps:
    """Make traps for all functions of a namespace, and keep them if there is one for each."""
    prepared = PreparedTraps([], [], [])
    lives = list(group.values())
    for live in lives:
        function = live()
        trap = None if function is None else _prepare(live, function)
        if trap is not None and trap.instructions is not None:
            prepared.lives.append(live)
            prepared.codes.append(trap.code)
            prepared.instructions.append(trap.instructions)
    if len(prepared.lives) == len(lives) == len(group):
        group.traps = prepared
    return prepared


def is_part(function: FunctionType, parts: frozenset[str]) -> bool:
    """Whether a function belongs to some parts of its module."""
    name = function.__code__.co_qualname
    return name in parts or name.partition(".")[0] in parts


def _find_parts(group: Group, parts: frozenset[str]) -> PreparedParts:
    """Find the functions of a namespace that belong to some parts of it, and keep them if none has
    come or gone meanwhile."""
    prepared = PreparedParts(parts, [], [], [])
    lives = list(group.values())
    for live in lives:
        function = live()
        if function is not None:
            prepared.lives.append(live)
            prepared.codes.append(function.__code__)
            if is_part(function, parts):
                prepared.chosen.append(live)
    if len(prepared.lives) == len(lives) == len(group):
        group.parts = prepared
    return prepared


def _disarm(trap: Trap) -> FunctionType | None:
    """Give a function its own code again, if it is alive and still has the trap; return it."""
    function: FunctionType | None = trap.function()
    if function is None or function.__code__ is not trap.instructions:
        return None
    function.__code__ = trap.code
    return function
