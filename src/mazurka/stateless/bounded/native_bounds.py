"""The bounds of prefixes in native code: the same states, costs and marks as in Python.

`NativeBounds` keeps a copy of the present run in flat arrays (`flat_run`), and the records of all
states that are known (`mazurka.stateless.blocks` says what is where).  The kernel
`mazurka.stateless.kernels.context_bounds` does what `ContextBounds` and `Algorithm2.mark` do with
them.  Whether a thread can go on is decided there as long as the answer has been given before, for
the same state of the one object on which it depends; otherwise the kernel stops, and the operation
is asked here.

Where a thread may give way, or there are more threads or events than there is room for, Python does
all the work (`fits`).
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TypeAlias

from mazurka.compiled.memory import Area
from mazurka.errors import InternalError
from mazurka.stateless import blocks
from mazurka.stateless.bounded.flat_run import FlatRun, hash_words
from mazurka.stateless.bounded.happens_before import Graph
from mazurka.stateless.bounded.hashing import StateHash

Bounds: TypeAlias = tuple[int, ...]
"""As in `mazurka.stateless.bounded.context_bound`."""

MOST_THREADS = 60
"""A set of threads is a word, and the number of arrivals has six bits."""
MOST_EVENTS = 1 << 10
KERNEL = "context_bounds"
COMPILED_FROM = 1 << 15
"""With how many states it is worth compiling."""
HALF = 64
MASK = (1 << HALF) - 1
FIRST_RECORDS = 1 << 14
FIRST_ITEM_WORDS = 1 << 12
NO_BOUND = (1 << 60) - 1
COSTS = 1 << blocks.ARRIVAL_COST
PLACES = (1 << blocks.ARRIVAL_THREAD) - 1
THREADS = (1 << blocks.ARRIVAL_THREAD_BITS) - 1
ARRIVALS = (1 << blocks.SHAPE_COUNT_BITS) - 1


def fits(graph: Graph) -> bool:
    """Whether the present run can be worked on in native code."""
    return (
        not graph.any_yields
        and len(graph.lines) <= MOST_THREADS
        and len(graph.schedule) < MOST_EVENTS
    )


def begin_native(
    graph: Graph, check: Callable[[int], None], check_every: int, states: int
) -> NativeBounds | None:
    """Return native code for a search that knows so many states; None where it cannot be had.

    It is compiled once, by a process of its own; meanwhile Python does the work.
    """
    if not fits(graph) or sys.byteorder != "little":
        return None
    try:
        from mazurka.compiled.cache import bind_kernel, prepare_kernel
    except (ImportError, OSError):
        return None
    block = Area(blocks.BLOCK_WORDS)
    run = bind_kernel(KERNEL, block.address)
    if run is None:
        if states >= COMPILED_FROM:
            prepare_kernel(KERNEL)
        return None
    return NativeBounds(graph, block, run, check, check_every)


class NativeBounds:
    """The bounds of all prefixes of the states that a search has come to, in flat arrays."""

    def __init__(
        self,
        graph: Graph,
        block: Area,
        run: Callable[[], int],
        check: Callable[[int], None],
        check_every: int,
    ) -> None:
        self.graph = graph
        self._run = run
        self._check = check
        self._block = block
        self.numbers = self._block.numbers
        self.numbers[blocks.CHECK_EVERY] = check_every
        self.numbers[blocks.CHECKED] = -1
        self.numbers[blocks.LEVEL] = 1
        self._log = Area(FIRST_RECORDS * 8)
        self._table = Area(FIRST_RECORDS * 2, scattered=True)
        self._items = Area(FIRST_ITEM_WORDS)
        self._marked = self._waiting = Area(1)
        self._enter()
        self._flat = FlatRun(graph, self._block)
        self.threads = 0
        """The most threads that a run has had."""

    def fits(self) -> bool:
        return fits(self.graph)

    # ---- what is known

    @property
    def states(self) -> int:
        """How many states are known."""
        return self.numbers[blocks.STATES]

    @property
    def unseen(self) -> int:
        """How many steps lead from known states to states that are not known."""
        return self.numbers[blocks.UNSEEN]

    def take_over(
        self,
        known: Mapping[StateHash, Bounds],
        unseen: int,
        closed: Collection[StateHash],
        left_open: Mapping[StateHash, int],
    ) -> None:
        """Begin with what has been worked out in Python, prefixes first, and with its marks."""
        records: list[int] = []
        places: dict[StateHash, int] = {}
        level = self.numbers[blocks.LEVEL] << blocks.MARKS_LEVEL
        for state, bounds in known.items():
            self.threads = max(self.threads, len(bounds) - bounds[3])
            places[state] = len(records)
            able, _, others, end = bounds[:4]
            count = (end - 4) // 3
            marks = 0
            if state in closed:
                marks = level | blocks.MARKS_CLOSED
            elif left := left_open.get(state):
                marks = level | left << blocks.MARKS_LEFT
            shape = others << blocks.SHAPE_COST | blocks.SHAPE_DONE | count
            records += (state & MASK, state >> HALF, able, shape, marks)
            for place in range(4, end, 3):
                thread, before, cost = bounds[place : place + 3]
                records.append(places[before] | thread << blocks.ARRIVAL_THREAD | cost * COSTS)
        while self._log.length < len(records) + FIRST_RECORDS:
            self._grow_log()
        while self._table.length < 4 * len(known):
            self._grow_table()
        self._log.words[: len(records)] = memoryview(array("Q", records))
        self.numbers[blocks.LOG_SIZE] = len(records)
        self.numbers[blocks.STATES] = len(known)
        self.numbers[blocks.UNSEEN] = unseen
        self._operate(blocks.REHASH)

    def give_back(self) -> tuple[dict[StateHash, Bounds], dict[StateHash, int]]:
        """Return all that is known, and how many steps are left of states that are not closed, for
        Python to go on with."""
        graph, level = self.graph, self.numbers[blocks.LEVEL]
        for number, watching in enumerate(self._flat.watching[: len(graph.watching)]):
            graph.watching[number] |= watching
        known: dict[StateHash, Bounds] = {}
        left_open: dict[StateHash, int] = {}
        for state, record in self:
            known[state] = self.read(record)
            marks = self._log.words[record + blocks.RECORD_MARKS]
            if marks >> blocks.MARKS_LEVEL == level and not marks & blocks.MARKS_CLOSED:
                left_open[state] = marks % (1 << blocks.MARKS_LEVEL) >> blocks.MARKS_LEFT
        return known, left_open

    def find(self, state: StateHash) -> int:
        """Return where the record of a state is; -1 if it is not known."""
        words = self._block.words
        words[blocks.CURSOR_LOW], words[blocks.CURSOR_HIGH] = state & MASK, state >> HALF
        self._operate(blocks.FIND)
        return self.numbers[blocks.FOUND]

    def read(self, record: int) -> Bounds:
        """Return what is known of a state."""
        words = self._log.words
        able, shape = words[record + blocks.RECORD_ABLE], words[record + blocks.RECORD_SHAPE]
        others = shape >> blocks.SHAPE_COST
        found: list[int] = []
        costs = [others] * self.threads
        for thread, before, cost in self._arrivals(record):
            low, high = words[before : before + 2]
            found += (thread, low | high << HALF, cost)
            costs[~thread] = min(cost, others)
        return (able, 0, others, 4 + len(found), *found, *costs)

    def _arrivals(self, record: int) -> Iterator[tuple[int, int, int]]:
        words = self._log.words
        count = words[record + blocks.RECORD_SHAPE] & ARRIVALS
        first = record + blocks.RECORD_WORDS
        for arrival in words[first : first + count]:
            thread = arrival >> blocks.ARRIVAL_THREAD & THREADS
            yield thread, arrival & PLACES, arrival >> blocks.ARRIVAL_COST

    def cost_of(self, record: int, thread: int) -> int:
        """CB(s, t)."""
        others = self._log.words[record + blocks.RECORD_SHAPE] >> blocks.SHAPE_COST
        for last, _, cost in self._arrivals(record):
            if last == thread:
                return min(cost, others)
        return others

    def __iter__(self) -> Iterator[tuple[StateHash, int]]:
        """All known states, and where their records are."""
        words, record = self._log.words, 0
        while record < self.numbers[blocks.LOG_SIZE]:
            shape = words[record + blocks.RECORD_SHAPE]
            if shape & blocks.SHAPE_DONE:
                yield words[record] | words[record + 1] << HALF, record
            record += blocks.RECORD_WORDS + (shape & ARRIVALS)

    def end(self, record: int) -> None:
        """Nobody goes on from a state: the program has given up."""
        words = self._log.words
        self.numbers[blocks.UNSEEN] -= words[record + blocks.RECORD_ABLE].bit_count()
        words[record + blocks.RECORD_ABLE] = 0

    # ---- what is worked out

    def here(self) -> int:
        """Work out the state at the graph's cursor, and all its prefixes; return its record."""
        record = self.find(self.graph.hash)
        if record < 0:
            self._follow_graph()
            self._complete(blocks.WORK_OUT)
            record = self.numbers[blocks.FOUND]
        return record

    def finish(self, bound: int) -> list[StateHash]:
        """The same for a terminal state; mark it, and return all that are closed by that."""
        self._follow_graph()
        self.numbers[blocks.BOUND] = min(bound, NO_BOUND)
        self._complete(blocks.FINISH)
        return self._closed()

    def _follow_graph(self) -> None:
        """Bring the copy of the run up to date, and let the cursor be where the graph's is."""
        graph, numbers, words = self.graph, self.numbers, self._block.words
        self._flat.follow()
        self.threads = max(self.threads, len(graph.lines))
        state = graph.hash
        words[blocks.CURSOR_LOW], words[blocks.CURSOR_HIGH] = state & MASK, state >> HALF
        numbers[blocks.PHASE] = numbers[blocks.ITEM_COUNT] = 0
        self._count_items()

    def _complete(self, operation: int) -> None:
        """Call the kernel until it is done, and do what it needs meanwhile."""
        numbers = self.numbers
        while (result := self._operate(operation)) != blocks.DONE:
            if result == blocks.ASK:
                self._flat.ask()
            elif result == blocks.CHECK:
                count = numbers[blocks.STATES]
                self._check(count)
                numbers[blocks.CHECKED] = count
            elif result == blocks.NO_ROOM:
                self._make_room()
            else:
                raise InternalError("the state in which nothing has happened is not known")

    # ---- marks

    def begin_level(self) -> None:
        """Forget which states are closed."""
        self.numbers[blocks.LEVEL] += 1

    def mark(self, states: Sequence[StateHash], bound: int) -> list[StateHash]:
        """Mark terminal states, and return all that are closed by that."""
        numbers = self.numbers
        self._make_room_for_marks(len(states))
        self._marked.words[: 2 * len(states)] = hash_words(states)
        numbers[blocks.MARKED_COUNT] = len(states)
        numbers[blocks.BOUND] = min(bound, NO_BOUND)
        if self._operate(blocks.MARK) != blocks.DONE:
            raise InternalError("a terminal state is not known")
        return self._closed()

    def _closed(self) -> list[StateHash]:
        """The states that the last operation has closed."""
        found = self._marked.words[: 2 * self.numbers[blocks.MARKED_COUNT]].tolist()
        return [low | high << HALF for low, high in zip(found[::2], found[1::2], strict=True)]

    # ---- memory

    def _operate(self, operation: int) -> int:
        self.numbers[blocks.OPERATION] = operation
        return self._run()

    def _make_room(self) -> None:
        """Let everything grow that may be too small for what comes next."""
        numbers = self.numbers
        threads = numbers[blocks.MOST_THREADS]
        more = (threads + 2) * (blocks.RECORD_WORDS + threads)
        while numbers[blocks.LOG_SIZE] + more > self._log.length:
            self._grow_log()
        while 2 * (numbers[blocks.ENTRIES] + threads + 1) > self._table.length:
            self._grow_table()
            self._operate(blocks.REHASH)
        while numbers[blocks.ITEM_COUNT] + threads + 1 > numbers[blocks.ITEM_ROOM]:
            self._items = _copy_to_larger(self._items, self._items.length)
            self._enter()
            self._count_items()

        self._make_room_for_marks(0)

    def _make_room_for_marks(self, states: int) -> None:
        """Let there be room for marks on all states that are known, and on some more."""
        numbers = self.numbers
        if numbers[blocks.MARK_ROOM] < numbers[blocks.STATES] + states:
            room = numbers[blocks.MARK_ROOM] = 2 * numbers[blocks.STATES] + states
            self._waiting, self._marked = Area(room), Area(2 * room)
            numbers[blocks.WAITING] = self._waiting.address
            numbers[blocks.MARKED] = self._marked.address

    def _count_items(self) -> None:
        """Note for how many items there is room; the larger a run, the larger they are."""
        numbers = self.numbers
        item = blocks.ITEM_FRONTIER + numbers[blocks.MOST_THREADS] + numbers[blocks.WORDS]
        numbers[blocks.ITEM_ROOM] = self._items.length // item

    def _grow_log(self) -> None:
        self._log = _copy_to_larger(self._log, self.numbers[blocks.LOG_SIZE])
        self._enter()

    def _grow_table(self) -> None:
        self._table = Area(2 * self._table.length, scattered=True)
        self._enter()

    def _enter(self) -> None:
        numbers = self.numbers
        numbers[blocks.LOG], numbers[blocks.LOG_ROOM] = self._log.address, self._log.length
        numbers[blocks.TABLE], numbers[blocks.TABLE_SLOTS] = self._table.address, self._table.length
        numbers[blocks.ITEMS] = self._items.address


def _copy_to_larger(area: Area, used: int) -> Area:
    larger = Area(2 * area.length)
    larger.words[:used] = area.words[:used]
    return larger
