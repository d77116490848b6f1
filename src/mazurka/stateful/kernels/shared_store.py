"""The set of visited states while several workers add to it: no locks, no state twice.

The table and the log of `mazurka.stateful.kernels.store`, with three differences.  Each worker has
a *segment* of the log to itself, so that nobody waits for a place there; a position is one in the
whole log.  A slot of the table is *claimed* by compare-and-swap, then the state is written to the
log, then the slot is *published* with its position.  And growing the table is work that is shared:
each worker enters the states of its own segment in the new one.

**No state is stored twice.**  A slot is free, then claimed, then published, and never changes after
that; its tag, a part of the hash, is there from the claim on.  Two workers that add the same state
look at the same slots in the same order.  If both stored it, one of them would have passed the
slot of the other and found it taken: with another tag, so it holds another state; or with the same
tag, in which case it waited until the slot was published, and compared.  `examples/shared_table.py`
is this argument as a model.

**Nobody waits for long.**  A worker waits only for a slot that is claimed and has the tag of its
own state, and whoever has claimed it publishes it without waiting for anything.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mazurka.stateful.kernels.atomics import (
    compare_and_swap,
    fetch_and_add,
    look_at,
    publish,
    see_published,
)
from mazurka.stateful.kernels.machine import compiled, poke, prefetch
from mazurka.stateful.kernels.store import (
    BATCH,
    NOTHING,
    ONE,
    POSITION_MASK,
    TAG_MASK,
    copy_words,
    fetch_slot,
    hash_record,
    same_words,
)

CLAIMED = POSITION_MASK
"""The position in a slot whose state is being written; no log has so many states."""


@compiled
def insert_shared(
    tables: Any, position: Any, words: Any, record: Any, hashed: Any, origins: Any, origin: Any
) -> Any:
    """Add the state at address `record`; whether it is new, and lies at `position` now."""
    tag = hashed & TAG_MASK
    slot = hashed & tables.mask
    while True:
        entry = look_at(tables.table, np.int64(slot))
        if entry == NOTHING:
            entry = compare_and_swap(tables.table, np.int64(slot), NOTHING, tag | CLAIMED)
            if entry == NOTHING:
                copy_words(tables.log + 8 * words * position, record, words)
                poke(origins, position, origin)
                publish(tables.table, np.int64(slot), tag | np.uint64(position + 1))
                return True
        if entry & TAG_MASK == tag:
            while entry & POSITION_MASK == CLAIMED:
                entry = look_at(tables.table, np.int64(slot))
            see_published()
            known = np.int64(entry & POSITION_MASK) - 1
            if same_words(tables.log + 8 * words * known, record, words):
                return False
        slot = (slot + ONE) & tables.mask


@compiled
def fetch_shared(tables: Any, words: Any, hashed: Any) -> Any:
    """Bring in the state that the first slot for a hash points to, if it may be the same."""
    entry = look_at(tables.table, np.int64(hashed & tables.mask))
    if entry & TAG_MASK == hashed & TAG_MASK and entry & POSITION_MASK != CLAIMED:
        prefetch(tables.log + 8 * words * (np.int64(entry & POSITION_MASK) - 1))


PAGE = 512
"""The words of a page."""


@compiled
def touch_share(tables: Any, worker: Any, workers: Any) -> Any:
    """Have the system provide the pages of a worker's share of a new table.

    If all workers entered states in pages that are not there, the system would clear some of them
    several times."""
    share = (np.int64(tables.mask) + 1) // workers
    for word in range(worker * share, (worker + 1) * share, PAGE):
        fetch_and_add(tables.table, word, NOTHING)  # somebody may have entered a state there


@compiled
def enter_segment(tables: Any, words: Any, begin: Any, end: Any) -> Any:
    """Enter the states of a part of the log in a table that has none of them yet."""
    for first in range(begin, end, BATCH):
        last = min(first + BATCH, end)
        for position in range(first, last):
            fetch_slot(tables, hash_record(tables.log + 8 * words * position, words))
        for position in range(first, last):
            hashed = hash_record(tables.log + 8 * words * position, words)
            entry = (hashed & TAG_MASK) | np.uint64(position + 1)
            slot = hashed & tables.mask
            while compare_and_swap(tables.table, np.int64(slot), NOTHING, entry) != NOTHING:
                slot = (slot + ONE) & tables.mask
