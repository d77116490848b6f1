"""The report: verdict and scope, one column a thread, how it ends, and how to see it again.

The table is the one that counterexamples of models have (`report.columns`).
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from mazurka.report.columns import FAILED, MARGIN, SOURCE, Columns
from mazurka.report.places import Shown
from mazurka.report.prose import Prose
from mazurka.report.rows import TraceRow
from mazurka.report.terminal import make_console, safe, width_of_output
from mazurka.report.trace import Standing, Trace
from mazurka.runtime.core.sites import shown_path
from mazurka.runtime.core.values import counted
from mazurka.runtime.exploring.results import HOLDS, STUCK, Result, Violation
from mazurka.runtime.story.effects import DELETED
from mazurka.runtime.story.others import others
from mazurka.runtime.story.recording import Story
from mazurka.runtime.story.rows import Rows, surfacing_site
from mazurka.runtime.story.telling import lost_text


def report_text(result: Result, *, width: int | None = None) -> str:
    """The report as plain text."""
    paper = io.StringIO()
    columns = width or width_of_output()
    console = Console(
        file=paper, width=columns, color_system=None, highlight=False, markup=False, emoji=False
    )
    ExplorationReport(console, result).print()
    return paper.getvalue().rstrip("\n")


def print_result(result: Result) -> None:
    """The report on the terminal."""
    ExplorationReport(make_console(), result).print()


class ExplorationReport:
    """Prints one result."""

    def __init__(self, console: Console, result: Result) -> None:
        self.console = console
        self.result = result
        self.prose = Prose(console)

    def print(self) -> None:
        result = self.result
        self.headline()
        if result.scope:
            self.prose.line(result.scope, indent=2)
        for note in result.notes:
            self.prose.line(note, indent=2)
        if result.violation is not None and result.story is not None:
            self.counterexample(result.violation, result.story)
        self.footer()

    def headline(self) -> None:
        result, dash = self.result, self.prose.glyphs.dash
        if result.violation is not None:
            violated = result.violation
            place = f"{violated.file}:{violated.line}: " if violated.file else ""
            text = f"violated: {violated.kind} {dash} {place}{violated.message}"
            self.prose.line(text, "bold red")
        elif result.error is not None:
            for number, line in enumerate(str(result.error).splitlines()):
                text = f"error: {line}" if number == 0 else line.strip()
                self.prose.line(text, "bold red" if number == 0 else "dim", indent=2 * bool(number))
        else:
            self.prose.line(result.verdict, "bold green" if result.verdict == HOLDS else "bold")

    def counterexample(self, violated: Violation, story: Story) -> None:
        rows = Rows(story, violated)
        trace = rows.trace()
        self.prose.blank()
        switches = counted(trace.switches, "context switch").replace("switchs", "switches")
        preempted = [row.number for row in rows.rows if row.preempts]
        before = "" if not preempted else f" (before {_steps(preempted)})"
        self.prose.line(
            f"counterexample: {counted(len(rows.rows), 'step')}, {switches},"
            f" {counted(len(preempted), 'preemption')}{before}"
        )
        if rows.main:
            others = ", other files are named" if rows.several else ""
            self.prose.line(f"lines of {shown_path(rows.main)}{others}", "dim")
        self.prose.blank()
        StepTable(self.console, trace).draw()
        self.prose.blank()
        self.ending(violated, story, rows)

    def ending(self, violated: Violation, story: Story, rows: Rows) -> None:
        stuck = [rows.standing(stands) for stands in story.standing]
        if violated.kind in STUCK:
            self.prose.line(ENDINGS[violated.kind])
            for standing in stuck:
                self.prose.marked(_standing(standing), standing.reason)
            for lost in story.lost:
                text = lost_text(story, lost, rows.main_file)
                self.prose.line(f"lost wake-up: {text}", indent=2)
            self.others(violated, rows)
            return
        name = story.threads.get(violated.thread or 0, "")
        site = surfacing_site(violated)
        where = f", line {site.line}: {rows.source(site)}" if site is not None else ""
        self.prose.marked(f"{name}{where}", violated.message)
        stack = violated.details[1:]
        for line in stack if len(stack) > 1 else ():
            file, _, rest = line.rpartition(":")
            self.prose.line(f"{shown_path(file)}:{rest}", "dim", indent=4)
        self.others(violated, rows)

    def others(self, violated: Violation, rows: Rows) -> None:
        for sentence in others(rows, violated):
            self.prose.line(sentence, "dim", indent=2)

    def footer(self) -> None:
        result = self.result
        self.prose.blank()
        if result.token is not None:
            self.prose.line("see it again, here or with pytest --mazurka-replay=TOKEN:", "dim")
            command = f"  mazurka replay {result.token} {result.replay_options}"
            self.console.print(command.rstrip(), soft_wrap=True)
            self.prose.blank()
        if result.verdict != "error":
            self.prose.line(self.statistics())

    def statistics(self) -> str:
        result = self.result
        # Each bound includes those below, which `at most` says and a list of numbers would not.
        bounds = ", ".join(
            f"{level.executions:,} {_within(level.bound)}"
            for level in result.levels
            if level.bound is not None
        )
        executions = counted(result.executions, "execution")
        parts = [f"{executions} ({bounds})" if bounds else executions]
        parts += [f"{result.seconds:.2f} s", f"strategy {result.strategy}"]
        if result.seed is not None:
            parts.append(f"seed {result.seed}")
        return "  ".join(parts)


ENDINGS = {
    "deadlock": "now nobody can go on:",
    "livelock": "now nobody makes progress:",
    "leak": "the test has returned, and left behind:",
}


class StepTable(Columns):
    """The table of steps.

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
        return cell_len(safe(self.headed(row), self.glyphs)) <= self.room

    @property
    def room(self) -> int:
        """For source, beside the number of its line."""
        return max(self.layout.width - self.layout.lines - 1, 1)

    def headed(self, row: TraceRow) -> str:
        return f"{self.glyphs.cross} {row.source}" if row.failed else row.source

    def cell(self, row: TraceRow) -> list[Text]:
        """A step that a thread takes without any code of the user's has no line."""
        parts = self.effects(row)
        if not (row.source or row.line):
            return self.wrapped(parts)
        head, *more = self.heads(row)
        beside = Text("  ").join(parts)
        if parts and not more and head.cell_len + 3 + beside.cell_len <= self.layout.width:
            return [head + Text("   ") + beside]
        return [head, *more, *self.wrapped(parts)]

    def heads(self, row: TraceRow) -> list[Text]:
        """The source of a row, on several lines where it is long."""
        style = FAILED if row.failed else SOURCE
        number = f"{row.line or '':>{self.layout.lines}} "
        text = Text(safe(self.headed(row), self.glyphs), style)
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

    def assigned(self, values: dict[str, Shown], style: str) -> list[Text]:
        gone = {place for place, value in values.items() if value == DELETED}
        return [
            self.effect(f"{place} {value}" if place in gone else f"{place} = {value}", style)
            for place, value in values.items()
        ]

    def effect(self, text: str, style: str) -> Text:
        """A value is not cut off at the edge of its column; `wrapped` gives it more lines."""
        return Text(safe(text, self.glyphs), style)

    def wrapped(self, parts: list[Text]) -> list[Text]:
        """Short effects share lines; a long one has lines of its own."""
        indent = self.layout.lines + MARGIN
        room = max(self.layout.width - indent, 10)
        lines: list[Text] = []
        short: list[Text] = []
        for part in parts:
            if part.cell_len <= room:
                short.append(part)
                continue
            lines += super().wrapped(short)
            short = []
            for number, line in enumerate(part.wrap(self.console, room - CONTINUED)):
                line.rstrip()
                margin = indent + CONTINUED * bool(number)
                lines.append(Text(" " * margin).append_text(line))
        return lines + super().wrapped(short)


HANGING = 4
"""How far the second line of source is indented."""
MOST_LINES = 3
"""Of source, for a row."""
CONTINUED = 1
"""How far the second line of a value is indented."""
MOST_NAME = 28


def _steps(numbers: Sequence[int]) -> str:
    word = "step" if len(numbers) == 1 else "steps"
    return f"{word} {', '.join(map(str, numbers))}"


def _within(bound: int) -> str:
    return "without preemptions" if bound == 0 else f"with at most {bound:,}"


def _standing(standing: Standing) -> str:
    if standing.line:
        return f"{standing.name}, line {standing.line}: {standing.source}"
    return f"{standing.name}, in {standing.source}" if standing.source else standing.name
