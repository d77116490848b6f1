"""The rows of a counterexample: steps of one thread on one source line become one row."""

from __future__ import annotations

import linecache
from collections import Counter
from io import StringIO
from os.path import basename, dirname
from tokenize import COMMENT, TokenError, generate_tokens

from mazurka.report.operations import Told, TraceRow
from mazurka.report.standing import Standing
from mazurka.report.trace import Trace
from mazurka.runtime.core.failures import IN_EXECUTOR
from mazurka.runtime.core.sites import SourceLine, is_plumbing, shown_path
from mazurka.runtime.story.failure import ThreadFailure, describe_wait
from mazurka.runtime.story.folding import Folding, SourceRow
from mazurka.runtime.story.story import RecordedStep, Stands, Story
from mazurka.search import Move

QUIET = frozenset({"begin", "end"})
"""Kinds of steps that say nothing to people: the column begins, the column ends."""


class Rows:
    """The rows of a counterexample."""

    def __init__(self, story: Story, violated: ThreadFailure, *, full: bool = False) -> None:
        self.story = story
        self.rows: list[SourceRow] = []
        self.told = _cut_at_failure(story, violated)
        preempted = False
        for step in self.told:
            preempted = preempted or step.preempts
            site = None if step.site is None or is_plumbing(step.site) else step.site
            if step.kind in QUIET or (site is None and step.inside):
                continue
            if not (self.rows and self.rows[-1].takes(step, site) and not preempted):
                number = len(self.rows) + 1
                self.rows.append(SourceRow(number, step.thread, site, preempts=preempted))
            self.rows[-1].add(step)
            preempted = False
        self._mark_failure(violated)
        self.count = len(self.rows)
        """How many rows there are, with those that are folded."""
        if not full:
            self.rows = Folding(self.rows, violated.diagnosis, story.objects).fold()
        files = Counter(row.site.file for row in self.rows if row.site and not row.failed)
        if not files and (site := find_failing_line(violated)) is not None:
            files[site.file] = 1
        self.main = files.most_common(1)[0][0] if files else ""
        self.several = len(files) > 1

    @property
    def main_file(self) -> str | None:
        """The file of most rows, as people name it."""
        return shown_path(self.main) if self.main else None

    def _mark_failure(self, violated: ThreadFailure) -> None:
        """Let the last row be the line that fails."""
        if violated.thread is None or violated.kind not in ("assert", "exception"):
            return
        last = self.rows[-1] if self.rows else None
        site = find_surface(violated)
        if last is not None and last.thread == violated.thread and is_same_line(last.site, site):
            last.failed = True
        elif site is not None:
            row = SourceRow(len(self.rows) + 1, violated.thread, site, failed=True)
            self.rows.append(row)

    def make_trace(self) -> Trace:
        """The rows as a trace, which the tables of reports draw."""
        names = self.story.threads
        numbers = range(max(names, default=0) + 1)
        return Trace(
            threads=tuple(names.get(number, "") for number in numbers),
            moves=tuple(Move(row.thread) for row in self.rows),
            rows=tuple(self._make_row(row) for row in self.rows),
        )

    def _make_row(self, line: SourceRow) -> TraceRow:
        return TraceRow(
            number=line.number,
            thread=line.thread,
            name=self.story.threads.get(line.thread, str(line.thread)),
            file=line.site.file if line.site else "",
            line=line.site.line if line.site else 0,
            source=self.show_source(line.site) or self.story.calls.get(line.thread, ""),
            operation=", ".join(line.operations),
            told=tuple(map(Told, line.operations)),
            reads=dict(line.reads),
            writes=dict(line.writes),
            failed=line.failed,
        )

    def show_source(self, site: SourceLine | None) -> str:
        """A source line as rows show it; with its file where that is not the one of most rows."""
        if site is None:
            return ""
        text = strip_comment(site.source)
        if shown_path(site.file) == shown_path(self.main):
            return text
        name = basename(site.file)
        if name == "__init__.py":
            name = f"{basename(dirname(site.file))}/{name}"
        return f"{name}: {text}"

    def describe_standing(self, stands: Stands) -> Standing:
        site = stands.site if stands.site and not is_plumbing(stands.site) else None
        return Standing(
            thread=stands.thread,
            name=self.story.threads.get(stands.thread, str(stands.thread)),
            status="waits",
            file=site.file if site else "",
            line=site.line if site else 0,
            source=self.show_source(site) or self.story.calls.get(stands.thread, ""),
            reason=describe_wait(self.story, stands, self.main_file),
        )


def _cut_at_failure(story: Story, violated: ThreadFailure) -> list[RecordedStep]:
    """Leave out what happens after an exception or a race: the other threads just go on."""
    if violated.kind == "race":
        for position, step in enumerate(story.steps):
            if step.thread == violated.thread and is_same_line(
                step.site, find_failing_line(violated)
            ):
                return story.steps[: position + 1]
    if violated.kind not in ("assert", "exception") or violated.thread is None:
        return story.steps
    own = [step for step in story.steps if step.thread == violated.thread and step.kind != "end"]
    return story.steps[: own[-1].number] if own else story.steps


def find_failing_line(violated: ThreadFailure) -> SourceLine | None:
    if violated.file is None or violated.line is None:
        return None
    source = linecache.getline(violated.file, violated.line).strip()
    return SourceLine(violated.file, violated.line, "", source)


def find_surface(violated: ThreadFailure) -> SourceLine | None:
    """Find the line at which a failure surfaces: that of a call by an executor does so at the
    future."""
    stack = [line for line in violated.details[1:] if not line.endswith(IN_EXECUTOR)]
    if len(stack) == len(violated.details) - 1 or not stack:
        return find_failing_line(violated)
    file, _, line = stack[-1].partition(" in ")[0].rpartition(":")
    return SourceLine(file, int(line), "", linecache.getline(file, int(line)).strip())


def is_same_line(one: SourceLine | None, other: SourceLine | None) -> bool:
    return (
        one is not None
        and other is not None
        and one.line == other.line
        and shown_path(one.file) == shown_path(other.file)
    )


def strip_comment(line: str) -> str:
    """Leave out the comment of a source line: a row has little room."""
    try:
        for token in generate_tokens(StringIO(line).readline):
            if token.type == COMMENT:
                return line[: token.start[1]].rstrip() or line
    except (TokenError, SyntaxError):
        pass  # a part of a statement
    return line
