"""The report: verdict and scope, one column a thread, how it ends, and how to see it again.

The table is the one that counterexamples of models have (`report.columns`), with more
room for text.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from mazurka.report.answer import HOLDS
from mazurka.report.columns import FAILED, MARGIN, SOURCE, Columns
from mazurka.report.operations import TraceRow
from mazurka.report.places import Shown
from mazurka.report.prose import Prose, standing_text
from mazurka.report.terminal import make_console, safe, width_of_output
from mazurka.report.trace import Trace
from mazurka.report.words import counted
from mazurka.runtime.core.sites import is_plumbing
from mazurka.runtime.story.effects import DELETED
from mazurka.runtime.story.failure import STUCK, ThreadFailure, describe_lost
from mazurka.runtime.story.findings import Findings
from mazurka.runtime.story.paths import short_path
from mazurka.runtime.story.rows import Rows, find_surface
from mazurka.runtime.story.story import RecordedStep, Story


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


LATE = (
    "if timeouts are long enough that nobody moves any more when they fire, leave early ones out:"
    " mazurka test --timeouts last-resort, pytest --mazurka-timeouts=last-resort, or"
    ' timeouts="last-resort" in the marker'
)
"""What to do about a failure that needs a timeout to fire early."""
FIRST = (
    "the first execution has failed, in which nobody is preempted, and a run without Mazurka has"
    " failed in the same way"
)
HANGING = 4
"""How far the second line of source is indented."""
MOST_LINES = 3
"""Of source, for a row."""
MOST_NAME = 28


def write_report(result: Findings, *, width: int | None = None, full: bool = False) -> str:
    """Write the report as plain text; `full` shows all rows."""
    paper = io.StringIO()
    columns = width or width_of_output()
    console = Console(
        file=paper, width=columns, color_system=None, highlight=False, markup=False, emoji=False
    )
    ExplorationReport(console, result, full=full).print()
    return paper.getvalue().rstrip("\n")


def print_result(result: Findings, *, full: bool = False) -> None:
    """Print the report on the terminal; `full` shows all rows."""
    ExplorationReport(make_console(), result, full=full).print()


class ExplorationReport(Prose):
    """Prints one result."""

    def __init__(self, console: Console, result: Findings, *, full: bool = False) -> None:
        super().__init__(console)
        self.result = result
        self.full = full

    def print(self) -> None:
        result = self.result
        self.print_headline()
        if result.scope:
            self.print_line(result.scope, indent=2)
        for note in result.notes:
            self.print_line(note, indent=2)
        if result.violation is not None and result.story is not None:
            self.print_counterexample(result.violation, result.story)
        self.print_footer()

    def print_headline(self) -> None:
        result, dash = self.result, self.glyphs.dash
        if result.violation is not None:
            violated = result.violation
            place = f"{short_path(violated.file)}:{violated.line}: " if violated.file else ""
            when = f", {violated.condition}" if violated.condition else ""
            text = f"violated: {violated.kind}{when} {dash} {place}{violated.message}"
            self.print_line(text, "bold red")
        elif result.error is not None:
            for number, line in enumerate(str(result.error).splitlines()):
                text = f"error: {line}" if number == 0 else line.strip()
                self.print_line(text, "bold red" if number == 0 else "dim", indent=2 * bool(number))
        else:
            self.print_line(result.verdict, "bold green" if result.verdict == HOLDS else "bold")

    def print_counterexample(self, violated: ThreadFailure, story: Story) -> None:
        rows = Rows(story, violated, full=self.full)
        trace = rows.make_trace()
        self.print_blank()
        if violated.diagnosis is not None:
            found = violated.diagnosis
            file = rows.main_file if violated.file in (None, rows.main_file) else None
            self.print_line(f"{found.kind}: {found.text(file)}", "bold yellow")
            self.print_blank()
        switches = counted(trace.switches, "context switch")
        preempted = [row.number for row in rows.rows if row.preempts]
        before = "" if not preempted else f" (before {_list_steps(preempted)})"
        self.print_line(
            f"counterexample: {counted(rows.count, 'step')}, {switches},"
            f" {counted(len(preempted), 'preemption')}{before}"
        )
        if rows.main:
            others = ", other files are named" if rows.several else ""
            folded = "; --full-trace shows folded rows" if len(rows.rows) < rows.count else ""
            self.print_line(f"lines of {short_path(rows.main)}{others}{folded}", "dim")
        self.print_blank()
        StepTable(self.console, trace).draw()
        self.print_blank()
        self.print_conclusion(violated, story, rows)

    def print_conclusion(self, violated: ThreadFailure, story: Story, rows: Rows) -> None:
        """Tell below the last row how the run ends, and where the other threads stand."""
        if violated.kind in STUCK:
            self.print_stuck(violated, story, rows)
        else:
            self.print_failure(violated, story, rows)
        for sentence in describe_others(rows, violated):
            self.print_line(sentence, "dim", indent=2)

    def print_stuck(self, violated: ThreadFailure, story: Story, rows: Rows) -> None:
        self.print_line(ENDINGS[violated.kind])
        for stands in story.standing:
            standing = rows.describe_standing(stands)
            self.print_marked(standing_text(standing), standing.reason)
        for lost in story.lost:
            self.print_line(f"lost wake-up: {describe_lost(story, lost, rows.main_file)}", indent=2)

    def print_failure(self, violated: ThreadFailure, story: Story, rows: Rows) -> None:
        name = story.threads.get(violated.thread or 0, "")
        site = find_surface(violated)
        where = f", line {site.line}: {rows.show_source(site)}" if site is not None else ""
        self.print_marked(f"{name}{where}", violated.message)
        stack = violated.details[1:]
        for line in stack if len(stack) > 1 else ():
            file, _, rest = line.rpartition(":")
            self.print_line(f"{short_path(file)}:{rest}", "dim", indent=4)

    def print_footer(self) -> None:
        result = self.result
        self.print_blank()
        if result.token is not None:
            self.print_line("see it again, here or with pytest --mazurka-replay=TOKEN:", "dim")
            command = f"  mazurka replay {result.token} {result.replay_options}"
            self.console.print(command.rstrip(), soft_wrap=True)
            self.print_blank()
        if result.violation is not None and result.violation.early:
            self.print_line(LATE, "dim")
            self.print_blank()
        elif result.fails_plainly:
            self.print_line(FIRST, "dim")
            self.print_blank()
        if result.verdict != "error" and result.strategy:  # otherwise nothing has run
            self.print_line(self.describe_statistics())

    def describe_statistics(self) -> str:
        result = self.result
        # Each bound includes those below, which `at most` says and a list of numbers would not.
        bounds = ", ".join(
            f"{level.executions:,} {_describe_bound(level.bound)}"
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


def _list_steps(numbers: Sequence[int]) -> str:
    word = "step" if len(numbers) == 1 else "steps"
    return f"{word} {', '.join(map(str, numbers))}"


def _describe_bound(bound: int) -> str:
    return "without preemptions" if bound == 0 else f"with at most {bound:,}"


def describe_others(rows: Rows, violated: ThreadFailure) -> Iterator[str]:
    """Say where the threads stand that the ending does not name, a sentence each.

    What they were about to do when another one failed may be what has gone wrong; and a thread that
    took no step that is shown would not be heard of at all.  Columns are enough for those that have
    ended.
    """
    if violated.kind == "race":
        return
    story = rows.story
    is_stuck = violated.kind in STUCK
    told = {stands.thread for stands in story.standing} if is_stuck else {violated.thread}
    if violated.kind == "leak":
        told.add(0)
    shown = set() if is_stuck else {row.thread for row in rows.rows}
    begun = {step.starts for step in rows.told}
    for number, name in sorted(story.threads.items()):
        if number in told or (number > 0 and story.paths.get(number) not in begun):
            continue
        status = _describe_status(rows, number)
        if status is not None and not (status == ENDED and number in shown):
            yield f"{name} {status}"


ENDED = "has ended"


def _describe_status(rows: Rows, number: int) -> str | None:
    """Say where a thread stands after the last row; None where that is of no interest."""
    past = [step for step in rows.told if step.thread == number]
    if number > 0 and not past:
        return "has not begun"
    if past and past[-1].kind == "end":
        return ENDED
    coming = [step for step in rows.story.steps[len(rows.told) :] if step.thread == number]
    if coming:
        return _describe_place(rows, coming[0])
    found = next((one for one in rows.story.standing if one.thread == number), None)
    if found is None:
        return ENDED
    standing = rows.describe_standing(found)
    where = f"stands at line {standing.line}: {standing.source}, and " if standing.line else ""
    return f"{where}{standing.reason}"


def _describe_place(rows: Rows, step: RecordedStep) -> str | None:
    if step.kind == "end":
        return ENDED
    if step.inside or step.site is None or is_plumbing(step.site):
        return None
    return f"stands at line {step.site.line}: {rows.show_source(step.site)}"
