"""The step function of a program in plain Python, where there is no compiler.

It does what the native step function does (`mazurka.ir.native.step`), with packed states at
addresses, and takes the steps from the reference interpreter.  Searches give kernels a function by
its address.  A plain step has a number instead, under which kernels in plain Python find it.
"""

from __future__ import annotations

import ctypes
import itertools
from functools import cached_property
from typing import Any
from weakref import WeakValueDictionary

from mazurka.ir.interpreter import Outcome, State, Step
from mazurka.ir.native.layout import Layout
from mazurka.ir.program import FAULTS, Fault
from mazurka.ir.remembering import share_interpreter
from mazurka.ir.symmetry import Symmetry

WAITS = -1
STOPPED = -2
ENDED = -3
INVALID = -4
CODES = {
    Outcome.WAITS: WAITS,
    Outcome.STOPPED: STOPPED,
    Outcome.FINISHED: ENDED,
    Outcome.INVALID: INVALID,
}
plain_steps: WeakValueDictionary[int, PlainStep] = WeakValueDictionary()
"""The step functions by their numbers, which are below 0: no address is."""
numbers = itertools.count(1)


class PlainStep:
    """A step function on the interpreter, with or without symmetry."""

    def __init__(self, layout: Layout, symmetry: Symmetry | None, *, record: bool) -> None:
        self.layout = layout
        self.symmetry = symmetry
        self.record = record
        self.interpreter = share_interpreter(layout.program)
        self.words: Any = ctypes.c_uint64 * layout.words
        self.unpacked: tuple[tuple[int, ...], State] = ((), ())
        """The packed state of the latest step, and what it means."""
        self.address = -next(numbers)
        plain_steps[self.address] = self

    @cached_property
    def apart(self) -> PlainStep:
        """The same without symmetry."""
        return self if self.symmetry is None else PlainStep(self.layout, None, record=self.record)

    def __call__(self, src: int, thread: int, choice: int, dst: int, footprint: int) -> int:
        source = tuple(self.words.from_address(src))
        packed, state = self.unpacked  # at once: another search may use the same function
        if packed != source:
            state = self.layout.unpack(source)
            self.unpacked = source, state
        step = self.interpreter.step(state, thread, choice)
        if self.record:
            self.write_footprint(footprint, step)
        if not step.happened:
            return CODES[step.outcome]
        state = step.state if self.symmetry is None else self.symmetry.canonical(step.state)
        self.words.from_address(dst)[:] = self.layout.pack(state)
        return step.edges[0] | number_of_fault(step) << 32

    def write_footprint(self, place: int, step: Step) -> None:
        """Write the accesses to cells that other threads may see, as far as there is room."""
        public = step.footprint_reads | step.footprint_writes
        seen = [each for each in step.accesses if each.address in public]
        capacity = ctypes.c_int64.from_address(place).value
        count = ctypes.c_int64.from_address(place + 8)
        for each in seen:
            if count.value < capacity:
                entry = ctypes.c_int64.from_address(place + 8 * (2 + count.value))
                entry.value = 2 * each.address + each.write
            count.value += 1


def number_of_fault(step: Step) -> int:
    """Return 0 or 1 + the position in `FAULTS`; to stay too long in an atomic section counts as to
    stay forever, until the interpreter confirms it."""
    if step.fault is None:
        return 0
    fault = Fault.LIVELOCK if step.fault.fault is Fault.BOUND else step.fault.fault
    return FAULTS.index(fault) + 1
