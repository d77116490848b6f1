"""Data races: two threads that could both move now, and would touch one data cell.

In each new state every enabled step is executed once with its footprint recorded.  For every cell
the threads that read or write it are kept as sets of bits, apart for steps that are indivisible
and steps that are not; a pair of which at least one writes and at least one is not indivisible is
a race (`docs/semantics.md`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mazurka.errors import UnsupportedError
from mazurka.ir.native import NativeProgram
from mazurka.stateful.machine import call_step, compiled
from mazurka.stateful.memory import Words
from mazurka.stateful.view import Flags, Numbers

MOST_RACING_THREADS = 64
FOOTPRINT_WORDS = 1 << 14

READ_PLAIN, WRITE_PLAIN, READ_ATOMIC, WRITE_ATOMIC = range(4)
KINDS = 4

RACE_FOUND, NO_RACE, FOOTPRINT_TOO_LONG = range(3)


class RaceTables(NamedTuple):
    footprint: Numbers
    """As `mazurka.ir.native` describes it: capacity, count, entries."""
    racing: Flags
    """Whether a cell can race at all."""
    indivisible: Flags
    """Whether the step that an edge begins is one atomic operation."""
    touched: Words
    """For each cell and kind of access the threads, as bits."""
    epoch: Words
    """For each cell the state in which `touched` was last valid."""
    clock: Words


def race_tables(
    native: NativeProgram, *, wanted: bool, like: RaceTables | None = None
) -> RaceTables:
    """Tables for a program; with `like`, room for footprints twice as long as there."""
    program = native.program
    if wanted and len(program.threads) > MOST_RACING_THREADS:
        raise UnsupportedError(
            f"races are searched for among at most {MOST_RACING_THREADS} threads,"
            f" not {len(program.threads)}"
        )
    room = FOOTPRINT_WORDS if like is None else 2 * like.footprint.size
    footprint = np.zeros(room if wanted else 3, np.int64)
    footprint[0] = footprint.size - 3
    return RaceTables(
        footprint=footprint,
        racing=np.array([cell.can_race for cell in program.cells], np.uint8),
        indivisible=np.array([edge.indivisible for edge in program.edges], np.uint8),
        touched=np.zeros(len(program.cells) * KINDS, np.uint64),
        epoch=np.zeros(len(program.cells), np.uint64),
        clock=np.zeros(1, np.uint64),
    )


@compiled
def race_at(machine: Any, races: Any, source: Any, target: Any) -> Any:
    """Whether two of the threads race in the state at address `source`."""
    races.clock[0] += np.uint64(1)
    now = races.clock[0]
    footprint = races.footprint
    place = np.int64(footprint.ctypes.data)
    most = np.int64(1)
    for thread in range(machine.threads):
        bit = np.uint64(1) << np.uint64(thread)
        choice = 0
        most = np.int64(1)
        if machine.any_choice:
            most = machine.most_choices[thread]
        while choice < most:
            footprint[1] = 0
            result = call_step(machine.recording_step, source, thread, choice, target, place)
            choice += 1
            if result < 0:
                continue
            count = footprint[1]
            if count > footprint[0]:
                return FOOTPRINT_TOO_LONG
            atomic = races.indivisible[result & 0xFFFFFFFF] != 0
            for position in range(count):
                entry = footprint[2 + position]
                cell = entry >> 1
                if races.racing[cell] == 0:
                    continue
                if note_access(races, now, cell, entry & 1, atomic, bit):
                    return RACE_FOUND
    return NO_RACE


@compiled
def note_access(races: Any, now: Any, cell: Any, write: Any, atomic: Any, bit: Any) -> Any:
    """Enter an access; whether it collides with another thread's."""
    base = cell * KINDS
    touched = races.touched
    if races.epoch[cell] != now:
        races.epoch[cell] = now
        for kind in range(KINDS):
            touched[base + kind] = np.uint64(0)
    against = touched[base + WRITE_PLAIN]
    if not atomic:
        against |= touched[base + WRITE_ATOMIC]
    if write:
        against |= touched[base + READ_PLAIN]
        if not atomic:
            against |= touched[base + READ_ATOMIC]
    if write:
        touched[base + (WRITE_ATOMIC if atomic else WRITE_PLAIN)] |= bit
    else:
        touched[base + (READ_ATOMIC if atomic else READ_PLAIN)] |= bit
    return against & ~bit != np.uint64(0)
