"""Depth-first search over transactions: Fig. 6 and 7 of paper 000, and what replaces its line 18.

`stateful.reference.cpc` has the same algorithm in plain Python, with the paper's names, and is
the one to read first; line tags are the paper's.  Here a record is a frame of two words, the
position of its state in the log and its fields, and `Update` (L24 to L26) changes the frame in
place instead of popping one record and pushing the next.  The table's copy of a record keeps what
L10 and L11 and cycle detection ask for: whether the state was seen, its CPC flag, whether it is on
the stack.

The phase is part of the paper's states.  Only the thread whose transaction is being explored can be
before its commit, so a program state is stored once, with one bit for the committed variant and one
for each thread that was here before its commit.  `SIZE` thus counts program states without phases.

In a state where all threads are explored anyway, several successors are made before the first one
is looked up, so that the table's entries are on their way (as in `kernels.successors`).

With INNER_LOOP, both-movers that are a thread's only choice are run through without storing the
states between them, up to the next state that heads a loop: paper 002's coarse step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mazurka.stateful import blocks
from mazurka.stateful.kernels.discipline import (
    BOTH,
    BROKEN,
    LEFT,
    RIGHT,
    StepAttempt,
    mover_of,
    place_of,
    rules_in,
)
from mazurka.stateful.kernels.hangs import hang_at
from mazurka.stateful.kernels.machine import (
    block_at,
    call_step,
    compiled,
    machine_in,
    peek,
    peek_byte,
    poke,
    poke_byte,
    prefetch,
)
from mazurka.stateful.kernels.races import RACE_FOUND, race_at
from mazurka.stateful.kernels.races import TOO_LONG as RACE_TOO_LONG
from mazurka.stateful.kernels.records import (
    CPC,
    LM,
    MOVER_BITS,
    PHASE,
    RM,
    XEND,
    RecordFrame,
    batch_in,
    frame_of,
    frame_word,
    mark_cpc,
    variant,
)
from mazurka.stateful.kernels.stack import (
    note_end,
    note_fault,
    pause_at,
    push_initial,
    write_back,
)
from mazurka.stateful.kernels.store import (
    fetch_logged,
    fetch_slot,
    hash_record,
    insert_logged,
    slot_position,
    tables_in,
)

WAITS, STOPPED, ENDED, INVALID = -1, -2, -3, -4
LOW_WORD = 0xFFFFFFFF
CYCLES, COMMIT_POINTS, EVERY_STATE = 1, 2, 3

LARGE = 1 << 15
"""From this many states on the table no longer fits the caches."""


@compiled
def attempt_step(
    machine: Any, rules: Any, source: Any, thread: Any, choice: Any, target: Any
) -> Any:
    """Execute a step, recorded where it can touch anything shared; with what is known of it."""
    place = place_of(machine, source, thread)
    recorded = rules.places[place] & blocks.PLACE_RECORDS != 0
    if recorded:
        rules.footprint[1] = 0
        result = call_step(
            machine.recording_step, source, thread, choice, target, rules.footprint_place
        )
    else:
        result = call_step(machine.step, source, thread, choice, target, 0)
    happened = result >= 0
    edge = result & LOW_WORD if happened else np.int64(0)
    fault = result >> 32 if happened else np.int64(0)
    return result, recorded, StepAttempt(source, target, thread, edge, fault, happened, place)


@compiled
def run_through(machine: Any, block: Any, rules: Any, thread: Any, target: Any, spare: Any) -> Any:
    """Go on from the state at `target` by both-movers that are the thread's only choice.

    Where it stops, the state is left at `target`.  Returns how many steps were taken, negative if
    the discipline was broken or a footprint was too long.
    """
    taken = 0
    while True:
        place = place_of(machine, target, thread)
        if rules.places[place] & blocks.PLACE_HEAD or machine.choices[place] != 1:
            return taken
        result, recorded, attempt = attempt_step(machine, rules, target, thread, np.int64(0), spare)
        if result in (ENDED, INVALID):
            return taken
        mover = mover_of(machine, block, rules, attempt, recorded)
        if mover < 0:
            return mover
        if result < 0 or mover != BOTH or attempt.fault != 0:
            return taken
        for word in range(machine.words):
            poke(target, word, peek(spare, word))
        taken += 1


@compiled
def is_initial(machine: Any, block: Any, source: Any, thread: Any) -> Any:
    """Fig. 5: whether a thread's local store is the initial one."""
    masks = block[blocks.INITIAL_MASKS] + 8 * machine.words * thread
    for word in range(machine.words):
        different = peek(source, word) ^ peek(block[blocks.INITIAL], word)
        if different & peek(masks, word) != np.uint64(0):
            return False
    return True


@compiled
def must_end(machine: Any, block: Any, flags: Any, source: Any, tid: Any) -> Any:
    """L18 and L19, or what takes their place: whether a committed transaction ends here."""
    if flags & blocks.FRAME_SUCCESSOR == 0:
        return True
    completion = block[blocks.COMPLETION]
    if completion == COMMIT_POINTS:
        return flags & (CPC | RM) == 0
    if completion == EVERY_STATE:
        return flags & CPC == 0
    if completion == CYCLES:
        return flags & blocks.FRAME_CLOSES_CYCLE != 0
    return is_initial(machine, block, source, tid)


@compiled
def start(block: Any) -> Any:
    """L0 to L2."""
    push_initial(block)
    seen = blocks.INFO_COMMITTED | blocks.INFO_CPC | blocks.INFO_ON_STACK
    poke_byte(block[blocks.INFO], 0, seen)
    poke(block[blocks.STACK], 0, np.uint64(0))
    poke(block[blocks.PROGRESS], 0, frame_word(XEND | CPC, 0, 0, 1))


@compiled
def execute(
    machine: Any,
    tables: Any,
    rules: Any,
    block: Any,
    batch: Any,
    source: Any,
    frame: Any,
    most: Any,
) -> Any:
    """Execute up to `most` steps from a state, by `frame.tid`, and where XEND is set by all.

    Returns how many there are, the frame behind them, and DONE, or why Python is needed.
    """
    flags, choice, tid, num_tids = frame.flags, frame.choice, frame.tid, frame.num_tids
    inner_loop = block[blocks.INNER_LOOP] != 0
    words, count, reason = machine.words, 0, blocks.DONE
    while count < most:
        if choice >= machine.choices[place_of(machine, source, tid)]:
            if flags & XEND == 0 or num_tids == machine.threads:
                break
            tid, num_tids, choice = (tid + 1) % machine.threads, num_tids + 1, np.int64(0)  # L25
            continue
        target = batch.states + 8 * words * count
        result, recorded, attempt = attempt_step(machine, rules, source, tid, choice, target)  # L6
        if result in (ENDED, INVALID):
            choice += 1
            continue
        mover = mover_of(machine, block, rules, attempt, recorded)
        extra = np.int64(0)
        if inner_loop and result >= 0 and mover >= 0 and attempt.fault == 0:
            extra = run_through(machine, block, rules, tid, target, batch.spare)
        if mover < 0 or extra < 0:
            broken = mover == BROKEN or extra == BROKEN
            reason = blocks.BROKEN if broken else blocks.FOOTPRINT_FULL
            break
        choice += 1  # L16
        if result < 0:
            if machine.observers[tid] == 0:
                flags |= blocks.FRAME_WAITING if result == WAITS else blocks.FRAME_STOPPED
            if flags & PHASE == 0 and rules.places[attempt.place] & blocks.PLACE_AWAITS:
                flags |= XEND | CPC
            continue
        if machine.observers[tid] == 0:
            flags |= blocks.FRAME_MOVED
        hashed = hash_record(target, words)
        fetch_slot(tables, hashed)
        poke(batch.hashes, count, hashed)
        poke(batch.frames, count, frame_word(flags, choice, tid, num_tids))
        poke(batch.results, count, np.uint64(mover | (attempt.fault << MOVER_BITS)))
        poke(batch.lengths, count, np.uint64(1 + extra))
        count += 1
    return count, RecordFrame(flags, choice, tid, num_tids), reason


@compiled
def run(address: Any) -> Any:
    """Search on until something needs Python's attention; the reason."""
    block = block_at(address)
    if block[blocks.SIZE] == 0:
        start(block)
    machine, tables, rules = machine_in(block), tables_in(block), rules_in(block)
    batch, words = batch_in(block), machine.words
    stack, frames, info = block[blocks.STACK], block[blocks.PROGRESS], block[blocks.INFO]
    info_bytes = block[blocks.INFO_BYTES]
    room, full_at = block[blocks.ROOM], block[blocks.FULL_AT]
    size, height, deepest = block[blocks.SIZE], block[blocks.HEIGHT], block[blocks.DEEPEST]
    transitions = block[blocks.TRANSITIONS]
    last = transitions + block[blocks.BUDGET]
    reason = blocks.DONE
    while height > 0:  # L3
        reason = pause_at(transitions, last, size, full_at, height, room)
        if reason != blocks.DONE:
            break
        top = height - 1
        frame = frame_of(peek(frames, top))  # L4
        position = np.int64(peek(stack, top))
        source = tables.log + 8 * words * position
        most = np.int64(1)
        if size > LARGE and frame.flags & XEND:
            most = block[blocks.MOST_SUCCESSORS]
        count, behind, needed = execute(machine, tables, rules, block, batch, source, frame, most)
        if needed != blocks.DONE and count == 0:
            block[blocks.FRAME] = top
            block[blocks.MOVE_THREAD], block[blocks.MOVE_CHOICE] = behind.tid, behind.choice
            poke(frames, top, frame_word(behind.flags, behind.choice, behind.tid, behind.num_tids))
            reason = needed
            break
        if behind.num_tids > frame.num_tids and top > 0:
            mark_cpc(frames, info, stack, info_bytes, top - 1)  # L22, L23
        if count > 1:
            for successor in range(count):
                hashed = peek(batch.hashes, successor)
                fetch_logged(tables, words, hashed)
                prefetch(info + info_bytes * slot_position(tables, hashed))
        pushed = False
        flags = behind.flags
        for successor in range(count):
            here = frame_of(peek(batch.frames, successor))
            result = np.int64(peek(batch.results, successor))
            mover, fault = result & BOTH, result >> MOVER_BITS
            transitions += np.int64(peek(batch.lengths, successor))
            if flags & PHASE == 0 and mover & LEFT == 0:
                flags |= XEND  # L7
            if flags & XEND:
                flags |= CPC  # L8
            if fault != 0 and (machine.faults_wanted >> fault) & 1:
                reason = note_fault(block, top, here.tid, here.choice - 1)
            if fault >= blocks.FIRST_DEAD_END:
                if flags & PHASE == 0:
                    flags |= XEND | CPC
            else:
                flags |= blocks.FRAME_SUCCESSOR
                phase = mover & RIGHT != 0 and (flags & PHASE != 0 or mover & LEFT == 0)
                target = batch.states + 8 * words * successor
                hashed = peek(batch.hashes, successor)
                found = insert_logged(tables, size, words, target, hashed)
                if found == size:
                    size += 1
                byte, bit = variant(phase, here.tid)
                known = peek_byte(info, found * info_bytes + byte)
                if known & bit:  # L9, L10
                    if known & blocks.INFO_CPC and not phase:
                        flags |= CPC  # L11
                    if known & blocks.INFO_ON_STACK and not phase:
                        flags |= blocks.FRAME_CLOSES_CYCLE
                else:  # L12
                    pushed = True
                    flags |= blocks.FRAME_PUSHED
                    if not phase:
                        bit |= blocks.INFO_ON_STACK
                    poke_byte(info, found * info_bytes + byte, known | bit)  # L13
                    fresh = (PHASE if phase else 0) | (LM if mover & LEFT else 0)
                    fresh |= RM if mover & RIGHT else 0
                    poke(stack, height, np.uint64(found))  # L14
                    poke(frames, height, frame_word(fresh, 0, here.tid, 1))
                    height += 1
                    deepest = max(deepest, height)
            if pushed or reason != blocks.DONE:
                behind = RecordFrame(behind.flags, here.choice, here.tid, here.num_tids)
                break
        poke(frames, top, frame_word(flags, behind.choice, behind.tid, behind.num_tids))
        if flags & CPC:
            mark_cpc(frames, info, stack, info_bytes, top)
        if reason != blocks.DONE:
            break
        if pushed or count > 0:
            continue
        if flags & (PHASE | XEND) == 0 and must_end(machine, block, flags, source, behind.tid):
            flags |= XEND | CPC  # L18, L19, L20
            poke(frames, top, frame_word(flags, behind.choice, behind.tid, behind.num_tids))
            mark_cpc(frames, info, stack, info_bytes, top)
        if flags & CPC and top > 0:
            mark_cpc(frames, info, stack, info_bytes, top - 1)  # L22, L23
        if flags & XEND and behind.num_tids < machine.threads:  # L24
            continue
        if flags & XEND and machine.race_wanted and flags & blocks.FRAME_RACE_CHECKED == 0:
            outcome = race_at(machine, block, source, batch.states)
            if outcome == RACE_TOO_LONG:
                reason = blocks.FOOTPRINT_FULL
                break
            flags |= blocks.FRAME_RACE_CHECKED
            poke(frames, top, frame_word(flags, behind.choice, behind.tid, behind.num_tids))
            if outcome == RACE_FOUND:
                block[blocks.FRAME] = top
                reason = blocks.RACE
                break
        if machine.hang_wanted and flags & blocks.FRAME_PUSHED == 0:
            reason = hang_at(machine, block, source)
            block[blocks.FRAME] = top
            if reason == blocks.WALK_FULL:
                break
        height -= 1  # L21
        if flags & PHASE == 0:
            place = position * info_bytes
            poke_byte(info, place, peek_byte(info, place) & ~blocks.INFO_ON_STACK)
        if reason != blocks.DONE:
            break
        if flags & XEND and machine.deadlock_wanted and flags & blocks.FRAME_MOVED == 0:
            waits, stopped = flags & blocks.FRAME_WAITING != 0, flags & blocks.FRAME_STOPPED != 0
            if note_end(block, waits, stopped):
                block[blocks.FRAME] = top
                reason = blocks.STUCK
                break
    write_back(block, size, height, deepest, transitions)
    return reason
