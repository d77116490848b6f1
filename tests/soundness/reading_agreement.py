"""Compare what a program can do as a model with what it can do as a real program.

The model is searched whole by the reference interpreter, the real program by running it under all
schedules.  Compared are the outcomes: what the shared data hold when all threads have ended, and
whether an assertion can fail or threads can wait for each other for ever.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from mazurka.frontend.python.elaboration import elaborate
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import FINISHED, IDLE, Program
from mazurka.stateful.reference.full import explore
from tests.soundness.python_runs import module_of, under_control
from tests.soundness.random_readings import Reading

End: TypeAlias = tuple[tuple[str, int], ...]
"""The shared data of one run at its end, by name."""

STATES = 20_000
ALGORITHMS = ("algorithm-2", "optimal-dpor")


@dataclass(frozen=True)
class Outcomes:
    """All that can come out of a program."""

    ends: frozenset[End]
    failures: frozenset[str]
    executions: int = 0
    """How many states or runs it took to find out."""

    def only(self, names: set[str]) -> frozenset[End]:
        return frozenset(tuple(pair for pair in end if pair[0] in names) for end in self.ends)


def outcomes_of_model(reading: Reading) -> tuple[Outcomes, set[str]] | None:
    """The outcomes, and the names whose values the model knows; None for too many states."""
    raw = elaborate(reading.model, "model.py")
    program = prepare(raw)
    space = explore(program, races=False, limit=STATES)
    if not space.complete:
        return None
    places = _places(program, reading)
    ends = set()
    for state in space.states:
        if all(state[thread.counter] in (FINISHED, IDLE) for thread in program.threads):
            values = {name: state[address] for name, address in places.items()}
            values |= {n: v for n, v in program.constants.items() if n in reading.names}
            ends.add(tuple((n, values[n]) for n in reading.names if n in values))
    known = places.keys() | (program.constants.keys() & set(reading.names))
    return Outcomes(frozenset(ends), frozenset(space.kinds), len(space.states)), set(known)


def _places(program: Program, reading: Reading) -> dict[str, int]:
    shared = {
        cell.name: address for address, cell in enumerate(program.cells) if cell.owner is None
    }
    return {name: shared[name] for name in reading.names if name in shared}


def outcomes_of_runs(reading: Reading, folder: Path, algorithm: str, limit: int) -> Outcomes | None:
    """The outcomes of all runs; None if there are more than `limit`."""
    module = module_of(folder, reading.real)
    with under_control(module) as subject:
        found = subject.search(algorithm, None, runs=limit)
    if found.explored.limits:
        return None
    ends, failures = set(), set()
    for told, kinds in found.outcomes:
        failures.update(kinds if len(kinds) == 1 else set(kinds) - {"deadlock"})
        if not kinds:
            ((_, (text,)),) = told
            ends.add(tuple((name, int(value)) for name, value in eval(text)))
    return Outcomes(frozenset(ends), frozenset(failures), found.explored.executions)


def difference(model: tuple[Outcomes, set[str]], runs: Outcomes) -> str | None:
    """What the two do not have in common; None if they agree."""
    found, names = model
    expected, seen = runs.only(names), found.only(names)
    if found.failures != runs.failures:
        return f"the model has {sorted(found.failures)}, Python {sorted(runs.failures)}"
    if expected - seen:
        return f"the model does not end with {min(expected - seen)}"
    if seen - expected:
        return f"Python does not end with {min(seen - expected)}"
    return None
