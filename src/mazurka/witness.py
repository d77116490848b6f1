"""Violation witnesses of SV-COMP: a counterexample of a C program as waypoints, in YAML.

*Software Verification Witnesses 2.0* (Ayaziová, Beyer, Lingsch-Rosenfeld, Spiessl, Strejček; SPIN
2024) describes the format; 2.2 adds the thread of a waypoint.  A witness is one entry:

| part | here |
|---|---|
| `metadata` | who has made it, for which program and which property |
| `content` | segments, one after the other; each ends with the waypoint that an execution follows |
| waypoint `assumption` | a thread begins this statement; nothing is assumed but that: `1` |
| waypoint `function_enter` | a thread is created; threads are numbered in this order, `main` is 0 |
| waypoint `function_return` | a call of `__VERIFIER_nondet_...` returns this value |
| waypoint `target` | the violation: the statement that fails, or both steps of a race |

A location names file, line, column and function.  The column is that of the statement's first
character, or of a call's closing parenthesis; it is left out where that is in another line, which
means the first place in the line that fits.

An assumption is evaluated before its statement, that of a loop before its first round.  So a
statement of several steps has one, before the first of them, although other threads may move in
between: the format cannot say that, and a second one would ask for another execution of the
statement.
"""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from mazurka.errors import MazurkaError
from mazurka.ir.expressions import Choice
from mazurka.ir.interpreter import State, Step
from mazurka.ir.program import IDLE, Edge, Fault, Kind, Program, Span
from mazurka.report.outputs import refuse_to_overwrite, write
from mazurka.report.trace import replay_steps
from mazurka.report.verdict import Verdict
from mazurka.version import __version__

MARK = "entry_type: violation_sequence"
"""In the beginning of every witness; no other file is overwritten by one."""
FORMAT_VERSION = "2.2"
NONDETERMINISTIC = "__VERIFIER_nondet_"
SPECIFICATIONS = {
    str(Fault.ASSERT): "CHECK( init(main()), LTL(G ! call(reach_error())) )",
    str(Fault.MEMORY): "CHECK( init(main()), LTL(G valid-deref) )",
    str(Fault.INDEX): "CHECK( init(main()), LTL(G valid-deref) )",
    str(Fault.RANGE): "CHECK( init(main()), LTL(G ! overflow) )",
    "race": "CHECK( init(main()), LTL(G ! data-race) )",
}
"""What was violated, as the competition says it; the format has nothing for other violations."""


SILENT = frozenset({Kind.LOCAL, Kind.CHOOSE, Kind.EXIT})
"""Edges that no other thread notices, and ends of threads, which are no statements."""


class Positioned(Protocol):
    """Where a step is: its function, and the beginning of its statement."""

    @property
    def function(self) -> str: ...
    @property
    def statement(self) -> Span: ...
    @property
    def loops(self) -> bool: ...


@dataclass(frozen=True)
class Waypoint:
    """One step of the counterexample, for validators."""

    kind: str
    thread: int
    line: int
    column: int
    """0 where it is not known."""
    file: str
    function: str
    constraint: tuple[str, str] | None = None
    """A condition, and its format."""

    def to_yaml(self, indent: str) -> Iterator[str]:
        yield f"{indent}- waypoint:"
        inner = indent + "    "
        yield f"{inner}type: {self.kind}"
        yield f"{inner}action: follow"
        yield f"{inner}thread_id: {self.thread}"
        if self.constraint is not None:
            yield f"{inner}constraint:"
            yield f"{inner}  value: {quote(self.constraint[0])}"
            yield f"{inner}  format: {self.constraint[1]}"
        yield f"{inner}location:"
        yield f"{inner}  file_name: {quote(self.file)}"
        yield f"{inner}  line: {self.line}"
        if self.column:
            yield f"{inner}  column: {self.column}"
        yield f"{inner}  function: {quote(self.function)}"


def quote(text: str) -> str:
    """A string as YAML has it: every string of JSON is one."""
    return json.dumps(text, ensure_ascii=False)


def find_specification(verdict: Verdict) -> str | None:
    """The property that a violation violates; None where the format has none."""
    return None if verdict.violation is None else SPECIFICATIONS.get(verdict.violation.kind)


def save_witness(
    path: str, verdict: Verdict, program: Program, positions: Mapping[Span, Positioned]
) -> None:
    """Write the witness of a violation; a file that is not a witness is not overwritten."""
    subject = verdict.subject
    if subject is None or verdict.trace is None:
        raise MazurkaError("there is no counterexample to save")
    refuse_to_overwrite(path, "--witness", mark=MARK, reads=subject.input)
    write(path, describe_witness(verdict, program, positions))


def describe_witness(
    verdict: Verdict, program: Program, positions: Mapping[Span, Positioned]
) -> str:
    """The text of a witness."""
    specification = find_specification(verdict)
    trace, subject, asked = verdict.trace, verdict.subject, verdict.asked
    if specification is None or trace is None or subject is None:
        raise MazurkaError("there is no counterexample to save")
    segments = WitnessWriter(program, positions).make_segments(verdict)
    name = Path(subject.input).name
    digest = hashlib.sha256(Path(subject.input).read_bytes()).hexdigest()
    schedule = ",".join(f"{move.thread}.{move.choice}" for move in trace.moves)
    identity = uuid.uuid5(uuid.NAMESPACE_OID, f"{digest} {specification} {schedule}")
    fixed = asked is not None and asked.deterministic
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(0 if fixed else None))
    lines = [
        f"- {MARK}",
        "  metadata:",
        f"    format_version: {quote(FORMAT_VERSION)}",
        f"    uuid: {quote(str(identity))}",
        f"    creation_time: {quote(created)}",
        "    producer:",
        '      name: "Mazurka"',
        f"      version: {quote(__version__)}",
        "    task:",
        f"      input_files: [{quote(name)}]",
        f"      input_file_hashes: {{{quote(name)}: {quote(digest)}}}",
        f"      specification: {quote(specification)}",
        f"      data_model: {subject.reading.model.upper()}",
        "      language: C",
        "  content:",
    ]
    for segment in segments:
        lines.append("    - segment:")
        for waypoint in segment:
            lines += waypoint.to_yaml("        ")
    return "\n".join(lines) + "\n"


class WitnessWriter:
    """The waypoints of one counterexample."""

    def __init__(self, program: Program, positions: Mapping[Span, Positioned]) -> None:
        self.program, self.positions = program, positions
        self.numbers = {0: 0}
        """The threads in the order in which they are created."""
        self.begun: dict[tuple[int, str, int, int], set[int]] = {}
        """By thread and statement the edges that it has taken since it began the statement."""

    def make_segments(self, verdict: Verdict) -> list[Sequence[Waypoint]]:
        assert verdict.trace is not None
        trace = verdict.trace
        segments: list[Sequence[Waypoint]] = []
        target: Waypoint | None = None
        for _, before, step in replay_steps(self.program, trace.moves):
            segments += [(waypoint,) for waypoint in self.describe_step(step, before)]
            if step.fault is not None:
                target = self.place("target", step.thread, self.program.edges[step.edges[-1]])
        if trace.racing is not None:
            segments.append(tuple(self.find_racing(verdict)))
        elif target is not None:
            segments.append((target,))
        return segments

    def describe_step(self, step: Step, before: State) -> Iterator[Waypoint]:
        """What a step does that an execution has to follow."""
        edges = [self.program.edges[number] for number in step.edges]
        begun = [self.begins_statement(step.thread, number) for number in step.edges]
        for number, edge in zip(step.edges, edges, strict=True):
            values = [a.value for a in step.accesses if a.edge == number and a.write]
            if edge.kind is Kind.CHOOSE and NONDETERMINISTIC in edge.text and values:
                given = (f"\\result == {_name_choice(edge, values[-1])}", "acsl_expression")
                yield self.place("function_return", step.thread, edge, given)
        created = self.find_created(step, before)
        if created:
            yield self.place("function_enter", step.thread, edges[0])
            for thread in created:
                self.numbers.setdefault(thread, len(self.numbers))
        elif begun[0] and step.fault is None and any(edge.kind not in SILENT for edge in edges):
            yield self.place("assumption", step.thread, edges[0], ("1", "c_expression"))

    def begins_statement(self, thread: int, number: int) -> bool:
        """Whether a thread begins a statement with this edge: it has taken none of the statement's
        edges, or this one a second time.  A loop begins once, though its head runs again."""
        edge = self.program.edges[number]
        position = self.positions.get(edge.span)
        start = edge.span if position is None else position.statement
        taken = self.begun.setdefault((thread, start.file, start.line, start.column), set())
        again = number in taken
        begins = not taken or (again and not (position is not None and position.loops))
        if again:
            taken.clear()
        taken.add(number)
        return begins

    def find_created(self, step: Step, before: State) -> list[int]:
        counters = [thread.counter for thread in self.program.threads]
        return [
            number
            for number, cell in enumerate(counters)
            if before[cell] == IDLE and step.state[cell] != IDLE
        ]

    def find_racing(self, verdict: Verdict) -> Iterator[Waypoint]:
        """The two steps of a race, in one segment."""
        from mazurka.ir.interpreter import Interpreter

        assert verdict.trace is not None
        assert verdict.trace.racing is not None
        state = self.program.initial_state()
        for _, _, step in replay_steps(self.program, verdict.trace.moves):
            state = step.state
        interpreter = Interpreter(self.program)
        for move in verdict.trace.racing:
            step = interpreter.step(state, move.thread, move.choice)
            yield self.place("target", move.thread, self.program.edges[step.edges[0]])

    def place(
        self, kind: str, thread: int, edge: Edge, constraint: tuple[str, str] | None = None
    ) -> Waypoint:
        span, position = edge.span, self.positions.get(edge.span)
        start = span if position is None else position.statement
        line, column = start.line, start.column
        if kind in ("function_enter", "function_return"):
            line, column = span.line, max(span.end_column - 1, 0)
        function = self.program.threads[thread].name.partition("#")[0]
        function = function if position is None else position.function
        number = self.numbers.setdefault(thread, len(self.numbers))
        return Waypoint(kind, number, line, column, Path(span.file).name, function, constraint)


def _name_choice(edge: Edge, value: int) -> int:
    """The number that was chosen; a cell holds unsigned ones of 64 bits as signed ones."""
    unsigned = any(store.value == Choice() for store in edge.stores)
    return value + (1 << 64) if unsigned and value < 0 else value
