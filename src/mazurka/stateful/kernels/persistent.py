"""Depth-first search that tries a persistent set of threads in each state (paper 004).

`stateful.reference.stubborn` is the one to read first.  The sets are chosen in
`mazurka.stateful.kernels.persistent_choice`, once for each state, when its frame comes to the top.

The ignoring problem: a thread that is in no set along a cycle would never run.  With the proviso by
the stack a set must have a step that leads to a state which is not on the stack, or in which all
threads are tried; the other states are marked.  With the proviso by sticky locations no cycle is
without a state in which all threads are tried (`mazurka.analysis.futures`), and no mark is read.

Races are looked for among all threads of each new state, not among those of its set alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mazurka.stateful import blocks
from mazurka.stateful.kernels.hangs import hang_at
from mazurka.stateful.kernels.machine import (
    block_at,
    call_step,
    choices_at,
    compiled,
    machine_in,
    peek,
    poke,
    poke_byte,
)
from mazurka.stateful.kernels.persistent_choice import choose
from mazurka.stateful.kernels.persistent_sets import KNOWN, NONE, ONE, examined_in, first_of
from mazurka.stateful.kernels.races import RACE_FOUND, TOO_LONG, race_at
from mazurka.stateful.kernels.records import frame_of, frame_word
from mazurka.stateful.kernels.stack import note_fault, pause_at, push_initial, write_back
from mazurka.stateful.kernels.store import hash_record, insert_logged, tables_in

CHOSEN, PUSHED = blocks.FRAME_CHOSEN, blocks.FRAME_PUSHED
RACE_CHECKED = blocks.FRAME_RACE_CHECKED


@compiled
def run(address: Any) -> Any:
    """Search on until something needs Python's attention; the reason."""
    block = block_at(address)
    if block[blocks.SIZE] == 0:
        push_initial(block)
        poke_byte(block[blocks.INFO], 0, 1)
    machine, tables, at = machine_in(block), tables_in(block), examined_in(block)
    words, info = machine.words, block[blocks.INFO]
    stack, frames = block[blocks.STACK], block[blocks.PROGRESS]
    remaining = block[blocks.REMAINING]
    by_stack = block[blocks.STACK_PROVISO] != 0
    room, full_at = block[blocks.ROOM], block[blocks.FULL_AT]
    size, height, deepest = block[blocks.SIZE], block[blocks.HEIGHT], block[blocks.DEEPEST]
    transitions = block[blocks.TRANSITIONS]
    last = transitions + block[blocks.BUDGET]
    reason = blocks.DONE
    while height > 0:
        reason = pause_at(transitions, last, size, full_at, height, room)
        if reason != blocks.DONE:
            break
        top = height - 1
        position = np.int64(peek(stack, top))
        source = tables.log + 8 * words * position
        frame = frame_of(peek(frames, top))
        flags, thread, choice = frame.flags, frame.tid, frame.choice
        fresh = flags & CHOSEN == 0
        stuck = False
        if machine.race_wanted and flags & RACE_CHECKED == 0:
            outcome = race_at(machine, block, source, at.states)
            if outcome == TOO_LONG:
                reason = blocks.FOOTPRINT_FULL
                break
            flags |= RACE_CHECKED
            poke(frames, top, frame_word(flags, choice, thread, 0))
            if outcome == RACE_FOUND:
                block[blocks.FRAME] = top
                reason = blocks.RACE
                break
        if fresh:
            chosen, complete, looked_at, missing = choose(machine, block, tables, at, source)
            if missing != blocks.DONE:
                reason = missing
                break
            stuck = chosen == NONE
            if complete and by_stack:
                poke_byte(info, position, 0)
            if not stuck:
                thread = first_of(chosen)
                poke(remaining, top, chosen & (chosen - ONE))
            flags |= CHOSEN
            poke(frames, top, frame_word(flags, choice, thread, 0))
            if looked_at:
                reason = blocks.STUCK
                block[blocks.FRAME] = top
                if not stuck:
                    break
        pushed = False
        while not stuck and not pushed and reason == blocks.DONE:
            if choice >= choices_at(machine, source, thread):
                threads = peek(remaining, top)
                if threads == NONE:
                    break
                thread, choice = first_of(threads), np.int64(0)
                poke(remaining, top, threads & (threads - ONE))
            target = at.states + 8 * words * machine.threads
            if fresh and choice == 0 and (at.sets[KNOWN] >> np.uint64(thread)) & ONE != NONE:
                target = at.states + 8 * words * thread
                result = np.int64(peek(at.results, thread))
            else:
                result = call_step(machine.step, source, thread, choice, target, 0)
            choice += 1
            if result < 0:
                continue
            transitions += 1
            fault = result >> 32
            if fault < blocks.FIRST_DEAD_END:
                found = insert_logged(tables, size, words, target, hash_record(target, words))
                pushed = found == size
                if pushed:
                    flags |= PUSHED
                    size += 1
                    poke(stack, height, np.uint64(found))
                    poke(frames, height, NONE)
                    height += 1
                    deepest = max(deepest, height)
                    if by_stack:
                        poke_byte(info, found, 1)
            if fault != 0 and (machine.faults_wanted >> fault) & 1:
                reason = note_fault(block, top, thread, choice - 1)
        if pushed or reason == blocks.FAULT:
            poke(frames, top, frame_word(flags, choice, thread, 0))
        if reason == blocks.FAULT:
            break
        if pushed:
            continue
        if machine.hang_wanted and not stuck and flags & PUSHED == 0:
            poke(frames, top, frame_word(flags, choice, thread, 0))  # should there be no room
            reason = hang_at(machine, block, source)
            block[blocks.FRAME] = top
            if reason == blocks.WALK_FULL:
                break
        height -= 1
        if by_stack:
            poke_byte(info, position, 0)
        if reason != blocks.DONE:
            break
    write_back(block, size, height, deepest, transitions)
    return reason
