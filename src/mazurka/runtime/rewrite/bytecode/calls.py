"""Rewrites calls; see `runtime.rewrite.bytecode.rules`.

What is called lies below its arguments.  It is shown to `Events.call` when they are all
there; a method has been seen to when it was taken from its object.  Functions that look at the
frame of their caller are called as they are, as in rewritten source.
"""

from __future__ import annotations

import sys
from typing import Final

from mazurka.runtime.python.events import Events
from mazurka.runtime.rewrite.bytecode.building import Builder, same
from mazurka.runtime.rewrite.bytecode.codes import Instruction
from mazurka.runtime.rewrite.bytecode.stack import EMPTY, EMPTY_FIRST, NAMED, READY, VALUE, Stack

IN_OWN_FRAME: Final = frozenset({"super", "locals", "globals", "__import__", "breakpoint"})


class Calls:
    """Rewrites the calls of one code object."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._code = builder.code

    def rewrite(self, number: int, instruction: Instruction, stack: Stack) -> None:
        """Show what is called, before its arguments are taken, and what it returns.

        Names of arguments are announced by an instruction before the call in some versions; nothing
        may come between the two.
        """
        row = self._builder.row
        name = instruction.name
        is_announced = name in ("CALL", "PRECALL") and _announces(row[number - 1].name)
        call = number
        while row[call].name in ("KW_NAMES", "PRECALL"):
            call += 1
        arguments = _arguments_of(row[call])
        called = self._called(stack, arguments)
        before: list[Instruction] = []
        if called is not None and not is_announced:
            before = self._shown(instruction, called, arguments)
        after = self._returned(number, called, arguments) if call == number else []
        if before or after:
            self._builder.put(instruction, [*before, same(instruction), *after])

    def _called(self, stack: Stack, arguments: int) -> str | None:
        """The entry of what is called; None where the compiler provides it."""
        pair = stack[len(stack) - arguments - 2 :][:2]
        if EMPTY not in pair:
            return None
        return pair[1] if EMPTY_FIRST else pair[0]

    def _shown(self, instruction: Instruction, called: str, arguments: int) -> list[Instruction]:
        build = self._builder
        extended = instruction.name == "CALL_FUNCTION_EX"
        row: list[Instruction] = []
        if extended:
            site = self._builder.site(instruction, Events.unpack.__name__, "*...")
            row += build.below(arguments, Events.unpack, site)
        name = called.removeprefix(NAMED) if called.startswith(NAMED) else ""
        if name in ("exec", "eval") and arguments:
            if extended:
                return [*row, *build.noted(Events.leave_unwatched, None, name)]
            return build.below(arguments, Events.run_code, name)
        if name in IN_OWN_FRAME or (name in ("vars", "dir") and not arguments):
            return row
        if called == VALUE or name:
            depth = arguments + (1 if EMPTY_FIRST else 2)
            site = self._builder.site(instruction, Events.call.__name__, f"{name or '...'}(...)")
            row += build.below(depth, Events.call, site)
        return row

    def _returned(self, number: int, called: str | None, arguments: int) -> list[Instruction]:
        row = self._builder.row
        if called is None and row[number + 1].name == "POP_TOP":
            return []  # the end of `with`
        if called == READY and row[number + 1].name == "POP_TOP":
            return []  # nobody needs to see it
        name = called.removeprefix(NAMED) if called and called.startswith(NAMED) else ""
        if name == "globals":
            return self._builder.call(Events.show_globals, 1)
        has_cells = bool(self._code.co_cellvars or self._code.co_freevars)
        if name in ("locals", "vars") and not arguments and has_cells:
            return self._builder.call(Events.leave_unwatched, 1, f"{name}()")
        return self._builder.call(Events.receive_from_call, 1)


def _announces(name: str) -> bool:
    return name in ("KW_NAMES", "PRECALL")


def _arguments_of(call: Instruction) -> int:
    """How many entries lie above what is called and the one beside it."""
    if call.name == "CALL_FUNCTION_EX":
        return 2 if sys.version_info >= (3, 14) else 1 + (call.argument & 1)
    return call.argument + (1 if call.name == "CALL_KW" else 0)
