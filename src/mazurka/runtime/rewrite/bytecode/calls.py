"""Rewrites calls, for `rules`.

What is called lies below its arguments.  It is reported by `Events.call` when they are all there; a
method has been reported when it was taken from its object.  Functions that look at the frame of
their caller are called as they are, as in rewritten source.
"""

from __future__ import annotations

import sys
from typing import Final

from mazurka.runtime.python.events import Events
from mazurka.runtime.rewrite.bytecode.assembly import Instruction
from mazurka.runtime.rewrite.bytecode.builder import Builder, at_depth, discard, same
from mazurka.runtime.rewrite.bytecode.stack import EMPTY, EMPTY_FIRST, NAMED, READY, VALUE, Stack

IN_OWN_FRAME: Final = frozenset({"super", "locals", "globals", "__import__", "breakpoint"})
"""Functions that look at the frame of their caller."""
_ANNOUNCING: Final = ("KW_NAMES", "PRECALL")
"""Instructions that belong to the call after them."""


class Calls:
    """Rewrites the calls of one code object."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._code = builder.code

    def rewrite(self, number: int, instruction: Instruction, stack: Stack) -> None:
        """Report what is called, before its arguments are taken, and what it returns.

        Names of arguments are announced by an instruction before the call in some versions; nothing
        may come between the two.
        """
        row = self._builder.row
        name = instruction.name
        is_announced = name in ("CALL", "PRECALL") and row[number - 1].name in _ANNOUNCING
        call = number
        while row[call].name in _ANNOUNCING:
            call += 1
        arguments = _arguments_of(row[call])
        called = self._callee(stack, arguments)
        before: list[Instruction] = []
        if called is not None and not is_announced:
            before = self._report_call(instruction, called, arguments)
        after = self._report_result(number, called, arguments) if call == number else []
        if before or after:
            self._builder.put(instruction, [*before, same(instruction), *after])

    def _callee(self, stack: Stack, arguments: int) -> str | None:
        """The entry of what is called; None where the compiler provides it."""
        pair = stack[len(stack) - arguments - 2 :][:2]
        if EMPTY not in pair:
            return None
        return pair[1] if EMPTY_FIRST else pair[0]

    def _report_call(
        self, instruction: Instruction, called: str, arguments: int
    ) -> list[Instruction]:
        build = self._builder
        extended = instruction.name == "CALL_FUNCTION_EX"
        row: list[Instruction] = []
        if extended:
            row += at_depth(arguments, build.report(instruction, Events.unpack, "*..."))
        name = _name_of(called)
        if name in ("exec", "eval") and arguments:
            if extended:
                return [*row, *discard(build.call(Events.leave_unobserved, 0, None, name))]
            return at_depth(arguments, build.call(Events.run_code, 1, name))
        if name in IN_OWN_FRAME or (name in ("vars", "dir") and not arguments):
            return row
        if called == VALUE or name:
            depth = arguments + (1 if EMPTY_FIRST else 2)
            report = build.report(instruction, Events.call, f"{name or '...'}(...)")
            row += at_depth(depth, report)
        return row

    def _report_result(self, number: int, called: str | None, arguments: int) -> list[Instruction]:
        if called in (None, READY) and self._builder.row[number + 1].name == "POP_TOP":
            return []  # the end of `with`, or a method whose result nobody needs
        name = _name_of(called)
        if name == "globals":
            return self._builder.call(Events.show_globals, 1)
        has_cells = bool(self._code.co_cellvars or self._code.co_freevars)
        if name in ("locals", "vars") and not arguments and has_cells:
            return self._builder.call(Events.leave_unobserved, 1, f"{name}()")
        return self._builder.call(Events.receive_from_call, 1)


def _name_of(called: str | None) -> str:
    return called.removeprefix(NAMED) if called and called.startswith(NAMED) else ""


def _arguments_of(call: Instruction) -> int:
    """How many entries lie above what is called and the one beside it."""
    if call.name == "CALL_FUNCTION_EX":
        return 2 if sys.version_info >= (3, 14) else 1 + (call.argument & 1)
    return call.argument + (1 if call.name == "CALL_KW" else 0)
