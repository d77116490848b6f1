"""Counterexamples saved in a file, read back with suspicion, and run again.

The file is JSON and holds data only.  Reading it checks every field that is used; a file that
is malformed gives a `MazurkaError` that says what is wrong with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict, TypeVar

from mazurka.errors import MazurkaError, OptionError
from mazurka.ir.passes.merge import GRANULARITIES
from mazurka.ir.program import DeclaredFormula, Program, Span
from mazurka.ltl.lassos import refute_lasso
from mazurka.ltl.parsing import parse_formula
from mazurka.ltl.propositions import ProgramNames
from mazurka.report.answer import HEAD, Finding
from mazurka.report.operations import TraceRow
from mazurka.report.outputs import refuse_to_overwrite, write
from mazurka.report.trace import ReplayMismatch, Trace, confirm, run_schedule
from mazurka.report.verdict import Verdict, program_digest, source_digest
from mazurka.search import Move, Violation
from mazurka.search.reading import MODELS, Reading
from mazurka.search.result import LASSO
from mazurka.stack import deep_stack
from mazurka.version import __version__

FORMAT = "mazurka-trace"
"""In the beginning of every trace file; no other file is overwritten by one."""
FORMAT_VERSION = 1
LARGEST_NUMBER = 2**63 - 1

T = TypeVar("T")


@dataclass(frozen=True)
class SavedTrace:
    """What a trace file holds."""

    input: str
    reading: Reading
    source_digest: str
    program_digest: str
    violation: Violation
    message: str
    rows: tuple[dict[str, object], ...]
    omitted: int
    formula: DeclaredFormula | None = None
    """The temporal formula that the run violates."""


def save(path: str, verdict: Verdict) -> None:
    """Write a verdict's counterexample; a file that is not a saved trace is not overwritten."""
    text = json.dumps(to_json(verdict), indent=1) + "\n"
    reads = verdict.subject.input if verdict.subject is not None else None
    refuse_to_overwrite(path, "a trace", mark=FORMAT, reads=reads)
    write(path, text)


def to_json(verdict: Verdict) -> dict[str, object]:
    trace, finding, subject = verdict.trace, verdict.violation, verdict.subject
    if trace is None or finding is None or subject is None:
        raise MazurkaError("there is no counterexample to save")
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "tool_version": __version__,
        "input": subject.input,
        "definitions": dict(subject.reading.definitions),
        "options": subject.reading.to_json(),
        "fingerprint": {"source": subject.source_digest, "program": subject.program_digest},
        "violation": finding.to_json(),
        "racing": _pairs(trace.racing) if trace.racing else None,
        "loop_start": trace.loop_start,
        "settled": trace.settled,
        "formula": _formula_json(verdict.formula),
        "threads": list(trace.threads),
        "moves": _pairs(trace.moves),
        "rows": [row.to_json() for row in trace.rows],
        "rows_omitted": trace.omitted,
    }


def _formula_json(formula: DeclaredFormula | None) -> dict[str, object] | None:
    return None if formula is None else {"text": formula.text, "fair": formula.fair}


def _pairs(moves: Iterable[Move]) -> list[list[int]]:
    return [[move.thread, move.choice] for move in moves]


def load(path: str) -> SavedTrace:
    """Read a trace file; whatever is wrong with it is said, nothing is guessed."""
    try:
        text = Path(path).read_text(encoding="utf-8")
        data = json.loads(text)
    except OSError as error:
        raise MazurkaError.unreadable(path, error) from error
    except (ValueError, RecursionError) as error:
        raise MazurkaError("this is not a trace: it is not JSON", file=path) from error
    try:
        return _read_trace(Fields(data, "the file"))
    except Malformed as error:
        raise MazurkaError(f"this is not a valid trace: {error}", file=path) from error


class Malformed(Exception):  # noqa: N818 - turned into a MazurkaError that names the file
    """Something in the file is not as it should be."""


class Fields:
    """A JSON object whose fields are fetched with the type they must have."""

    def __init__(self, value: object, where: str) -> None:
        if not isinstance(value, dict):
            raise Malformed(f"{where} is not an object")
        self.values: dict[str, object] = value
        self.where = where

    def get(self, name: str, kind: type[T]) -> T:
        value = self.values.get(name)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise Malformed(f"`{name}` of {self.where} is missing or not of type {kind.__name__}")
        return value

    def inner(self, name: str) -> Fields:
        return Fields(self.values.get(name), f"`{name}`")


def _read_trace(data: Fields) -> SavedTrace:
    if data.values.get("format") != FORMAT:
        raise Malformed("it was not written by mazurka check --trace")
    version = data.get("format_version", int)
    if version != FORMAT_VERSION:
        writer = data.values.get("tool_version")
        raise Malformed(
            f"it has format version {version} (written by Mazurka {writer}), and Mazurka"
            f" {__version__} reads format version {FORMAT_VERSION}"
        )
    racing = data.values.get("racing")
    pair = _read_moves(racing, "racing") if racing is not None else None
    if pair is not None and len(pair) != 2:
        raise Malformed("`racing` does not hold two moves")
    fingerprint, violation = data.inner("fingerprint"), data.inner("violation")
    return SavedTrace(
        input=data.get("input", str),
        reading=read_reading(data),
        source_digest=fingerprint.get("source", str),
        program_digest=fingerprint.get("program", str),
        violation=Violation(
            kind=violation.get("kind", str),
            path=_read_moves(data.values.get("moves"), "moves"),
            racing=(pair[0], pair[1]) if pair is not None else None,
            loop_start=_read_index(data, "loop_start"),
            settled=_read_index(data, "settled"),
        ),
        message=violation.get("message", str),
        rows=_read_rows(data.get("rows", list)),
        omitted=_read_count(data.get("rows_omitted", int)),
        formula=_read_formula(data, violation.get("kind", str)),
    )


def _read_formula(data: Fields, kind: str) -> DeclaredFormula | None:
    """The formula of a run; traces from before there were formulas do not name one."""
    if data.values.get("formula") is None:
        if kind == LASSO:
            raise Malformed("`formula` is missing")
        return None
    found = data.inner("formula")
    return DeclaredFormula(found.get("text", str), found.get("fair", bool), Span("", 0))


def read_reading(data: Fields) -> Reading:
    """How the input was read, from an object with `definitions` and `options`."""
    definitions = data.inner("definitions").values
    if not all(isinstance(value, str) for value in definitions.values()):
        raise Malformed("a value in `definitions` is not a string")
    options = data.inner("options")
    return Reading(
        language=_language(options),
        definitions={name: str(value) for name, value in definitions.items()},
        merge=options.get("merge", bool),
        granularity=_read_granularity(options),
        max_threads=_read_count(options.get("max_threads", int)),
        max_depth=_read_count(options.get("max_depth", int)),
        **_read_c_options(options),
    )


class COptions(TypedDict):
    """The options that C programs are read with."""

    model: str
    heap: int
    overflow: bool
    unwritten: str


def _read_c_options(options: Fields) -> COptions:
    """Traces from before C could be read do not have its options."""
    usual = Reading()
    if options.values.get("model") is None:
        return {
            "model": usual.model,
            "heap": usual.heap,
            "overflow": usual.overflow,
            "unwritten": usual.unwritten,
        }
    model = options.get("model", str)
    if model not in MODELS:
        raise Malformed(f"`model` is {model!r}")
    return {
        "model": model,
        "heap": _read_count(options.get("heap", int)),
        "overflow": options.get("overflow", bool),
        "unwritten": str(options.values.get("unwritten", usual.unwritten)),
    }


def _language(options: Fields) -> str | None:
    """Traces from before there were several languages do not name one."""
    return None if options.values.get("language") is None else options.get("language", str)


def _read_index(data: Fields, name: str) -> int | None:
    """Where a part of the moves begins; traces that do not end in a hang need not say so."""
    return None if data.values.get(name) is None else _read_count(data.get(name, int))


def _read_granularity(options: Fields) -> str | None:
    """Traces from before there were granularities do not name one."""
    if options.values.get("granularity") is None:
        return None
    name = options.get("granularity", str)
    if name not in GRANULARITIES:
        raise Malformed(f"{name!r} is no granularity")
    return name


def _read_moves(value: object, name: str) -> tuple[Move, ...]:
    if not isinstance(value, list):
        raise Malformed(f"`{name}` is not a list")
    return tuple(_read_move(item, name) for item in value)


def _read_move(value: object, name: str) -> Move:
    match value:
        case [int(thread), int(choice)] if thread >= 0 and 0 <= choice <= LARGEST_NUMBER:
            return Move(int(thread), int(choice))
        case _:
            raise Malformed(f"`{name}` holds something that is not a move [thread, choice]")


def _read_rows(values: list[object]) -> tuple[dict[str, object], ...]:
    return tuple(Fields(value, "a row").values for value in values)


def _read_count(value: int) -> int:
    if not 0 <= value <= LARGEST_NUMBER:
        raise Malformed(f"{value} is no sensible number here")
    return value


REPRODUCED = "reproduced"
NOT_REPRODUCED = "not reproduced"
CHANGED = "changed"

EXIT_STATUS = {REPRODUCED: 1, NOT_REPRODUCED: 0, CHANGED: 2}

COMPARED = ("thread", "source", "reads", "writes")


@dataclass(frozen=True)
class ReplayReport:
    """What a replay has shown; `message` says it in a sentence."""

    outcome: str
    """`reproduced`, `not reproduced` or `changed`."""
    message: str
    trace: Trace
    finding: Finding | None = None
    first_difference: int | None = None
    """The number of the first step that is not what it was, where the program has changed."""

    @property
    def exit_status(self) -> int:
        return EXIT_STATUS[self.outcome]

    def to_json(self) -> dict[str, object]:
        return {
            **HEAD,
            "outcome": self.outcome,
            "message": self.message,
            "violation": self.finding.to_json() if self.finding else None,
            "first_difference": self.first_difference,
            "trace": [row.to_json() for row in self.trace.rows],
            "trace_omitted": self.trace.omitted,
        }


@deep_stack()
def replay_saved(saved: SavedTrace, program: Program) -> ReplayReport:
    """Replay a saved trace on the program as it is now."""
    if program_digest(program) != saved.program_digest:
        return _report_change(saved, program)
    same_text = source_digest(program) == saved.source_digest
    remark = "" if same_text else " (the text has changed since, what it does has not)"
    try:
        finding, trace = confirm_saved(saved, program)
    except ReplayMismatch as mismatch:
        message = f"the violation was not reproduced: {mismatch}{remark}"
        return ReplayReport(NOT_REPRODUCED, message, replay_possible(program, saved))
    message = f"the violation was reproduced: {finding.message}{remark}"
    return ReplayReport(REPRODUCED, message, trace, finding)


def confirm_saved(saved: SavedTrace, program: Program) -> tuple[Finding, Trace]:
    """Replay a violation; of a run the formula is judged as well, after two rounds of its loop."""
    if saved.formula is not None:
        start = saved.violation.loop_start
        if start is None:
            raise ReplayMismatch("a run without the steps that are repeated for ever")
        try:
            formula = parse_formula(saved.formula.text, ProgramNames(program))
        except OptionError as error:
            raise ReplayMismatch(error.message) from error
        fair = saved.formula.fair
        wrong = refute_lasso(program, formula, saved.violation.path, start, fair=fair)
        if wrong is not None:
            raise ReplayMismatch(wrong)
    finding, trace = confirm(program, saved.violation)
    if saved.formula is None:
        return finding, trace
    message = f"{saved.formula.text!r} is violated: {finding.message}"
    if saved.violation.loop_start != len(saved.violation.path):
        message += " (followed twice)"
    return replace(finding, message=message), trace


def replay_possible(program: Program, saved: SavedTrace) -> Trace:
    """The steps that can still be taken."""
    replay = run_schedule(program, saved.violation.path, whole=False)
    return Trace(
        threads=tuple(thread.name for thread in program.threads),
        moves=saved.violation.path[: replay.taken],
        rows=tuple(replay.rows),
        omitted=replay.omitted,
    )


def _report_change(saved: SavedTrace, program: Program) -> ReplayReport:
    trace = replay_possible(program, saved)
    first = first_difference(saved, trace)
    start = "the program has changed since the trace was saved"
    if first is not None:
        detail = describe_difference(saved, trace, first)
        return ReplayReport(CHANGED, f"{start}; {detail}", trace, first_difference=first)
    try:
        finding, trace = confirm_saved(saved, program)
    except ReplayMismatch as mismatch:
        detail = f"all {len(trace.moves):,} steps are as they were, but {mismatch}"
        return ReplayReport(CHANGED, f"{start}; {detail}", trace)
    detail = "all steps are as they were, and the violation is still there"
    return ReplayReport(CHANGED, f"{start}; {detail}", trace, finding)


def first_difference(saved: SavedTrace, trace: Trace) -> int | None:
    """The number of the first step that is missing or not what it was."""
    now = {row.number: row for row in trace.rows}
    for number, before in saved_rows(saved).items():
        if number > len(trace.moves):
            break
        if number in now and not _same(before, now[number]):
            return number
    taken = len(trace.moves)
    return taken + 1 if taken < len(saved.violation.path) else None


def saved_rows(saved: SavedTrace) -> dict[int, dict[str, object]]:
    """The saved rows by the numbers of their steps; rows left out are missing in the middle."""
    head = len(saved.rows) // 2 if saved.omitted else len(saved.rows)
    return {
        position + 1 + (saved.omitted if position >= head else 0): row
        for position, row in enumerate(saved.rows)
    }


def _same(before: dict[str, object], now: TraceRow) -> bool:
    current = now.to_json()
    return all(before.get(name) == current[name] for name in COMPARED)


def describe_difference(saved: SavedTrace, trace: Trace, number: int) -> str:
    """What step `number` was, and what it is now."""
    before = saved_rows(saved).get(number)
    was = "one that was not saved in full"
    if before is not None:
        was = f"{before.get('thread')}, line {before.get('line')}: {before.get('source')}"
    now = next((row for row in trace.rows if row.number == number), None)
    if now is None:
        return f"step {number} ({was}) is not possible any more"
    return f"step {number} was ({was}) and is now ({now.name}, line {now.line}: {now.source})"
