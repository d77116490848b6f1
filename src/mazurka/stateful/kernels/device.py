"""Breadth-first search on a device with very many workers, such as a GPU.

Each worker takes every n-th state of a level, where n is the number of workers, and keeps the state
and its successor in registers.  New states go to the end of one log, so a level is a range of
positions; the table (`mazurka.stateful.kernels.shared_store` has the argument) holds the states
themselves if they are one word, else positions in the log.  No origins are kept: the way to a state
is found by going back through the levels, one launch for each (`go_back`).

The same text serves every device.  `mazurka.stateful.device.program` links it with a program's step
function and with the numbers that it asks for here (`WORDS` and others), which become constants, so
that loops over words are unrolled and what nobody wants to know is left out; then it is compiled
for a GPU, or, in tests, for this machine, where threads play the workers.

**No room.**  A state that finds no room in the log is dropped, and FULL is set.  From then on
nobody takes a slot any more; the table has more free slots than there are workers, so that it is
never full, and looking for a slot comes to an end.  Python makes room, enters the states of the log
in the new table, and has the same part of the level expanded again: what was found before is known
then, so nothing is counted twice but transitions, which are counted anew.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from mazurka.compiled.pointers import Native, make_intrinsic
from mazurka.stateful import blocks
from mazurka.stateful.kernels.atomics import (
    compare_and_swap,
    fetch_and_add,
    look_at,
    publish,
    see_published,
)
from mazurka.stateful.kernels.breadth_first import POSITION_SHIFT, THREAD_SHIFT
from mazurka.stateful.kernels.machine import compiled, numbers_at, peek, poke
from mazurka.stateful.kernels.shared_store import CLAIMED
from mazurka.stateful.kernels.store import (
    NOTHING,
    POSITION_MASK,
    TAG_MASK,
    TAKEN,
    copy_words,
    hash_record,
    same_words,
)

ONE = np.uint64(1)
TAG_SHIFT = np.uint64(40)
MOVED, WAITING, STOPPED, LOUD = 1, 2, 4, 8
"""What is known of the threads in a state; LOUD: a step changes something shared, or fails."""


def _declare(builder: Any, name: str, arguments: int) -> Any:
    """Declare a function of so many numbers that the program's own text defines."""
    word = ir.IntType(64)
    insert: Native = cgutils.get_or_insert_function
    return insert(builder.module, ir.FunctionType(word, [word] * arguments), name)


def _number(name: str) -> Native:
    """Make the function that returns a number of the program's own text."""

    def number(typing_context: Any) -> Any:
        def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            return builder.call(_declare(builder, name, 0), [])

        return types.int64(), generate

    return make_intrinsic(number)


def _step(name: str) -> Native:
    """Make the function that calls a step function of the program's own text."""

    def step(
        typing_context: Any, source: Any, thread: Any, choice: Any, target: Any, footprint: Any
    ) -> Any:
        def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            return builder.call(_declare(builder, name, 5), arguments)

        return types.int64(*([types.int64] * 5)), generate

    return make_intrinsic(step)


def _multiply_high(typing_context: Any, one: Any, other: Any) -> Any:
    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(each, wide) for each in arguments))
        return builder.trunc(builder.lshr(product, wide(64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), generate


step = _step("step")
"""`step(source, thread, choice, target, footprint)`: the program's step function."""
plain_step = _step("walk_step")
"""The same, but threads keep their places, where the other makes states canonical."""
recording_step = _step("recording_step")
"""The same, and reports its footprint."""
words_of_state = _number("words_of_state")
thread_count = _number("thread_count")
observers = _number("observers")
"""The threads that only watch, as bits."""
any_choice = _number("any_choice")
faults_wanted = _number("faults_wanted")
deadlock_wanted = _number("deadlock_wanted")
hang_wanted = _number("hang_wanted")
walks_apart = _number("walks_apart")
"""Whether `step` makes states canonical, so that its results do not show what a thread changes."""
race_wanted = _number("race_wanted")
most_accesses = _number("most_accesses")
"""How many accesses of all threads in a state there is room for."""
multiply_high = make_intrinsic(_multiply_high)
"""`multiply_high(one, other)`: the upper half of the product."""


class DeviceStore(NamedTuple):
    """The block, and what is often needed of it, which stays in registers so."""

    address: Any
    block: Any
    log: Any
    table: Any
    slots: Any
    room: Any


@compiled
def store_in(address: Any) -> Any:
    block = numbers_at(address)
    return DeviceStore(
        address,
        block,
        block[blocks.DEVICE_LOG],
        block[blocks.DEVICE_TABLE],
        block[blocks.DEVICE_SLOTS],
        block[blocks.DEVICE_ROOM],
    )


@compiled
def slot_of(store: Any, hashed: Any) -> Any:
    return np.int64(multiply_high(hashed, np.uint64(store.slots)))


@compiled
def next_slot(store: Any, slot: Any) -> Any:
    return slot + 1 if slot + 1 < store.slots else np.int64(0)


@compiled
def append(store: Any, record: Any) -> Any:
    """Write a state behind the end of the log; its position, -1 if there is no room."""
    words = words_of_state()
    position = np.int64(fetch_and_add(store.address, blocks.DEVICE_SIZE, ONE))
    if position >= store.room:
        publish(store.address, blocks.DEVICE_FULL, ONE)
        return np.int64(-1)
    copy_words(store.log + 8 * words * position, record, words)
    return position


@compiled
def insert_word(store: Any, record: Any) -> Any:
    """Add a state of one word, which lies in the table itself."""
    table, wanted = store.table, peek(record, 0) | TAKEN
    slot = slot_of(store, hash_record(record, 1))
    while True:
        entry = look_at(table, slot)
        if entry == NOTHING:
            if look_at(store.address, blocks.DEVICE_FULL) != NOTHING:
                return
            entry = compare_and_swap(table, slot, NOTHING, wanted)
            if entry == NOTHING:
                append(store, record)
                return
        if entry == wanted:
            return
        slot = next_slot(store, slot)


@compiled
def insert_record(store: Any, record: Any) -> Any:
    """Add a state of several words, which lies in the log."""
    words, table, log = words_of_state(), store.table, store.log
    hashed = hash_record(record, words)
    tag = hashed << TAG_SHIFT
    slot = slot_of(store, hashed)
    while True:
        entry = look_at(table, slot)
        if entry == NOTHING:
            if look_at(store.address, blocks.DEVICE_FULL) != NOTHING:
                return
            entry = compare_and_swap(table, slot, NOTHING, tag | CLAIMED)
            if entry == NOTHING:
                position = append(store, record)
                if position >= 0:
                    publish(table, slot, tag | np.uint64(position + 1))
                return
        if entry & TAG_MASK == tag:
            while entry & POSITION_MASK == CLAIMED:
                if look_at(store.address, blocks.DEVICE_FULL) != NOTHING:
                    return  # whoever has claimed the slot may have found no room
                entry = look_at(table, slot)
            see_published()
            known = np.int64(entry & POSITION_MASK) - 1
            if same_words(log + 8 * words * known, record, words):
                return
        slot = next_slot(store, slot)


@compiled
def insert(store: Any, record: Any) -> Any:
    if words_of_state() == 1:
        insert_word(store, record)
    else:
        insert_record(store, record)


@compiled
def note(store: Any, kind: Any, position: Any, thread: Any, choice: Any) -> Any:
    """Write down what was found; if there is no room, only that there was one more."""
    block = store.block
    number = np.int64(fetch_and_add(store.address, blocks.DEVICE_FINDING_COUNT, ONE))
    if number < block[blocks.DEVICE_FINDING_ROOM]:
        place = block[blocks.DEVICE_FINDINGS] + 8 * blocks.FINDING_WORDS * number
        poke(place, blocks.FINDING_KIND, np.uint64(kind))
        poke(place, blocks.FINDING_POSITION, np.uint64(position))
        poke(place, blocks.FINDING_THREAD, np.uint64(thread))
        poke(place, blocks.FINDING_CHOICE, np.uint64(choice))


@compiled
def choices_here(block: Any, source: Any, thread: Any) -> Any:
    """How many choices a thread has in the state at address `source`."""
    if any_choice() == 0:
        return np.int64(1)
    word = peek(source, np.int64(peek(block[blocks.DEVICE_COUNTER_WORD], thread)))
    shifted = word >> peek(block[blocks.DEVICE_COUNTER_SHIFT], thread)
    code = np.int64(shifted & peek(block[blocks.DEVICE_COUNTER_MASK], thread))
    offset = np.int64(peek(block[blocks.DEVICE_CHOICE_OFFSET], thread))
    return np.int64(peek(block[blocks.DEVICE_CHOICES], offset + code))


@compiled
def watches(thread: Any) -> Any:
    return (np.uint64(observers()) >> np.uint64(thread)) & ONE != NOTHING


@compiled
def alters_shared(block: Any, source: Any, target: Any, thread: Any) -> Any:
    """Whether a step has changed a cell that is not its thread's own."""
    words = words_of_state()
    masks = block[blocks.DEVICE_MASKS] + 8 * words * thread
    for word in range(words):
        if (peek(source, word) ^ peek(target, word)) & peek(masks, word) != NOTHING:
            return True
    return False


@compiled
def is_loud(block: Any, source: Any, target: Any, thread: Any, result: Any) -> Any:
    """Whether a step of the program itself fails, or changes something shared."""
    if watches(thread):
        return False
    return result >> 32 != 0 or alters_shared(block, source, target, thread)


@compiled
def collides(block: Any, accesses: Any, count: Any, entry: Any, atomic: Any, thread: Any) -> Any:
    """Whether an access collides with one of another thread.

    An access is its footprint entry (a cell and whether it writes), whether it is atomic, and the
    thread, in one word.
    """
    cell = entry >> np.uint64(1)
    if peek(block[blocks.DEVICE_RACING], np.int64(cell)) == NOTHING:
        return False
    for position in range(count):
        other = peek(accesses, position)
        known = other >> np.uint64(16)
        if known >> np.uint64(1) != cell or other & np.uint64(0xFF) == np.uint64(thread):
            continue
        writes = (known | entry) & ONE != NOTHING
        both_atomic = atomic and other & np.uint64(0x100) != NOTHING
        if writes and not both_atomic:
            return True
    return False


@compiled
def races_here(store: Any, source: Any, target: Any, footprint: Any, accesses: Any) -> Any:
    """Whether two of the threads race in the state at address `source`."""
    block = store.block
    count = np.int64(0)
    for thread in range(thread_count()):
        if watches(thread):
            continue
        for choice in range(choices_here(block, source, thread)):
            poke(footprint, 0, np.uint64(most_accesses()))
            poke(footprint, 1, NOTHING)
            result = recording_step(source, thread, choice, target, footprint)
            if result < 0:
                continue
            taken = np.int64(peek(footprint, 1))
            if count + taken > most_accesses():
                publish(store.address, blocks.DEVICE_OVERLONG, ONE)
                return False
            edge = result & 0xFFFFFFFF
            atomic = peek(block[blocks.DEVICE_INDIVISIBLE], edge) != NOTHING
            mark = np.uint64(0x100) if atomic else NOTHING
            for number in range(taken):
                entry = peek(footprint, 2 + number)
                if collides(block, accesses, count, entry, atomic, thread):
                    return True
                access = (entry << np.uint64(16)) | mark | np.uint64(thread)
                poke(accesses, count + number, access)
            count += taken
    return False


@compiled
def expand_state(
    store: Any, position: Any, source: Any, target: Any, footprint: Any, accesses: Any
) -> Any:
    """Make all steps of one state; how many there are."""
    words, block = words_of_state(), store.block
    copy_words(source, store.log + 8 * words * position, words)
    if race_wanted() != 0 and races_here(store, source, target, footprint, accesses):
        note(store, blocks.RACE, position, 0, 0)
    transitions, flags = 0, 0
    for thread in range(thread_count()):
        for choice in range(choices_here(block, source, thread)):
            result = step(source, thread, choice, target, 0)
            if result < 0:
                if not watches(thread):
                    flags |= WAITING if result == -1 else (STOPPED if result == -2 else 0)
                continue
            transitions += 1
            if not watches(thread):
                flags |= MOVED
            fault = result >> 32
            if fault < blocks.FIRST_DEAD_END:
                insert(store, target)
            if fault != 0 and (faults_wanted() >> fault) & 1:
                note(store, blocks.FAULT, position, thread, choice)
            if hang_wanted() != 0 and walks_apart() == 0:
                flags |= LOUD if is_loud(block, source, target, thread, result) else 0
    if hang_wanted() != 0 and flags & MOVED != 0 and flags & LOUD == 0:
        look_for_quiet(store, position, source, target)
    if deadlock_wanted() != 0 and flags & MOVED == 0:
        if flags & STOPPED == 0:
            publish(store.address, blocks.DEVICE_ENDED_FREELY, ONE)
        if flags & (WAITING | STOPPED) != 0:
            note(store, blocks.STUCK, position, 0, flags & WAITING)
    return transitions


@compiled
def look_for_quiet(store: Any, position: Any, source: Any, target: Any) -> Any:
    """Note a state that may be a hang; whether it is one is found out elsewhere."""
    if walks_apart() != 0:
        for thread in range(thread_count()):
            result = plain_step(source, thread, 0, target, 0)
            if result >= 0 and is_loud(store.block, source, target, thread, result):
                return
    note(store, blocks.QUIET, position, 0, 0)


@compiled
def expand(
    store: Any,
    index: Any,
    workers: Any,
    source: Any,
    target: Any,
    footprint: Any,
    accesses: Any,
) -> Any:
    """Expand every state of the part whose turn it is."""
    transitions = 0
    position, until = store.block[blocks.DEVICE_FROM] + index, store.block[blocks.DEVICE_UNTIL]
    while position < until:
        transitions += expand_state(store, position, source, target, footprint, accesses)
        position += workers
    fetch_and_add(store.address, blocks.DEVICE_TRANSITIONS, np.uint64(transitions))


@compiled
def enter(store: Any, index: Any, workers: Any) -> Any:
    """Enter states of the log in a table that has none of them yet."""
    words, table = words_of_state(), store.table
    position, until = store.block[blocks.DEVICE_FROM] + index, store.block[blocks.DEVICE_UNTIL]
    while position < until:
        record = store.log + 8 * words * position
        hashed = hash_record(record, words)
        entry = (hashed << TAG_SHIFT) | np.uint64(position + 1)
        if words == 1:
            entry = peek(record, 0) | TAKEN
        slot = slot_of(store, hashed)
        while compare_and_swap(table, slot, NOTHING, entry) != NOTHING:
            slot = next_slot(store, slot)
        position += workers


@compiled
def go_back(store: Any, index: Any, workers: Any, source: Any, target: Any) -> Any:
    """Look among the states of the part for one from which a step leads to the state at TARGET."""
    words, block, wanted = words_of_state(), store.block, store.block[blocks.DEVICE_TARGET]
    position, until = block[blocks.DEVICE_FROM] + index, block[blocks.DEVICE_UNTIL]
    while position < until:
        copy_words(source, store.log + 8 * words * position, words)
        for thread in range(thread_count()):
            for choice in range(choices_here(block, source, thread)):
                result = step(source, thread, choice, target, 0)
                if result < 0 or result >> 32 >= blocks.FIRST_DEAD_END:
                    continue
                if same_words(target, wanted, words):
                    move = (np.uint64(thread) << THREAD_SHIFT) | np.uint64(choice)
                    lower(store.address, (np.uint64(position) << POSITION_SHIFT) | move)
        position += workers


@compiled
def lower(address: Any, origin: Any) -> Any:
    """Make ORIGIN smaller if it is larger than this."""
    known = look_at(address, blocks.DEVICE_ORIGIN)
    while origin < known:
        found = compare_and_swap(address, blocks.DEVICE_ORIGIN, known, origin)
        if found == known:
            return
        known = found


@compiled
def run(
    job: Any,
    address: Any,
    index: Any,
    workers: Any,
    source: Any,
    target: Any,
    footprint: Any,
    accesses: Any,
) -> Any:
    """Do the part of one worker.  The last four are room: for states, a footprint, accesses."""
    store = store_in(address)
    if job == blocks.DEVICE_EXPAND:
        expand(store, index, workers, source, target, footprint, accesses)
    elif job == blocks.DEVICE_ENTER:
        enter(store, index, workers)
    else:
        go_back(store, index, workers, source, target)
    return 0
