"""Depth-first search that keeps a few bits for each visited state.

Holzmann: An Analysis of Bitstate Hashing (PSTV 1995; FMSD 1998).  The table is an array of m bits.
A state sets k of them, at places that its hash tells (double hashing: h, h + g, h + 2g, …, with two
hashes h and g of the state).  A state whose k bits are all set already is taken for a visited
one, which it may not be: others can have set them.  Then it is not expanded.  So the search may
miss states and with them violations, and its answer is never *holds*.  What it finds is real: the
stack has whole states, and its schedule is replayed.

**The estimated coverage.**  Let i states have been stored.  A certain bit is then set with
probability 1 - (1 - 1/m)^(k i), which is about 1 - e^(-k i / m), and a new state is taken for a
visited one with probability

    p(i) = (1 - e^(-k i / m))^k.

Between storing state i and storing the next, the number of new states that the search meets and
passes over is geometrically distributed, with the mean p(i) / (1 - p(i)).  So with n states in the
end it has passed over about

    lost(n) = sum over i < n of p(i) / (1 - p(i)),

and the estimate is n / (n + lost(n)).  It counts states that the search has met.  States that
can be reached only through states passed over are never met, so where the estimate is far below
one, the real coverage may be lower still.
"""

from __future__ import annotations

import math
import mmap
from dataclasses import replace

from mazurka.compiled.memory import Area
from mazurka.ir.native.step import NativeProgram
from mazurka.search import BITSTATE, Observer, SearchOptions, SearchResult
from mazurka.stateful import blocks
from mazurka.stateful.compiled.store import Store
from mazurka.stateful.searches.depth_first import DepthFirst
from mazurka.stateful.variants import HASHES

TABLE_SHARE = 0.75
"""The most of the memory that the bits may take; the rest is for the stack."""
PAGE = mmap.PAGESIZE
"""The table takes memory page by page: none for pages in which no bit is set."""
NEVER_FULL = 1 << 62
WORD = 8
WORD_BITS = 64
INTERVALS = 1000
MANY_STATES = 1 << 22
"""From so many states on the bits are worth large pages.  Before, they would only make the system
clear most of the table for a few bits here and there."""


def estimate_coverage(states: int, bits: int, hashes: int) -> float:
    """The part of the states met that was visited (see the module's docstring).

    The sum is an integral here, by the trapezoidal rule.
    """
    if states == 0:
        return 1.0

    def passed_over(stored: float) -> float:
        taken = (-math.expm1(-hashes * stored / bits)) ** hashes
        return taken / max(1 - taken, 1e-300)

    width = states / INTERVALS
    inner = sum(passed_over(width * number) for number in range(1, INTERVALS))
    lost = width * (inner + passed_over(states) / 2)
    return states / (states + lost)


class BitStore(Store):
    """The bits, and a log that holds the states of the stack."""

    def __init__(
        self, block: Area, words: int, *, limit_bytes: int, observer: Observer, hashes: int
    ) -> None:
        capacity = 1 << max(int(limit_bytes * TABLE_SHARE) // WORD, 1).bit_length() - 1
        super().__init__(
            block,
            words,
            inline=False,
            limit_bytes=limit_bytes,
            observer=observer,
            capacity=capacity,
            sparse=True,
        )
        block.numbers[blocks.INLINE] = blocks.AS_BITS
        block.numbers[blocks.HASHES] = hashes

    @property
    def bits(self) -> int:
        return self.table.length * WORD_BITS

    def fill_up_to(self, load: float) -> None:
        self.block.numbers[blocks.FULL_AT] = NEVER_FULL

    def used_bytes(self) -> int:
        """The pages that bits have been set in, at most one for each bit, and the states of the
        stack."""
        numbers = self.block.numbers
        touched = min(self.table.length * WORD, self.size * numbers[blocks.HASHES] * PAGE)
        return touched + numbers[blocks.DEEPEST] * self.words * WORD


class Bitstate(DepthFirst):
    """The search as the module describes it."""

    may_inline = False
    store: BitStore
    many = False
    """Whether there have been many states."""

    def __init__(self, native: NativeProgram, options: SearchOptions, observer: Observer) -> None:
        self.hashes = options.value(HASHES)
        super().__init__(native, options, observer)
        frame = self.frame_bytes + self.record_words * WORD
        left = self.limit_bytes - self.store.table.length * WORD
        self.numbers[blocks.ROOM] = min(self.stack.length, left // frame)

    def make_store(self, observer: Observer, *, inline: bool) -> BitStore:
        return BitStore(
            self.view.block,
            self.record_words,
            limit_bytes=self.limit_bytes,
            observer=observer,
            hashes=self.hashes,
        )

    def count(self) -> None:
        super().count()
        if not self.many and self.states >= MANY_STATES:
            self.many = True
            self.store.table.use_large_pages()

    def run(self) -> SearchResult:
        """Search; whatever comes of it, states may have been passed over."""
        result = super().run()
        coverage = estimate_coverage(self.states, self.store.bits, self.hashes)
        return replace(
            result,
            statistics=replace(result.statistics, coverage=coverage),
            limits=(*result.limits, BITSTATE),
        )
