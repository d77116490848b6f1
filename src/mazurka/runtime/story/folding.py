"""Fold rows that tell nothing of a failure: those of set-up, and of the insides of libraries.

A thread that calls a package may take hundreds of steps in its code.  What a person wants to see of
them is the line of the project that makes the call, and those steps that matter.  Other steps are
folded: consecutive rows of one thread, within one call of the project, become one row that names
the call and the functions that were passed.  The same is done for the rows before the first thread
is started.

Rows that matter are never folded: the line that fails, and what the diagnosis names, with every row
that touches the same things.  Where there is no diagnosis, rows matter that touch what several
threads use and one of them changes, and the row before a preemption.  If these are many, since
threads share a whole parser, say, only those matter by which one thread learns of another: where it
reads or overwrites what the other one has written last, and where that was written; and if even
these are many, the last ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from mazurka.report.words import counted
from mazurka.runtime.core.sites import SourceLine
from mazurka.runtime.story.diagnosis import Diagnosis
from mazurka.runtime.story.paths import is_library, name_package
from mazurka.runtime.story.story import RecordedStep

FEW = 3
"""So many rows of set-up are shown."""
MANY = 60
"""If a failure is about more rows inside of libraries, some of them are folded."""
MOST_NAMES = 4
DATA = ("variable", "container")


@dataclass
class SourceRow:
    """Steps of one thread on one source line."""

    number: int
    thread: int
    site: SourceLine | None
    operations: list[str] = field(default_factory=list)
    reads: dict[str, str] = field(default_factory=dict)
    writes: dict[str, str] = field(default_factory=dict)
    preempts: bool = False
    failed: bool = False
    steps: list[RecordedStep] = field(default_factory=list)
    folded: int = 0
    """How many rows it stands for, if more than one."""

    def takes(self, step: RecordedStep, site: SourceLine | None) -> bool:
        """Whether a step can join this row without contradicting what the row says."""
        if (step.thread, site) != (self.thread, self.site):
            return False
        return not any(
            place in self.writes or self.reads.get(place, value) != value
            for place, value in step.effects.reads.items()
        )

    def add(self, step: RecordedStep) -> None:
        self.steps.append(step)
        told = bool(step.effects.reads or step.effects.writes)
        if step.inside and not told and step.kind not in ("start", "join"):
            return
        if told:
            self.reads.update(step.effects.reads)
            self.writes.update(step.effects.writes)
        elif step.text not in self.operations:
            self.operations.append(step.text)

    @property
    def is_inside_library(self) -> bool:
        return self.site is not None and is_library(self.site.file)

    @property
    def caller(self) -> SourceLine | None:
        """The line of the project that has called the library."""
        return self.steps[0].caller if self.steps else None


class Folding:
    """Decides which rows of a counterexample are folded."""

    def __init__(
        self, rows: Sequence[SourceRow], diagnosis: Diagnosis | None, kinds: Sequence[str]
    ) -> None:
        self._rows = rows
        self._diagnosis = diagnosis
        self._kinds = kinds
        self._contended = self._find_contended() if diagnosis is None else frozenset[int]()
        self._interrupted = {
            id(rows[position - 1]) for position, row in enumerate(rows) if row.preempts
        }
        about = [row for row in rows if row.is_inside_library and self._is_about(row)]
        self._linked = self._find_linked() if len(about) > MANY else None
        """The identities of those that matter among the rows that the failure is about; None if
        all do."""

    def fold(self) -> list[SourceRow]:
        """Return the rows that are shown."""
        shown: list[SourceRow] = []
        named: object = None
        for run in self._find_runs():
            if len(run) == 1 and self._place(run[0], is_set_up=False) is None:
                shown += run
                named = named if shown[-2:-1] and shown[-2].thread == run[0].thread else None
                continue
            row = fold_rows(run)
            call = (row.thread, row.site)
            if call == named and shown[-1].thread == row.thread:
                row.site = None  # which the row before this one has named
            shown.append(row)
            named = call
        return shown

    def _find_runs(self) -> Iterator[list[SourceRow]]:
        """Divide the rows into those that are shown one by one, and runs of such that are not."""
        begin = next((n for n, row in enumerate(self._rows) if _starts(row)), 0)
        run: list[SourceRow] = []
        place: object = None
        for position, row in enumerate(self._rows):
            now = self._place(row, is_set_up=begin > FEW and position < begin)
            if run and (now is None or now != place or row.preempts):
                yield run
                run = []
            place = now
            if now is None:
                yield [row]
            else:
                run.append(row)
        if run:
            yield run

    def _place(self, row: SourceRow, *, is_set_up: bool) -> object:
        """What a row has in common with those that it is folded with; None if it is shown."""
        if self._matters(row):
            return None
        if is_set_up:
            return "set-up"
        return (row.thread, row.caller) if row.is_inside_library else None

    def _matters(self, row: SourceRow) -> bool:
        if row.failed or (self._diagnosis is None and id(row) in self._interrupted):
            return True
        return self._is_about(row) and (self._linked is None or id(row) in self._linked)

    def _is_about(self, row: SourceRow) -> bool:
        """Whether a row is one that the diagnosis names, touches what the diagnosis is about, or
        what threads contend for."""
        found = self._diagnosis
        if found is None:
            return any(not self._contended.isdisjoint(step.touches) for step in row.steps)
        named = row.site is not None and any(
            (one.file, one.line) == (row.site.file, row.site.line) for one in found.lines
        )
        return named or any(step.subject in found.places for step in row.steps)

    def _find_linked(self) -> frozenset[int]:
        """Find the last rows in which a thread uses what another one has written last, for the
        first time since, and the rows that have written it."""
        written: dict[int, SourceRow] = {}
        told: dict[int, set[int]] = {}
        links: list[tuple[int, int]] = []
        for row in self._rows:
            for step in row.steps:
                for thing, writes in step.touches.items():
                    last = written.get(thing)
                    knows = told.setdefault(thing, set())
                    if last is not None and last.thread != row.thread and row.thread not in knows:
                        links.append((id(last), id(row)))
                        knows.add(row.thread)
                    if writes:
                        written[thing] = row
                        knows.clear()
        linked: set[int] = set()
        while links and len(linked) < MANY:
            linked.update(links.pop())
        return frozenset(linked)

    def _find_contended(self) -> frozenset[int]:
        """Find the things that several threads use and one of them changes."""
        threads: dict[int, set[int]] = {}
        changed: set[int] = set()
        for row in self._rows:
            for step in row.steps:
                for thing, written in step.touches.items():
                    if self._kinds[thing] in DATA:
                        threads.setdefault(thing, set()).add(step.thread)
                        changed |= {thing} if written else set()
        return frozenset(one for one, users in threads.items() if len(users) > 1 and one in changed)


def _starts(row: SourceRow) -> bool:
    return any(step.starts is not None for step in row.steps)


def fold_rows(rows: Sequence[SourceRow]) -> SourceRow:
    """Make one row of several; it names the call, and what has been passed in it."""
    first = rows[0]
    sites = [row.site for row in rows if row.site is not None]
    names = list(dict.fromkeys(site.function.rpartition("<locals>.")[2] for site in sites))
    more = ", ..." if len(names) > MOST_NAMES else ""
    inside = all(is_library(site.file) for site in sites)
    where = ", ".join(dict.fromkeys(name_package(site.file) for site in sites)) if inside else ""
    steps = counted(len(rows), "step")
    what = f"{steps} in {where}: " if where else f"{steps}: "
    return SourceRow(
        number=first.number,
        thread=first.thread,
        site=first.caller if inside else None,
        operations=[f"{what}{', '.join(names[:MOST_NAMES])}{more}"],
        preempts=first.preempts,
        steps=[step for row in rows for step in row.steps],
        folded=len(rows),
    )
