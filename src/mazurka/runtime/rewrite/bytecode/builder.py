"""Puts instructions between those of a code object: calls of events, with operands on the stack.

A function is called with its operands by pushing it, bringing it below them by swaps, and pushing
the constants that go with it: `[value, owner]` becomes `[store, value, owner, "name", 17]`.  In all
versions this has the form of a call of a method, whose object is the first operand.
"""

from __future__ import annotations

import dis
from collections.abc import Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any, Final

from mazurka.runtime.core.sites import AccessSite, number_of
from mazurka.runtime.rewrite.bytecode.assembly import Instruction, Parts, disassemble
from mazurka.runtime.rewrite.bytecode.instructions import CELLS_ARE_VARIABLES, EMPTY_FIRST


@dataclass(frozen=True, slots=True)
class InstructionSite(AccessSite):
    """A place in a code object; there may be no source that says what is there."""

    shown: str

    @property
    def text(self) -> str:
        return self.shown


_CACHES: Final = {
    one.name: one.caches for one in disassemble(compile("if f(): f", "", "exec")).instructions
}
"""How many units of cache follow the instructions that are put in."""


class Builder:
    """One code object while it is being rewritten."""

    def __init__(
        self, code: CodeType, parts: Parts, constants: Sequence[Any], *, is_open: bool, fills: bool
    ) -> None:
        self.code = code
        self.row: Sequence[Instruction] = list(parts.instructions)
        self.is_open = is_open
        """Whether names outside of functions are variables of a namespace, and observed."""
        self.fills = fills
        """Whether what it returns goes into a cache."""
        self.constants = list(constants)
        self._numbers: dict[tuple[type, Any], int] = {}
        captured = [name for name in code.co_cellvars if name not in code.co_varnames]
        self.variables = (*code.co_varnames, *captured, *code.co_freevars)
        """The names of local variables, by their numbers."""

    # -- what is put in ----------------------------------------------------------------------

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
        return [self.constant(function), *swaps, *pushes, *_perform_call(count)]

    def report(
        self, at: Instruction, event: Any, shown: str, operands: int = 1, *constants: Any
    ) -> list[Instruction]:
        """A call of an event, with the number of its site as the last argument."""
        return self.call(event, operands, *constants, self._number_site(at, event, shown))

    def report_cell(self, at: Instruction, event: Any, name: str) -> list[Instruction]:
        """A call of an event with the cell of the variable that an instruction uses."""
        loading = "LOAD_FAST" if CELLS_ARE_VARIABLES else "LOAD_CLOSURE"
        pushes = [self.constant(value) for value in (name, self._number_site(at, event, name))]
        cell = Instruction(loading, at.argument)
        return discard([self.constant(event), cell, *pushes, *_perform_call(len(pushes))])

    def _number_site(self, at: Instruction, event: Any, shown: str) -> int:
        line, last_line, column, last_column = at.place
        line = self.code.co_firstlineno if line is None else line
        place = (self.code.co_filename, line, column or 0, last_line or line, last_column or 0)
        return number_of(InstructionSite(*place, event.__name__, shown))

    # -- where it is put ---------------------------------------------------------------------

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


def at_depth(depth: int, row: list[Instruction]) -> list[Instruction]:
    """Do to an entry of the stack what is done to the top one."""
    if depth == 1:
        return row
    return [Instruction("SWAP", depth), *row, Instruction("SWAP", depth)]


def discard(row: list[Instruction]) -> list[Instruction]:
    """Drop what instructions have left on the stack."""
    return [*row, Instruction("POP_TOP")]


def same(instruction: Instruction) -> Instruction:
    """The instruction itself, among others that are put where it stands."""
    name, caches = instruction.name, instruction.caches
    return Instruction(name, instruction.argument, caches=caches, target=instruction.target)


def _perform_call(count: int) -> list[Instruction]:
    names = ("PRECALL", "CALL") if "PRECALL" in dis.opmap else ("CALL",)
    return [Instruction(name, count, caches=_CACHES[name]) for name in names]


def to_bool() -> Instruction:
    return Instruction("TO_BOOL", caches=_CACHES["TO_BOOL"])


def to_pair() -> list[Instruction]:
    """Put the empty entry beside what is going to be called."""
    empty = Instruction("PUSH_NULL")
    return [empty, Instruction("SWAP", 2)] if EMPTY_FIRST else [empty]
