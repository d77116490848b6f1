"""The successors of a state, made in one go before any of them is looked up.

Looking up a state in the table waits for memory; making a successor does not.  So the moves are
executed first, each successor's place in the table is fetched ahead meanwhile, and by the time the
first one is looked up the others are on their way.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mazurka.stateful import blocks
from mazurka.stateful.kernels.machine import (
    call_step,
    choices_at,
    compiled,
    numbers_at,
    prefetch,
    words_at,
)
from mazurka.stateful.kernels.store import hash_words

MOVED, WAITING, STOPPED = 1, 2, 4


class Successors(NamedTuple):
    """The buffer: states, one behind the other, then an array each for the rest."""

    base: Any
    states: Any
    hashes: Any
    threads: Any
    choices: Any
    results: Any


@compiled
def successors_in(block: Any) -> Any:
    base, most = block[blocks.BUFFER], block[blocks.MOST_SUCCESSORS]
    length = most * block[blocks.WORDS]
    behind = base + 8 * length
    return Successors(
        base,
        words_at(base, length),
        words_at(behind, most),
        numbers_at(behind + 8 * most, most),
        numbers_at(behind + 16 * most, most),
        numbers_at(behind + 24 * most, most),
    )


@compiled
def following(machine: Any, states: Any, start: Any, thread: Any, choice: Any) -> Any:
    """The move to try after (thread, choice) in the state at `states[start:]`."""
    if machine.any_choice and choice + 1 < choices_at(machine, states, start, thread):
        return thread, choice + 1
    return thread + 1, np.int64(0)


@compiled
def gather(
    machine: Any,
    tables: Any,
    table_address: Any,
    successors: Any,
    states: Any,
    start: Any,
    source: Any,
    thread: Any,
    choice: Any,
    end: Any,
    most: Any,
    tagged: Any,
) -> Any:
    """Try the moves from (thread, choice) up to thread `end`, until `most` have succeeded.

    The state lies at `states[start:]`, which is at address `source`.  Returns how many succeeded,
    the move to go on with, and what is known of the threads: MOVED, WAITING, STOPPED.  `tagged`:
    the thread that moves is written into the last word of each record.
    """
    words = machine.words
    count, flags = 0, 0
    while thread < end and count < most:
        target = successors.base + 8 * words * count
        result = call_step(machine.step, source, thread, choice, target, 0)
        tried_thread, tried_choice = thread, choice
        thread, choice = following(machine, states, start, thread, choice)
        if result < 0:
            if machine.observers[tried_thread] == 0:
                if result == -1:
                    flags |= WAITING
                elif result == -2:
                    flags |= STOPPED
            continue
        if machine.observers[tried_thread] == 0:
            flags |= MOVED
        if tagged:
            successors.states[count * words + words - 1] = np.uint64(tried_thread)
        hashed = hash_words(successors.states, count * words, words)
        prefetch(table_address + 8 * np.int64(hashed & tables.mask))
        successors.hashes[count] = hashed
        successors.threads[count] = tried_thread
        successors.choices[count] = tried_choice
        successors.results[count] = result
        count += 1
    return count, thread, choice, flags
