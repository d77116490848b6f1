"""A program as the compiled searches see it: addresses and small tables, nothing else."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from mazurka.errors import UnsupportedError
from mazurka.ir.native import NativeProgram
from mazurka.ir.program import FAULTS, Fault
from mazurka.stateful.machine import compiled
from mazurka.stateful.memory import Words
from mazurka.stateful.strategy import SearchOptions

Numbers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Flags: TypeAlias = np.ndarray[Any, np.dtype[np.uint8]]

MOST_THREADS = 255
MOST_CHOICES = 65_535


class Machine(NamedTuple):
    """The program, as the loop sees it."""

    step: int
    recording_step: int
    """The variant that reports footprints; 0 where nothing needs it."""
    words: int
    threads: int
    counter_word: Numbers
    counter_shift: Words
    counter_mask: Words
    choice_offset: Numbers
    choices: Numbers
    """The number of choices at each location code, all threads behind each other."""
    observer: Flags
    most_choices: Numbers
    """The largest number of choices a thread has anywhere."""
    any_choice: bool
    faults_wanted: int
    """Bit k: a fault with code k ends the search or is reported."""
    deadlock_wanted: bool
    race_wanted: bool


@compiled
def choices_at(machine: Any, states: Any, start: Any, thread: Any) -> Any:
    """How many choices a thread has in the state at `states[start:]`."""
    word = states[start + machine.counter_word[thread]]
    code = (word >> machine.counter_shift[thread]) & machine.counter_mask[thread]
    return machine.choices[machine.choice_offset[thread] + np.int64(code)]


def view(native: NativeProgram, options: SearchOptions) -> Machine:
    """The tables of a program for a search with the given options."""
    program, layout = native.program, native.layout
    threads = len(program.threads)
    if threads > MOST_THREADS:
        raise UnsupportedError(f"{threads} threads; a search takes at most {MOST_THREADS}")
    word, shift, mask, offsets = [], [], [], []
    choices: list[int] = []
    for number, thread in enumerate(program.threads):
        slot = layout.slots[thread.counter]
        word.append(slot.word)
        shift.append(slot.shift)
        mask.append(slot.mask)
        offsets.append(len(choices))
        bounds = layout.choices[number]
        for code in range(1 << slot.width):
            known = slot.points is None or code < len(slot.points)
            location = slot.decode(code) if known else 0
            choices.append(bounds[location] if location < len(bounds) else 1)
    most = max(choices)
    if most > MOST_CHOICES:
        raise UnsupportedError(
            f"a step has {most:,} nondeterministic outcomes; a search takes at most"
            f" {MOST_CHOICES:,}: split the choice into several"
        )
    unwanted = set() if "assert" in options.properties else {Fault.ASSERT}
    return Machine(
        step=native.step.address,
        recording_step=native.recording_step.address if "race" in options.properties else 0,
        words=layout.words,
        threads=threads,
        counter_word=np.array(word, np.int64),
        counter_shift=np.array(shift, np.uint64),
        counter_mask=np.array(mask, np.uint64),
        choice_offset=np.array(offsets, np.int64),
        choices=np.array(choices, np.int64),
        observer=np.array([thread.observer for thread in program.threads], np.uint8),
        most_choices=np.array([max(bounds) for bounds in layout.choices], np.int64),
        any_choice=most > 1,
        faults_wanted=sum(
            1 << code for code, fault in enumerate(FAULTS, 1) if fault not in unwanted
        ),
        deadlock_wanted="deadlock" in options.properties,
        race_wanted="race" in options.properties,
    )
