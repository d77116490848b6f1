"""Persistent sets of threads: which threads' steps have to be tried in a state (paper 004).

`stateful.reference.stubborn` has the same algorithms in plain Python and is the one to read first.
Nothing is found out before it is needed: a thread's step is tried when the thread comes into some
set, and its conflicts are looked for when the set is closed under them.  So a state in which the
first thread is a set of its own costs one step, however many threads there are.  Sets beside the
smallest are looked for where the proviso or a step without an end rules that one out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mazurka.stateful import blocks
from mazurka.stateful.kernels.machine import call_step, choices_at, compiled, peek, peek_byte
from mazurka.stateful.kernels.persistent_sets import (
    DEAD_END,
    ENABLED,
    KNOWN,
    NONE,
    ONE,
    RELATED,
    STOPPED_SET,
    WAITING,
    begin,
    bit_of,
    first_of,
    probe,
    probe_all,
    relate,
    size_of,
)
from mazurka.stateful.kernels.stack import note_end
from mazurka.stateful.kernels.store import ABSENT, fetch_slot, find_logged, hash_record


@compiled
def close(machine: Any, block: Any, at: Any, source: Any, seed: Any, most: Any) -> Any:
    """The set that grows from one thread, and what was missing on the way.

    It is given up, and then not closed, when `most` of its threads can move.
    """
    closure = pending = bit_of(seed)
    while pending != NONE:
        thread = first_of(pending)
        pending &= pending - ONE
        bit = bit_of(thread)
        if at.sets[KNOWN] & bit == NONE and not probe(machine, at, source, thread):
            return closure, blocks.FOOTPRINT_FULL
        if size_of(closure & at.sets[ENABLED]) >= most:
            break
        if at.sets[RELATED] & bit == NONE and not relate(machine, block, at, source, thread):
            return closure, blocks.PATTERN_MISSING
        pending |= at.conflicts[thread] & ~closure
        closure |= at.conflicts[thread]
    return closure, blocks.DONE


@compiled
def smallest_closure(
    machine: Any, block: Any, at: Any, source: Any, rejected: Any, least: Any
) -> Any:
    """Of the sets that grow from a thread which can move, the first with the fewest that can.

    Those that grow from a rejected thread are left aside.  No other has fewer than `least`.  Empty
    if nothing is left; then all threads have been tried.
    """
    best, fewest = NONE, machine.threads + 1
    for seed in range(machine.threads):
        bit = bit_of(seed)
        if at.sets[KNOWN] & bit == NONE and not probe(machine, at, source, seed):
            return best, blocks.FOOTPRINT_FULL
        if at.sets[ENABLED] & ~rejected & bit == NONE:
            continue
        closure, missing = close(machine, block, at, source, seed, fewest)
        if missing != blocks.DONE:
            return best, missing
        count = size_of(closure & at.sets[ENABLED])
        if count < fewest:
            best, fewest = closure & at.sets[ENABLED], count
        if fewest == least:
            break
    return best, blocks.DONE


@compiled
def smallest_allowed(machine: Any, block: Any, tables: Any, at: Any, source: Any) -> Any:
    """The smallest of the sets that may stand for all threads; all that can move if none may.

    Also whether these are known to be all.  That is not asked of a set of one, which may have been
    found before all threads were tried; a larger one is not.
    A set is rejected with all its threads: what grows from one of them lies within the set, and is
    the same set unless it was smaller and rejected before.
    """
    rejected, least = NONE, np.int64(1)
    while True:
        best, missing = smallest_closure(machine, block, at, source, rejected, least)
        if missing != blocks.DONE or best == NONE:
            return at.sets[ENABLED], True, missing
        if may_stand(machine, block, tables, at, source, best):
            return best, size_of(best) > 1 and best == at.sets[ENABLED], blocks.DONE
        rejected |= best
        least = size_of(best)


@compiled
def ample(machine: Any, block: Any, tables: Any, at: Any, source: Any) -> Any:
    """The first thread that has nothing to do with any others and may stand for them, else all."""
    for thread in range(machine.threads):
        if at.traits[at.places[thread]] & blocks.TRAIT_SAFE:
            if not probe(machine, at, source, thread):
                return NONE, False, blocks.FOOTPRINT_FULL
            alone = at.sets[ENABLED] & bit_of(thread)
            if alone != NONE and may_stand(machine, block, tables, at, source, alone):
                return alone, False, blocks.DONE
    missing = probe_all(machine, at, source)
    return at.sets[ENABLED], True, missing


@compiled
def may_stand(machine: Any, block: Any, tables: Any, at: Any, source: Any, threads: Any) -> Any:
    """Whether a set of threads that can move may stand for all of them.

    All their steps end; and with the proviso by the stack, one leads to a state that is not marked.
    """
    if at.sets[DEAD_END] & threads != NONE:
        return False
    fetch_successors(machine, tables, at, threads)
    if not block[blocks.STACK_PROVISO]:
        return True
    while threads != NONE:
        if leaves_marked(machine, block, tables, at, source, first_of(threads)):
            return True
        threads &= threads - ONE
    return False


@compiled
def fetch_successors(machine: Any, tables: Any, at: Any, threads: Any) -> Any:
    """Bring in the places in the table where the successors will be looked up."""
    while threads != NONE:
        target = at.states + 8 * machine.words * first_of(threads)
        fetch_slot(tables, hash_record(target, machine.words))
        threads &= threads - ONE


@compiled
def leaves_marked(machine: Any, block: Any, tables: Any, at: Any, source: Any, thread: Any) -> Any:
    """Whether some step of a thread that has been tried leads to a state without a mark."""
    target, result = at.states + 8 * machine.words * thread, np.int64(peek(at.results, thread))
    for choice in range(choices_at(machine, source, thread)):
        if choice > 0:
            target = at.states + 8 * machine.words * machine.threads
            result = call_step(machine.step, source, thread, choice, target, 0)
        if result >= 0:
            hashed = hash_record(target, machine.words)
            found = find_logged(tables, machine.words, target, hashed)
            if found == ABSENT or not peek_byte(block[blocks.INFO], found):
                return True
    return False


@compiled
def choose(machine: Any, block: Any, tables: Any, at: Any, source: Any) -> Any:
    """The threads to try in a state; whether these are all, as far as is known; whether nobody
    moves, so that Python has to look at it; and what was missing.
    """
    begin(machine, at, source)
    if block[blocks.RELATION] == blocks.PERSISTENT_AMPLE:
        chosen, complete, missing = ample(machine, block, tables, at, source)
    else:
        chosen, complete, missing = smallest_allowed(machine, block, tables, at, source)
    if missing != blocks.DONE:
        return chosen, complete, False, missing
    acting = np.uint64(block[blocks.ACTING])
    looked_at = False
    if machine.deadlock_wanted and chosen & acting == NONE:
        missing = probe_all(machine, at, source)
        if missing == blocks.DONE and at.sets[ENABLED] & acting == NONE:
            waits, stopped = at.sets[WAITING] & acting, at.sets[STOPPED_SET] & acting
            looked_at = note_end(block, waits != NONE, stopped != NONE)
    return chosen, complete, looked_at, missing
