"""How a state is packed into 64-bit words.

Each cell gets as few bits as its values need, within one word.  A cell that always has the same
value while its thread rests gets none.  Values are stored as their distance from the smallest
one or, if the possible values are few and sparse (the owners of a lock, the locations of a
thread), as their position in the list of possible values.

A cell that is zero bits wide but changes in the middle of a step is a *scratch* cell: the
native code keeps it in a register.  Cells among which one address expression can choose have the
same coding, so that the code can compute the position of the chosen one; except *constants*, to
which nothing is ever stored: the code has their values in a table, so that a read-only array takes
no bits.

The top bit of the first word is always 0; the state table uses it to mark a slot as taken.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mazurka.ir.expressions import Const, Expr, Load, walk
from mazurka.ir.interpreter import State, find_choice_bounds
from mazurka.ir.passes.liveness import Start, can_rest, find_starts, find_stored_locals
from mazurka.ir.program import IDLE, WRONG, Assign, Check, Edge, Mode, Program, Thread
from mazurka.ir.values.evaluation import cannot_fault, evaluate
from mazurka.ir.values.footprints import Footprints, cell_values

WORD_BITS = 64
MOST_CODED_POINTS = 16
"""The most values that are coded by position; decoding compares with each of them."""


@dataclass(frozen=True, slots=True)
class Slot:
    """The position of a cell: `value = base + bits`, or `points[bits]` if the cell is coded."""

    word: int
    shift: int
    width: int
    base: int
    points: tuple[int, ...] | None = None
    scratch: bool = False
    """Whether it is no part of the state, and starts each step at `base`, its initial value."""

    @property
    def mask(self) -> int:
        return (1 << self.width) - 1

    def encode(self, value: int) -> int:
        if self.points is not None:
            code = bisect_left(self.points, value)
            assert self.points[code : code + 1] == (value,), "a value outside the cell's domain"
            return code
        code = value - self.base
        assert 0 <= code <= self.mask, "a value outside the cell's domain"
        return code

    def decode(self, code: int) -> int:
        return self.points[code] if self.points is not None else self.base + code


@dataclass(frozen=True)
class Layout:
    program: Program
    slots: tuple[Slot, ...]
    words: int
    choices: tuple[tuple[int, ...], ...]
    """For each thread and location the number of choices to try."""
    starts: tuple[tuple[int, ...], ...]
    """For each thread the locations at which it can rest."""
    constants: frozenset[int] = frozenset()
    """The cells that are never stored to; loads through an address find their values in a table."""

    @property
    def bits(self) -> int:
        return sum(slot.width for slot in self.slots)

    def pack(self, state: State) -> tuple[int, ...]:
        words = [0] * self.words
        for value, slot in zip(state, self.slots, strict=True):
            if slot.width:
                words[slot.word] |= slot.encode(value) << slot.shift
        return tuple(words)

    def unpack(self, words: Sequence[int]) -> State:
        return tuple(
            slot.decode((int(words[slot.word]) >> slot.shift) & slot.mask) if slot.width
            else slot.base
            for slot in self.slots
        )  # fmt: skip


@dataclass
class _Plan:
    """The coding of a cell, before it has a position."""

    low: int
    high: int
    points: tuple[int, ...] | None
    stored: bool = True
    counter: bool = False
    """Whether it is a program counter: only constants are compared or stored, so coding is free."""

    @property
    def spread(self) -> int:
        return (self.high - self.low).bit_length()

    @property
    def width(self) -> int:
        if not self.stored:
            return 0
        if self.is_coded:
            assert self.points is not None
            return (len(self.points) - 1).bit_length()
        return self.spread

    @property
    def is_coded(self) -> bool:
        if self.points is None or (len(self.points) > MOST_CODED_POINTS and not self.counter):
            return False
        return (len(self.points) - 1).bit_length() < self.spread

    def widen(self, other: _Plan) -> bool:
        """Add the values of another plan; return whether that changed anything."""
        before = (self.low, self.high, self.points, self.stored, self.counter)
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        if self.points is None or other.points is None:
            self.points = None
        else:
            self.points = tuple(sorted({*self.points, *other.points}))
        self.stored |= other.stored
        self.counter &= other.counter  # or the coding of the two would differ
        return before != (self.low, self.high, self.points, self.stored, self.counter)


def make_layout(program: Program) -> Layout:
    """Choose the position of every cell of a prepared program."""
    footprints = Footprints(program)
    starts = find_starts(footprints)
    resting = tuple(
        find_resting_locations(footprints, number, starts.get(number, ()))
        for number in range(len(program.threads))
    )
    plans = _plan_cells(footprints, resting)
    loads, stores = find_alternatives(footprints)
    constants = _find_constants(plans, stores)
    _agree(plans, [*stores, *(_leave_out(constants, group) for group in loads)])
    slots, words = _place(program, plans)
    choices = tuple(find_choice_bounds(program, number) for number in range(len(program.threads)))
    return Layout(program, slots, words, choices, resting, constants)


def _find_constants(plans: list[_Plan], stores: list[tuple[int, ...]]) -> frozenset[int]:
    """Find the cells that always have the same value, and are never among those of which one is
    stored to."""
    stored = {address for group in stores for address in group}
    return frozenset(
        address
        for address, plan in enumerate(plans)
        if plan.low == plan.high and not plan.counter and address not in stored
    )


def _leave_out(constants: frozenset[int], group: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(address for address in group if address not in constants)


def _plan_cells(footprints: Footprints, resting: Sequence[tuple[int, ...]]) -> list[_Plan]:
    program = footprints.program
    stored = find_stored_locals(program)
    counters = {thread.counter: number for number, thread in enumerate(program.threads)}
    plans = [_Plan(0, 0, (0,))]
    for address, cell in enumerate(program.cells[1:], 1):
        if address in counters:
            points: tuple[int, ...] | None = resting[counters[address]]
        else:
            values = cell_values(cell)
            points = None if values.points is None else values.points
            if points is not None and cell.initial not in points:
                points = tuple(sorted({*points, cell.initial}))
        low, high = (cell.low, cell.high) if points is None else (points[0], points[-1])
        plans.append(_Plan(low, high, points, cell.owner is None or address in stored))
        if address in counters:
            plans[address].stored = plans[address].counter = True
    return plans


def find_resting_locations(
    footprints: Footprints, number: int, starts: Iterable[Start] = ()
) -> tuple[int, ...]:
    """Find the locations at which a thread can be between steps, also those where it is started."""
    program = footprints.program
    thread = program.threads[number]
    found = {program.cells[thread.counter].initial}
    if not thread.active:
        found |= {IDLE, thread.entry}
    for start in starts:
        anywhere = range(len(thread.locations))
        put = anywhere if start.location is None else {start.location}.intersection(anywhere)
        found.update(place for place in put if thread.locations[place].mode is not Mode.ATOMIC)
    for edge in thread.edges:
        if can_rest(thread, edge.target):
            found.add(edge.target)
    if any(can_fault(footprints, thread, edge) for edge in thread.edges):
        found.add(WRONG)
    return tuple(sorted(found))


def can_fault(footprints: Footprints, thread: Thread, edge: Edge) -> bool:
    """Whether taking the edge, or testing its guard, may end in a fault."""
    if thread.locations[edge.source].mode is Mode.ATOMIC:
        return True
    if any(isinstance(operation, Check) for operation in edge.operations):
        return True
    lookup, choices = footprints.lookup, edge.choices
    if any(may_leave_range(footprints, store, choices) for store in edge.stores):
        return True
    return not all(cannot_fault(expr, lookup, choices) for expr in edge.expressions)


def may_leave_range(footprints: Footprints, operation: Assign, choices: int) -> bool:
    """Whether the value may be outside the cell's range, or the address may not be a cell."""
    if not footprints.is_surely_cell(operation.address, choices):
        return True
    values = evaluate(operation.value, footprints.lookup, choices)
    declared = [
        footprints.program.cells[address]
        for address in footprints.targets(operation.address, choices)
    ]
    return any(values.low < cell.low or values.high > cell.high for cell in declared)


def find_alternatives(
    footprints: Footprints,
) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Find the sets of cells among which an address expression chooses at run time: those of loads,
    and those of stores."""
    loads: set[tuple[int, ...]] = set()
    stores: set[tuple[int, ...]] = set()

    def look(address: Expr, choices: int, found: set[tuple[int, ...]]) -> None:
        if not isinstance(address, Const):
            targets = footprints.targets(address, choices)
            if len(targets) > 1:
                found.add(targets)

    for edge in footprints.program.edges:
        for store in edge.stores:
            look(store.address, edge.choices, stores)
        for expr in edge.expressions:
            for part in walk(expr):
                if isinstance(part, Load):
                    look(part.address, edge.choices, loads)
    return sorted(loads), sorted(stores)


def _agree(plans: list[_Plan], groups: list[tuple[int, ...]]) -> None:
    """Give the cells of each group the same coding, until nothing changes any more."""
    changed = True
    while changed:
        changed = False
        for group in groups:
            if len(group) < 2:
                continue
            whole = _Plan(
                plans[group[0]].low,
                plans[group[0]].high,
                plans[group[0]].points,
                plans[group[0]].stored,
            )
            for address in group[1:]:
                whole.widen(plans[address])
            if not whole.is_coded:
                whole.points = None if whole.points is None else whole.points
            for address in group:
                changed |= plans[address].widen(whole)


def _place(program: Program, plans: list[_Plan]) -> tuple[tuple[Slot, ...], int]:
    """Place cells by first fit, in the order of the addresses, so that neighbours stay together."""
    room = [WORD_BITS - 1]
    slots: list[Slot] = []
    first = 0
    for address, plan in enumerate(plans):
        cell = program.cells[address]
        width = plan.width
        if width == 0:
            constant = plan.low == plan.high
            slots.append(Slot(0, 0, 0, cell.initial, scratch=not constant))
            continue
        while room[first] == 0:
            first += 1
            if first == len(room):
                room.append(WORD_BITS)
        word = first
        while room[word] < width:
            word += 1
            if word == len(room):
                room.append(WORD_BITS)
        total = WORD_BITS - (word == 0)
        points = plan.points if plan.is_coded else None
        slots.append(Slot(word, total - room[word], width, plan.low, points))
        room[word] -= width
    return tuple(slots), len(room)
