"""A counterexample for people: one column a thread, one row a step.

Each step shows its source line and, below or beside it, what it read (`meals ➜ 3`) and what it
wrote (`meals = 4`).  Where the terminal is too narrow for a column a thread, the steps become
one list with the thread's name in front.  The layout is in the spirit of Lincheck.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from mazurka.report.operations import CHOOSING, Told, TraceRow
from mazurka.report.places import Shown
from mazurka.report.terminal import Glyphs, glyphs_for, safe
from mazurka.report.trace import Trace

MOST_ROWS = 200
MOST_OPERATIONS = 20
"""Of one step that does more, the first and the last are shown."""
NARROWEST = 24
"""A thread's column needs at least this many characters."""
WIDEST = 48
MARGIN = 2
CONTINUED = 1
"""How far the second line of an effect is indented."""
MOST_LIST_NAME = 18

SOURCE, READ, WRITE, LOCAL, OPERATION = "", "cyan", "yellow", "dim", "green"
FAILED = "bold red"
SETTLED = "from here on nothing shared changes; the threads go to their loops:"
REPEATED = "from here on these steps are repeated for ever:"


@dataclass(frozen=True)
class ColumnLayout:
    """How the steps are spread over the width of the terminal."""

    threads: tuple[int, ...]
    """The threads that get a column; empty where the steps are one list."""
    width: int
    """Characters for the text of a step."""
    numbers: int
    """Digits of the step numbers."""
    lines: int
    """Digits of the line numbers."""
    name: int = 0
    """Characters for the thread's name in a list."""


def plan(trace: Trace, width: int) -> ColumnLayout:
    """Columns where every thread that takes part can have one, else a list."""
    taking_part = tuple(sorted({move.thread for move in trace.moves}))
    numbers = max(len(str(len(trace.moves))), 2)
    lines = len(str(max((_last_line(row) for row in trace.rows), default=1)))
    room = width - numbers - 1 - MARGIN
    if taking_part:
        each = room // len(taking_part) - 3
        if each >= NARROWEST:
            longest = max(cell_len(name) for name in trace.threads)
            return ColumnLayout(taking_part, min(each, max(WIDEST, longest)), numbers, lines)
    longest = max((cell_len(row.name) for row in trace.rows), default=1)
    name = min(longest, MOST_LIST_NAME)
    return ColumnLayout((), max(room - name - 4, 10), numbers, lines, name)


def _last_line(row: TraceRow) -> int:
    return max(row.line, row.failing[0]) if row.failing else row.line


def thread_at(rows: list[TraceRow | None], position: int) -> int | None:
    """The thread of a row; None before the first, behind the last and in a gap."""
    row = rows[position] if 0 <= position < len(rows) else None
    return row.thread if row is not None else None


class Columns:
    """Draws one trace on one console."""

    def __init__(self, console: Console, trace: Trace, *, full: bool = False) -> None:
        self.console = console
        self.trace = trace
        self.full = full
        self.glyphs: Glyphs = glyphs_for(console)
        self.layout = plan(trace, console.width)

    def draw(self, pause: Callable[[], bool] | None = None) -> bool:
        """All rows, or the beginning and the end of a very long trace.

        `pause` is called after each row; where it answers False the rest is not drawn.
        """
        self.draw_header()
        rows = list(self.choose_rows())
        for position, row in enumerate(rows):
            if row is None:
                self.draw_gap()
                continue
            before = thread_at(rows, position - 1)
            switched = before != row.thread
            if switched and before is not None:
                self.write(Text())
            self.draw_heading(row.number - 1)
            self.draw_row(row, switched=switched)
            if pause is not None and not pause():
                return False
        return True

    @cached_property
    def told_rows(self) -> tuple[TraceRow, ...]:
        """The rows that tell something, or all of them if they are wanted or repeated for ever."""
        rows, start = self.trace.rows, self.trace.loop_start
        if self.full or self.trace.omitted:
            return rows
        end = len(rows) if start is None else start
        return tuple(
            row
            for row in rows
            if row.number > end or not (row.tells_nothing or row.is_inside_library)
        )

    def explain_untold(self) -> str | None:
        """Say how many steps have no row because they tell nothing; None where all have one."""
        untold = len(self.trace.rows) - len(self.told_rows)
        if not untold:
            return None
        steps, are, them = ("steps", "are", "them") if untold > 1 else ("step", "is", "it")
        where = "local"
        if any(row.is_inside_library for row in self.trace.rows):
            where = "local or library"
        return f"{untold:,} {where} {steps} {are} not shown; --full-trace shows {them}"

    def choose_rows(self) -> Iterator[TraceRow | None]:
        """The rows to draw; None where some are left out."""
        rows = self.told_rows
        half = MOST_ROWS // 2
        if self.full or len(rows) <= MOST_ROWS:
            cut = len(rows) // 2 if self.trace.omitted else len(rows)
            yield from rows[:cut]
            if self.trace.omitted:
                yield None
                yield from rows[cut:]
            return
        yield from rows[:half]
        yield None
        yield from rows[-half:]

    def count_left_out(self) -> int:
        if self.full or len(self.told_rows) <= MOST_ROWS:
            return self.trace.omitted
        return self.trace.omitted + len(self.told_rows) - MOST_ROWS

    def draw_gap(self) -> None:
        advice = "; --full-trace shows them, --trace FILE saves them"
        if self.full or self.trace.omitted:
            advice = ""
        text = f"{self.glyphs.ellipsis} {self.count_left_out():,} steps left out{advice}"
        self.write(Text(text, "dim"))

    def draw_header(self) -> None:
        if not self.layout.threads:
            return
        line = Text(" " * (self.layout.numbers + MARGIN))
        rule = Text(" " * (self.layout.numbers + MARGIN))
        for position, thread in enumerate(self.layout.threads):
            last = position == len(self.layout.threads) - 1
            name = self.fit(self.trace.threads[thread], self.layout.width)
            line.append(name if last else pad(name, self.layout.width + 3), "bold")
            rule.append(self.glyphs.rule * self.layout.width + ("" if last else "   "), "dim")
        self.write(line)
        self.write(rule)

    def draw_heading(self, taken: int) -> None:
        """What is said of a hang's steps after so many: that nothing changes, or that they are
        repeated."""
        if taken == self.trace.loop_start:
            self.write(Text(REPEATED, "bold red"))
        elif taken == self.trace.settled:
            self.write(Text(SETTLED, "bold"))

    def draw_row(self, row: TraceRow, *, switched: bool = True) -> None:
        """One step; in a list the thread's name stands out where another thread goes on."""
        lines = self.make_cell(row)
        for position, content in enumerate(lines):
            number = f"{row.number:>{self.layout.numbers}}" if position == 0 else ""
            line = Text().append(pad(number, self.layout.numbers + MARGIN), "dim")
            if self.layout.threads:
                column = self.layout.threads.index(row.thread)
                line.append(" " * (column * (self.layout.width + 3)))
            else:
                name = self.fit(row.name, self.layout.name) if position == 0 else ""
                line.append(pad(name, self.layout.name + MARGIN), "bold" if switched else "dim")
            line.append_text(content)
            self.write(line)

    def make_cell(self, row: TraceRow) -> list[Text]:
        """A step's own lines: the source, then its effects, on the same line if they fit."""
        failed = row.failed and row.failing is None
        head = self.show_source(row.line, row.source or row.operation, failed=failed)
        after = [self.show_source(*row.failing, failed=True)] if row.failing is not None else []
        parts = self.show_effects(row)
        if not parts:
            return [head, *after]
        beside = Text("  ").join(parts)
        if head.cell_len + 3 + beside.cell_len <= self.layout.width:
            return [head + Text("   ") + beside, *after]
        return [head, *self.wrap_effects(parts), *after]

    def show_source(self, line: int, text: str, *, failed: bool) -> Text:
        """A source line with its number; a cross in front of it where it fails."""
        head = Text().append(f"{line:>{self.layout.lines}} ", "dim")
        mark = f"{self.glyphs.cross} " if failed else ""
        shown = self.fit(mark + text, self.layout.width - self.layout.lines - 1)
        return head.append(shown, FAILED if failed else SOURCE)

    def show_effects(self, row: TraceRow) -> list[Text]:
        parts: list[Text] = []
        skipped = row.quiet
        parts += [self.show_effect(text, OPERATION) for text in self.show_operations(row)]
        parts += [
            self.show_effect(f"{place} {self.glyphs.arrow} {value}", READ)
            for place, value in row.reads.items()
            if place not in skipped
        ]
        writes = {place: value for place, value in row.writes.items() if place not in skipped}
        parts += self.show_values(writes, WRITE)
        parts += self.show_values(row.locals, LOCAL)
        return [part for part in parts if part.plain != row.source]

    def show_operations(self, row: TraceRow) -> list[str]:
        """What the step did to objects; an atomic section may do it many times."""
        texts = [text for told in row.told if (text := self.show_operation(row, told))]
        if len(texts) <= MOST_OPERATIONS:
            return texts
        half = MOST_OPERATIONS // 2
        left_out = f"{self.glyphs.ellipsis} {len(texts) - 2 * half:,} more"
        return [*texts[:half], left_out, *texts[-half:]]

    def show_operation(self, row: TraceRow, told: Told) -> str:
        """An operation and what came of it, unless a variable that is set shows the value."""
        target = row.source.partition("=")[0].strip()
        shown = target in row.locals and row.locals[target] == told.result
        if shown or not told.tells_result:
            return "" if told.text == CHOOSING else told.words
        return f"{told.words} {self.glyphs.arrow} {told.result}"

    def show_values(self, values: dict[str, Shown], style: str) -> list[Text]:
        return [self.show_effect(f"{place} = {value}", style) for place, value in values.items()]

    def show_effect(self, text: str, style: str) -> Text:
        """Show an effect in full; `wrap_effects` gives it more lines where it is long."""
        return Text(safe(text, self.glyphs), style)

    def wrap_effects(self, parts: list[Text]) -> list[Text]:
        """Effects below their source line: short ones share lines, a long one has its own."""
        indent = self.layout.lines + MARGIN
        room = max(self.layout.width - indent, 10)
        lines: list[Text] = []
        shared = False
        for part in parts:
            long = part.cell_len > room
            if shared and lines[-1].cell_len + 2 + part.cell_len <= self.layout.width:
                lines[-1].append("  ").append_text(part)
                continue
            shared = not long
            for number, line in enumerate(part.wrap(self.console, room - CONTINUED * long)):
                line.rstrip()
                margin = indent + CONTINUED * bool(number)
                lines.append(Text(" " * margin).append_text(line))
        return lines

    def fit(self, text: str, width: int) -> str:
        """The text made safe and cut to a width."""
        clean = safe(text, self.glyphs)
        if cell_len(clean) <= width:
            return clean
        short = max(width - cell_len(self.glyphs.ellipsis), 0)
        return set_cell_size(clean, short).rstrip() + self.glyphs.ellipsis

    def write(self, line: Text) -> None:
        line.rstrip()
        self.console.print(line, soft_wrap=True)


def pad(text: str, width: int) -> str:
    return text + " " * max(width - cell_len(text), 0)
