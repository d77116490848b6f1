"""The successors of a state, made in one go before any of them is looked up.

Looking up a state in the table waits for memory; making a successor does not.  So the moves are
executed first, each successor's place in the table is fetched ahead meanwhile, and by the time the
first one is looked up the others are on their way.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mazurka.stateful import blocks
from mazurka.stateful.kernels.machine import call_step, choices_at, compiled, peek, poke
from mazurka.stateful.kernels.store import fetch_slot, hash_record

MOVED, WAITING, STOPPED = 1, 2, 4


class Successors(NamedTuple):
    """The buffer: states, one behind the other at `states`, then arrays for the rest."""

    states: Any
    hashes: Any
    threads: Any
    choices: Any
    results: Any


@compiled
def successors_in(block: Any) -> Any:
    states, most = block[blocks.BUFFER], block[blocks.MOST_SUCCESSORS]
    behind = states + 8 * most * block[blocks.WORDS]
    return Successors(states, behind, behind + 8 * most, behind + 16 * most, behind + 24 * most)


@compiled
def following(machine: Any, source: Any, thread: Any, choice: Any) -> Any:
    """The move to try after (thread, choice) in the state at address `source`."""
    if machine.any_choice and choice + 1 < choices_at(machine, source, thread):
        return thread, choice + 1
    return thread + 1, np.int64(0)


@compiled
def gather(
    machine: Any,
    tables: Any,
    successors: Any,
    source: Any,
    thread: Any,
    choice: Any,
    end: Any,
    most: Any,
    tagged: Any,
) -> Any:
    """Try the moves from (thread, choice) up to thread `end`, until `most` have succeeded.

    The state lies at address `source`.  Returns how many succeeded, the move to go on with, and
    what is known of the threads: MOVED, WAITING, STOPPED.  `tagged`: the thread that moves is
    written into the last word of each record.
    """
    words = machine.words
    count, flags = 0, 0
    while thread < end and count < most:
        target = successors.states + 8 * words * count
        result = call_step(machine.step, source, thread, choice, target, 0)
        tried_thread, tried_choice = thread, choice
        thread, choice = following(machine, source, thread, choice)
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
            poke(target, words - 1, np.uint64(tried_thread))
        hashed = hash_record(target, words)
        fetch_slot(tables, hashed)
        poke(successors.hashes, count, hashed)
        poke(successors.threads, count, np.uint64(tried_thread))
        poke(successors.choices, count, np.uint64(tried_choice))
        poke(successors.results, count, np.uint64(result))
        count += 1
    return count, thread, choice, flags


@compiled
def move_of(successors: Any, number: Any) -> Any:
    """The thread and the choice that led to a successor."""
    return np.int64(peek(successors.threads, number)), np.int64(peek(successors.choices, number))


@compiled
def fault_of(successors: Any, number: Any) -> Any:
    """The fault with which the step to a successor ended, 0 for none."""
    return np.int64(peek(successors.results, number)) >> 32
