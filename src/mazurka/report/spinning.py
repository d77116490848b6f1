"""The threads that go round a loop for ever at the end of a trace: where, and what they read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from mazurka.ir.interpreter import Interpreter, State
from mazurka.ir.program import Program, Role
from mazurka.report.operations import TraceRow, make_row
from mazurka.report.places import Shown
from mazurka.report.standing import Standing
from mazurka.report.words import listed
from mazurka.search import Move

STATUS = "goes round"


@dataclass(frozen=True)
class Spinning:
    """A thread that goes round a loop for ever."""

    thread: int
    name: str
    file: str
    lines: tuple[int, ...]
    """The lines of the loop, in order of the source."""
    source: str
    """The text of the first line that reads something shared, or of the first line."""
    line: int
    reads: dict[str, Shown]
    """What it reads of others on its way, again and again."""
    locks: frozenset[str] = frozenset()
    """What of this is a lock, which is read to see who holds it."""

    @property
    def place(self) -> str:
        """`line 7`, `lines 7 and 8`."""
        noun = "line" if len(self.lines) == 1 else "lines"
        return f"{noun} {listed([str(line) for line in self.lines])}"

    @property
    def values(self) -> str:
        """`flag[1] is True`."""
        return ", ".join(
            f"{place} is {'held by ' if place in self.locks and value != 'free' else ''}{value}"
            for place, value in self.reads.items()
        )

    def to_json(self) -> dict[str, object]:
        return {
            "thread": self.name,
            "file": self.file,
            "lines": list(self.lines),
            "reads": self.reads,
        }


def follow_loop(
    program: Program, state: State, moves: Iterable[Move]
) -> tuple[tuple[Spinning, ...], State] | None:
    """The threads that make these moves from a state, and the state behind them.

    None if a move is not possible.
    """
    interpreter = Interpreter(program)
    rows: dict[int, list[TraceRow]] = {}
    for number, move in enumerate(moves, 1):
        step = interpreter.step(state, move.thread, move.choice)
        if not step.happened:
            return None
        row = make_row(program, number, move, step, state)
        rows.setdefault(move.thread, []).append(row)
        state = step.state
    locks = frozenset(cell.name for cell in program.cells if cell.role is Role.OWNER)
    return tuple(_describe(own, locks) for _, own in sorted(rows.items())), state


def _describe(rows: list[TraceRow], locks: frozenset[str]) -> Spinning:
    reads: dict[str, Shown] = {}
    for row in rows:
        asked = {each.call: each.result for each in row.told if each.call.endswith(")")}
        answers = {call: result for call, result in asked.items() if result is not None}
        hidden = row.quiet if answers else frozenset[str]()
        reads.update((place, value) for place, value in row.reads.items() if place not in hidden)
        reads.update(answers)
    shown = next((row for row in rows if row.reads or row.told), rows[0])
    lines = {line for row in rows for line in (row.lines or (row.line,))}
    return Spinning(
        shown.thread,
        shown.name,
        shown.file,
        tuple(sorted(lines)),
        shown.source,
        shown.line,
        reads,
        locks & reads.keys(),
    )


def mark_spinning(
    ending: Iterable[Standing], spinning: tuple[Spinning, ...]
) -> tuple[Standing, ...]:
    """Where all threads stand, with those that go round said to do so."""
    by_thread = {each.thread: each for each in spinning}
    return tuple(
        replace(
            standing,
            status=STATUS,
            line=found.line,
            source=found.source,
            reason=f"goes round {found.place} for ever",
        )
        if (found := by_thread.get(standing.thread)) is not None
        else standing
        for standing in ending
    )


def describe_hang(spinning: tuple[Spinning, ...]) -> str:
    """`worker(0) and worker(1) go round loops for ever, and nothing shared changes any more`."""
    who = listed([each.name for each in spinning])
    how = "goes round a loop" if len(spinning) == 1 else "go round loops"
    return f"{who} {how} for ever, and nothing shared changes any more"
