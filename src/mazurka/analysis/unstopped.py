"""What the threads of a program might do if no assumption stopped them, and no check failed.

A thread that is stopped by an assumption stands for executions that are left out.  What it could
have done there decides whether the waits of others are excused (`mazurka.analysis.standstill`).
This must depend on the program text alone, never on how much a pass has found out about it: so
it is worked out from the text before any pass (`Program.text`), and in one way.

`find_unstopped` returns this text with all assumptions taken away.  Its edges are those that can be
taken at all, its cells have the values that they can have at all, by the range analysis
(`mazurka.ir.passes.ranges`).  The analysis goes on behind operations that always fail, as if they
had not: a thread that would fail (`assert False`) might do whatever stands behind.  Ranges that the
model declares are kept; those that were derived with the assumptions are not.

A front end may leave out what stands behind a statement that always fails.  Where every path of a
thread ends at such a place, the text does not tell what it would have done
(`find_unknown_futures`).  Nor does it matter where the process may end.

*Every run of the program in which nothing has failed is a run of this program*, too: a step passes
an assumption only if it holds, and here it always does.  So is whatever follows if threads go on
behind their assumptions.  The analysis contains all of these runs.
"""

from __future__ import annotations

from dataclasses import replace

from mazurka.ir.program import FIRST_LOCATION, STOPPING, Cell, Edge, Kind, Mode, Program, Thread
from mazurka.ir.values.evaluation import ValueSet
from mazurka.ir.values.facts import Facts, Recorder
from mazurka.ir.values.fixpoint import Analysis, ThreadFacts

KEY, UNKNOWN = "_without_assumptions", "_unknown_futures"


def find_unstopped(program: Program) -> Program:
    """Return the program by which excuses are judged; it is kept in the program."""
    found: Program | None = program.__dict__.get(KEY)
    if found is None:
        text = program.text or program
        found = text.__dict__.get(KEY) or _take_assumptions_away(text)
        program.__dict__[KEY] = text.__dict__[KEY] = found
    return found


def _take_assumptions_away(text: Program) -> Program:
    threads = tuple(
        replace(thread, edges=tuple(map(_lift, thread.edges))) for thread in text.threads
    )
    analysis = _EndlessAnalysis(replace(text, threads=threads), wraps=True)
    analysis.ascend()
    taken = tuple(
        replace(thread, edges=tuple(e for p, e in enumerate(thread.edges) if p in facts.results))
        for thread, facts in zip(threads, analysis.threads, strict=True)
    )
    values = tuple(map(_fill, text.cells, analysis.all_values()))
    found = replace(text, cells=values, threads=taken, text=None)
    found.__dict__[UNKNOWN] = list(map(_find_ending, taken, text.threads))
    found.__dict__[KEY] = found
    return found


def find_unknown_futures(unstopped: Program) -> list[frozenset[int]]:
    """By thread the locations from which every path leads to where the text ends."""
    found: list[frozenset[int]] = unstopped.__dict__[UNKNOWN]
    return found


def _find_ending(thread: Thread, text: Thread) -> frozenset[int]:
    places = range(FIRST_LOCATION, len(thread.locations))
    found = {place for place in places if not text.outgoing[place]}
    found |= _find_ending_sections(thread)
    while more := {
        place
        for place in places
        if place not in found and thread.outgoing[place]
        if all(target in found for target in thread.successors(place))
    }:
        found |= more
    return frozenset(found)


def _find_ending_sections(thread: Thread) -> set[int]:
    """The locations of atomic sections, and their beginnings, in which the process may end.

    A thread that would end it there stands where the section begins, for whatever reason it stands
    there: so all waits are excused."""
    work = [edge.source for edge in thread.edges if edge.kind is Kind.END]
    work = [place for place in work if thread.locations[place].mode is Mode.ATOMIC]
    found = set(work)
    while work:
        for position in thread.arriving[work.pop()]:
            source = thread.edges[position].source
            if source not in found:
                found.add(source)
                if thread.locations[source].mode is Mode.ATOMIC:
                    work.append(source)
    return found


def _lift(edge: Edge) -> Edge:
    return replace(edge, guard=None) if edge.kind in STOPPING else edge


def _fill(cell: Cell, values: ValueSet) -> Cell:
    return replace(cell, low=values.low, high=values.high, points=values.points, inferred=False)


class _EndlessAnalysis(Analysis):
    """The analysis of ranges in which no operation ends an execution."""

    def take(
        self, facts: ThreadFacts, edge: Edge, known: dict[int, ValueSet], record: Recorder
    ) -> dict[int, ValueSet] | None:
        now = Facts(dict(known), self.elsewhere, facts.most_choices, self.saturate)
        if edge.guard is not None and not now.assume(edge.guard):
            return None
        now.choices = edge.choices
        for operation in edge.operations:
            before = dict(now.known)
            if not now.perform(operation, self.cells, record):
                now.known = before
        return now.known
