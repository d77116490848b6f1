"""The table of a counterexample of a test: the one of models, with more room for text."""

from __future__ import annotations

from dataclasses import replace

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from mazurka.report.columns import FAILED, MARGIN, SOURCE, Columns
from mazurka.report.places import Shown
from mazurka.report.rows import TraceRow
from mazurka.report.terminal import safe
from mazurka.report.trace import Trace
from mazurka.runtime.story.effects import DELETED


class StepTable(Columns):
    """Draws the steps of a test's counterexample, with more room for long texts.

    Names of threads are long, so a list gives them more room.  It is a list, too, where most lines
    of source are longer than a column would be; single ones go on in the next line.
    """

    def __init__(self, console: Console, trace: Trace) -> None:
        super().__init__(console, trace, full=True)
        longest = max((cell_len(row.name) for row in trace.rows), default=0)
        name = min(longest, MOST_NAME)
        room = console.width - self.layout.numbers - 1 - MARGIN
        listed = replace(self.layout, threads=(), name=name, width=max(room - name - 4, 10))
        cut = [row for row in trace.rows if not self.is_short(row)]
        if not self.layout.threads or (
            2 * len(cut) > len(trace.rows) and listed.width > self.layout.width
        ):
            self.layout = listed

    def is_short(self, row: TraceRow) -> bool:
        return cell_len(safe(self.mark_source(row), self.glyphs)) <= self.room

    @property
    def room(self) -> int:
        """The width for source, beside the number of its line."""
        return max(self.layout.width - self.layout.lines - 1, 1)

    def mark_source(self, row: TraceRow) -> str:
        return f"{self.glyphs.cross} {row.source}" if row.failed else row.source

    def make_cell(self, row: TraceRow) -> list[Text]:
        """Lay out one step; a step that runs no code of the user's has no source line."""
        parts = self.show_effects(row)
        if not (row.source or row.line):
            return self.wrap_effects(parts)
        head, *more = self.make_heads(row)
        beside = Text("  ").join(parts)
        if parts and not more and head.cell_len + 3 + beside.cell_len <= self.layout.width:
            return [head + Text("   ") + beside]
        return [head, *more, *self.wrap_effects(parts)]

    def make_heads(self, row: TraceRow) -> list[Text]:
        """Lay out the source of a row, on several lines where it is long."""
        style = FAILED if row.failed else SOURCE
        number = f"{row.line or '':>{self.layout.lines}} "
        text = Text(safe(self.mark_source(row), self.glyphs), style)
        if text.cell_len <= self.room:
            return [Text().append(number, "dim").append_text(text)]
        first = text.wrap(self.console, self.room)[0]
        rest = Text(text.plain[len(first.plain) :].strip(), style)
        lines = list(rest.wrap(self.console, max(self.room - HANGING, 1)))
        if len(lines) >= MOST_LINES:
            lines = lines[: MOST_LINES - 1]
            lines[-1].append(self.glyphs.ellipsis)
        margin = " " * (len(number) + HANGING)
        head = Text().append(number, "dim").append_text(first)
        return [head, *(Text(margin).append_text(line) for line in lines)]

    def show_values(self, values: dict[str, Shown], style: str) -> list[Text]:
        gone = {place for place, value in values.items() if value == DELETED}
        return [
            self.show_effect(f"{place} {value}" if place in gone else f"{place} = {value}", style)
            for place, value in values.items()
        ]

    def show_effect(self, text: str, style: str) -> Text:
        """Show a value in full; `wrap_effects` gives it more lines where it is long."""
        return Text(safe(text, self.glyphs), style)

    def wrap_effects(self, parts: list[Text]) -> list[Text]:
        """Lay out effects: short ones share lines, a long one has lines of its own."""
        indent = self.layout.lines + MARGIN
        room = max(self.layout.width - indent, 10)
        lines: list[Text] = []
        short: list[Text] = []
        for part in parts:
            if part.cell_len <= room:
                short.append(part)
                continue
            lines += super().wrap_effects(short)
            short = []
            for number, line in enumerate(part.wrap(self.console, room - CONTINUED)):
                line.rstrip()
                margin = indent + CONTINUED * bool(number)
                lines.append(Text(" " * margin).append_text(line))
        return lines + super().wrap_effects(short)


HANGING = 4
"""How far the second line of source is indented."""
MOST_LINES = 3
"""Of source, for a row."""
CONTINUED = 1
"""How far the second line of a value is indented."""
MOST_NAME = 28
