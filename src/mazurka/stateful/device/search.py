"""Breadth-first search on a device: the Python side of `mazurka.stateful.kernels.device`.

The host only allocates, launches and reads a few numbers a level.  A level is expanded by one
launch, or by several where it is very large, so that a user sees how it goes and can stop it.
"""

from __future__ import annotations

import time
from array import array
from bisect import bisect_right
from collections.abc import Sequence

from mazurka.errors import InternalError, UnsupportedError
from mazurka.ir.native.step import NativeProgram
from mazurka.search import Move, Observer, SearchOptions, SearchResult, Statistics
from mazurka.stateful import blocks
from mazurka.stateful.compiled.view import ProgramView
from mazurka.stateful.device.machine import Device
from mazurka.stateful.device.program import DeviceProgram, Job, Question
from mazurka.stateful.device.quiet import QuietCandidates
from mazurka.stateful.searches.breadth_first import origin_in
from mazurka.stateful.searches.levels import LevelConductor

FIRST_ROOM = 1 << 23
"""How many states there is room for at first."""
GROWTH = 4
SLOTS_A_STATE = 1.5
LEAST_SLOTS_A_STATE = 1.2
"""How many slots the table has for each state: as usual, and where memory is short."""
FINDING_ROOM = 1 << 16
LONGEST_LAUNCH, LIMITED_LAUNCH = 1 << 26, 1 << 22
"""How many states are expanded by one launch at most, and if there is a time limit."""
MOMENT = 0.02
"""For so many seconds the device works before anybody is told how far it has come."""
MOST_ACCESSES = 1 << 12
READ_TOGETHER, SPARSE = 1 << 10, 1 << 8
"""So many states are read at once, unless they are one in so many or fewer of their neighbours."""
NO_ORIGIN = (1 << 64) - 1
TABLES = {
    blocks.DEVICE_COUNTER_WORD: blocks.COUNTER_WORD,
    blocks.DEVICE_COUNTER_SHIFT: blocks.COUNTER_SHIFT,
    blocks.DEVICE_COUNTER_MASK: blocks.COUNTER_MASK,
    blocks.DEVICE_CHOICE_OFFSET: blocks.CHOICE_OFFSET,
    blocks.DEVICE_CHOICES: blocks.CHOICES,
    blocks.DEVICE_MASKS: blocks.SHARED_MASKS,
    blocks.DEVICE_RACING: blocks.RACING,
    blocks.DEVICE_INDIVISIBLE: blocks.INDIVISIBLE,
}
"""Arrays that describe the program, and where they stand in the block of other searches."""


class DeviceSearch:
    def __init__(
        self, native: NativeProgram, options: SearchOptions, observer: Observer, device: Device
    ) -> None:
        self.native = native
        self.layout = native.layout
        self.device = device
        self.conductor = LevelConductor(native, options, observer)
        self.conductor.limit_bytes = options.limit_bytes or device.free_bytes()
        self.view = ProgramView(native, options)
        self.numbers = self.view.block.numbers
        self.question = Question(
            faults_wanted=self.numbers[blocks.FAULTS_WANTED],
            deadlock_wanted="deadlock" in options.properties,
            hang_wanted="hang" in options.properties,
            race_wanted="race" in options.properties,
        )
        self.program = DeviceProgram(native, self.question, observer)
        self.functions: dict[Job, object] = {}
        self.kept: list[int] = []
        """Addresses of the device's memory, beside log and table."""
        self.levels = [0, 1]
        """Where levels begin in the log; the last number is the end of the last level known."""
        self.position = 0
        """The first state that has not been expanded."""
        self.size = 1
        self.part = LONGEST_LAUNCH
        """How many states are expanded by one launch."""
        self.transitions = 0
        self.stopped_seen = False
        self.room = self.slots = self.log = self.table = 0
        self.peak_bytes = 0
        self.quiet: QuietCandidates | None = None

    @property
    def words(self) -> int:
        return self.layout.words

    def function(self, job: Job) -> object:
        if job not in self.functions:
            module = self.program.module(job, self.device.target)
            self.functions[job] = self.device.compile(module, job.entry)
        return self.functions[job]

    # --- the device's memory ------------------------------------------------------------------

    def begin(self) -> None:
        """Set up the block, the tables of the program, and a log with the initial state."""
        device = self.device
        self.block = self.keep([0] * blocks.DEVICE_BLOCK_WORDS)
        for position, known in TABLES.items():
            area = self.view.kept.get(known)
            if area is not None:
                self.put(position, self.keep(list(area.words)))
        findings = self.keep([0] * (blocks.FINDING_WORDS * FINDING_ROOM))
        self.put(blocks.DEVICE_FINDINGS, findings, FINDING_ROOM)
        self.put(blocks.DEVICE_TARGET, self.keep([0] * self.words))
        self.function(Job.EXPAND)  # compiled now, when the clock does not run yet
        initial = self.layout.pack(self.layout.program.initial_state())
        if not self.make_room(FIRST_ROOM, initial):
            raise UnsupportedError(f"there is too little memory on {device.name}")

    def keep(self, words: list[int]) -> int:
        """Put words into the device's memory for as long as the search lives; their address."""
        address = self.device.allocate(8 * len(words))
        self.device.write(address, words)
        self.kept.append(address)
        return address

    def release(self) -> None:
        """Give all memory of the device back."""
        for address in (self.log, self.table, *self.kept):
            if address:
                self.device.release(address)
        self.log = self.table = 0
        self.kept.clear()

    def put(self, position: int, *values: int) -> None:
        """Set words of the block, from a position on."""
        self.device.write(self.block + 8 * position, values)

    def make_room(self, room: int, initial: Sequence[int] | None = None) -> bool:
        """Make log and table larger, as far as there is memory; False if there is none."""
        device, words = self.device, self.words
        if self.table:
            device.release(self.table)
            self.table = 0
        limit = self.conductor.options.limit_bytes
        free = device.free_bytes()
        if limit is not None:
            free = min(free, limit - 8 * words * self.room)
        free -= 8 * device.most_workers
        room = min(room, int(free / (8 * words + 8 * LEAST_SLOTS_A_STATE)))
        if room <= self.room:
            return False
        slots = int(min(room * SLOTS_A_STATE, (free - 8 * words * room) // 8))
        slots += device.most_workers
        log = device.allocate(8 * words * room)
        if self.log:
            device.copy(log, self.log, 8 * words * self.size)
            self.peak_bytes = max(self.peak_bytes, 8 * words * (self.room + room))
            device.release(self.log)
        elif initial is not None:
            device.write(log, initial)
        self.table = device.allocate(8 * slots)
        device.clear(self.table, 8 * slots)
        self.log, self.room, self.slots = log, room, slots
        self.peak_bytes = max(self.peak_bytes, 8 * (words * room + slots))
        for position, value in {
            blocks.DEVICE_LOG: log,
            blocks.DEVICE_TABLE: self.table,
            blocks.DEVICE_SLOTS: slots,
            blocks.DEVICE_ROOM: room,
            blocks.DEVICE_SIZE: self.size,
            blocks.DEVICE_FULL: 0,
        }.items():
            self.put(position, value)
        self.launch(Job.ENTER, 0, self.size)
        return True

    def launch(self, job: Job, first: int, last: int) -> None:
        """Do a job for a part of the log; nothing is counted or found yet."""
        self.put(blocks.DEVICE_FROM, first, last, 0, 0)
        self.device.launch(self.function(job), self.block, last - first)

    # --- slices -------------------------------------------------------------------------------

    def run(self) -> SearchResult:
        self.begin()
        return self.conductor.run(self.slice)

    def slice(self, budget: int) -> bool:
        """Expand parts of levels for a moment; whether the search is over."""
        end = time.perf_counter() + MOMENT
        try:
            while not self.expand_part():
                if time.perf_counter() >= end or self.conductor.limits:
                    return False
            return True
        finally:
            self.count()

    def expand_part(self) -> bool:
        """Expand a part of the level; whether the search is over."""
        longest = LONGEST_LAUNCH if self.conductor.limit_seconds is None else LIMITED_LAUNCH
        last = min(self.position + min(self.part, longest), self.levels[-1])
        self.launch(Job.EXPAND, self.position, last)
        numbers = self.device.read(self.block, blocks.DEVICE_BLOCK_WORDS)
        self.size = min(numbers[blocks.DEVICE_SIZE], self.room)
        findings = numbers[blocks.DEVICE_FINDING_COUNT]
        if numbers[blocks.DEVICE_FULL]:
            return not self.make_room(GROWTH * self.room) and self.conductor.out_of_memory()
        if numbers[blocks.DEVICE_OVERLONG]:
            return self.compare_more_accesses()
        if findings > FINDING_ROOM:
            self.part = max((last - self.position) // GROWTH, 1)
            return False
        if numbers[blocks.DEVICE_ENDED_FREELY]:
            self.conductor.stops.ended_freely = True
        self.transitions += numbers[blocks.DEVICE_TRANSITIONS]
        self.position = last
        self.look_at_findings(numbers[blocks.DEVICE_FINDINGS], findings)
        return self.position == self.levels[-1] and self.next_level()

    def next_level(self) -> bool:
        """Go on to the states found last; whether the search is over."""
        if self.conductor.settle() or self.size == self.levels[-1]:
            return True
        self.levels.append(self.size)
        self.part = LONGEST_LAUNCH
        return False

    def compare_more_accesses(self) -> bool:
        """Compile the kernel anew, with room for more accesses in one state."""
        self.program.most_accesses *= GROWTH
        if self.program.most_accesses > MOST_ACCESSES:
            raise UnsupportedError(
                f"the steps of one state have more than {MOST_ACCESSES:,} accesses; races of such"
                " programs are not looked for on a device: leave out --device"
            )
        self.functions.pop(Job.EXPAND)
        self.put(blocks.DEVICE_OVERLONG, 0)
        return False

    # --- what was found -----------------------------------------------------------------------

    def look_at_findings(self, address: int, count: int) -> None:
        """Have what was found examined; the first violation by rank is kept."""
        words = self.device.read(address, blocks.FINDING_WORDS * count) if count else ()
        candidates: list[int] = []
        for start in range(0, blocks.FINDING_WORDS * count, blocks.FINDING_WORDS):
            kind, position, thread, choice = words[start : start + blocks.FINDING_WORDS]
            if kind == blocks.QUIET:
                candidates.append(position)
            else:
                self.examine(kind, position, Move(thread, choice))
        if candidates and not self.conductor.hang_found:
            for position in self.select_quiet(sorted(candidates)):
                self.examine(blocks.QUIET, position, Move(0))

    def examine(self, kind: int, position: int, move: Move) -> None:
        conductor, depth = self.conductor, len(self.levels) - 2
        words = self.words_at(position)

        def path() -> tuple[Move, ...]:
            return self.path(position)

        match kind:
            case blocks.FAULT:
                conductor.rank = (depth + 1, "fault", tuple(words), move.thread, move.choice)
                conductor.confirm_fault(words, move, path)
            case blocks.STUCK if move.choice or not self.stopped_seen:
                self.stopped_seen = self.stopped_seen or not move.choice
                conductor.rank = (depth, "deadlock", tuple(words), 0, 0)
                conductor.examine_stuck(words, path)
            case blocks.QUIET if not conductor.hang_found:
                conductor.rank = (depth, "hang", tuple(words), 0, 0)
                conductor.examine_quiet(words, path)
            case blocks.RACE:
                conductor.rank = (depth, "race", tuple(words), 0, 0)
                conductor.confirm_race(words, path)

    def select_quiet(self, positions: Sequence[int]) -> list[int]:
        """Those of some states that are really quiet: the device has only tried one step of each
        thread."""
        if self.quiet is None:
            self.quiet = QuietCandidates(self.view, self.conductor.observer)
        chosen = self.quiet.select(self.read_states(positions))
        return [positions[number] for number in chosen]

    def read_states(self, positions: Sequence[int]) -> array[int]:
        """The states at positions, in order; all of a part of the log at once if many lie there."""
        words, states = self.words, array("Q")
        for start in range(0, len(positions), READ_TOGETHER):
            some = positions[start : start + READ_TOGETHER]
            first, span = some[0], some[-1] + 1 - some[0]
            if span > SPARSE * len(some):
                for position in some:
                    states += self.device.read(self.log + 8 * words * position, words)
                continue
            part = self.device.read(self.log + 8 * words * first, words * span)
            for position in some:
                place = words * (position - first)
                states += part[place : place + words]
        return states

    def words_at(self, position: int) -> list[int]:
        return self.device.read(self.log + 8 * self.words * position, self.words).tolist()

    def path(self, position: int) -> tuple[Move, ...]:
        """Find the schedule to a state by going back, level by level."""
        moves: list[Move] = []
        target = self.device.read(self.block + 8 * blocks.DEVICE_TARGET, 1)[0]
        for level in range(bisect_right(self.levels, position) - 1, 0, -1):
            self.device.write(target, self.words_at(position))
            self.put(blocks.DEVICE_ORIGIN, NO_ORIGIN)
            self.launch(Job.GO_BACK, self.levels[level - 1], self.levels[level])
            origin = self.device.read(self.block + 8 * blocks.DEVICE_ORIGIN, 1)[0]
            if origin == NO_ORIGIN:
                raise InternalError("a state of a level has no predecessor in the one before")
            move, position = origin_in(origin)
            moves.append(move)
        return tuple(reversed(moves))

    def count(self) -> None:
        """Keep the books."""
        used = 8 * (self.words * self.size + self.slots)
        statistics = Statistics(
            states=self.size,
            transitions=self.transitions,
            depth=len(self.levels) - 2,
            table_bytes=used,
            peak_bytes=self.peak_bytes,
        )
        self.conductor.count(statistics, other_bytes=0)
