"""Puts instructions between those of a code object; see `runtime.rewrite.bytecode.watched`.

A function is called with its operands by pushing it, bringing it below them by swaps, and pushing
the constants that go with it: `[value, owner]` becomes `[store, value, owner, "name", 17]`.  In all
versions this has the form of a call of a method, whose object is the first operand.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any, Final

from mazurka.runtime.core.access_sites import AccessSite, number_of
from mazurka.runtime.rewrite.bytecode.codes import Instruction, Parts, take_apart
from mazurka.runtime.rewrite.bytecode.stack import EMPTY_FIRST


@dataclass(frozen=True, slots=True)
class InstructionSite(AccessSite):
    """A place in a code object; there may be no source that says what is there."""

    shown: str

    @property
    def text(self) -> str:
        return self.shown


def _sampled() -> dict[str, int]:
    """How many units of cache follow the instructions that are put in."""
    sample = compile("if f(): f", "", "exec")
    return {one.name: one.caches for one in take_apart(sample).instructions}


_CACHES: Final = _sampled()


class Builder:
    """One code object while it is being rewritten."""

    def __init__(
        self,
        code: CodeType,
        parts: Parts,
        constants: Sequence[Any],
        *,
        names_watched: bool,
        fills: bool,
    ) -> None:
        self.code = code
        self.row: Sequence[Instruction] = list(parts.instructions)
        self.names_watched = names_watched
        """Whether names outside of functions are variables of a namespace."""
        self.fills = fills
        """Whether what it returns goes into a cache."""
        self.constants = list(constants)
        self._numbers: dict[tuple[type, Any], int] = {}
        captured = [name for name in code.co_cellvars if name not in code.co_varnames]
        self.variables = (*code.co_varnames, *captured, *code.co_freevars)
        """The names of local variables, by their numbers."""

    # -- what is put in ----------------------------------------------------------------------

    def site(self, like: Instruction, role: str, shown: str) -> int:
        line, last_line, column, last_column = like.place
        line = self.code.co_firstlineno if line is None else line
        return number_of(
            InstructionSite(
                *(self.code.co_filename, line, column or 0, last_line or line, last_column or 0),
                role,
                shown,
            )
        )

    def constant(self, value: Any) -> Instruction:
        """An instruction that pushes a value."""
        key = (type(value), value)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.constants)
            self.constants.append(value)
        return Instruction("LOAD_CONST", number)

    def call(self, function: Any, operands: int, *constants: Any) -> list[Instruction]:
        """A call with what lies on top of the stack, and with constants."""
        swaps = [Instruction("SWAP", depth) for depth in range(operands + 1, 1, -1)]
        pushes = [self.constant(value) for value in constants]
        count = operands + len(constants) - 1
        return [self.constant(function), *swaps, *pushes, *_calling(count)]

    def below(self, depth: int, function: Any, *constants: Any) -> list[Instruction]:
        """An entry of the stack is given to a function, and what that returns takes its place."""
        call = self.call(function, 1, *constants)
        if depth == 1:
            return call
        return [Instruction("SWAP", depth), *call, Instruction("SWAP", depth)]

    def noted(self, function: Any, *constants: Any) -> list[Instruction]:
        """A call that leaves nothing behind."""
        return [*self.call(function, 0, *constants), drop()]

    def with_cell(self, function: Any, number: int, *constants: Any) -> list[Instruction]:
        """A call with the cell of a variable."""
        loading = "LOAD_FAST" if sys.version_info >= (3, 13) else "LOAD_CLOSURE"
        pushes = [self.constant(value) for value in constants]
        cell = Instruction(loading, number)
        return [self.constant(function), cell, *pushes, *_calling(len(constants)), drop()]

    def put_before(self, instruction: Instruction, row: Sequence[Instruction]) -> None:
        for one in row:
            one.place = instruction.place
        instruction.before += row

    def put(self, instruction: Instruction, row: Sequence[Instruction]) -> None:
        """Let this be done where an instruction stands; jumps to it come to its beginning."""
        *before, last = row
        self.put_before(instruction, before)
        instruction.name, instruction.argument = last.name, last.argument
        instruction.caches, instruction.target = last.caches, last.target


def drop() -> Instruction:
    return Instruction("POP_TOP")


def same(instruction: Instruction) -> Instruction:
    """The instruction itself, among others that are put where it stands."""
    name, caches = instruction.name, instruction.caches
    return Instruction(name, instruction.argument, caches=caches, target=instruction.target)


def _calling(count: int) -> list[Instruction]:
    names = ("PRECALL", "CALL") if "PRECALL" in dis.opmap else ("CALL",)
    return [Instruction(name, count, caches=_CACHES[name]) for name in names]


def to_bool() -> Instruction:
    return Instruction("TO_BOOL", caches=_CACHES["TO_BOOL"])


def to_pair() -> list[Instruction]:
    """Put the empty entry beside what is going to be called."""
    empty = Instruction("PUSH_NULL")
    return [empty, Instruction("SWAP", 2)] if EMPTY_FIRST else [empty]
