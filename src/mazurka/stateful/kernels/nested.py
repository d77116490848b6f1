"""Nested depth-first search for accepting cycles, in the product of a program and an automaton.

Schwoon and Esparza, "A note on on-the-fly verification algorithms" (2005), figure 1: the outer
search colours states cyan while they are on its stack and blue when it leaves them; before it
leaves an accepting one, the inner search colours red what can be reached from there, and a cyan
state that it meets closes a cycle.  A step of the outer search to a cyan state closes one at once
if either end is accepting.

A record is a state of the program and of the automaton's thread, and a word for the *level*: how
many conditions in a row have been met since the last accepting record.  Level 0 waits for an
accepting state of the automaton, level k for condition k; the last level is the accepting one and
goes on as level 0 (`mazurka.ltl.automata.degeneralize` has the argument).

The moves of a record are numbered: the automaton's choice, the thread's choice, the thread; behind
the last thread comes staying, for states in which nobody can move.  A frame holds the number of the
next one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mazurka.stateful import blocks
from mazurka.stateful.kernels.machine import (
    block_at,
    call_step,
    choices_at,
    compiled,
    machine_in,
    numbers_at,
    peek,
    peek_byte,
    poke,
    poke_byte,
)
from mazurka.stateful.kernels.stack import pause_at, push_initial, write_back
from mazurka.stateful.kernels.store import (
    NOTHING,
    copy_words,
    hash_record,
    insert_logged,
    tables_in,
)

ONE = np.uint64(1)
STOPS = -2
"""What the step function says of a thread that an assumption stops."""


@compiled
def note_abilities(machine: Any, block: Any, source: Any, frame: Any, scratch: Any) -> Any:
    """Find out which threads can move in a state, and which are stopped."""
    able, stopped = NOTHING, NOTHING
    for thread in range(block[blocks.CLAIM]):
        if machine.observers[thread] != 0:
            continue
        bit = ONE << np.uint64(thread)
        stops = False
        for choice in range(choices_at(machine, source, thread)):
            result = call_step(machine.step, source, thread, choice, scratch, 0)
            if result >= 0:
                able |= bit
                break
            stops = stops or result == STOPS
        if stops and able & bit == NOTHING:
            stopped |= bit
    poke(block[blocks.ABLE_AT], frame, able)
    poke(block[blocks.STOPPED_AT], frame, stopped)


@compiled
def is_accepting(machine: Any, block: Any, source: Any) -> Any:
    """Whether the automaton's state is an accepting one."""
    claim = block[blocks.CLAIM]
    word = peek(source, machine.counter_word[claim])
    code = (word >> machine.counter_shift[claim]) & machine.counter_mask[claim]
    return numbers_at(block[blocks.ACCEPTING])[np.int64(code)] != 0


@compiled
def next_level(machine: Any, block: Any, source: Any, frame: Any, mover: Any) -> Any:
    """The level behind a step of `mover` from the record at `source`."""
    count = block[blocks.CONDITION_COUNT]
    conditions = numbers_at(block[blocks.CONDITIONS])
    able, stopped = peek(block[blocks.ABLE_AT], frame), peek(block[blocks.STOPPED_AT], frame)
    level = np.int64(peek(source, machine.words - 1))
    if level == count + 1:
        level = np.int64(0)
    if level == 0:
        if not is_accepting(machine, block, source):
            return np.int64(0)
        level = np.int64(1)
    while level <= count:
        thread, fair = conditions[2 * level - 2], conditions[2 * level - 1]
        bit = ONE << np.uint64(thread)
        met = stopped & bit == NOTHING
        if fair != 0:
            met = thread == mover or able & bit == NOTHING
        if not met:
            break
        level += 1
    return level


@compiled
def make_successor(machine: Any, block: Any, source: Any, frame: Any, number: Any) -> Any:
    """Make the first successor from move `number` on, in the buffer; the number behind its move.

    0: there is none.  A step that fails has none: faults are looked for by other searches.
    """
    words, claim = machine.words, block[blocks.CLAIM]
    moves, claims = block[blocks.MOST_MOVES], block[blocks.MOST_CLAIMS]
    able = peek(block[blocks.ABLE_AT], frame)
    half, target = block[blocks.BUFFER] + 8 * words, block[blocks.BUFFER]
    end = (claim * moves + 1) * claims
    possible = choices_at(machine, source, claim)
    while number < end:
        turn, chosen = number // claims, number % claims
        thread, choice = turn // moves, turn % moves
        number += 1
        if thread < claim:
            if able & (ONE << np.uint64(thread)) == NOTHING:
                number = (thread + 1) * moves * claims
                continue
            if choice >= choices_at(machine, source, thread):
                number = (thread + 1) * moves * claims
                continue
        elif able != NOTHING:
            return np.int64(0)
        if chosen >= possible:
            number = (turn + 1) * claims
            continue
        result = call_step(machine.step, source, claim, chosen, half, 0)
        if result < 0:
            continue
        if thread < claim:
            result = call_step(machine.step, half, thread, choice, target, 0)
            if result < 0 or result >> 32 != 0:
                continue
        else:
            copy_words(target, half, words)
        level = next_level(machine, block, source, frame, thread)
        poke(target, words - 1, np.uint64(level))
        return np.int64(number)
    return np.int64(0)


@compiled
def run(address: Any) -> Any:
    """Search on until something needs Python's attention; the reason."""
    block = block_at(address)
    colours = block[blocks.COLOURS]
    if block[blocks.SIZE] == 0:
        push_initial(block)
        poke(block[blocks.STACK], 0, NOTHING)
        poke(block[blocks.PROGRESS], 0, NOTHING)
        poke_byte(colours, 0, blocks.COLOUR_CYAN)
    machine = machine_in(block)
    tables = tables_in(block)
    words = machine.words
    last_level = np.uint64(block[blocks.CONDITION_COUNT] + 1)
    room, full_at = block[blocks.ROOM], block[blocks.FULL_AT]
    stack, frames = block[blocks.STACK], block[blocks.PROGRESS]
    size, height, deepest = block[blocks.SIZE], block[blocks.HEIGHT], block[blocks.DEEPEST]
    red_base = block[blocks.RED_BASE]
    transitions = block[blocks.TRANSITIONS]
    last = transitions + block[blocks.BUDGET]
    record = block[blocks.BUFFER]
    reason = blocks.DONE
    while height > 0:
        reason = pause_at(transitions, last, size, full_at, height + 1, room)
        if reason != blocks.DONE:
            break
        top = height - 1
        position = np.int64(peek(stack, top))
        source = tables.log + 8 * words * position
        progress = np.int64(peek(frames, top))
        if progress == 0:
            note_abilities(machine, block, source, top, record)
        following = make_successor(machine, block, source, top, progress)
        accepting = peek(source, words - 1) == last_level
        if following != 0:
            poke(frames, top, np.uint64(following))
            transitions += 1
            reached = insert_logged(tables, size, words, record, hash_record(record, words))
            if reached == size:
                size += 1
            colour = peek_byte(colours, reached)
            if red_base == 0:
                ends = accepting or peek(record, words - 1) == last_level
                closes = colour == blocks.COLOUR_CYAN and ends
                wanted = colour == blocks.COLOUR_WHITE
                painted = blocks.COLOUR_CYAN
            else:
                closes = colour == blocks.COLOUR_CYAN
                wanted = colour == blocks.COLOUR_BLUE
                painted = blocks.COLOUR_RED
            if closes:
                block[blocks.FRAME], block[blocks.CLOSED_AT] = top, reached
                reason = blocks.CYCLE
                break
            if wanted:
                poke_byte(colours, reached, painted)
                poke(stack, height, np.uint64(reached))
                poke(frames, height, NOTHING)
                height += 1
                deepest = max(deepest, height)
            continue
        if red_base != 0:
            height -= 1
            if height == red_base:
                poke_byte(colours, np.int64(peek(stack, height - 1)), blocks.COLOUR_RED)
                height -= 1
                red_base = 0
        elif accepting:
            red_base = height
            poke(stack, height, np.uint64(position))
            poke(frames, height, NOTHING)
            height += 1
        else:
            poke_byte(colours, position, blocks.COLOUR_BLUE)
            height -= 1
    block[blocks.RED_BASE] = red_base
    write_back(block, size, height, deepest, transitions)
    return reason
