"""How a step moves, and whether it keeps the synchronization discipline.

The native side of `mazurka.analysis.discipline`, which defines what is done here: it looks at the
footprint that a step has left, narrows what is known of the cells, and answers with a mover, or
with BROKEN where Python has to find another assumption.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mazurka.stateful import blocks
from mazurka.stateful.kernels.machine import compiled, numbers_at, peek, poke_byte, words_at

NONE, RIGHT, LEFT, BOTH = range(4)
BROKEN, TOO_LONG = -1, -2

NEVER, ALWAYS, DATA, LOCK, COUNT, FLAG, FOREIGN, QUEUE = range(8)
"""`mazurka.analysis.laws.Law`."""

FULL_USE, BLOCKING_USE = 0, 1


class DisciplineRules(NamedTuple):
    """The tables (`mazurka.stateful.blocks` explains them)."""

    laws: Any
    uses: Any
    candidates: Any
    lock_numbers: Any
    locks: Any
    lock_count: Any
    lock_codes: Any
    edge_movers: Any
    creating: Any
    places: Any
    wake_locks: Any
    inside: Any
    group_of: Any
    owners: Any
    flags: Any
    mover_use: Any
    fixed: Any
    touched_from: Any
    place_count: Any
    footprint: Any
    footprint_place: Any


class StepAttempt(NamedTuple):
    """A step that was taken, or could not be: the states before and after it, and what it was."""

    source: Any
    target: Any
    thread: Any
    edge: Any
    fault: Any
    happened: Any
    place: Any
    """The position of the thread's location in the tables."""


@compiled
def rules_in(block: Any) -> Any:
    locks, places = block[blocks.LOCK_COUNT], block[blocks.CHOICES_LENGTH]
    return DisciplineRules(
        numbers_at(block[blocks.LAWS]),
        numbers_at(block[blocks.USES]),
        numbers_at(block[blocks.CANDIDATES]),
        numbers_at(block[blocks.LOCK_NUMBERS]),
        words_at(block[blocks.LOCKS]),
        locks,
        words_at(block[blocks.LOCK_CODES]),
        numbers_at(block[blocks.EDGE_MOVERS]),
        numbers_at(block[blocks.CREATING]),
        numbers_at(block[blocks.PLACES]),
        numbers_at(block[blocks.WAKE_LOCKS]),
        words_at(block[blocks.INSIDE]),
        words_at(block[blocks.GROUP_OF]),
        numbers_at(block[blocks.OWNERS]),
        block[blocks.RULES],
        block[blocks.MOVER_USE],
        numbers_at(block[blocks.FIXED]),
        block[blocks.TOUCHED_FROM],
        places,
        numbers_at(block[blocks.FOOTPRINT]),
        block[blocks.FOOTPRINT],
    )


@compiled
def place_of(machine: Any, state: Any, thread: Any) -> Any:
    """Where the tables describe the location of a thread in the state at an address."""
    word = peek(state, machine.counter_word[thread])
    code = (word >> machine.counter_shift[thread]) & machine.counter_mask[thread]
    return machine.choice_offset[thread] + np.int64(code)


@compiled
def mover_of(machine: Any, block: Any, rules: Any, attempt: Any, recorded: Any) -> Any:
    """How a step moves, as far as the search makes use of it; or BROKEN, or TOO_LONG."""
    if rules.flags & blocks.RULE_REDUCES == 0:
        return NONE
    mover = BOTH
    if recorded:
        footprint = rules.footprint
        if footprint[1] > footprint[0]:
            return TOO_LONG
        for position in range(footprint[1]):
            entry = footprint[2 + position]
            moved = access(machine, rules, attempt, entry >> 1, entry & 1 == 1)
            if moved < 0:
                block[blocks.BROKEN_CELL] = entry >> 1
                return BROKEN
            mover &= moved
    elif attempt.happened:
        mover = rules.fixed[attempt.edge]
    if attempt.happened and changes_access(machine, rules, attempt):
        return NONE
    if mover == BOTH or rules.mover_use == FULL_USE:
        return mover
    return mover & LEFT if rules.mover_use == BLOCKING_USE else NONE


@compiled
def changes_access(machine: Any, rules: Any, attempt: Any) -> Any:
    """Whether a step changes an exclusive access predicate."""
    if rules.flags & (blocks.RULE_HANDOVER | blocks.RULE_GROUPS) == 0:
        return False
    after = place_of(machine, attempt.target, attempt.thread)
    if rules.flags & blocks.RULE_HANDOVER and rules.places[after] & blocks.PLACE_FINISHED:
        return True
    return rules.inside[attempt.place] != rules.inside[after]


@compiled
def access(machine: Any, rules: Any, attempt: Any, cell: Any, write: Any) -> Any:
    law = rules.laws[cell]
    if law == DATA:
        return data_access(machine, rules, attempt, cell, write)
    if law == LOCK:
        return lock_access(machine, rules, attempt, cell, write)
    if law == NEVER:
        return NONE
    if law == ALWAYS:
        return BOTH
    if law == FOREIGN:
        return foreign_access(machine, rules, attempt, cell, write)
    return rules.edge_movers[attempt.edge] if attempt.happened else BOTH


@compiled
def lock_code(rules: Any, lock: Any, state: Any) -> Any:
    """The code of a lock's owner in the state at an address."""
    base = lock * blocks.LOCK_FIELDS
    word = peek(state, np.int64(rules.locks[base + blocks.LOCK_WORD]))
    return (word >> rules.locks[base + blocks.LOCK_SHIFT]) & rules.locks[base + blocks.LOCK_MASK]


@compiled
def has_flag(rules: Any, lock: Any, flag: Any) -> Any:
    flags = rules.locks[lock * blocks.LOCK_FIELDS + blocks.LOCK_FLAGS]
    return flags & np.uint64(flag) != np.uint64(0)


@compiled
def lock_access(machine: Any, rules: Any, attempt: Any, cell: Any, write: Any) -> Any:
    lock = rules.lock_numbers[cell] - 1
    mine = rules.lock_codes[lock * machine.threads + attempt.thread]
    free = rules.locks[lock * blocks.LOCK_FIELDS + blocks.LOCK_FREE]
    before = lock_code(rules, lock, attempt.source)
    after = lock_code(rules, lock, attempt.target) if attempt.happened else before
    waits_here = rules.places[attempt.place] & blocks.PLACE_WAITS != 0
    if before == mine and after == mine:
        return BOTH if has_flag(rules, lock, blocks.LOCK_EXCLUSIVE) else NONE
    movable = has_flag(rules, lock, blocks.LOCK_MOVABLE)
    if before == mine and after == free:
        return LEFT if movable else NONE
    taken = before == free and after == mine
    if taken and waits_here:
        return RIGHT if movable else NONE
    if not taken and (before != after or (write and attempt.happened)):
        return BROKEN if has_flag(rules, lock, blocks.LOCK_EXCLUSIVE) else NONE
    if not attempt.happened and waits_here:
        return BOTH
    if attempt.fault == 0 and movable:
        return BROKEN
    return NONE


@compiled
def foreign_access(machine: Any, rules: Any, attempt: Any, cell: Any, write: Any) -> Any:
    if attempt.fault != 0 and not write:
        return NONE
    owner = rules.owners[cell] - 1
    idle = rules.places[place_of(machine, attempt.source, owner)] & blocks.PLACE_IDLE
    if attempt.happened and idle and rules.creating[attempt.edge]:
        return NONE if rules.flags & blocks.RULE_GROUPS else rules.edge_movers[attempt.edge]
    return BROKEN


@compiled
def holds(machine: Any, rules: Any, attempt: Any, lock: Any) -> Any:
    """Whether the thread holds a lock before the step, or is certain to hold it after it."""
    if not has_flag(rules, lock, blocks.LOCK_EXCLUSIVE):
        return False
    mine = rules.lock_codes[lock * machine.threads + attempt.thread]
    if lock_code(rules, lock, attempt.source) == mine:
        return True
    if attempt.happened:
        certain = rules.places[attempt.place] & blocks.PLACE_TAKES != 0
        return certain and lock_code(rules, lock, attempt.target) == mine
    return rules.wake_locks[attempt.place] == lock + 1


@compiled
def alone(machine: Any, rules: Any, attempt: Any) -> Any:
    """Whether no other thread runs."""
    for other in range(machine.threads):
        if other != attempt.thread:
            place = rules.places[place_of(machine, attempt.source, other)]
            if place & (blocks.PLACE_FINISHED | blocks.PLACE_IDLE) == 0:
                return False
    return True


@compiled
def data_access(machine: Any, rules: Any, attempt: Any, cell: Any, write: Any) -> Any:
    if rules.flags & blocks.RULE_HANDOVER and alone(machine, rules, attempt):
        return BOTH
    poke_byte(rules.touched_from, cell * rules.place_count + attempt.place, 1)
    if rules.group_of[cell] != np.uint64(0):
        return owned_access(machine, rules, attempt, cell)
    use = rules.uses[cell]
    declared = use & blocks.USE_DECLARED
    first, me = use & blocks.USE_MANY, attempt.thread + 1
    if first == 0 and not declared:
        remember_locks(machine, rules, attempt, cell)
        first = me
    elif first != me:
        first = me if first == 0 else blocks.USE_MANY
    kept, lost = count_locks(machine, rules, attempt, cell)
    written = (use & blocks.USE_WRITTEN) | (blocks.USE_WRITTEN if write else 0)
    rules.uses[cell] = first | written | declared
    if declared:
        return BROKEN if lost or (first == blocks.USE_MANY and kept == 0) else BOTH
    if lost:
        drop_locks(machine, rules, attempt, cell)
    return BROKEN if first == blocks.USE_MANY and written and kept == 0 else BOTH


@compiled
def remember_locks(machine: Any, rules: Any, attempt: Any, cell: Any) -> Any:
    """At the first access: the locks that are held."""
    count = 0
    base = cell * blocks.MOST_CANDIDATES
    for lock in range(rules.lock_count):
        if count < blocks.MOST_CANDIDATES and holds(machine, rules, attempt, lock):
            rules.candidates[base + count] = lock + 1
            count += 1
    for position in range(count, blocks.MOST_CANDIDATES):
        rules.candidates[base + position] = 0


@compiled
def count_locks(machine: Any, rules: Any, attempt: Any, cell: Any) -> Any:
    """How many of a cell's locks the thread holds, and how many it does not."""
    kept, lost = 0, 0
    base = cell * blocks.MOST_CANDIDATES
    for position in range(base, base + blocks.MOST_CANDIDATES):
        lock = rules.candidates[position]
        if lock == 0:
            break
        if holds(machine, rules, attempt, lock - 1):
            kept += 1
        else:
            lost += 1
    return kept, lost


@compiled
def drop_locks(machine: Any, rules: Any, attempt: Any, cell: Any) -> Any:
    """Keep those of a cell's locks that the thread holds."""
    base = cell * blocks.MOST_CANDIDATES
    kept = base
    for position in range(base, base + blocks.MOST_CANDIDATES):
        lock = rules.candidates[position]
        if lock != 0 and holds(machine, rules, attempt, lock - 1):
            rules.candidates[kept] = lock
            kept += 1
    for position in range(kept, base + blocks.MOST_CANDIDATES):
        rules.candidates[position] = 0


@compiled
def owned_access(machine: Any, rules: Any, attempt: Any, cell: Any) -> Any:
    """A cell that is handed over: this thread, and no other, must stand in its regions."""
    group = rules.group_of[cell]
    for thread in range(machine.threads):
        inside = rules.inside[place_of(machine, attempt.source, thread)] & group
        if (inside != np.uint64(0)) != (thread == attempt.thread):
            return BROKEN
    return BOTH
