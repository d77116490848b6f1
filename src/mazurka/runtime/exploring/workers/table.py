"""Memory that the processes of one exploration share: the hash table H, counters, thread numbers.

The table is an array of slots in anonymous memory that forked processes inherit.  A slot has the
two halves of a state's hash and a word of what is known about the state at the present level.
Only the holder of the **lock** writes.  Everybody may look at any time: a state that is found in H
is in H for good, until the next level begins, and one that is not found yet costs a run at most.

A slot is filled before its first half is written, which makes it visible; so nobody sees a state
that is only half there.
"""

from __future__ import annotations

import mmap
import multiprocessing
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mazurka.stateless.bounded.hashing import StateHash
from mazurka.stateless.explored import Exceeded

LONG = 1.0
WORD = 8
STOPPED, EXECUTIONS, CLOSED, ENTRIES, STEPS, ARRIVALS, LEVEL, PATHS = range(8)
HEADER = 8
PATH_BYTES = 1 << 16
SLOT = 3
HALF = 64
MASK = (1 << HALF) - 1
# The word of a slot: known at any level; in H; how many successors are not, yet; at which level.
IS_KNOWN = 1
IS_CLOSED = 2
COUNT = 2
AT = 32


class SharedTable:
    """H of Algorithm 2 and the counts of its L18, for all processes of an exploration."""

    def __init__(self, max_states: int) -> None:
        self.max_states = max_states
        slots = 1 << (2 * max_states - 1).bit_length()
        self._mask = slots - 1
        self._first = HEADER + PATH_BYTES // WORD
        self._size = (self._first + slots * SLOT) * WORD
        self._take_memory()

    def _take_memory(self) -> None:
        """Reserve memory; the system provides it page by page as it is written."""
        self._memory = mmap.mmap(-1, self._size)
        self.words: memoryview = memoryview(self._memory).cast("Q")
        self._lock: Any = multiprocessing.get_context("fork").Lock()
        self._level = 0

    def close(self) -> None:
        self.words.release()
        self._memory.close()

    def clear(self) -> None:
        """Forget everything but the numbers of threads.  Nobody else may be at work, or left."""
        known = self._paths()
        self.close()
        self._take_memory()
        for path in known:
            self.number_of(path)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the lock.

        It is held for a moment only.  If that lasts, because the machine is busy, one must not look
        like a thread that is blocked for ever (`watchdog`).
        """
        if not self._lock.acquire(timeout=LONG):
            while not self._lock.acquire(block=False):
                os.sched_yield()
        try:
            yield
        finally:
            self._lock.release()

    # ---- the level

    def begin_level(self) -> None:
        """Empty H, and keep what is known of states at any level.  Nobody else is at work."""
        for word in (STOPPED, EXECUTIONS, CLOSED):
            self.words[word] = 0
        self.words[LEVEL] += 1

    def join_level(self) -> None:
        """Begin to work on the present level, in this process."""
        self._level = self.words[LEVEL]

    def stop(self) -> None:
        self.words[STOPPED] = 1

    @property
    def stopped(self) -> bool:
        return self.words[STOPPED] != 0

    # ---- states

    def _place(self, state: StateHash) -> int:
        """The slot of a state, or the free one that would be its own."""
        words, mask = self.words, self._mask
        low, high = state & MASK or 1, state >> HALF
        number = low & mask
        while True:
            place = self._first + number * SLOT
            found = words[place]
            if found == 0 or (found == low and words[place + 1] == high):
                return place
            number = (number + 1) & mask

    def _word(self, state: StateHash) -> int:
        """What is known about a state at this level."""
        place = self._place(state)
        if self.words[place] == 0:
            return 0
        word = self.words[place + 2]
        return word if word >> AT == self._level else word & IS_KNOWN

    def _write(self, state: StateHash, word: int) -> None:
        words, place = self.words, self._place(state)
        words[place + 2] = word | self._level << AT
        if words[place] == 0:
            if words[ENTRIES] >= self.max_states:
                self.stop()  # H is not what it should be from now on
                raise Exceeded(f"more than {self.max_states:,} states")
            words[ENTRIES] += 1
            words[place + 1] = state >> HALF
            words[place] = state & MASK or 1

    def is_closed(self, state: StateHash) -> bool:
        return self._word(state) & IS_CLOSED != 0

    def close_state(self, state: StateHash) -> None:
        self._write(state, self._word(state) & IS_KNOWN | IS_CLOSED)
        self.words[CLOSED] += 1

    def take_count(self, state: StateHash) -> int:
        return (self._word(state) & (1 << AT) - 1) >> COUNT

    def put_count(self, state: StateHash, count: int) -> None:
        self._write(state, self._word(state) & IS_KNOWN | count << COUNT)

    def know(self, state: StateHash, steps: int, arrivals: int) -> None:
        """Count the steps from a state and to it, once, whichever process meets it."""
        word = self._word(state)
        if not word & IS_KNOWN:
            self._write(state, word | IS_KNOWN)
            self.words[STEPS] += steps
            self.words[ARRIVALS] += arrivals

    @property
    def unseen(self) -> int:
        """How many steps lead from known states to states that nobody knows."""
        return self.words[STEPS] - self.words[ARRIVALS]

    # ---- threads

    def number_of(self, path: str) -> int | None:
        """The number of the thread with a path, the same in all processes; None if it is full."""
        with self.alone():
            known = self._paths()
            if path in known:
                return known.index(path)
            text = "\n".join((*known, path)).encode()
            if len(text) > PATH_BYTES:
                return None
            self.words[HEADER : self._first].cast("B")[: len(text)] = text
            self.words[PATHS] = len(text)
            return len(known)

    def _paths(self) -> list[str]:
        length = self.words[PATHS]
        text = bytes(self.words[HEADER : self._first].cast("B")[:length]).decode()
        return text.split("\n") if text else []


class ClosedStates:
    """H, with what `Algorithm2` needs of a set.  What has been found in it is not looked up again.

    It is no set, so that whatever else is done with it fails.
    """

    def __init__(self, table: SharedTable) -> None:
        self._table = table
        self._found: set[StateHash] = set()

    def __contains__(self, state: StateHash) -> bool:
        if state in self._found:
            return True
        if self._table.is_closed(state):
            self._found.add(state)
            return True
        return False

    def __len__(self) -> int:
        return self._table.words[CLOSED]

    def add(self, state: StateHash) -> None:
        self._table.close_state(state)
        self._found.add(state)


class OpenCounts:
    """The counts of L18, with what `Algorithm2` needs of a dictionary."""

    def __init__(self, table: SharedTable) -> None:
        self._table = table

    def pop(self, state: StateHash, default: int) -> int:
        """The count stays where it is: it is written again, or the state is closed."""
        return self._table.take_count(state) or default

    def __setitem__(self, state: StateHash, count: int) -> None:
        self._table.put_count(state, count)
