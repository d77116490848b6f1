"""Running a saved counterexample again, and telling what has become of it."""

from __future__ import annotations

from dataclasses import dataclass

from mazurka.ir.program import Program
from mazurka.report.answer import Finding
from mazurka.report.confirm import confirm
from mazurka.report.rows import TraceRow
from mazurka.report.subject import program_digest, source_digest
from mazurka.report.trace import ReplayMismatch, Trace, run_schedule
from mazurka.report.tracefile import SavedTrace
from mazurka.version import __version__

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
            "tool": "mazurka",
            "version": __version__,
            "outcome": self.outcome,
            "message": self.message,
            "violation": self.finding.to_json() if self.finding else None,
            "first_difference": self.first_difference,
            "trace": [row.to_json() for row in self.trace.rows],
            "trace_omitted": self.trace.omitted,
        }


def replay_saved(saved: SavedTrace, program: Program) -> ReplayReport:
    """Replay a saved trace on the program as it is now."""
    if program_digest(program) != saved.program_digest:
        return _report_change(saved, program)
    same_text = source_digest(program) == saved.source_digest
    remark = "" if same_text else " (the text has changed since, what it does has not)"
    try:
        finding, trace = confirm(program, saved.violation)
    except ReplayMismatch as mismatch:
        message = f"the violation was not reproduced: {mismatch}{remark}"
        return ReplayReport(NOT_REPRODUCED, message, replay_possible(program, saved))
    message = f"the violation was reproduced: {finding.message}{remark}"
    return ReplayReport(REPRODUCED, message, trace, finding)


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
        finding, trace = confirm(program, saved.violation)
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
