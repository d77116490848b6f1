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
    """There is code that this module does not understand."""


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


def take_apart(code: CodeType) -> Parts:
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
        handlers = list(_handlers(code.co_exceptiontable, at, len(units)))
    except KeyError:
        raise UnknownCodeError("a jump into the middle of an instruction") from None
    return Parts(instructions, handlers)


def _handlers(table: bytes, at: dict[int, Instruction], size: int) -> Iterator[Handler]:
    numbers = iter(table)
    for first in numbers:
        start = 2 * _number(first, numbers)
        end = start + 2 * _number(next(numbers), numbers)
        target = 2 * _number(next(numbers), numbers)
        depth = _number(next(numbers), numbers)
        covered = None if end == size else at[end]
        yield Handler(at[start], covered, at[target], depth >> 1, bool(depth & 1))


def _number(first: int, rest: Iterator[int]) -> int:
    """A number of the table of handlers: six bits a byte, the highest first."""
    number = first & 63
    while first & 64:
        first = next(rest)
        number = number << 6 | first & 63
    return number


# -- putting together ----------------------------------------------------------------------------


def assemble(
    code: CodeType, parts: Parts, constants: Sequence[object], stack_size: int
) -> CodeType:
    """The same code object with other instructions."""
    row: list[Instruction] = []
    first_of: dict[int, Instruction] = {}
    for instruction in parts.instructions:
        added = [*instruction.before, instruction]
        first_of[id(instruction)] = added[0]
        row += added
    starts, size = _lay_out(row, first_of)
    units = bytearray()
    for instruction in row:
        argument = _argument(instruction, starts, first_of)
        for shift in range(8 * (_bytes_of(instruction, argument, starts) - 1), 0, -8):
            units += bytes((_PREFIX, argument >> shift & 255))
        units += bytes((dis.opmap[instruction.name], argument & 255))
        units += bytes((_CACHE, 0)) * instruction.caches
    assert len(units) == 2 * size
    return code.replace(
        co_code=bytes(units),
        co_consts=tuple(constants),
        co_stacksize=stack_size,
        co_linetable=_line_table(code.co_firstlineno, row, starts, size),
        co_exceptiontable=_handler_table(parts.handlers, starts, first_of, size),
    )


_Starts: TypeAlias = dict[int, tuple[int, int]]
"""By the identity of an instruction: the unit at which it begins, and the first one after it."""


def _lay_out(row: list[Instruction], first_of: dict[int, Instruction]) -> tuple[_Starts, int]:
    """Where each instruction lies.  Prefixes of jumps move others, so sizes grow until they do."""
    widths = dict.fromkeys(map(id, row), 1)
    while True:
        starts: _Starts = {}
        unit = 0
        for instruction in row:
            end = unit + widths[id(instruction)] + instruction.caches
            starts[id(instruction)] = (unit, end)
            unit = end
        grown = False
        for instruction in row:
            needed = _width(_argument(instruction, starts, first_of))
            if needed > widths[id(instruction)]:
                widths[id(instruction)] = needed
                grown = True
        if not grown:
            return starts, unit


def _argument(instruction: Instruction, starts: _Starts, first_of: dict[int, Instruction]) -> int:
    if instruction.target is None:
        return instruction.argument
    target = starts[id(first_of[id(instruction.target)])][0]
    distance = target - starts[id(instruction)][1]
    distance = -distance if instruction.goes_back else distance
    if distance < 0:
        raise UnknownCodeError(f"{instruction.name} in the other direction")
    return distance


def _width(argument: int) -> int:
    return max(1, (argument.bit_length() + 7) // 8)


def _bytes_of(instruction: Instruction, argument: int, starts: _Starts) -> int:
    start, end = starts[id(instruction)]
    return end - start - instruction.caches


def _handler_table(
    handlers: Sequence[Handler], starts: _Starts, first_of: dict[int, Instruction], size: int
) -> bytes:
    def unit_of(instruction: Instruction | None) -> int:
        return size if instruction is None else starts[id(first_of[id(instruction)])][0]

    table = bytearray()
    for handler in handlers:
        start, end = unit_of(handler.start), unit_of(handler.end)
        depth = handler.depth << 1 | handler.keeps_place
        numbers = (start, end - start, unit_of(handler.target), depth)
        for index, number in enumerate(numbers):
            table += _six_bits(number, 0 if index else 128)
    return bytes(table)


def _six_bits(number: int, mark: int) -> bytes:
    """The first byte of an entry has a mark of its own."""
    parts = [number & 63]
    while number > 63:
        number >>= 6
        parts.append(number & 63 | 64)
    parts[-1] |= mark
    return bytes(reversed(parts))


# -- places in the source ------------------------------------------------------------------------

_LONG, _LINE_ONLY, _NOWHERE = 14, 13, 15
_MOST: Final = 8
"""How many units an entry stands for."""


def _line_table(line: int, row: list[Instruction], starts: _Starts, size: int) -> bytes:
    table = bytearray()
    for instruction in row:
        start, end = starts[id(instruction)]
        for unit in range(start, end, _MOST):
            line = _add_place(table, min(_MOST, end - unit), instruction.place, line)
    return bytes(table)


def _add_place(table: bytearray, units: int, place: Place, before: int) -> int:
    """One entry; gives the line that the next one counts from."""
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
