"""What a model can do, found by the reference interpreter's search of all its states."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from mazurka.frontend.python.elaboration import elaborate
from mazurka.ir.interpreter import Outcome
from mazurka.ir.passes.prepare import choose_steps, simplify
from mazurka.ir.program import WRONG, Program
from mazurka.ir.remembering import share_interpreter

PRELUDE = (
    "from mazurka.model import *\n"
    "import threading, queue, time\n"
    "from dataclasses import dataclass\n"
)


@dataclass
class Findings:
    """Everything that was seen: faults as (kind, message), deadlocks, values of shared numbers."""

    faults: set[tuple[str, str]] = field(default_factory=set)
    deadlock: bool = False
    stopped: bool = False
    states: int = 0
    finals: set[tuple[tuple[str, int], ...]] = field(default_factory=set)
    """The shared numbers in states where all threads have finished."""

    @property
    def fine(self) -> bool:
        return not self.faults and not self.deadlock

    def kinds(self) -> set[str]:
        return {kind for kind, _ in self.faults}

    def final_values(self, name: str) -> set[int]:
        return {value for final in self.finals for key, value in final if key == name}


def explore(
    source: str, definitions: Mapping[str, str] | None = None, *, merge: bool = True, **options: int
) -> Findings:
    """Search all states of a model; `PRELUDE` is put in front of the source."""
    given, kept = tuple((definitions or {}).items()), tuple(options.items())
    return search(choose_steps(_simplified(source, given, kept), merge=merge))


@lru_cache(maxsize=200)
def _simplified(
    source: str, definitions: tuple[tuple[str, str], ...], options: tuple[tuple[str, int], ...]
) -> Program:
    """What preparing a model with merging and without have in common."""
    text = PRELUDE + textwrap.dedent(source)
    return simplify(elaborate(text, "model.py", dict(definitions), **dict(options)))


def search(program: Program, limit: int = 100_000) -> Findings:
    interpreter, findings = share_interpreter(program), Findings()
    start = program.initial_state()
    seen, waiting = {start}, [start]
    shared = [
        (address, cell.name)
        for address, cell in enumerate(program.cells)
        if address and cell.owner is None
    ]
    while waiting:
        state = waiting.pop()
        outcomes = set()
        for _, step in interpreter.steps(state):
            outcomes.add(step.outcome)
            if step.fault is not None:
                findings.faults.add((str(step.fault.fault), step.fault.message))
            if step.happened and step.state not in seen:
                seen.add(step.state)
                waiting.append(step.state)
        if outcomes == {Outcome.FINISHED}:
            findings.finals.add(tuple((name, state[address]) for address, name in shared))
        moving = outcomes & {Outcome.MOVED, Outcome.FAULT}
        wrong = any(state[thread.counter] == WRONG for thread in program.threads)
        findings.stopped |= Outcome.STOPPED in outcomes
        if not moving and Outcome.WAITS in outcomes and Outcome.STOPPED not in outcomes:
            findings.deadlock |= not wrong
        assert len(seen) < limit, "more states than a test should have"
    findings.states = len(seen)
    return findings


@dataclass(frozen=True)
class Case:
    """A model with what it must lead to; `finals` are all values a shared number can end with."""

    name: str
    source: str
    faults: tuple[str, ...] = ()
    message: str = ""
    deadlock: bool = False
    finals: Mapping[str, set[int]] = field(default_factory=dict)
    options: Mapping[str, int] = field(default_factory=dict)


def check_case(case: Case, *, merge: bool) -> None:
    findings = explore(case.source, merge=merge, **case.options)
    assert findings.kinds() == set(case.faults)
    assert findings.deadlock == case.deadlock
    if case.message:
        assert any(case.message in message for _, message in findings.faults)
    for name, values in case.finals.items():
        assert findings.final_values(name) == values
