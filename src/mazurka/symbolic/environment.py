"""The values of a program's cells in a circuit, and the latches that hold them between steps.

A state's latches are the bits of `mazurka.ir.native.layout`, cell by cell.  Program counters are
held in the layout's code (*binary*) or as one latch for each location where the thread can rest
(*one-hot*).  Inside a circuit a program counter is always a table from locations to literals, of
which exactly one holds; all other cells are `Word`s.

Latches that are no code of any value mean nothing.  They do not occur in runs from the initial
state, since every step that the program takes stores values that the layout can hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from mazurka.ir.interpreter import State
from mazurka.ir.native.layout import Layout, Slot
from mazurka.symbolic.graphs.graph import TRUE, Aig
from mazurka.symbolic.graphs.words import Word, Words

BINARY, ONE_HOT = "binary", "one-hot"
COUNTER_CODES = (BINARY, ONE_HOT)

Places: TypeAlias = dict[int, int]
"""By location the literal that says the thread is there; exactly one holds."""


@dataclass
class Environment:
    """What the cells hold at one moment: words by address, and the threads' places."""

    cells: dict[int, Word]
    """All cells but program counters; those that are no part of a state have their first value."""
    places: list[Places]
    """By thread."""


@dataclass
class PathView:
    """An environment with changes, along one path of a step."""

    base: Environment
    cells: dict[int, Word] = field(default_factory=dict)
    places: dict[int, Places] = field(default_factory=dict)

    def copy(self) -> PathView:
        return PathView(self.base, dict(self.cells), dict(self.places))

    def cell(self, address: int) -> Word:
        found = self.cells.get(address)
        return self.base.cells[address] if found is None else found

    def place(self, thread: int) -> Places:
        found = self.places.get(thread)
        return self.base.places[thread] if found is None else found


def merge_views(words: Words, parts: Sequence[tuple[int, PathView]]) -> PathView:
    """The view of the case whose condition holds, where exactly one does or nothing matters."""
    if len(parts) == 1:
        return parts[0][1]
    merged = PathView(parts[0][1].base)
    for address in dict.fromkeys(a for _, view in parts for a in view.cells):
        cases = [(condition, view.cell(address)) for condition, view in parts]
        merged.cells[address] = words.pick(cases, None)
    for thread in dict.fromkeys(t for _, view in parts for t in view.places):
        cases_of = [(condition, view.place(thread)) for condition, view in parts]
        merged.places[thread] = merge_places(words.graph, cases_of)
    return merged


def merge_places(graph: Aig, parts: Sequence[tuple[int, Places]]) -> Places:
    """The places of the case whose condition holds, where exactly one does or nothing matters."""
    first = parts[0][1]
    if all(places is first for _, places in parts):
        return first
    return {
        location: first[location]
        if all(places[location] == first[location] for _, places in parts)
        else graph.some(graph.both(condition, places[location]) for condition, places in parts)
        for location in first
    }


class Latch(NamedTuple):
    """One bit of the state: the leaf's literal, its first value, and what it is called."""

    literal: int
    initial: int
    name: str


class StateBits:
    """The latches of a program: made once, decoded to an environment, encoded from one."""

    def __init__(self, layout: Layout, words: Words, counters: str = BINARY) -> None:
        self.layout, self.words, self.counters = layout, words, counters
        self.program = layout.program
        self.thread_of = {
            thread.counter: number for number, thread in enumerate(self.program.threads)
        }
        self.latches: list[Latch] = []
        self._first: dict[int, int] = {}
        """By address the position in `latches` of its first bit."""
        for address, slot in enumerate(layout.slots):
            self._add(address, slot)

    def _add(self, address: int, slot: Slot) -> None:
        self._first[address] = len(self.latches)
        cell = self.program.cells[address]
        thread = self.thread_of.get(address)
        if thread is not None and self.counters == ONE_HOT:
            starts = self.layout.starts[thread]
            bits = [int(cell.initial == location) for location in starts] if slot.width else []
            names = [f"{cell.name}@{location}" for location in starts]
        else:
            code = slot.encode(cell.initial) if slot.width else 0
            bits = [code >> i & 1 for i in range(slot.width)]
            names = [f"{cell.name}#{address}.{i}" for i in range(slot.width)]
        for bit, name in zip(bits, names, strict=False):
            self.latches.append(Latch(self.words.graph.add_leaf(), bit, name))

    def positions(self, address: int) -> range:
        """Where the bits of a cell are in `latches`, from its low bit on."""
        return range(self._first[address], self._first.get(address + 1, len(self.latches)))

    def _literals(self, address: int) -> list[int]:
        return [self.latches[position].literal for position in self.positions(address)]

    # --- from latches -------------------------------------------------------------------------

    def decode(self) -> Environment:
        """What the cells hold, as functions of the latches."""
        cells = {
            address: self._decode_cell(address, slot)
            for address, slot in enumerate(self.layout.slots)
            if address not in self.thread_of
        }
        places = [self._decode_place(number) for number in range(len(self.program.threads))]
        return Environment(cells, places)

    def _decode_cell(self, address: int, slot: Slot) -> Word:
        words, cell = self.words, self.program.cells[address]
        if not slot.width:
            return words.constant(slot.base)
        code = words.from_bits(self._literals(address), 0, slot.mask)
        if slot.points is not None:
            return words.from_alternatives(
                {point: words.equals(code, number) for number, point in enumerate(slot.points)}
            )
        value = words.binary("add", code, words.constant(slot.base)) if slot.base else code
        return words.clip(value, min(cell.low, cell.initial), max(cell.high, cell.initial))

    def _decode_place(self, thread: int) -> Places:
        counter = self.program.threads[thread].counter
        starts, slot = self.layout.starts[thread], self.layout.slots[counter]
        if not slot.width:
            return dict.fromkeys(starts, TRUE)
        literals = self._literals(counter)
        if self.counters == ONE_HOT:
            return dict(zip(starts, literals, strict=True))
        code = self.words.from_bits(literals, 0, slot.mask)
        return {location: self.words.equals(code, slot.encode(location)) for location in starts}

    # --- to latches ---------------------------------------------------------------------------

    def encode(self, before: Environment, after: Environment) -> list[int]:
        """The literal that each latch takes, where `before` is what `decode` returned."""
        found: list[int] = []
        for address, slot in enumerate(self.layout.slots):
            thread = self.thread_of.get(address)
            if not slot.width:
                continue
            if thread is not None:
                same = before.places[thread] is after.places[thread]
                found += (
                    self._literals(address)
                    if same
                    else self._encode_place(slot, after.places[thread])
                )
            elif before.cells[address] == after.cells[address]:
                found += self._literals(address)
            else:
                found += self._encode_cell(slot, after.cells[address])
        return found

    def _encode_cell(self, slot: Slot, value: Word) -> list[int]:
        words = self.words
        if slot.points is not None:
            at = [words.equals(value, point) for point in slot.points]
            return self._encode_numbers(enumerate(at), slot.width)
        if slot.base:
            value = words.binary("sub", value, words.constant(slot.base))
        return words.literals(value, slot.width)

    def _encode_place(self, slot: Slot, places: Places) -> list[int]:
        if self.counters == ONE_HOT:
            return list(places.values())
        numbered = [(slot.encode(location), literal) for location, literal in places.items()]
        return self._encode_numbers(numbered, slot.width)

    def _encode_numbers(self, numbered: Iterable[tuple[int, int]], width: int) -> list[int]:
        """The bits of the number whose literal holds."""
        known = list(numbered)
        return [
            self.words.graph.some(literal for number, literal in known if number >> i & 1)
            for i in range(width)
        ]

    # --- states -------------------------------------------------------------------------------

    def bits_of(self, state: State) -> list[int]:
        """The values of the latches in a state."""
        found: list[int] = []
        for address, slot in enumerate(self.layout.slots):
            thread = self.thread_of.get(address)
            if not slot.width:
                continue
            if thread is not None and self.counters == ONE_HOT:
                found += [int(state[address] == each) for each in self.layout.starts[thread]]
            else:
                code = slot.encode(state[address])
                found += [code >> i & 1 for i in range(slot.width)]
        return found

    def state_of(self, bits: Sequence[int]) -> State:
        """The state in which the latches have given values."""
        found, position = [], 0
        for address, slot in enumerate(self.layout.slots):
            thread = self.thread_of.get(address)
            if not slot.width:
                found.append(slot.base)
                continue
            if thread is not None and self.counters == ONE_HOT:
                starts = self.layout.starts[thread]
                part = bits[position : position + len(starts)]
                found.append(starts[list(part).index(1)])
                position += len(starts)
                continue
            part = bits[position : position + slot.width]
            found.append(slot.decode(sum(bit << i for i, bit in enumerate(part))))
            position += slot.width
        return tuple(found)
