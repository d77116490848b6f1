"""Data races: two threads that could both move now, and would touch one data cell.

In each new state every enabled step is executed once with its footprint recorded.  For every cell
the threads that read or write it are kept as sets of bits, apart for steps that are indivisible
and steps that are not; a pair of which at least one writes and at least one is not indivisible is
a race (`docs/semantics.md`).  Threads that only watch a property do not race.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mazurka.stateful import blocks
from mazurka.stateful.kernels.machine import call_step, compiled, numbers_at, words_at

READ_PLAIN, WRITE_PLAIN, READ_ATOMIC, WRITE_ATOMIC = range(4)
KINDS = 4

RACE_FOUND, NO_RACE, TOO_LONG = range(3)


@compiled
def race_at(machine: Any, block: Any, source: Any, target: Any) -> Any:
    """Whether two of the threads race in the state at address `source`."""
    block[blocks.CLOCK] += 1
    footprint = numbers_at(block[blocks.FOOTPRINT])
    racing = numbers_at(block[blocks.RACING])
    indivisible = numbers_at(block[blocks.INDIVISIBLE])
    place = block[blocks.FOOTPRINT]
    for thread in range(machine.threads):
        if machine.observers[thread] != 0:
            continue
        bit = np.uint64(1) << np.uint64(thread)
        for choice in range(machine.most_choices[thread]):
            footprint[1] = 0
            result = call_step(machine.recording_step, source, thread, choice, target, place)
            if result < 0:
                continue
            if footprint[1] > footprint[0]:
                return TOO_LONG
            atomic = indivisible[result & 0xFFFFFFFF] != 0
            for position in range(footprint[1]):
                entry = footprint[2 + position]
                if racing[entry >> 1] != 0 and note_access(
                    block, entry >> 1, entry & 1 == 1, atomic, bit
                ):
                    return RACE_FOUND
    return NO_RACE


@compiled
def note_access(block: Any, cell: Any, write: Any, atomic: Any, bit: Any) -> Any:
    """Enter an access; whether it collides with another thread's."""
    touched = words_at(block[blocks.TOUCHED])
    epoch = numbers_at(block[blocks.EPOCH])
    base = cell * KINDS
    if epoch[cell] != block[blocks.CLOCK]:
        epoch[cell] = block[blocks.CLOCK]
        for kind in range(KINDS):
            touched[base + kind] = np.uint64(0)
    against = touched[base + WRITE_PLAIN]
    if not atomic:
        against |= touched[base + WRITE_ATOMIC]
    if write:
        against |= touched[base + READ_PLAIN]
        if not atomic:
            against |= touched[base + READ_ATOMIC]
        touched[base + (WRITE_ATOMIC if atomic else WRITE_PLAIN)] |= bit
    else:
        touched[base + (READ_ATOMIC if atomic else READ_PLAIN)] |= bit
    return against & ~bit != np.uint64(0)
