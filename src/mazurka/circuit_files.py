"""Circuits of models in AIGER files, and what other model checkers say about them.

A file carries in its comment which model it was made of, and how: so a witness can be replayed on
the model, given the file that the checker was given.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mazurka.analysis.racing import find_racing_cells
from mazurka.analysis.restarts import find_restartable_threads
from mazurka.checking import load_program
from mazurka.errors import OptionError
from mazurka.ir.passes.race_marks.program import MarkedProgram, mark_races
from mazurka.ir.program import Fault, Program
from mazurka.report.trace import ReplayMismatch, Trace, confirm, run_schedule
from mazurka.report.tracefile import (
    CHANGED,
    NOT_REPRODUCED,
    REPRODUCED,
    Fields,
    Malformed,
    ReplayReport,
    read_reading,
)
from mazurka.report.verdict import identify, program_digest
from mazurka.search import Move, Violation
from mazurka.search.marked_races import unmark
from mazurka.search.reading import Reading
from mazurka.symbolic.aiger.exporting import export_circuit
from mazurka.symbolic.aiger.model import AigerCircuit
from mazurka.symbolic.aiger.reading import AigerError, read_aiger
from mazurka.symbolic.aiger.witnesses import follow_witness, read_witness
from mazurka.symbolic.circuit import Circuit, Interleaving
from mazurka.symbolic.encoding import encode
from mazurka.symbolic.environment import BINARY
from mazurka.version import __version__

FORMAT = "mazurka-aiger"
"""In the comment of every file; no other file is overwritten by one."""
RACE = "race"
LOOKED_FOR = ("assert", "deadlock", RACE)


@dataclass(frozen=True, kw_only=True)
class CircuitRequest:
    """How a model is to become a circuit."""

    interleaving: Interleaving = Interleaving.SWEEPS
    properties: tuple[str, ...] = ("assert", "deadlock")
    unrolling: int = 32

    def __post_init__(self) -> None:
        for name in self.properties:
            if name not in LOOKED_FOR:
                raise OptionError(
                    f"a circuit has no property {name!r}; there are {', '.join(LOOKED_FOR)}"
                )
        if {RACE, "deadlock"} <= set(self.properties):
            raise OptionError(
                "races and deadlocks are properties of different circuits: export one with"
                " --property assert,race and one with --property assert,deadlock"
            )


def build_circuit(
    program: Program, request: CircuitRequest
) -> tuple[Circuit, MarkedProgram | None]:
    """Encode a program; where races are looked for, the program with marks."""
    marked = None
    if RACE in request.properties and (cells := find_racing_cells(program)):
        marked = mark_races(program, cells, find_restartable_threads(program))
    circuit = encode(
        marked.program if marked is not None else program,
        request.interleaving,
        properties=request.properties,
        counters=BINARY,
        unrolling=request.unrolling,
    )
    return circuit, marked


def export_program(
    path: str, program: Program, reading: Reading, request: CircuitRequest
) -> AigerCircuit:
    """A program, read from a file, as AIGER has it."""
    circuit, _ = build_circuit(program, request)
    subject = identify(path, reading, program)
    written = {
        "format": FORMAT,
        "tool_version": __version__,
        "input": path,
        "definitions": dict(reading.definitions),
        "options": reading.to_json(),
        "fingerprint": {"program": subject.program_digest},
        "interleaving": str(request.interleaving),
        "properties": list(request.properties),
        "unrolling": request.unrolling,
    }
    return export_circuit(circuit, request.interleaving, comment=json.dumps(written))


@dataclass(frozen=True)
class CircuitOrigin:
    """What the comment of an exported circuit says."""

    input: str
    reading: Reading
    program_digest: str
    request: CircuitRequest


def read_origin(path: str) -> CircuitOrigin:
    """Find out of which model, and how, an AIGER file was made."""
    try:
        data = Fields(json.loads(read_aiger(path).comment), "the comment")
        if data.values.get("format") != FORMAT:
            raise Malformed("its comment has another format")
        properties = data.get("properties", list)
        return CircuitOrigin(
            data.get("input", str),
            read_reading(data),
            data.inner("fingerprint").get("program", str),
            CircuitRequest(
                interleaving=Interleaving(data.get("interleaving", str)),
                properties=tuple(map(str, properties)),
                unrolling=data.get("unrolling", int),
            ),
        )
    except (ValueError, Malformed) as error:
        raise AigerError(
            "this circuit was not written by mazurka export --format aiger: its comment does not"
            f" say of which model it is ({error})",
            file=path,
        ) from None


def replay_witness(witness: str, circuit_file: str) -> tuple[ReplayReport, Program]:
    """Replay the witness that a model checker has written about an exported circuit."""
    origin = read_origin(circuit_file)
    source = origin.input
    beside = Path(circuit_file).parent / Path(source).name
    if not Path(source).exists() and beside.exists():
        source = str(beside)
    program = load_program(source, origin.reading)
    if program_digest(program) != origin.program_digest:
        nothing = show_moves(program, ())
        message = "the program has changed since the circuit was exported; export it again"
        return ReplayReport(CHANGED, message, nothing), program
    circuit, marked = build_circuit(program, origin.request)
    found = read_witness(witness)
    try:
        kind, path, step = follow_witness(circuit, found)
    except AigerError as error:
        raise AigerError(error.message, file=witness) from None
    if kind in circuit.bad or (step is not None and is_livelock(step.fault)):
        shown = kind if kind in circuit.bad else str(Fault.LIVELOCK)
        violation = Violation(shown, path)
        return confirm_violation(program, marked, violation), program
    why = f"it leads to a step that the circuit does not know ({kind})"
    return ReplayReport(NOT_REPRODUCED, why, show_moves(program, path)), program


def is_livelock(fault: object) -> bool:
    return getattr(fault, "fault", None) is Fault.LIVELOCK


def confirm_violation(
    program: Program, marked: MarkedProgram | None, violation: Violation
) -> ReplayReport:
    if marked is not None:
        violation = unmark(marked, violation)
    try:
        finding, trace = confirm(program, violation)
    except ReplayMismatch as mismatch:
        message = f"the violation was not reproduced: {mismatch}"
        return ReplayReport(NOT_REPRODUCED, message, show_moves(program, violation.path))
    message = f"the violation was reproduced: {finding.message}"
    return ReplayReport(REPRODUCED, message, trace, finding)


def show_moves(program: Program, moves: Sequence[Move]) -> Trace:
    """The steps of a schedule that can be taken."""
    replay = run_schedule(program, tuple(moves), whole=False)
    return Trace(
        threads=tuple(thread.name for thread in program.threads),
        moves=tuple(moves[: replay.taken]),
        rows=tuple(replay.rows),
        omitted=replay.omitted,
    )
