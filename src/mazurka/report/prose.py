"""Paragraphs on a console, and how a counterexample ends: what a check and a replay share."""

from __future__ import annotations

from collections.abc import Iterable

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from mazurka.report.answer import Finding
from mazurka.report.spinning import STATUS
from mazurka.report.standing import Standing
from mazurka.report.terminal import glyphs_for, safe
from mazurka.report.trace import Trace


class Prose:
    """Prints a counterexample: its steps, and how it ends."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.glyphs = glyphs_for(console)

    def print_ending(self, trace: Trace, found: Finding) -> None:
        """What there is to say under the last row."""
        self.print_blank()
        if trace.collisions:
            self.print_collision(trace)
        elif found.kind == "deadlock":
            self.print_standings(trace)
        elif trace.spinning:
            self.print_loops(trace)
        else:
            self.print_marked(failure_text(trace, found), found.message)

    def print_collision(self, trace: Trace) -> None:
        self.print_line("now both can happen, in either order or at once:")
        for side in trace.collisions:
            what = "=" if side.action == "writes" else self.glyphs.arrow
            self.print_marked(
                f"{side.name}, line {side.line}: {side.source}"
                f"   ({side.action} {side.place} {what} {side.value})"
            )

    def print_standings(self, trace: Trace) -> None:
        """How a deadlock ends: each thread's place and what it waits for."""
        self.print_line("now no thread can move:")
        waiting = [standing for standing in trace.ending if standing.status == "waits"]
        widest = max((cell_len(standing_text(standing)) for standing in waiting), default=0)
        for standing in waiting:
            self.print_marked(standing_text(standing), standing.reason, column=widest)
        self.print_others(standing for standing in trace.ending if standing.status != "waits")

    def print_loops(self, trace: Trace) -> None:
        """How a hang ends: each thread's loop, and what it reads there again and again."""
        who = "this thread goes" if len(trace.spinning) == 1 else "these threads go"
        self.print_line(f"now {who} round for ever, and what is read there never changes:")
        texts = [f"{each.name}, {each.place}: {each.source}" for each in trace.spinning]
        widest = max(map(cell_len, texts))
        for each, text in zip(trace.spinning, texts, strict=True):
            self.print_marked(text, each.values, column=widest)
        self.print_others(standing for standing in trace.ending if standing.status != STATUS)

    def print_others(self, standings: Iterable[Standing]) -> None:
        """The threads that have no line of their own."""
        listed = ", ".join(f"{other.name} ({other.reason})" for other in standings)
        if listed:
            self.print_line(f"also: {listed}", "dim", indent=4)

    def print_marked(self, text: str, reason: str = "", *, column: int = 0) -> None:
        """A line with a cross in front; the reason stands beside it where all fits."""
        line = Text().append(f"  {self.glyphs.cross} ", "bold red")
        clean, why = safe(text, self.glyphs), safe(reason, self.glyphs)
        width = self.console.width
        if reason and 4 + max(column, cell_len(clean)) + 3 + cell_len(why) <= width:
            line.append(clean + " " * (max(column - cell_len(clean), 0) + 3)).append(why, "red")
            self.print_hanging(line, 4)
            return
        self.print_hanging(line.append(clean), 4)
        if reason:
            self.print_hanging(Text(f"    {why}", "red"), 4)

    def print_line(self, text: str, style: str = "", *, indent: int = 0) -> None:
        self.print_hanging(Text(" " * indent + safe(text, self.glyphs), style), indent)

    def print_note(self, note: str) -> None:
        """A remark, in a paragraph of its own."""
        text = Text().append("note: ", "bold yellow").append(safe(note, self.glyphs))
        self.print_hanging(text, 6)

    def print_hanging(self, text: Text, indent: int) -> None:
        """Print a paragraph whose second and later lines are indented."""
        width = max(self.console.width - indent, 20)
        first, *rest = text.wrap(self.console, self.console.width) or [Text()]
        first.rstrip()
        self.console.print(first, soft_wrap=True)
        if rest:
            for line in rest:
                line.rstrip()
            remaining = Text(" ").join(rest)
            for line in remaining.wrap(self.console, width):
                line.rstrip()
                self.console.print(Text(" " * indent) + line, soft_wrap=True)

    def print_blank(self) -> None:
        self.console.print()


def failure_text(trace: Trace, found: Finding) -> str:
    """Who fails, and where: the failing step is the last row."""
    if not trace.rows:
        return f"line {found.line}"
    last = trace.rows[-1]
    line, source = last.failing or (last.line, last.source)
    return f"{last.name}, line {line}: {source}"


def standing_text(standing: Standing) -> str:
    """Who stands where; a thread inside a library has a call, and no line."""
    if standing.line:
        return f"{standing.name}, line {standing.line}: {standing.source}"
    return f"{standing.name}, in {standing.source}" if standing.source else standing.name
