"""Compares the native code with the interpreter over whole state spaces."""

from __future__ import annotations

import ctypes
from collections import Counter

import numpy as np

from mazurka.ir.interpreter import Interpreter, Outcome, State, Step
from mazurka.ir.native.step import ENDED, INVALID, STOPPED, WAITS, NativeProgram
from mazurka.ir.program import DEAD_ENDS, FAULTS, Fault, Program
from mazurka.stateful.reference.full import StateSpace, explore

CODES = {
    Outcome.WAITS: WAITS,
    Outcome.STOPPED: STOPPED,
    Outcome.FINISHED: ENDED,
    Outcome.INVALID: INVALID,
}
SIGNATURE = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 5)
FOOTPRINT_CAPACITY = 4096


class NativeRunner:
    """Calls the two native step functions from Python."""

    def __init__(self, program: Program) -> None:
        self.native = NativeProgram(program)
        self.step = SIGNATURE(self.native.step.address)
        self.recording = SIGNATURE(self.native.recording_step.address)
        words = self.native.layout.words
        self.source = np.zeros(words, np.uint64)
        self.target = np.zeros(words, np.uint64)
        self.footprint = np.zeros(FOOTPRINT_CAPACITY + 3, np.int64)
        self.footprint[0] = FOOTPRINT_CAPACITY
        self.packed: dict[State, list[int]] = {}

    def pack(self, state: State) -> list[int]:
        """The state's words, none if they lose something; worked out once, since most states are
        reached several times."""
        words = self.packed.get(state)
        if words is None:
            words = list(self.native.layout.pack(state))
            kept = self.native.layout.unpack(words) == state
            self.packed[state] = words = words if kept else []
        return words

    def compare(self, state: tuple[int, ...], choice: int, step: Step) -> str | None:
        """What differs between the interpreter's step and the native ones, or None."""
        self.source[:] = self.pack(state)
        for function, footprint in ((self.step, 0), (self.recording, self.footprint.ctypes.data)):
            self.footprint[1] = 0
            result = function(
                self.source.ctypes.data, step.thread, choice, self.target.ctypes.data, footprint
            )
            problem = self.difference(step, result)
            if problem:
                return problem
        return self.footprint_difference(step)

    def difference(self, step: Step, result: int) -> str | None:
        if step.outcome in CODES:
            return None if result == CODES[step.outcome] else f"{step.outcome} is {result}"
        fault = 0
        if step.fault is not None:
            fault = FAULTS.index(step.fault.fault) + 1
            livelock = FAULTS.index(Fault.LIVELOCK) + 1
            if step.fault.fault is Fault.BOUND and result >> 32 == livelock:
                fault = livelock
        if result != (step.edges[0] | fault << 32):
            return f"edge {step.edges[0]} fault {fault} is {result & 0xFFFFFFFF} {result >> 32}"
        if step.fault is not None and step.fault.fault in DEAD_ENDS:
            return None
        words = self.target.tolist()
        if words != self.pack(step.state):
            reached = self.native.layout.unpack(words)
            return None if reached == step.state else f"state {step.state} is {reached}"
        return None

    def footprint_difference(self, step: Step) -> str | None:
        if step.outcome is Outcome.INVALID or self.footprint[1] > FOOTPRINT_CAPACITY:
            return None
        entries = self.footprint[2 : 2 + self.footprint[1]].tolist()
        reads = {entry >> 1 for entry in entries if not entry & 1}
        writes = {entry >> 1 for entry in entries if entry & 1}
        if (reads, writes) != (step.footprint_reads, step.footprint_writes):
            return (
                f"footprint {sorted(step.footprint_reads)} {sorted(step.footprint_writes)}"
                f" is {sorted(reads)} {sorted(writes)}"
            )
        return None


def disagreement(
    program: Program, limit: int = 3000, covered: Counter[str] | None = None
) -> str | None:
    """The first difference between interpreter and native code; counts what it compared."""
    covered = Counter() if covered is None else covered
    exploration: StateSpace = explore(program, races=False, limit=limit)
    runner = NativeRunner(program)
    interpreter = Interpreter(program)
    covered["states"] += len(exploration.states)
    for state in exploration.states:
        if not runner.pack(state):
            return f"packing loses {state}"
        for thread in range(len(program.threads)):
            for choice in range(interpreter.choices(state, thread) + 1):
                step = interpreter.step(state, thread, choice)
                covered["steps"] += 1
                covered[str(step.fault.fault if step.fault else step.outcome)] += 1
                problem = runner.compare(state, choice, step)
                if problem:
                    return f"thread {thread} choice {choice} at {state}: {problem}"
    return None
