"""Owns the memory of the visited states and lets it grow within a limit.

The set itself is in `mazurka.stateful.kernels.store`.
"""

from __future__ import annotations

import time

from mazurka.compiled.memory import Area
from mazurka.search import Observer
from mazurka.stateful import blocks
from mazurka.stateful.compiled.early_kernel import early_kernel

FIRST_CAPACITY = 1 << 12
MOST_LOAD = 0.75
LAST_LOAD = 0.92
"""How full a table may become when there is no memory for a larger one."""


AMPLE = 4
"""A table becomes more than twice as large only within one part in so many of the memory."""


class Store:
    """The table and the log of a search, entered in its block."""

    def __init__(
        self,
        block: Area,
        words: int,
        *,
        inline: bool,
        limit_bytes: int,
        reserved_bytes: int | None = None,
        observer: Observer,
        capacity: int = FIRST_CAPACITY,
        sparse: bool = False,
    ) -> None:
        """`reserved_bytes`: what the limit may become later.  `capacity`: the slots of the first
        table.  `sparse`: it may well stay almost empty."""
        assert not inline or words == 1
        self.block = block
        self.words = words
        self.inline = inline
        self.limit_bytes = limit_bytes
        self.observer = observer
        self.log = Area(1 if inline else (reserved_bytes or limit_bytes) // 8, scattered=True)
        self.peak_bytes = 0
        self.growing_seconds = 0.0
        """What growing the table has taken the last time."""
        self.use(Area(capacity, scattered=not sparse))
        self.tell(blocks.WORDS, words)
        self.tell(blocks.INLINE, blocks.IN_TABLE if inline else blocks.LOGGED)
        self.tell(blocks.LOG, self.log.address)

    def tell(self, position: int, value: int) -> None:
        """Enter something that the search has to know."""
        self.block.numbers[position] = value

    def use(self, table: Area) -> None:
        self.table = table
        self.tell(blocks.TABLE, table.address)
        self.tell(blocks.CAPACITY, table.length)
        self.fill_up_to(MOST_LOAD)

    def fill_up_to(self, load: float) -> None:
        """Let the search go on until the table is so full, or the log has no room for one more."""
        self.full_at = int(self.table.length * load)
        if not self.inline:
            self.full_at = min(self.full_at, self.log.length // self.words)
        self.tell(blocks.FULL_AT, self.full_at)

    @property
    def size(self) -> int:
        return self.block.numbers[blocks.SIZE]

    def used_bytes(self) -> int:
        return self.table.length * 8 + (0 if self.inline else self.size * self.words * 8)

    def grow(self, other_bytes: int) -> bool:
        """Make room for more states; False where the limit forbids it."""
        old = self.table
        used = self.used_bytes() + other_bytes
        times = self.growth()
        if used + 8 * times * old.length > self.limit_bytes // AMPLE:
            times = 2
        larger = times * old.length
        if used + larger * 8 > self.limit_bytes:
            before = self.full_at
            self.fill_up_to(LAST_LOAD)
            return self.full_at > before and used < self.limit_bytes
        self.peak_bytes = max(self.peak_bytes, used + larger * 8)
        began = time.perf_counter()
        self.use(Area(larger, scattered=True))
        self.enter_states(old)
        self.growing_seconds = time.perf_counter() - began
        return True

    def growth(self) -> int:
        """How many times as large the table is to become, if there is memory in abundance."""
        return 2

    def enter_states(self, old: Area) -> None:
        """Enter all states in the table, which is new, and larger than the old one."""
        self.tell(blocks.OLD_TABLE, old.address)
        self.tell(blocks.OLD_CAPACITY, old.length)
        early_kernel("store", self.observer)(self.block.address)

    def words_at(self, position: int, count: int) -> list[int]:
        """The first `count` words of a record in the log."""
        start = position * self.words
        return self.log.words[start : start + count].tolist()
