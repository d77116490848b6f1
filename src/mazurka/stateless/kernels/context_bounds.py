"""Kernel: CB(s, t) of the prefixes of a run, and Mark of Algorithm 2.

What `mazurka.stateless.bounded.context_bound` and `algorithm2` do in Python, and say why, on flat
arrays: `_work_out`, `_add` and `mark` there are `collect`, `add` and `mark` here, `Graph.maximal`,
`cover` and `able_after` have the same names.  `mazurka.stateless.bounded.native_bounds` calls it.

A state has a record as soon as it is found, in which its arrivals say where the records of its own
prefixes are; so they are looked up once.  A record that is not worked out, since something was
raised meanwhile, belongs to a call that is over; whoever meets the state again makes it anew.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mazurka.compiled.pointers import compiled, numbers_at, words_at
from mazurka.stateless import blocks
from mazurka.stateless.kernels.bits import count_bits, last_bit

ONE = np.uint64(1)
NOTHING = np.uint64(0)
WORD_SHIFT = 6
WORD_MASK = 63
PLACE_MASK = np.uint64((1 << 40) - 1)
TAG_MASK = np.uint64(~((1 << 40) - 1) & (1 << 64) - 1)
SHAPE_DONE = np.uint64(blocks.SHAPE_DONE)
SHAPE_COUNT_MASK = np.uint64((1 << blocks.SHAPE_COUNT_BITS) - 1)
SHAPE_COST = np.uint64(blocks.SHAPE_COST)
MARKS_CLOSED = np.uint64(blocks.MARKS_CLOSED)
MARKS_LEFT = np.uint64(blocks.MARKS_LEFT)
MARKS_LEVEL = np.uint64(blocks.MARKS_LEVEL)
MARKS_MASK = np.uint64((1 << blocks.MARKS_LEVEL) - 1)
ARRIVAL_THREAD = np.uint64(blocks.ARRIVAL_THREAD)
ARRIVAL_THREAD_MASK = np.uint64((1 << blocks.ARRIVAL_THREAD_BITS) - 1)
ARRIVAL_COST = np.uint64(blocks.ARRIVAL_COST)
UNKNOWN = -1


class RunArrays(NamedTuple):
    """The present run."""

    words: Any
    threads: Any
    past: Any
    hashes: Any
    schedule: Any
    lines: Any
    covers: Any
    cover_words: Any


class KnownStates(NamedTuple):
    """The states that are known."""

    block: Any
    log: Any
    table: Any
    mask: Any


class Items(NamedTuple):
    """The prefixes that are to be worked out."""

    words: Any
    numbers: Any
    size: Any
    prefix_at: Any


@compiled
def run_in(block: Any) -> Any:
    return RunArrays(
        block[blocks.WORDS],
        block[blocks.THREADS],
        words_at(block[blocks.PAST]),
        words_at(block[blocks.HASHES]),
        numbers_at(block[blocks.SCHEDULE]),
        words_at(block[blocks.LINES]),
        numbers_at(block[blocks.COVERS]),
        block[blocks.MOST_THREADS] + 1,
    )


@compiled
def known_in(block: Any) -> Any:
    mask = np.uint64(block[blocks.TABLE_SLOTS] - 1)
    return KnownStates(block, words_at(block[blocks.LOG]), words_at(block[blocks.TABLE]), mask)


@compiled
def items_in(block: Any) -> Any:
    prefix_at = blocks.ITEM_FRONTIER + block[blocks.MOST_THREADS]
    address = block[blocks.ITEMS]
    return Items(words_at(address), numbers_at(address), prefix_at + block[blocks.WORDS], prefix_at)


# ---- sets of events


@compiled
def bit_of(number: Any) -> Any:
    return ONE << np.uint64(number & WORD_MASK)


@compiled
def is_in(events: Any, start: Any, event: Any) -> Any:
    return events[start + (event >> WORD_SHIFT)] & bit_of(event) != NOTHING


@compiled
def count_common(events: Any, start: Any, others: Any, other_start: Any, words: Any) -> Any:
    """How many events two sets have in common."""
    count = 0
    for word in range(words):
        count += count_bits(events[start + word] & others[other_start + word])
    return count


@compiled
def last_common(events: Any, start: Any, others: Any, other_start: Any, words: Any) -> Any:
    """The last event that two sets have in common; -1 if there is none."""
    for back in range(words):
        word = words - 1 - back
        common = events[start + word] & others[other_start + word]
        if common != NOTHING:
            return (word << WORD_SHIFT) + last_bit(common)
    return UNKNOWN


@compiled
def is_within(events: Any, start: Any, others: Any, other_start: Any, words: Any) -> Any:
    """Whether the first set is a part of the second."""
    for word in range(words):
        if events[start + word] & ~others[other_start + word] != NOTHING:
            return False
    return True


@compiled
def maximal(run: Any, here: Any, start: Any, found: Any, at: Any) -> Any:
    """Store the events of a prefix that nothing comes after, one behind the other from `at` on;
    return how many there are."""
    words = run.words
    count = 0
    for thread in range(run.threads):
        event = last_common(here, start, run.lines, thread * words, words)
        if event >= 0:
            found[at + count] = event
            count += 1
    kept = 0
    for number in range(count):
        event = found[at + number]
        is_last = True
        for other in range(count):
            later = found[at + other]
            if later > event and is_in(run.past, later * words, event):
                is_last = False
        if is_last:
            found[at + number] = found[at + kept]
            found[at + kept] = event
            kept += 1
    return kept


@compiled
def cover(run: Any, event: Any, scratch: Any) -> Any:
    """Store the events right before one behind their number plus one, if that has not been done."""
    at = event * run.cover_words
    if run.covers[at] == 0:
        for word in range(run.words):
            scratch[word] = run.past[event * run.words + word]
        scratch[event >> WORD_SHIFT] ^= bit_of(event)
        run.covers[at] = 1 + maximal(run, scratch, 0, run.covers, at + 1)
    return at


# ---- the table


@compiled
def find_slot(known: Any, low: Any, high: Any) -> Any:
    """The slot of a state, or the free one that would be its own."""
    slot, tag = low & known.mask, high & TAG_MASK
    while True:
        entry = known.table[np.int64(slot)]
        if entry == NOTHING:
            return np.int64(slot)
        if entry & TAG_MASK == tag:
            record = np.int64(entry & PLACE_MASK) - 1
            if (
                known.log[record + blocks.RECORD_LOW] == low
                and known.log[record + blocks.RECORD_HIGH] == high
            ):
                return np.int64(slot)
        slot = (slot + ONE) & known.mask


@compiled
def record_in(known: Any, slot: Any) -> Any:
    """Where the record of a slot is; -1 if it is free."""
    return np.int64(known.table[slot] & PLACE_MASK) - 1


@compiled
def is_done(known: Any, record: Any) -> Any:
    return known.log[record + blocks.RECORD_SHAPE] & SHAPE_DONE != NOTHING


@compiled
def begin_record(known: Any, slot: Any, low: Any, high: Any, arrivals: Any) -> Any:
    """Make the record of a state that has been found; return where it is."""
    block, log = known.block, known.log
    record = block[blocks.LOG_SIZE]
    block[blocks.LOG_SIZE] = record + blocks.RECORD_WORDS + arrivals
    log[record + blocks.RECORD_LOW] = low
    log[record + blocks.RECORD_HIGH] = high
    log[record + blocks.RECORD_SHAPE] = np.uint64(arrivals)
    log[record + blocks.RECORD_MARKS] = np.uint64(block[blocks.CALL])
    if known.table[slot] == NOTHING:
        block[blocks.ENTRIES] += 1
    known.table[slot] = high & TAG_MASK | np.uint64(record + 1)
    return record


@compiled
def rehash(block: Any) -> None:
    """Enter all records in an empty table."""
    known = known_in(block)
    record = np.int64(0)
    block[blocks.ENTRIES] = 0
    while record < block[blocks.LOG_SIZE]:
        shape = known.log[record + blocks.RECORD_SHAPE]
        low, high = known.log[record], known.log[record + blocks.RECORD_HIGH]
        slot = find_slot(known, low, high)
        if known.table[slot] == NOTHING:
            block[blocks.ENTRIES] += 1
        known.table[slot] = high & TAG_MASK | np.uint64(record + 1)  # the last one counts
        record += blocks.RECORD_WORDS + np.int64(shape & SHAPE_COUNT_MASK)


# ---- collecting prefixes


@compiled
def has_room(block: Any) -> Any:
    """Whether there is room for the states before the prefix at hand, and for a first one."""
    more = block[blocks.MOST_THREADS] + 1
    return (
        block[blocks.LOG_SIZE] + more * (blocks.RECORD_WORDS + more) <= block[blocks.LOG_ROOM]
        and block[blocks.ITEM_COUNT] + more <= block[blocks.ITEM_ROOM]
        and (block[blocks.ENTRIES] + more) * 2 <= block[blocks.TABLE_SLOTS]
    )


@compiled
def begin(block: Any, run: Any, known: Any, items: Any) -> Any:
    """Let the prefix at the cursor be the first item."""
    block[blocks.CALL] += 1
    low, high = np.uint64(block[blocks.CURSOR_LOW]), np.uint64(block[blocks.CURSOR_HIGH])
    cursor = words_at(block[blocks.CURSOR])
    count = maximal(run, cursor, 0, items.numbers, blocks.ITEM_FRONTIER)
    for word in range(run.words):
        items.words[items.prefix_at + word] = cursor[word]
    slot = find_slot(known, low, high)
    items.numbers[blocks.ITEM_RECORD] = begin_record(known, slot, low, high, count)
    items.numbers[blocks.ITEM_SIZE] = count
    block[blocks.ITEM_COUNT], block[blocks.NEXT] = 1, 0


@compiled
def frontier_without(run: Any, items: Any, item: Any, number: Any, scratch: Any, new: Any) -> Any:
    """Store the events of F(s - t) for a new item, t being one of F(s); return how many."""
    numbers, words = items.numbers, run.words
    count = numbers[item + blocks.ITEM_SIZE]
    event = numbers[item + blocks.ITEM_FRONTIER + number]
    at = cover(run, event, scratch)
    made = new + blocks.ITEM_FRONTIER
    size = 0
    for place in range(count):
        if place != number:
            numbers[made + size] = numbers[item + blocks.ITEM_FRONTIER + place]
            size += 1
    others = size
    for place in range(1, run.covers[at]):
        earlier = run.covers[at + place]
        covered = False
        for other in range(others):
            if is_in(run.past, numbers[made + other] * words, earlier):
                covered = True
        if not covered:
            numbers[made + size] = earlier
            size += 1
    return size


@compiled
def expand(block: Any, run: Any, known: Any, items: Any, item: Any) -> Any:
    """Note where the records of s - t are, for all t of F(s); add those that are not known."""
    numbers, words = items.numbers, items.words
    scratch = words_at(block[blocks.SCRATCH])
    call = np.uint64(block[blocks.CALL])
    record = numbers[item + blocks.ITEM_RECORD]
    low, high = known.log[record], known.log[record + blocks.RECORD_HIGH]
    for number in range(numbers[item + blocks.ITEM_SIZE]):
        event = numbers[item + blocks.ITEM_FRONTIER + number]
        low_before = low ^ run.hashes[2 * event]
        high_before = high ^ run.hashes[2 * event + 1]
        slot = find_slot(known, low_before, high_before)
        before = record_in(known, slot)
        if before < 0 or not (
            is_done(known, before) or known.log[before + blocks.RECORD_MARKS] == call
        ):
            new = block[blocks.ITEM_COUNT] * items.size
            size = frontier_without(run, items, item, number, scratch, new)
            before = begin_record(known, slot, low_before, high_before, size)
            numbers[new + blocks.ITEM_RECORD] = before
            numbers[new + blocks.ITEM_SIZE] = size
            for word in range(run.words):
                words[new + items.prefix_at + word] = words[item + items.prefix_at + word]
            words[new + items.prefix_at + (event >> WORD_SHIFT)] ^= bit_of(event)
            block[blocks.ITEM_COUNT] += 1
        thread = np.uint64(run.schedule[event])
        known.log[record + blocks.RECORD_WORDS + number] = (
            np.uint64(before) | thread << ARRIVAL_THREAD
        )


# ---- working them out


@compiled
def answer(block: Any, run: Any, items: Any, item: Any, thread: Any) -> Any:
    """Whether a thread can go on at a prefix: 0 or 1; -1 where Python has to be asked."""
    words = run.words
    prefix = item + items.prefix_at
    position = count_common(items.words, prefix, run.lines, thread * words, words)
    stand_words = blocks.STAND_NEEDS + words
    start = (thread * block[blocks.MOST_EVENTS] + position) * stand_words
    stands, stand_numbers = words_at(block[blocks.STANDS]), numbers_at(block[blocks.STANDS])
    kind = stand_numbers[start + blocks.STAND_KIND]
    if kind == blocks.PLAIN:
        return 1
    if kind == blocks.NEVER or not is_within(
        stands, start + blocks.STAND_NEEDS, items.words, prefix, words
    ):
        return 0
    if kind == blocks.NEEDING:
        return 1
    bit = bit_of(thread)
    if kind == blocks.LOOKING:
        number = stand_numbers[start + blocks.STAND_OBJECT]
        words_at(block[blocks.WATCHING])[number] |= bit
        writes = words_at(block[blocks.WRITES])
        version = count_common(items.words, prefix, writes, number * words, words)
        state = numbers_at(block[blocks.VERSIONS])[number * block[blocks.MOST_EVENTS] + version]
        known = stands[start + blocks.STAND_KNOWN]
        if state < blocks.MOST_STATES and known & bit_of(state) != NOTHING:
            return 1 if stands[start + blocks.STAND_CAN] & bit_of(state) != NOTHING else 0
    if np.uint64(block[blocks.ANSWERED]) & bit != NOTHING:
        return 1 if np.uint64(block[blocks.ANSWERS]) & bit != NOTHING else 0
    block[blocks.ASKED_THREAD], block[blocks.ASKED_POSITION] = thread, position
    asked = words_at(block[blocks.ASKED_PREFIX])
    for word in range(words):
        asked[word] = items.words[prefix + word]
    return UNKNOWN


@compiled
def again_after(block: Any, run: Any, event: Any) -> Any:
    """The threads for which an event may make a difference."""
    again = bit_of(run.schedule[event]) | words_at(block[blocks.AWAITED])[event]
    ends, written = numbers_at(block[blocks.WRITTEN_ENDS]), numbers_at(block[blocks.WRITTEN])
    watching = words_at(block[blocks.WATCHING])
    first = ends[event - 1] if event > 0 else 0
    for place in range(first, ends[event]):
        again |= watching[written[place]]
    return again


@compiled
def cost_of(known: Any, record: Any, thread: Any) -> Any:
    """CB(s, t)."""
    shape = known.log[record + blocks.RECORD_SHAPE]
    cost = shape >> SHAPE_COST
    for place in range(np.int64(shape & SHAPE_COUNT_MASK)):
        arrival = known.log[record + blocks.RECORD_WORDS + place]
        if arrival >> ARRIVAL_THREAD & ARRIVAL_THREAD_MASK == np.uint64(thread):
            return min(cost, arrival >> ARRIVAL_COST)
    return cost


@compiled
def add(block: Any, run: Any, known: Any, items: Any, item: Any) -> Any:
    """Work out a prefix from those of its own, which are known; False where Python is asked."""
    log, numbers = known.log, items.numbers
    record = numbers[item + blocks.ITEM_RECORD]
    count = numbers[item + blocks.ITEM_SIZE]
    first = log[record + blocks.RECORD_WORDS]
    again = again_after(block, run, numbers[item + blocks.ITEM_FRONTIER])
    able = log[np.int64(first & PLACE_MASK) + blocks.RECORD_ABLE] & ~again
    standing = numbers_at(block[blocks.STANDING])
    while again != NOTHING:
        thread = last_bit(again)
        again ^= bit_of(thread)
        if thread >= run.threads or standing[thread] == 0:
            continue  # one of an earlier run
        can = answer(block, run, items, item, thread)
        if can < 0:
            return False
        if can > 0:
            able |= bit_of(thread)
    others = NOTHING
    for place in range(count):
        arrival = log[record + blocks.RECORD_WORDS + place] & ~(~NOTHING << ARRIVAL_COST)
        thread = arrival >> ARRIVAL_THREAD & ARRIVAL_THREAD_MASK
        cost = cost_of(known, np.int64(arrival & PLACE_MASK), thread)
        log[record + blocks.RECORD_WORDS + place] = arrival | cost << ARRIVAL_COST
        cost += able >> thread & ONE
        if place == 0 or cost < others:
            others = cost
    log[record + blocks.RECORD_ABLE] = able
    log[record + blocks.RECORD_MARKS] = NOTHING
    log[record + blocks.RECORD_SHAPE] = others << SHAPE_COST | SHAPE_DONE | np.uint64(count)
    block[blocks.STATES] += 1
    block[blocks.UNSEEN] += count_bits(able) - count
    block[blocks.ANSWERED] = block[blocks.ANSWERS] = 0
    return True


@compiled
def find(block: Any) -> Any:
    """Find the record of the state at the cursor, if it is worked out."""
    known = known_in(block)
    low, high = np.uint64(block[blocks.CURSOR_LOW]), np.uint64(block[blocks.CURSOR_HIGH])
    record = record_in(known, find_slot(known, low, high))
    block[blocks.FOUND] = record if record >= 0 and is_done(known, record) else UNKNOWN
    return blocks.DONE


@compiled
def work_out(block: Any) -> Any:
    """Work out the prefix at the cursor, and its own; go on where the last call has stopped."""
    run, known, items = run_in(block), known_in(block), items_in(block)
    if block[blocks.PHASE] == 0:
        find(block)
        if block[blocks.FOUND] >= 0:
            return blocks.DONE
        if not has_room(block):
            return blocks.NO_ROOM
        for event in range(block[blocks.FRESH], block[blocks.EVENTS]):
            run.covers[event * run.cover_words] = 0
        begin(block, run, known, items)
        block[blocks.ANSWERED] = block[blocks.ANSWERS] = 0
        block[blocks.PHASE] = 1
    if block[blocks.PHASE] == 1:
        while block[blocks.NEXT] < block[blocks.ITEM_COUNT]:
            if not has_room(block):
                return blocks.NO_ROOM
            expand(block, run, known, items, block[blocks.NEXT] * items.size)
            block[blocks.NEXT] += 1
        block[blocks.PHASE] = 2
    while block[blocks.PHASE] == 2 and block[blocks.NEXT] > 0:
        states = block[blocks.STATES]
        if states % block[blocks.CHECK_EVERY] == 0 and block[blocks.CHECKED] != states:
            return blocks.CHECK
        item = (block[blocks.NEXT] - 1) * items.size
        if items.numbers[item + blocks.ITEM_SIZE] == 0:
            return blocks.MISSING
        if not add(block, run, known, items, item):
            return blocks.ASK
        block[blocks.NEXT] -= 1
    block[blocks.PHASE] = 0
    return find(block)


# ---- Mark


@compiled
def count_within(known: Any, record: Any, bound: Any) -> Any:
    """How many threads can take a step t with CB(s, t) at most the bound."""
    shape, able = known.log[record + blocks.RECORD_SHAPE], known.log[record + blocks.RECORD_ABLE]
    if shape >> SHAPE_COST <= bound:
        return count_bits(able)
    count = 0
    for place in range(np.int64(shape & SHAPE_COUNT_MASK)):
        arrival = known.log[record + blocks.RECORD_WORDS + place]
        thread = arrival >> ARRIVAL_THREAD & ARRIVAL_THREAD_MASK
        if arrival >> ARRIVAL_COST <= bound and able >> thread & ONE != NOTHING:
            count += 1
    return count


@compiled
def mark(block: Any) -> Any:
    """Mark terminal states, and whatever is closed by that."""
    known = known_in(block)
    marked, waiting = words_at(block[blocks.MARKED]), numbers_at(block[blocks.WAITING])
    for number in range(block[blocks.MARKED_COUNT]):
        record = record_in(known, find_slot(known, marked[2 * number], marked[2 * number + 1]))
        if record < 0 or not is_done(known, record):
            return blocks.MISSING
        waiting[number] = record
    return close(known, block[blocks.MARKED_COUNT])


@compiled
def finish(block: Any) -> Any:
    """Work out the prefix at the cursor, and its own, and mark its state."""
    result = work_out(block)
    if result != blocks.DONE:
        return result
    if block[blocks.MARK_ROOM] < block[blocks.STATES]:
        return blocks.NO_ROOM
    numbers_at(block[blocks.WAITING])[0] = block[blocks.FOUND]
    return close(known_in(block), 1)


@compiled
def close(known: Any, count: Any) -> Any:
    """Close so many states that are waiting, and whatever has no other step left then."""
    block, log = known.block, known.log
    marked, waiting = words_at(block[blocks.MARKED]), numbers_at(block[blocks.WAITING])
    level = np.uint64(block[blocks.LEVEL])
    bound = np.uint64(block[blocks.BOUND])
    closed = 0
    while count > 0:
        count -= 1
        record = waiting[count]
        log[record + blocks.RECORD_MARKS] = level << MARKS_LEVEL | MARKS_CLOSED  # L16
        marked[2 * closed] = log[record + blocks.RECORD_LOW]
        marked[2 * closed + 1] = log[record + blocks.RECORD_HIGH]
        closed += 1
        shape = log[record + blocks.RECORD_SHAPE]
        for place in range(np.int64(shape & SHAPE_COUNT_MASK)):  # L17
            arrival = log[record + blocks.RECORD_WORDS + place]
            if arrival >> ARRIVAL_COST > bound:
                continue
            before = np.int64(arrival & PLACE_MASK)
            marks = log[before + blocks.RECORD_MARKS]
            left = np.int64(0)
            if marks >> MARKS_LEVEL == level:
                left = np.int64((marks & MARKS_MASK) >> MARKS_LEFT)
            if left == 0:
                left = count_within(known, before, bound)
            if left > 1:  # L18
                log[before + blocks.RECORD_MARKS] = (
                    level << MARKS_LEVEL | np.uint64(left - 1) << MARKS_LEFT
                )
            else:
                waiting[count] = before  # L19
                count += 1
    block[blocks.MARKED_COUNT] = closed
    return blocks.DONE


@compiled
def run(address: Any) -> Any:
    block = numbers_at(address)
    operation = block[blocks.OPERATION]
    if operation == blocks.FINISH:
        return np.int64(finish(block))
    if operation == blocks.WORK_OUT:
        return np.int64(work_out(block))
    if operation == blocks.MARK:
        return np.int64(mark(block))
    if operation == blocks.REHASH:
        rehash(block)
        return np.int64(blocks.DONE)
    return np.int64(find(block))
