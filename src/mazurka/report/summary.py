"""What `mazurka check` prints for people: the verdict first, then why, then what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from mazurka.report.columns import Columns
from mazurka.report.confirm import Finding
from mazurka.report.observer import bytes_text
from mazurka.report.replaying import REPRODUCED, ReplayReport
from mazurka.report.selection import Alternative
from mazurka.report.terminal import glyphs_for, safe
from mazurka.report.trace import Standing, Trace
from mazurka.report.verdict import (
    HOLDS,
    INCONCLUSIVE,
    UNSOUND,
    VIOLATED,
    Verdict,
    limit_name,
    states_text,
)
from mazurka.stateful.strategy import Statistics

STYLES = {HOLDS: "bold green", VIOLATED: "bold red", INCONCLUSIVE: "bold yellow"}
ORDERS = {"dfs": "depth-first", "bfs": "breadth-first"}
CHOSEN = {
    "shortest": "the shortest there is",
    "switches": "with the fewest context switches",
    "found": "as the search met it",
}


class Story:
    """Prints a counterexample: its steps, and how it ends."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.glyphs = glyphs_for(console)

    def ending(self, trace: Trace, found: Finding) -> None:
        """What there is to say under the last row."""
        self.blank()
        if trace.collisions:
            self.collision(trace)
        elif found.kind == "deadlock":
            self.standings(trace)
        else:
            self.marked(failure_text(trace, found), found.message)

    def collision(self, trace: Trace) -> None:
        self.line("now both can happen, in either order or at once:")
        for side in trace.collisions:
            what = "=" if side.action == "writes" else self.glyphs.arrow
            self.marked(
                f"{side.name}, line {side.line}: {side.source}"
                f"   ({side.action} {side.place} {what} {side.value})"
            )

    def standings(self, trace: Trace) -> None:
        """How a deadlock ends: each thread's place and what it waits for."""
        self.line("now no thread can move:")
        waiting = [standing for standing in trace.ending if standing.status == "waits"]
        widest = max((cell_len(standing_text(standing)) for standing in waiting), default=0)
        for standing in waiting:
            self.marked(standing_text(standing), standing.reason, column=widest)
        others = [standing for standing in trace.ending if standing.status != "waits"]
        if others:
            listed = ", ".join(f"{other.name} ({other.reason})" for other in others)
            self.line(f"also: {listed}", "dim", indent=4)

    def marked(self, text: str, reason: str = "", *, column: int = 0) -> None:
        """A line with a cross in front; the reason stands beside it where all fits."""
        line = Text().append(f"  {self.glyphs.cross} ", "bold red")
        clean, why = safe(text, self.glyphs), safe(reason, self.glyphs)
        width = self.console.width
        if reason and 4 + max(column, cell_len(clean)) + 3 + cell_len(why) <= width:
            line.append(clean + " " * (max(column - cell_len(clean), 0) + 3)).append(why, "red")
            self.hanging(line, 4)
            return
        self.hanging(line.append(clean), 4)
        if reason:
            self.hanging(Text(f"    {why}", "red"), 4)

    def line(self, text: str, style: str = "", *, indent: int = 0) -> None:
        self.hanging(Text(" " * indent + safe(text, self.glyphs), style), indent)

    def hanging(self, text: Text, indent: int) -> None:
        """Print a paragraph whose second and later lines are indented."""
        width = max(self.console.width - indent, 20)
        first, *rest = text.wrap(self.console, self.console.width) or [Text()]
        first.rstrip()
        self.console.print(first, soft_wrap=True)
        if rest:
            remaining = Text(" ").join(rest)
            for line in remaining.wrap(self.console, width):
                line.rstrip()
                self.console.print(Text(" " * indent) + line, soft_wrap=True)

    def blank(self) -> None:
        self.console.print()


class Summary(Story):
    """Prints one verdict on one console."""

    def __init__(self, console: Console, verdict: Verdict, *, full_trace: bool = False) -> None:
        super().__init__(console)
        self.verdict = verdict
        self.full_trace = full_trace

    def print(self, *, saved: str | None = None, asked: str | None = None) -> None:
        """Everything; `asked` is the file a trace should go to, `saved` the one it went to."""
        self.headline()
        self.line(self.verdict.scope, indent=2)
        if self.verdict.trace is not None:
            self.counterexample(self.verdict.trace)
        self.blank()
        if self.verdict.statistics is not None:
            self.line(self.statistics(self.verdict.statistics), "dim")
        for note in self.verdict.notes:
            self.line(note, "dim")
        for advice in self.advice(saved):
            self.line(advice, "dim")
        if asked is not None and saved is None:
            self.line(f"there is no counterexample to save: {asked} was not written", "dim")

    def headline(self) -> None:
        """`violated: deadlock — no thread can move, 2 threads wait for ever`."""
        verdict = self.verdict
        line = Text().append(verdict.verdict, STYLES[verdict.verdict])
        if verdict.violation is not None:
            found = verdict.violation
            line.append(f": {found.kind}", STYLES[VIOLATED])
            placed = found.file and found.kind != "deadlock"
            place = f"{found.file}:{found.line}: " if placed else ""
            line.append(safe(f" {self.glyphs.dash} {place}{found.message}", self.glyphs))
        elif verdict.limits:
            named = "; ".join(limit_name(limit) for limit in verdict.limits)
            line.append(safe(f": {named}", self.glyphs), STYLES[INCONCLUSIVE])
        if self.console.is_terminal:
            self.hanging(line, 2)
        else:  # scripts read the first line
            self.console.print(line, soft_wrap=True)

    def counterexample(self, trace: Trace) -> None:
        self.blank()
        how = CHOSEN.get(self.verdict.counterexample or "", "")
        steps = counted(len(trace.moves), "step")
        switches = counted(trace.switches, "context switch")
        self.line(f"counterexample: {steps}, {switches}" + (f", {how}" if how else ""), "bold")
        self.blank()
        Columns(self.console, trace, full=self.full_trace).draw()
        if self.verdict.violation is not None:
            self.ending(trace, self.verdict.violation)

    def statistics(self, statistics: Statistics) -> str:
        verdict = self.verdict
        chosen = " (chosen by auto)" if verdict.options.get("strategy") == "auto" else ""
        return "  ".join(
            (
                states_text(statistics.states),
                counted(statistics.transitions, "transition"),
                f"{statistics.seconds:.2f} s",
                bytes_text(statistics.peak_bytes),
                f"strategy {verdict.strategy}{chosen}, {ORDERS.get(verdict.order or '', '')}",
            )
        )

    def advice(self, saved: str | None) -> list[str]:
        """The next thing to try."""
        verdict = self.verdict
        lines: list[str] = []
        if verdict.alternative is not None:
            other = verdict.alternative
            lines.append(f"{other.option} shows {other.what}{cost_text(other)}")
        if saved is not None:
            lines.append(f"saved; step through it with: mazurka replay {shlex.quote(saved)} --step")
        elif verdict.trace is not None:
            lines.append("--trace FILE saves it for mazurka replay")
        lines += [text for limit in verdict.limits if (text := LIMIT_ADVICE.get(limit))]
        return [safe(line, self.glyphs) for line in lines]


LIMIT_ADVICE = {
    "time": "a larger --limit-time, or smaller constants (-D NAME=VALUE), may give an answer",
    "memory": "a larger --limit-memory, or smaller constants (-D NAME=VALUE), may give an answer",
    UNSOUND: "strategy full answers for certain",
}


def failure_text(trace: Trace, found: Finding) -> str:
    """Who fails, and where: the failing step is the last row."""
    if not trace.rows:
        return f"line {found.line}"
    last = trace.rows[-1]
    line, source = last.failing or (last.line, last.source)
    return f"{last.name}, line {line}: {source}"


def standing_text(standing: Standing) -> str:
    place = f", line {standing.line}: {standing.source}" if standing.line else ""
    return f"{standing.name}{place}"


def cost_text(other: Alternative) -> str:
    if other.steps is None or other.switches is None:
        return ""
    return f" ({counted(other.steps, 'step')}, {counted(other.switches, 'context switch')})"


def counted(number: int, noun: str) -> str:
    """`1 step`, `2 steps`, `3 context switches`."""
    plural = noun + ("es" if noun.endswith("ch") else "s")
    return f"{number:,} {noun if number == 1 else plural}"


def print_replay(
    console: Console,
    report: ReplayReport,
    *,
    full_trace: bool = False,
    pause: Callable[[], bool] | None = None,
) -> None:
    """A replayed trace in columns, and what has become of its violation."""
    story = Story(console)
    drawn = True
    if report.trace.rows:
        drawn = Columns(console, report.trace, full=full_trace).draw(pause)
    if drawn and report.finding is not None:
        story.ending(report.trace, report.finding)
    story.blank()
    story.line(report.message, "bold red" if report.outcome == REPRODUCED else "bold yellow")
