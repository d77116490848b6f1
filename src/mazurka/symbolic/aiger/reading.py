"""Circuits from AIGER files, binary (`aig`) or readable (`aag`), of version 1.9 or before.

Nothing in a file is trusted: numbers, order and lengths are checked, and what is wrong is a
`MazurkaError` that says where.  The variables of a readable file may have any numbers, and its
conjunctions any order; they are numbered anew as `mazurka.symbolic.aiger.model` says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from mazurka.errors import MazurkaError
from mazurka.ir.program import search_depth_first
from mazurka.symbolic.aiger.model import SECTIONS, AigerCircuit, AigerLatch

MOST_VARIABLES = 1 << 30
LEAST_NUMBERS, MOST_NUMBERS = 5, 9
"""How many numbers the first line has."""


class AigerError(MazurkaError):
    """An AIGER file, or a witness, that is not as it should be."""


def read_aiger(path: str) -> AigerCircuit:
    """Read a file."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise MazurkaError.unreadable(path, error) from error
    try:
        return parse_aiger(data)
    except AigerError as error:
        raise AigerError(error.message, file=path) from None


def parse_aiger(data: bytes) -> AigerCircuit:
    """Read the contents of a file."""
    source = _Source(data)
    kind, *words = source.line().split(" ")
    if kind not in ("aig", "aag"):
        raise AigerError("this is not an AIGER file: it begins with neither 'aig' nor 'aag'")
    numbers = [_number(word, "the first line") for word in words]
    if not LEAST_NUMBERS <= len(numbers) <= MOST_NUMBERS or numbers[0] > MOST_VARIABLES:
        raise AigerError("the first line does not have the numbers of an AIGER file")
    numbers += [0] * (MOST_NUMBERS - len(numbers))
    return (_BinaryBody if kind == "aig" else _AsciiBody)(source, numbers).read()


def _number(word: str, where: str) -> int:
    if not word.isascii() or not word.isdecimal() or len(word) > 10:
        raise AigerError(f"{where} has {word[:20]!r} where a number is expected")
    return int(word)


class _Source:
    """Bytes that are read line by line, or one by one."""

    def __init__(self, data: bytes) -> None:
        self.data, self.place, self.lines = data, 0, 0

    def line(self) -> str:
        end = self.data.find(b"\n", self.place)
        if end < 0:
            raise AigerError(f"the file ends in line {self.lines + 1}, too early")
        text, self.place = self.data[self.place : end], end + 1
        self.lines += 1
        return text.decode("utf-8", "replace")

    def numbers(self, counts: Iterable[int]) -> list[int]:
        """The numbers of a line, which has one of these many."""
        text = self.line().strip()
        found = [_number(word, f"line {self.lines}") for word in text.split()]
        if len(found) not in counts:
            raise AigerError(f"line {self.lines} has {len(found)} numbers: {text[:40]!r}")
        return found

    def number(self) -> int:
        """A number of the binary part."""
        found = shift = 0
        while True:
            if self.place >= len(self.data):
                raise AigerError("the file ends inside of its conjunctions")
            byte = self.data[self.place]
            self.place += 1
            found |= (byte & 0x7F) << shift
            if not byte & 0x80:
                return found
            shift += 7
            if shift > 35:
                raise AigerError("a number of the binary part is too large")

    @property
    def is_over(self) -> bool:
        return self.place >= len(self.data)


class _Properties(NamedTuple):
    outputs: list[int]
    bad: list[int]
    constraints: list[int]
    justice: list[list[int]]
    fairness: list[int]


class _Body:
    """What both forms have in common."""

    def __init__(self, source: _Source, numbers: list[int]) -> None:
        self.source = source
        self.variables, self.inputs, self.latches, self.outputs = numbers[:4]
        self.conjunctions, self.bad, self.constraints, self.justice, self.fairness = numbers[4:]
        if self.inputs + self.latches + self.conjunctions > self.variables:
            raise AigerError("the first line promises fewer variables than there are")

    def literal(self, literal: int) -> int:
        if literal > 2 * self.variables + 1:
            raise AigerError(
                f"line {self.source.lines}: there is no literal {literal} in this circuit"
            )
        return literal

    def literals(self, count: int) -> list[int]:
        return [self.literal(self.source.numbers({1})[0]) for _ in range(count)]

    def first_value(self, given: list[int], own: int) -> int | None:
        """The first value of a latch, which may be left out."""
        if not given:
            return 0
        if given[0] not in (0, 1, own):
            raise AigerError(f"line {self.source.lines}: a latch begins with 0, 1 or itself")
        return None if given[0] == own else given[0]

    def read_properties(self) -> _Properties:
        outputs, bad = self.literals(self.outputs), self.literals(self.bad)
        constraints = self.literals(self.constraints)
        sizes = [self.source.numbers({1})[0] for _ in range(self.justice)]
        justice = [self.literals(size) for size in sizes]
        return _Properties(outputs, bad, constraints, justice, self.literals(self.fairness))

    def read_names(self) -> tuple[dict[str, str], str]:
        """The names, and the comment."""
        symbols: dict[str, str] = {}
        while not self.source.is_over:
            line = self.source.line()
            if line == "c":
                rest = self.source.data[self.source.place :].decode("utf-8", "replace")
                return symbols, rest
            place, space, name = line.partition(" ")
            part = SECTIONS.get(place[:1])
            many = getattr(self, part) if part else 0
            if not space or not place[1:].isdecimal() or int(place[1:]) >= many:
                raise AigerError(f"line {self.source.lines} names nothing: {line[:40]!r}")
            symbols[place] = name
        return symbols, ""


class _BinaryBody(_Body):
    def read(self) -> AigerCircuit:
        if self.inputs + self.latches + self.conjunctions != self.variables:
            raise AigerError("the first line promises other variables than there are")
        latches = []
        for position in range(self.latches):
            taken, *first = self.source.numbers({1, 2})
            own = 2 * (1 + self.inputs + position)
            latches.append(AigerLatch(self.literal(taken), self.first_value(first, own)))
        properties = self.read_properties()
        conjunctions = []
        for position in range(self.conjunctions):
            own = 2 * (1 + self.inputs + self.latches + position)
            larger = own - self.source.number()
            smaller = larger - self.source.number()
            if not 0 <= smaller <= larger < own:
                raise AigerError(f"conjunction {own} has operands that do not come before it")
            conjunctions.append((larger, smaller))
        symbols, comment = self.read_names()
        return AigerCircuit(
            inputs=self.inputs,
            latches=tuple(latches),
            conjunctions=tuple(conjunctions),
            symbols=symbols,
            comment=comment,
            outputs=tuple(properties.outputs),
            bad=tuple(properties.bad),
            constraints=tuple(properties.constraints),
            justice=tuple(map(tuple, properties.justice)),
            fairness=tuple(properties.fairness),
        )


class _AsciiBody(_Body):
    def read(self) -> AigerCircuit:
        inputs = [self.own(each) for each in self.literals(self.inputs)]
        latches = []
        for _ in range(self.latches):
            own, taken, *first = self.source.numbers({2, 3})
            variable = self.own(self.literal(own))
            latches.append((variable, self.literal(taken), self.first_value(first, own)))
        properties = self.read_properties()
        operands: dict[int, tuple[int, int]] = {}
        for _ in range(self.conjunctions):
            own, first_operand, second = map(self.literal, self.source.numbers({3}))
            operands[self.own(own)] = first_operand, second
        symbols, comment = self.read_names()
        leaves = [*inputs, *(variable for variable, _, _ in latches)]
        order = self.sort(operands)
        numbered = {0: 0} | {each: number for number, each in enumerate([*leaves, *order], 1)}
        if len(numbered) != 1 + len(leaves) + len(operands):
            raise AigerError("a variable is defined twice")
        rename = self.renaming(numbered)
        return AigerCircuit(
            inputs=self.inputs,
            latches=tuple(AigerLatch(rename(taken), first) for _, taken, first in latches),
            conjunctions=tuple(_sorted_pair(*map(rename, operands[each])) for each in order),
            symbols=symbols,
            comment=comment,
            outputs=tuple(map(rename, properties.outputs)),
            bad=tuple(map(rename, properties.bad)),
            constraints=tuple(map(rename, properties.constraints)),
            justice=tuple(tuple(map(rename, each)) for each in properties.justice),
            fairness=tuple(map(rename, properties.fairness)),
        )

    def own(self, literal: int) -> int:
        if literal < 2 or literal & 1:
            raise AigerError(f"line {self.source.lines} defines {literal}, which is no variable")
        return literal >> 1

    def sort(self, operands: dict[int, tuple[int, int]]) -> list[int]:
        """The conjunctions, each behind its operands."""

        def follow(variable: int) -> list[int]:
            return [each >> 1 for each in operands.get(variable, ()) if each >> 1 in operands]

        order, heads = search_depth_first(sorted(operands), follow)
        if heads:
            raise AigerError(f"variable {min(heads)} depends on itself")
        return order

    def renaming(self, numbered: dict[int, int]) -> Callable[[int], int]:
        def rename(literal: int) -> int:
            variable = numbered.get(literal >> 1)
            if variable is None:
                raise AigerError(f"literal {literal} is used, but nothing defines it")
            return 2 * variable | literal & 1

        return rename


def _sorted_pair(first: int, second: int) -> tuple[int, int]:
    return (first, second) if first >= second else (second, first)
