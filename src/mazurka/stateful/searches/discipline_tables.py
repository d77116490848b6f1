"""Enters a synchronization discipline in a search's block, and reads back what was seen.

`mazurka.analysis.discipline` decides; the kernels only narrow what is known of a cell and notice
when nothing is left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mazurka.analysis.discipline import MOST_CANDIDATES, Discipline
from mazurka.analysis.laws import MoverUse
from mazurka.analysis.ownership import reach
from mazurka.compiled.memory import Area
from mazurka.ir.native.layout import Slot
from mazurka.ir.program import FINISHED, IDLE, Kind, Thread
from mazurka.stateful import blocks
from mazurka.stateful.compiled.view import FOOTPRINT_LENGTH, ProgramView

IMPOSSIBLE = (1 << 64) - 1
"""A code that no cell has."""
MOVER_USES = (MoverUse.FULL, MoverUse.BLOCKING, MoverUse.INVISIBLE)


class DisciplineTables:
    def __init__(self, view: ProgramView, discipline: Discipline, mover_use: MoverUse) -> None:
        self.view = view
        self.discipline = discipline
        self.program = discipline.program
        self.lock_numbers = {lock: number for number, lock in enumerate(discipline.locks)}
        numbers = view.block.numbers
        numbers[blocks.RECORDING_STEP] = view.code(record=True)
        numbers[blocks.CELLS] = len(self.program.cells)
        numbers[blocks.EDGES] = len(self.program.edges)
        numbers[blocks.MOVER_USE] = MOVER_USES.index(mover_use)
        if blocks.FOOTPRINT not in view.kept:
            view.lengthen_footprint(FOOTPRINT_LENGTH)
        self.places = [(thread, location or 0) for thread, location in view.places()]
        self.number_of_place = {place: number for number, place in enumerate(self.places)}
        self.heads = [loop_heads(thread) for thread in self.program.threads]
        self.enter_fixed()
        self.enter()

    def enter_fixed(self) -> None:
        """What no refinement changes."""
        program, view = self.program, self.view
        view.keep(blocks.EDGE_MOVERS, Area.of(map(int, self.discipline.edge_movers)))
        view.keep(blocks.CREATING, Area.of(edge.kind is Kind.CREATE for edge in program.edges))
        view.keep(
            blocks.OWNERS,
            Area.of((cell.owner or 0) + (cell.owner is not None) for cell in program.cells),
        )
        view.keep(
            blocks.LOCK_NUMBERS,
            Area.of(self.lock_numbers.get(cell, -1) + 1 for cell in range(len(program.cells))),
        )
        view.keep(
            blocks.WAKE_LOCKS,
            self.by_place(
                lambda thread, location: (
                    self.lock_numbers.get(self.discipline.wake_locks[thread][location], -1) + 1
                )
            ),
        )

    def by_place(self, value: Callable[[int, int], int]) -> Area:
        """A table by location code, as the numbers of choices are kept."""
        return Area.of(
            value(thread, location) if location is not None else 0
            for thread, location in self.view.places()
        )

    def place_flags(self, thread: int, location: int) -> int:
        discipline = self.discipline
        return (
            blocks.PLACE_WAITS * discipline.waits_for_locks[thread][location]
            | blocks.PLACE_TAKES * discipline.takes_one_lock[thread][location]
            | blocks.PLACE_FINISHED * (location == FINISHED)
            | blocks.PLACE_IDLE * (location == IDLE)
            | blocks.PLACE_RECORDS * (not discipline.is_fixed(thread, location))
            | blocks.PLACE_HEAD * (location in self.heads[thread])
            | blocks.PLACE_AWAITS * discipline.awaits_others(thread, location)
        )

    def enter(self) -> None:
        """Everything that is assumed now."""
        discipline, view = self.discipline, self.view
        view.keep(blocks.LAWS, Area.of(map(int, discipline.laws)))
        view.keep(blocks.PLACES, self.by_place(self.place_flags))
        view.keep(blocks.FIXED, Area.of(int(mover or 0) for mover in discipline.fixed))
        view.keep(blocks.INSIDE, self.by_place(discipline.inside))
        groups = (discipline.group_of.get(cell) for cell in range(len(self.program.cells)))
        view.keep(blocks.GROUP_OF, Area.of(0 if group is None else 1 << group for group in groups))
        enter_locks(view, discipline.locks, self.lock_flags)
        self.enter_uses()
        view.block.numbers[blocks.RULES] = (
            blocks.RULE_HANDOVER * discipline.handover
            | blocks.RULE_REDUCES * discipline.reduces
            | blocks.RULE_GROUPS * bool(discipline.group_of)
        )

    def lock_flags(self, lock: int) -> int:
        return (
            blocks.LOCK_EXCLUSIVE * self.discipline.exclusive[lock]
            | blocks.LOCK_MOVABLE * self.discipline.movable[lock]
        )

    def enter_uses(self) -> None:
        uses, candidates = [], []
        for use in self.discipline.uses:
            flags = blocks.USE_WRITTEN * use.written | blocks.USE_DECLARED * use.declared
            uses.append(use.first | flags)
            locks = [self.lock_numbers[lock] + 1 for lock in use.locks]
            candidates += locks + [0] * (MOST_CANDIDATES - len(locks))
        self.view.keep(blocks.USES, Area.of(uses))
        self.view.keep(blocks.CANDIDATES, Area.of(candidates))
        touched = Area(-(-len(self.program.cells) * len(self.places) // 8))
        self.view.keep(blocks.TOUCHED_FROM, touched)
        seen = memoryview(touched.words).cast("B")
        for cell, use in enumerate(self.discipline.uses):
            for place in use.places:
                seen[cell * len(self.places) + self.number_of_place[place]] = 1

    def read_back(self) -> None:
        """Take over what the kernel has seen of the cells."""
        seen = self.view.kept[blocks.USES].numbers
        candidates = self.view.kept[blocks.CANDIDATES].numbers
        touched = memoryview(self.view.kept[blocks.TOUCHED_FROM].words).cast("B")
        for cell, use in enumerate(self.discipline.uses):
            first = cell * len(self.places)
            for number, touching in enumerate(touched[first : first + len(self.places)]):
                if touching:
                    use.places.add(self.places[number])
            use.first = seen[cell] & blocks.USE_MANY
            use.written = bool(seen[cell] & blocks.USE_WRITTEN)
            base = cell * MOST_CANDIDATES
            found = candidates[base : base + MOST_CANDIDATES].tolist()
            use.locks = tuple(self.discipline.locks[lock - 1] for lock in found if lock)


def enter_locks(
    view: ProgramView, locks: Sequence[int], flags: Callable[[int], int] = lambda lock: 0
) -> None:
    """Where locks lie in a state, and their codes where they are free and where a thread has them.

    `flags` are what else a kernel has to know of a lock."""
    threads = len(view.program.threads)
    fields, codes = Area(len(locks) * blocks.LOCK_FIELDS), Area(len(locks) * threads)
    for number, lock in enumerate(locks):
        slot = view.layout.slots[lock]
        described = (slot.word, slot.shift, slot.mask, code_of(slot, 0), flags(lock))
        for position, value in enumerate(described, number * blocks.LOCK_FIELDS):
            fields.words[position] = value
        for thread in range(threads):
            codes.words[number * threads + thread] = code_of(slot, thread + 1)
    view.keep(blocks.LOCKS, fields)
    view.keep(blocks.LOCK_CODES, codes)
    view.block.numbers[blocks.LOCK_COUNT] = len(locks)


def code_of(slot: Slot, value: int) -> int:
    """The code of a value in a slot; one that never occurs if the cell cannot have that value."""
    if slot.points is not None:
        return slot.points.index(value) if value in slot.points else IMPOSSIBLE
    code = value - slot.base
    return code if 0 <= code <= slot.mask else IMPOSSIBLE


def loop_heads(thread: Thread) -> set[int]:
    """Locations such that every cycle of a thread's steps passes one of them."""
    heads: set[int] = set()
    state = [0] * len(thread.locations)
    for root in range(len(thread.locations)):
        if state[root]:
            continue
        stack = [(root, iter(reach(thread, root).rests))]
        state[root] = 1
        while stack:
            location, rests = stack[-1]
            following = next(rests, None)
            if following is None:
                state[location] = 2
                stack.pop()
            elif state[following] == 0:
                state[following] = 1
                stack.append((following, iter(reach(thread, following).rests)))
            elif state[following] == 1:
                heads.add(following)
    return heads
