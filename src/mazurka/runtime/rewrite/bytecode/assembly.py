"""Code objects taken apart into instructions, and put together again.

What the interpreter runs is a row of two-byte units.  An instruction is its operation and argument,
with prefixes for arguments beyond a byte and with empty units behind it that the interpreter uses
as a cache.  Jumps count units, and so do the tables beside the code, of exception handlers and of
places in the source.  Here jumps and handlers point at instructions instead, so that others may be
put between them; `assemble` counts again.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Final, TypeAlias

Place: TypeAlias = tuple[int | None, int | None, int | None, int | None]
"""Line, last line, column and last column; None where it is not known."""

_CACHE: Final = dis.opmap["CACHE"]
_PREFIX: Final = dis.opmap["EXTENDED_ARG"]
_JUMPS: Final = frozenset(dis.hasjrel)


class UnknownCodeError(Exception):
    """There is code that this package does not understand."""


@dataclass(eq=False, slots=True)
class Instruction:
    """One instruction, wherever it will lie."""

    name: str
    argument: int = 0
    place: Place = (None, None, None, None)
    caches: int = 0
    target: Instruction | None = None
    """Where it jumps to."""
    before: list[Instruction] = field(default_factory=list)
    """What has been put before it; jumps to it come there."""

    @property
    def goes_back(self) -> bool:
        return "BACKWARD" in self.name or self.name == "END_ASYNC_FOR"


@dataclass(slots=True)
class Handler:
    """Where exceptions of some instructions go."""

    start: Instruction
    end: Instruction | None
    """The first instruction that is not covered; None for the end of the code."""
    target: Instruction
    depth: int
    keeps_place: bool
    """Whether the place of the exception is pushed below it."""


@dataclass(slots=True)
class Parts:
    """The instructions of a code object, in their order, and its handlers."""

    instructions: list[Instruction]
    handlers: list[Handler]


# -- taking apart --------------------------------------------------------------------------------


def disassemble(code: CodeType) -> Parts:
    instructions: list[Instruction] = []
    at: dict[int, Instruction] = {}
    jumps: list[tuple[Instruction, int]] = []
    places = list(code.co_positions())
    units = code.co_code
    start = offset = argument = 0
    while offset < len(units):
        operation = units[offset]
        argument = argument << 8 | units[offset + 1]
        offset += 2
        if operation == _PREFIX:
            continue
        made = Instruction(dis.opname[operation], argument, places[offset // 2 - 1])
        while offset < len(units) and units[offset] == _CACHE:
            made.caches += 1
            offset += 2
        if operation in _JUMPS:
            jumps.append((made, offset + 2 * (-argument if made.goes_back else argument)))
        instructions.append(made)
        at[start] = made
        start, argument = offset, 0
    try:
        for made, where in jumps:
            made.target = at[where]
        handlers = list(_read_handlers(code.co_exceptiontable, at, len(units)))
    except KeyError:
        raise UnknownCodeError("a jump into the middle of an instruction") from None
    return Parts(instructions, handlers)


def _read_handlers(table: bytes, at: dict[int, Instruction], size: int) -> Iterator[Handler]:
    numbers = iter(table)
    for first in numbers:
        start = 2 * _read_number(first, numbers)
        end = start + 2 * _read_number(next(numbers), numbers)
        target = 2 * _read_number(next(numbers), numbers)
        depth = _read_number(next(numbers), numbers)
        covered = None if end == size else at[end]
        yield Handler(at[start], covered, at[target], depth >> 1, bool(depth & 1))


def _read_number(first: int, rest: Iterator[int]) -> int:
    """Read a number of the table of handlers: six bits a byte, the highest first."""
    number = first & 63
    while first & 64:
        first = next(rest)
        number = number << 6 | first & 63
    return number


# -- putting together ----------------------------------------------------------------------------


def assemble(
    code: CodeType, parts: Parts, constants: Sequence[object], stack_size: int
) -> CodeType:
    """Give a code object other instructions."""
    layout = _Layout(parts.instructions)
    return code.replace(
        co_code=layout.units(),
        co_consts=tuple(constants),
        co_stacksize=stack_size,
        co_linetable=layout.line_table(code.co_firstlineno),
        co_exceptiontable=layout.handler_table(parts.handlers),
    )


class _Layout:
    """Where each instruction lies, in units."""

    def __init__(self, instructions: Sequence[Instruction]) -> None:
        self._row = [one for last in instructions for one in (*last.before, last)]
        self._first_of = {id(last): (*last.before, last)[0] for last in instructions}
        """Where jumps to an instruction come."""
        self._widths = dict.fromkeys(map(id, self._row), 1)
        """How many units an instruction has, without its caches."""
        self._starts: dict[int, int] = {}
        self._size = 0
        while self._grow():
            pass

    def _grow(self) -> bool:
        """Lay out the row; prefixes of jumps move others, so widths grow until they do no more."""
        self._size = 0
        for one in self._row:
            self._starts[id(one)] = self._size
            self._size += self._units_of(one)
        grown = False
        for one in self._row:
            needed = max(1, (self._argument(one).bit_length() + 7) // 8)
            if needed > self._widths[id(one)]:
                self._widths[id(one)] = needed
                grown = True
        return grown

    def _units_of(self, instruction: Instruction) -> int:
        return self._widths[id(instruction)] + instruction.caches

    def _unit_of(self, instruction: Instruction | None) -> int:
        """Where a jump to an instruction comes; None is the end of the code."""
        if instruction is None:
            return self._size
        return self._starts[id(self._first_of[id(instruction)])]

    def _argument(self, instruction: Instruction) -> int:
        if instruction.target is None:
            return instruction.argument
        end = self._starts[id(instruction)] + self._units_of(instruction)
        distance = self._unit_of(instruction.target) - end
        distance = -distance if instruction.goes_back else distance
        if distance < 0:
            raise UnknownCodeError(f"{instruction.name} in the other direction")
        return distance

    def units(self) -> bytes:
        units = bytearray()
        for one in self._row:
            argument = self._argument(one)
            for shift in range(8 * (self._widths[id(one)] - 1), 0, -8):
                units += bytes((_PREFIX, argument >> shift & 255))
            units += bytes((dis.opmap[one.name], argument & 255))
            units += bytes((_CACHE, 0)) * one.caches
        assert len(units) == 2 * self._size
        return bytes(units)

    def handler_table(self, handlers: Sequence[Handler]) -> bytes:
        table = bytearray()
        for handler in handlers:
            start, end = self._unit_of(handler.start), self._unit_of(handler.end)
            depth = handler.depth << 1 | handler.keeps_place
            numbers = (start, end - start, self._unit_of(handler.target), depth)
            for index, number in enumerate(numbers):
                table += _high_first(number, 0 if index else 128)
        return bytes(table)

    def line_table(self, line: int) -> bytes:
        table = bytearray()
        for one in self._row:
            for done in range(0, self._units_of(one), _MOST):
                units = min(_MOST, self._units_of(one) - done)
                line = _add_place(table, units, one.place, line)
        return bytes(table)


def _high_first(number: int, mark: int) -> bytes:
    """A number of the table of handlers; the first byte of an entry has a mark of its own."""
    parts = [number & 63]
    while number > 63:
        number >>= 6
        parts.append(number & 63 | 64)
    parts[-1] |= mark
    return bytes(reversed(parts))


_LONG, _LINE_ONLY, _NOWHERE = 14, 13, 15
_MOST: Final = 8
"""How many units an entry of the table of places stands for."""


def _add_place(table: bytearray, units: int, place: Place, before: int) -> int:
    """Add one entry; return the line that the next one counts from."""
    line, last_line, column, last_column = place
    if line is None:
        table.append(128 | _NOWHERE << 3 | units - 1)
        return before
    known = last_line is not None and column is not None and last_column is not None
    table.append(128 | (_LONG if known else _LINE_ONLY) << 3 | units - 1)
    distance = line - before
    table += _low_first(-distance << 1 | 1 if distance < 0 else distance << 1)
    if last_line is not None and column is not None and last_column is not None:
        for number in (last_line - line, column + 1, last_column + 1):
            table += _low_first(number)
    return line


def _low_first(number: int) -> bytes:
    """A number of the table of places: six bits a byte, the lowest first."""
    parts = bytearray()
    while number > 63:
        parts.append(number & 63 | 64)
        number >>= 6
    parts.append(number)
    return bytes(parts)
