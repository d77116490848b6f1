"""Breadth-first search of one part of the states: those that belong to one worker.

Each worker of a cluster has a table and a log of its own (`mazurka.stateful.cluster`).  A successor
that belongs to the part is stored at once; any other is written to the *outbox* of the part that it
belongs to, and stored there when it has come.  So a state is looked up by one worker alone, however
many find it, and workers share no memory.

Some bits of a state, its *key*, tell to whom it belongs; they are chosen such that most steps leave
them as they are (`mazurka.stateful.cluster.placement`).

Most states are found several times.  A worker remembers some of the states that it has sent, word
for word, each in the one place that its hash tells, and does not send such a state again: whoever
it belongs to has it, or will have it before the level ends.  A state that another has driven from
its place is sent once more, which only takes time.

No origins are kept.  The way back from a state is found by expanding the levels before it again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mazurka.stateful import blocks
from mazurka.stateful.kernels.hangs import hang_at, is_quiet
from mazurka.stateful.kernels.machine import block_at, compiled, machine_in, peek, poke, prefetch
from mazurka.stateful.kernels.parallel import write_finding
from mazurka.stateful.kernels.races import RACE_FOUND, TOO_LONG, race_at
from mazurka.stateful.kernels.stack import note_end
from mazurka.stateful.kernels.store import (
    BATCH,
    ONE,
    Tables,
    copy_words,
    fetch_logged,
    fetch_slot,
    hash_record,
    insert_logged,
    mix,
    same_words,
    tables_in,
)
from mazurka.stateful.kernels.successors import (
    MOVED,
    STOPPED,
    WAITING,
    fault_of,
    gather,
    move_of,
    successors_in,
)

FIRST_FACTOR, NEXT_FACTOR = np.uint64(0xA0761D6478BD642F), np.uint64(0xE7037ED1A0B428DB)
FOLD = np.uint64(31)


class KeyedParts(NamedTuple):
    """Which bits of a state decide, and the part for each of their hashes."""

    key: Any
    length: Any
    shift: Any
    owners: Any


@compiled
def keyed_in(block: Any) -> Any:
    return KeyedParts(
        block[blocks.KEY],
        block[blocks.KEY_LENGTH],
        np.uint64(block[blocks.KEY_SHIFT]),
        block[blocks.KEY_OWNERS],
    )


@compiled
def owner_of(keyed: Any, record: Any) -> Any:
    """The part to which the state at an address belongs."""
    if keyed.length == 0:
        return np.int64(0)
    value, factor = np.uint64(0), FIRST_FACTOR
    for position in range(0, 2 * keyed.length, 2):
        word = peek(record, np.int64(peek(keyed.key, position)))
        word &= peek(keyed.key, position + 1)
        value += (word ^ (word >> FOLD)) * factor
        factor *= NEXT_FACTOR
    return np.int64(peek(keyed.owners, np.int64(mix(value) >> keyed.shift)))


@compiled
def unfetched(block: Any) -> Any:
    """Tables for `gather` that has nothing fetched: nothing will be looked up."""
    return Tables(block[blocks.TABLE], np.uint64(0), block[blocks.LOG])


@compiled
def sent_at(block: Any, words: Any, hashed: Any) -> Any:
    """The place at which a state with a given hash is remembered as sent."""
    place = np.int64(hashed & np.uint64(block[blocks.SENT_CAPACITY] - 1))
    return block[blocks.SENT] + 8 * (words + blocks.SENT_STATE) * place


@compiled
def was_sent(block: Any, words: Any, record: Any, hashed: Any) -> Any:
    """Whether a state is remembered as sent; if not, it is from now on."""
    place = sent_at(block, words, hashed)
    state = place + 8 * blocks.SENT_STATE
    if peek(place, blocks.SENT_TAG) == hashed | ONE and same_words(state, record, words):
        return True
    poke(place, blocks.SENT_TAG, hashed | ONE)
    copy_words(state, record, words)
    return False


@compiled
def send(block: Any, owner: Any, words: Any, record: Any) -> Any:
    """Put a state into the outbox for a part; how many are there now."""
    counts = block[blocks.OUT_COUNTS]
    count = np.int64(peek(counts, owner))
    copy_words(np.int64(peek(block[blocks.OUTBOXES], owner)) + 8 * words * count, record, words)
    poke(counts, owner, np.uint64(count + 1))
    return count + 1


@compiled
def run(address: Any) -> Any:
    """Do one of the jobs; why it stopped (DONE: nothing is left of it)."""
    block = block_at(address)
    if block[blocks.JOB] == blocks.JOB_RECEIVE:
        return receive(block)
    if block[blocks.JOB] == blocks.JOB_GO_BACK:
        return go_back(block)
    if block[blocks.JOB] == blocks.JOB_EXAMINE:
        return examine(block)
    if block[blocks.JOB] == blocks.JOB_SAMPLE:
        return sample(block)
    return expand(block)


@compiled
def receive(block: Any) -> Any:
    """Store the states of the inbox."""
    tables, words, inbox = tables_in(block), block[blocks.WORDS], block[blocks.INBOX]
    size, count = block[blocks.SIZE], block[blocks.INBOX_COUNT]
    keyed, part = keyed_in(block), block[blocks.PART]
    while block[blocks.INBOX_READ] < count:
        first = block[blocks.INBOX_READ]
        last = min(first + BATCH, count)
        if size + BATCH >= block[blocks.FULL_AT]:
            return blocks.STORE_FULL
        for number in range(first, last):
            if owner_of(keyed, inbox + 8 * words * number) != part:
                return blocks.MISSENT
            fetch_slot(tables, hash_record(inbox + 8 * words * number, words))
        for number in range(first, last):
            fetch_logged(tables, words, hash_record(inbox + 8 * words * number, words))
        for number in range(first, last):
            record = inbox + 8 * words * number
            if insert_logged(tables, size, words, record, hash_record(record, words)) == size:
                size += 1
        block[blocks.SIZE], block[blocks.INBOX_READ] = size, last
    return blocks.DONE


@compiled
def examine(block: Any) -> Any:
    """Write down the states of the inbox that are quiet; WALK_FULL if there is no room for that."""
    machine, inbox = machine_in(block), block[blocks.INBOX]
    while block[blocks.INBOX_READ] < block[blocks.INBOX_COUNT]:
        number = block[blocks.INBOX_READ]
        outcome = hang_at(machine, block, inbox + 8 * machine.words * number)
        if outcome == blocks.WALK_FULL:
            return outcome
        if outcome == blocks.QUIET:
            write_finding(block, blocks.QUIET, number, 0, 0)
        block[blocks.INBOX_READ] = number + 1
    return blocks.DONE


@compiled
def go_back(block: Any) -> Any:
    """Look for a state from POSITION up to END that has TARGET as a successor; FOUND if there is
    one, and where it is and which move leads to TARGET."""
    machine, successors = machine_in(block), successors_in(block)
    words, log = machine.words, block[blocks.LOG]
    while block[blocks.POSITION] < block[blocks.END]:
        source = log + 8 * words * block[blocks.POSITION]
        count, _, _, _ = gather(
            machine,
            unfetched(block),
            successors,
            source,
            0,
            0,
            machine.threads,
            block[blocks.MOST_SUCCESSORS],
            False,
        )
        for successor in range(count):
            record = successors.states + 8 * words * successor
            if fault_of(successors, successor) < blocks.FIRST_DEAD_END and same_words(
                record, block[blocks.TARGET], words
            ):
                thread, choice = move_of(successors, successor)
                block[blocks.MOVE_THREAD], block[blocks.MOVE_CHOICE] = thread, choice
                return blocks.FOUND
        block[blocks.POSITION] += 1
    return blocks.DONE


@compiled
def sample(block: Any) -> Any:
    """Write down the successors of the states in the inbox, as far as there is room."""
    machine, successors = machine_in(block), successors_in(block)
    words, most = machine.words, block[blocks.MOST_SUCCESSORS]
    sampled = block[blocks.SAMPLED_COUNT]
    for number in range(block[blocks.INBOX_COUNT]):
        if sampled + most > block[blocks.SAMPLED_ROOM]:
            break
        source = block[blocks.INBOX] + 8 * words * number
        count, _, _, _ = gather(
            machine, unfetched(block), successors, source, 0, 0, machine.threads, most, False
        )
        for successor in range(count):
            if fault_of(successors, successor) < blocks.FIRST_DEAD_END:
                place = block[blocks.SAMPLED] + 8 * (words + 1) * sampled
                poke(place, 0, np.uint64(number))
                copy_words(place + 8, successors.states + 8 * words * successor, words)
                sampled += 1
    block[blocks.SAMPLED_COUNT] = sampled
    return blocks.DONE


@compiled
def expand(block: Any) -> Any:
    """Expand the states from POSITION up to END; why it stopped (DONE: all of them)."""
    machine, tables, keyed = machine_in(block), tables_in(block), keyed_in(block)
    successors, owners = successors_in(block), block[blocks.OWNERS_AT]
    words, most, full_at = machine.words, block[blocks.MOST_SUCCESSORS], block[blocks.FULL_AT]
    part, parts = block[blocks.PART], block[blocks.PARTS]
    size, position, end = block[blocks.SIZE], block[blocks.POSITION], block[blocks.END]
    transitions = block[blocks.TRANSITIONS]
    last_transition = transitions + block[blocks.BUDGET]
    fullest = np.int64(0)
    for each in range(parts):
        fullest = max(fullest, np.int64(peek(block[blocks.OUT_COUNTS], each)))
    first = block[blocks.SUCCESSOR]
    reason = blocks.DONE
    while position < end:
        if transitions >= last_transition:
            reason = blocks.SLICE
            break
        if size + most >= full_at:
            reason = blocks.STORE_FULL
            break
        if fullest + most > block[blocks.OUT_ROOM]:
            reason = blocks.OUTBOX_FULL
            break
        if block[blocks.FINDING_COUNT] + most + 3 > block[blocks.FINDING_ROOM]:
            reason = blocks.FOUND
            break
        source = tables.log + 8 * words * position
        if machine.race_wanted and block[blocks.RACE_CHECKED] == 0:
            outcome = race_at(machine, block, source, successors.states)
            if outcome == TOO_LONG:
                reason = blocks.FOOTPRINT_FULL
                break
            block[blocks.RACE_CHECKED] = 1
            if outcome == RACE_FOUND:
                write_finding(block, blocks.RACE, position, 0, 0)
        count, _, _, flags = gather(
            machine, tables, successors, source, 0, 0, machine.threads, most, False
        )
        for successor in range(first, count):
            hashed = peek(successors.hashes, successor)
            owner = owner_of(keyed, successors.states + 8 * words * successor)
            poke(owners, successor, np.uint64(owner))
            if owner == part:
                fetch_logged(tables, words, hashed)
            else:
                prefetch(sent_at(block, words, hashed))
        for successor in range(first, count):
            thread, choice = move_of(successors, successor)
            transitions += 1
            fault = fault_of(successors, successor)
            if fault < blocks.FIRST_DEAD_END:
                record = successors.states + 8 * words * successor
                hashed = peek(successors.hashes, successor)
                owner = np.int64(peek(owners, successor))
                if owner == part:
                    if insert_logged(tables, size, words, record, hashed) == size:
                        size += 1
                elif not was_sent(block, words, record, hashed):
                    fullest = max(fullest, send(block, owner, words, record))
            if fault != 0 and (machine.faults_wanted >> fault) & 1:
                write_finding(block, blocks.FAULT, position, thread, choice)
        if machine.hang_wanted and is_quiet(block, successors, count, source):
            outcome = hang_at(machine, block, source)
            if outcome == blocks.WALK_FULL:
                first = count
                reason = outcome
                break
            if outcome == blocks.QUIET:
                write_finding(block, blocks.QUIET, position, 0, 0)
        first = 0
        block[blocks.RACE_CHECKED] = 0
        position += 1
        stuck = flags & MOVED == 0 and machine.deadlock_wanted
        if stuck and note_end(block, flags & WAITING != 0, flags & STOPPED != 0):
            write_finding(block, blocks.STUCK, position - 1, 0, 0)
    block[blocks.SIZE], block[blocks.POSITION] = size, position
    block[blocks.TRANSITIONS], block[blocks.SUCCESSOR] = transitions, first
    return reason
