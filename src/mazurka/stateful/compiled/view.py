"""Enters a program in a search's block: addresses and small tables, nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from mazurka.compiled.memory import Area
from mazurka.errors import UnsupportedError
from mazurka.ir.native.step import NativeProgram
from mazurka.ir.program import FAULTS, Fault
from mazurka.search import SearchOptions
from mazurka.stateful import blocks
from mazurka.stateful.hangs import find_own_cells

MOST_THREADS = 255
MOST_CHOICES = 65_535
MOST_RACING_THREADS = 64
FOOTPRINT_LENGTH = 1 << 12
FIRST_WALK = 1 << 8
"""How many states a thread's walk may have before more room is made; a power of two."""
ACCESS_KINDS = 4


class ProgramView:
    """Owns the arrays that describe a program to the kernels."""

    def __init__(self, native: NativeProgram, options: SearchOptions) -> None:
        self.native = native
        self.program = native.program
        self.layout = native.layout
        self.block = Area(blocks.BLOCK_WORDS)
        self.kept: dict[int, Area] = {}
        self.race_wanted = "race" in options.properties
        self.quick = options.limit_transitions is not None
        """The search will be short: compiling well would take longer."""
        self.refuse_too_large()
        self.enter_program(options)
        if self.race_wanted:
            self.enter_races()
        if "hang" in options.properties:
            self.enter_hangs()

    def refuse_too_large(self) -> None:
        threads = len(self.program.threads)
        if threads > MOST_THREADS:
            raise UnsupportedError(f"{threads} threads; a search takes at most {MOST_THREADS}")
        if self.race_wanted and threads > MOST_RACING_THREADS:
            raise UnsupportedError(
                f"{threads} threads; races are looked for among at most {MOST_RACING_THREADS}"
            )
        most = max(max(bounds) for bounds in self.layout.choices)
        if most > MOST_CHOICES:
            raise UnsupportedError(
                f"one step has {most:,} nondeterministic outcomes; a search takes at most"
                f" {MOST_CHOICES:,}: choose in several steps, or from a smaller range"
            )

    def code(self, *, record: bool) -> int:
        """The address of the step function."""
        return self.native.code(record=record, quick=self.quick).address

    def keep(self, position: int, area: Area) -> None:
        """Enter an array's address, and keep the array alive."""
        self.kept[position] = area
        self.block.numbers[position] = area.address

    def enter_program(self, options: SearchOptions) -> None:
        slots = [self.layout.slots[thread.counter] for thread in self.program.threads]
        choices: list[int] = []
        offsets: dict[int, int] = {}
        for thread, location in self.places():
            offsets.setdefault(thread, len(choices))
            choices.append(1 if location is None else self.layout.choices[thread][location])
        self.keep(blocks.COUNTER_WORD, Area.of(slot.word for slot in slots))
        self.keep(blocks.COUNTER_SHIFT, Area.of(slot.shift for slot in slots))
        self.keep(blocks.COUNTER_MASK, Area.of(slot.mask for slot in slots))
        self.keep(blocks.CHOICE_OFFSET, Area.of(offsets.values()))
        self.keep(blocks.CHOICES, Area.of(choices))
        self.keep(blocks.MOST_CHOICES, Area.of(max(bounds) for bounds in self.layout.choices))
        self.keep(blocks.OBSERVERS, Area.of(thread.observer for thread in self.program.threads))
        unwanted = set() if "assert" in options.properties else {Fault.ASSERT}
        wanted = (1 << code for code, fault in enumerate(FAULTS, 1) if fault not in unwanted)
        numbers = self.block.numbers
        numbers[blocks.STEP] = self.code(record=False)
        numbers[blocks.WORDS] = self.layout.words
        numbers[blocks.THREADS] = len(slots)
        numbers[blocks.CHOICES_LENGTH] = len(choices)
        numbers[blocks.ANY_CHOICE] = max(choices) > 1
        numbers[blocks.FAULTS_WANTED] = sum(wanted)
        numbers[blocks.DEADLOCK_WANTED] = "deadlock" in options.properties
        numbers[blocks.RACE_WANTED] = self.race_wanted

    def places(self) -> Iterator[tuple[int, int | None]]:
        """Every thread and every code its counter can have, with the location; None for unused
        codes.  Tables by location are in this order."""
        for number, thread in enumerate(self.program.threads):
            slot = self.layout.slots[thread.counter]
            for code in range(1 << slot.width):
                known = slot.points is None or code < len(slot.points)
                location = slot.decode(code) if known else None
                in_use = location is not None and 0 <= location < len(thread.locations)
                yield number, location if in_use else None

    def enter_races(self) -> None:
        cells, edges = self.program.cells, self.program.edges
        numbers = self.block.numbers
        numbers[blocks.RECORDING_STEP] = self.code(record=True)
        numbers[blocks.CELLS], numbers[blocks.EDGES] = len(cells), len(edges)
        self.keep(blocks.RACING, Area.of(cell.can_race for cell in cells))
        self.keep(blocks.INDIVISIBLE, Area.of(edge.indivisible for edge in edges))
        self.keep(blocks.TOUCHED, Area(len(cells) * ACCESS_KINDS))
        self.keep(blocks.EPOCH, Area(len(cells)))
        self.lengthen_footprint(FOOTPRINT_LENGTH)

    def enter_hangs(self) -> None:
        """Which bits each thread shares with others, and room for its walks."""
        words, numbers = self.layout.words, self.block.numbers
        masks = Area(words * len(self.program.threads))
        for thread, own in enumerate(find_own_cells(self.program)):
            for address, slot in enumerate(self.layout.slots):
                if address not in own:
                    masks.words[thread * words + slot.word] |= slot.mask << slot.shift
        self.keep(blocks.SHARED_MASKS, masks)
        taken = self.native.code(record=False, quick=self.quick)
        numbers[blocks.WALK_STEP] = self.native.plain_address(taken)
        numbers[blocks.HANG_WANTED], numbers[blocks.STATE_WORDS] = True, words
        self.lengthen_walks(FIRST_WALK)

    def lengthen_walks(self, room: int | None = None) -> None:
        """Room for walks that are twice as long as now, or of a given length."""
        numbers = self.block.numbers
        room = room or 2 * numbers[blocks.WALK_ROOM]
        self.keep(blocks.WALK, Area((room + 1) * self.layout.words))
        self.keep(blocks.WALK_TABLE, Area(2 * room))
        numbers[blocks.WALK_ROOM], numbers[blocks.WALK_CAPACITY] = room, 2 * room
        numbers[blocks.WALKS] = 0

    def walk_bytes(self) -> int:
        """What the longest walk so far has taken, with the table."""
        return 8 * self.block.numbers[blocks.WALK_ROOM] * (self.layout.words + 2)

    def lengthen_footprint(self, length: int | None = None) -> None:
        """Room for footprints twice as long as now, or of a given length."""
        numbers = self.block.numbers
        length = length or 2 * numbers[blocks.FOOTPRINT_LENGTH]
        footprint = Area(length)
        footprint.numbers[0] = length - 3  # the last word takes what does not fit
        self.keep(blocks.FOOTPRINT, footprint)
        numbers[blocks.FOOTPRINT_LENGTH] = length

    def choices_at(self, words: list[int], thread: int) -> int:
        """How many choices a thread has in a packed state."""
        slot = self.layout.slots[self.program.threads[thread].counter]
        location = slot.decode(words[slot.word] >> slot.shift & slot.mask)
        return self.layout.choices[thread][location]
