"""A copy of the present run in flat arrays, for the kernel of context bounds.

`FlatRun` has what `mazurka.stateless.bounded.recording` knows of a run, as far as the bounds of its
prefixes depend on it, in the shape that `mazurka.stateless.blocks` tells.  It is brought up to date
when somebody asks for bounds: what has changed since then is what `Recording.cut` took away, and
what came after it.

Of an object's states only their numbers are copied: equal ones have the same number.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Sequence

from mazurka.compiled.memory import Area
from mazurka.stateless import blocks
from mazurka.stateless.bounded.happens_before import Graph
from mazurka.stateless.bounded.hashing import StateHash
from mazurka.stateless.bounded.recording import Stand, Touched

WORD = 8
HASH = 16
BITS = 64
MASK = (1 << BITS) - 1
FIRST_THREADS = 8
FIRST_OBJECTS = 32


class FlatRun:
    """The arrays of a run, and what they were copied from."""

    def __init__(self, graph: Graph, block: Area) -> None:
        self.graph = graph
        self._block = block.numbers
        self._room = (0, 0, 0)
        """For how many events, threads and objects there is room."""
        self._state_numbers: list[dict[Hashable, int]] = []
        """By object: its states, numbered as they come."""
        self._looked_at: set[int] = set()
        """Objects at which threads look to find out whether they can go on."""
        self._touched: list[Touched] = []
        self._stands: list[list[Stand]] = []
        self._written: list[int] = []
        self._written_ends: list[int] = []
        self.watching = memoryview(array("Q"))
        self._watched = 0
        """Of how many objects it is known who looks at them."""
        self._make_room()

    # ---- where things are

    def _make_room(self) -> None:
        """Have arrays that are large enough, and copy the whole run anew."""
        graph = self.graph
        events, threads, objects = self._room
        events, threads = max(events, BITS), max(threads, FIRST_THREADS)
        objects = max(objects, FIRST_OBJECTS)
        while events < len(graph.schedule) + 2:
            events *= 2
        while threads < len(graph.lines):
            threads *= 2
        while objects < len(graph.names):
            objects *= 2
        self._room = events, threads, objects
        self._lay_out(events // BITS)
        while len(self._state_numbers) < objects:
            self._state_numbers.append({})
        self._touched.clear()
        self._written.clear()
        self._written_ends.clear()
        self._stands = [[] for _ in range(threads)]
        self._block[blocks.FRESH] = 0

    def _lay_out(self, words: int) -> None:
        events, threads, objects = self._room
        sizes = {
            blocks.PAST: events * words,
            blocks.HASHES: events * 2,
            blocks.SCHEDULE: events,
            blocks.AWAITED: events,
            blocks.WRITTEN_ENDS: events,
            blocks.COVERS: events * (threads + 1),
            blocks.LINES: threads * words,
            blocks.STANDING: threads,
            blocks.STANDS: threads * events * (blocks.STAND_NEEDS + words),
            blocks.WRITES: objects * words,
            blocks.WATCHING: objects,
            blocks.VERSIONS: objects * events,
            blocks.CURSOR: words,
            blocks.SCRATCH: words,
            blocks.ASKED_PREFIX: words,
        }
        self._area = Area(sum(sizes.values()))
        views: dict[int, memoryview] = {}
        start = 0
        for place, size in sizes.items():
            self._block[place] = self._area.address + start * WORD
            views[place] = self._area.words[start : start + size]
            start += size
        self._bytes = words * WORD
        self._stand_words = blocks.STAND_NEEDS + words
        block = self._block
        block[blocks.WORDS], block[blocks.MOST_THREADS] = words, threads
        block[blocks.MOST_EVENTS] = events
        views[blocks.WATCHING][: len(self.watching)] = self.watching
        self.watching = views[blocks.WATCHING]
        self._schedule, self._awaited = views[blocks.SCHEDULE], views[blocks.AWAITED]
        self._ends, self._standing = views[blocks.WRITTEN_ENDS], views[blocks.STANDING]
        self._versions, self._stands_at = views[blocks.VERSIONS], views[blocks.STANDS]
        self._past, self._lines, self._writes, self._cursor, self._asked, self._hashes = (
            views[place].cast("B")
            for place in (
                *(blocks.PAST, blocks.LINES, blocks.WRITES),
                *(blocks.CURSOR, blocks.ASKED_PREFIX, blocks.HASHES),
            )
        )
        self._written_room = Area(events)
        block[blocks.WRITTEN] = self._written_room.address

    def _encode(self, sets: Sequence[int]) -> bytes:
        size = self._bytes
        if size == WORD:
            return array("Q", sets).tobytes()
        return b"".join([events.to_bytes(size, "little") for events in sets])

    # ---- what is copied

    def follow(self) -> None:
        """Bring the copy up to date, and let the cursor be where that of the graph is."""
        graph, block = self.graph, self._block
        events, threads = len(graph.schedule), len(graph.lines)
        room = self._room
        if events + 2 > room[0] or threads > room[1] or len(graph.names) > room[2]:
            self._make_room()
        self._cursor[:] = graph.here.to_bytes(self._bytes, "little")
        kept = min(graph.kept, len(self._touched))
        changed = self._copy_events(kept) if kept < max(events, len(self._touched)) else set()
        self._awaited[:events] = memoryview(array("Q", graph.awaited))
        for thread, line in enumerate(graph.stands):
            if line != self._stands[thread]:
                self._copy_stands(thread, line, changed)
        lines = self._encode(graph.lines)
        self._lines[: len(lines)] = lines
        for number in changed & self._looked_at:
            self._copy_object(number)
        for number in range(self._watched, len(graph.watching)):
            self.watching[number] |= graph.watching[number]
        self._watched = len(graph.watching)
        block[blocks.EVENTS], block[blocks.THREADS] = events, threads
        block[blocks.FRESH] = min(block[blocks.FRESH], kept)
        graph.kept = events

    def _copy_events(self, kept: int) -> set[int]:
        """Copy all events but so many; return the objects that they write, or that those wrote
        that are no more."""
        graph, written, ends = self.graph, self._written, self._written_ends
        events, fresh = len(graph.schedule), graph.touched[kept:]
        start = ends[kept - 1] if kept else 0
        changed = set(written[start:])
        del self._touched[kept:], ends[kept:], written[start:]
        for touched in fresh:
            for number, _, is_written in touched:
                if is_written:
                    written.append(number)
            ends.append(len(written))
        self._touched += fresh
        changed.update(written[start:])
        if self._written_room.length < len(written):
            self._written_room = Area(2 * len(written))
            self._block[blocks.WRITTEN] = self._written_room.address
            start = 0
        self._written_room.words[start : len(written)] = memoryview(array("Q", written[start:]))
        self._ends[kept:events] = memoryview(array("Q", ends[kept:]))
        self._schedule[kept:events] = memoryview(array("Q", graph.schedule[kept:]))
        size = self._bytes
        self._past[kept * size : events * size] = self._encode(graph.past[kept:])
        hashes = [state.to_bytes(HASH, "little") for state in graph.hash_of[kept:]]
        self._hashes[kept * HASH : events * HASH] = b"".join(hashes)
        return changed

    def _copy_stands(self, thread: int, line: list[Stand], changed: set[int]) -> None:
        """Copy where a thread has stood, from where it is not the same as before."""
        copied = self._stands[thread]
        first = 0
        for old, new in zip(copied, line, strict=False):
            if old is not new:
                break
            first += 1
        stands, size = self._stands_at, self._stand_words
        at = (thread * self._room[0] + first) * size
        for stand in line[first:]:
            if stand.is_plain:
                stands[at] = blocks.PLAIN
            elif stand.operation is None:
                stands[at] = blocks.NEVER
            else:
                self._copy_stand(at, stand, changed)
            at += size
        copied[first:] = line[first:]
        self._standing[thread] = bool(line)

    def _copy_stand(self, at: int, stand: Stand, changed: set[int]) -> None:
        """Copy where a thread stands that may have to wait."""
        stands, number = self._stands_at, stand.first
        if number >= 0:
            stands[at] = blocks.LOOKING
            stands[at + blocks.STAND_OBJECT] = number
            self._copy_answers(at, stand)
            self._looked_at.add(number)
            changed.add(number)
        else:
            stands[at] = blocks.ASKING if stand.fixed is None else blocks.NEEDING
        needs = stand.needs
        for word in range(at + blocks.STAND_NEEDS, at + self._stand_words):
            stands[word] = needs & MASK
            needs >>= BITS

    def _copy_object(self, number: int) -> None:
        """Copy the writes of an object, and the states between them."""
        graph, size = self.graph, self._bytes
        writes = graph.writes[number].to_bytes(size, "little")
        self._writes[number * size : (number + 1) * size] = writes
        at, versions = number * self._room[0], self._versions
        known = self._state_numbers[number]
        for state in graph.states[number]:
            found = known.get(state)
            versions[at] = self._number_state(number, state) if found is None else found
            at += 1
        versions[at] = blocks.MOST_STATES  # after a last write, where nobody has looked

    # ---- answers of operations

    def _number_state(self, number: int, state: Hashable) -> int:
        """Return the number of an object's state; MOST_STATES if it has had too many."""
        numbered = self._state_numbers[number]
        if len(numbered) < blocks.MOST_STATES:
            return numbered.setdefault(state, len(numbered))
        return numbered.get(state, blocks.MOST_STATES)

    def _copy_answers(self, at: int, stand: Stand) -> None:
        """Copy for which states an answer is known, and in which the thread can go on."""
        known = can = 0
        for state, touched in stand.answers.items():
            if (number := self._number_state(stand.first, state)) < blocks.MOST_STATES:
                known |= 1 << number
                if touched is not None:
                    can |= 1 << number
        self._stands_at[at + blocks.STAND_KNOWN] = known
        self._stands_at[at + blocks.STAND_CAN] = can

    def ask(self) -> None:
        """Ask an operation whether its thread can go on, at the prefix where the kernel stopped."""
        graph, block = self.graph, self._block
        thread, position = block[blocks.ASKED_THREAD], block[blocks.ASKED_POSITION]
        stand, bit = graph.stands[thread][position], 1 << thread
        here = int.from_bytes(self._asked, "little")
        touched, looked_at = graph.ask_at(stand, here)
        for number in looked_at:
            self.watching[number] |= bit
        number = stand.first
        if number >= 0:
            state = graph.states[number][(here & graph.writes[number]).bit_count()]
            if state in stand.answers and self._number_state(number, state) < blocks.MOST_STATES:
                at = (thread * self._room[0] + position) * self._stand_words
                self._copy_answers(at, stand)
                return
        block[blocks.ANSWERED] |= bit
        if touched is not None:
            block[blocks.ANSWERS] |= bit


def hash_words(states: Sequence[StateHash]) -> memoryview:
    """The words of hashes, two each."""
    return memoryview(array("Q", b"".join([state.to_bytes(HASH, "little") for state in states])))
