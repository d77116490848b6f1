"""The answer to a check: what was checked, what is known, in which scope, and what it cost."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mazurka.ir.program import Assign, Check, DeclaredFormula, Edge, Program
from mazurka.report.answer import HOLDS, INCONCLUSIVE, UNSOUND, VIOLATED, Answer
from mazurka.report.selection import Alternative
from mazurka.report.trace import Trace
from mazurka.report.words import counted, listed
from mazurka.search import (
    BITSTATE,
    LOST_WORKER,
    PROPERTIES,
    CellClass,
    ExplainedPart,
    Round,
    Statistics,
)
from mazurka.search.reading import Reading
from mazurka.search.request import CheckOptions


@dataclass(frozen=True)
class Subject:
    """One input, read in one way, and fingerprints that tell when it has changed."""

    input: str
    reading: Reading
    source_digest: str
    program_digest: str


def identify(path: str, reading: Reading, program: Program) -> Subject:
    return Subject(path, reading, source_digest(program), program_digest(program))


def source_digest(program: Program) -> str:
    """Changes with every character of the sources."""
    digest = hashlib.sha256()
    for text in program.sources.values():
        digest.update(text.encode("utf-8", "surrogatepass"))
        digest.update(b"\0")
    return digest.hexdigest()


def program_digest(program: Program) -> str:
    """Changes with what the program does; comments, layout and messages do not matter."""
    digest = hashlib.sha256()
    for part in _structure(program):
        digest.update(repr(part).encode("utf-8", "surrogatepass"))
        digest.update(b"\n")
    return digest.hexdigest()


def _structure(program: Program) -> Iterator[object]:
    for cell in program.cells:
        yield (cell.name, cell.low, cell.high, cell.initial, cell.owner, str(cell.role))
    for thread in program.threads:
        yield (thread.name, thread.counter, thread.entry, thread.active, thread.observer)
        for location in thread.locations:
            yield (str(location.mode), location.resets)
        for edge in thread.edges:
            yield _edge_structure(edge)


def _edge_structure(edge: Edge) -> object:
    operations: list[object] = []
    for operation in edge.operations:
        match operation:
            case Assign(address, value):
                operations.append((address, value))
            case Check(condition, fault, _):
                operations.append((condition, str(fault)))
    flags = (str(edge.kind), edge.choices, edge.atomic)
    return (edge.source, edge.target, flags, edge.guard, operations)


UNREDUCED = "full"
"""The strategy that visits every reachable state; the others are measured against it."""
NAMED_LIMITS = {
    "time": "time limit",
    "memory": "memory limit",
    "disk": "disk full",
    "interrupted": "interrupted",
    LOST_WORKER: "a worker of the cluster was lost",
    BITSTATE: "states are stored as bits, and some may have been missed",
    UNSOUND: "the strategy is unsound by design",
}
MOST_NAMES = 3
"""Interchangeable threads that are named one by one."""
PROPERTY_NAMES = {
    "assert": "assertions",
    "deadlock": "deadlocks",
    "hang": "hangs",
    "race": "data races",
}
ALWAYS = "range, index and lock errors"
ALWAYS_IN_C = "memory, index, lock and division errors"
ALWAYS_WITH_OVERFLOW = "memory, index, lock, division and overflow errors"


def always_checked(reading: Reading, sources: Iterable[str]) -> str:
    """What is looked for whatever was asked for, in words."""
    names = (name.removesuffix(" (preprocessed)") for name in sources)
    if not any(name.endswith((".c", ".i")) for name in names):
        return ALWAYS
    return ALWAYS_WITH_OVERFLOW if reading.overflow else ALWAYS_IN_C


@dataclass(frozen=True)
class Times:
    """What the time of a check was spent on, in seconds."""

    preparing: float
    """Starting the command, reading and analysing the program, compiling it, and the engine if
    that was not there."""
    searching: float
    """All rounds of the search together."""
    explaining: float
    """Choosing the counterexample and replaying it."""

    @property
    def elapsed(self) -> float:
        return self.preparing + self.searching + self.explaining


class CheckedFormula(NamedTuple):
    """A temporal formula that was checked after the rest, and what that took."""

    text: str
    statistics: Statistics

    def to_json(self) -> dict[str, object]:
        return {
            "formula": self.text,
            **size_json(self.statistics),
            "seconds": round(self.statistics.seconds, 6),
            "peak_bytes": self.statistics.peak_bytes,
        }


@dataclass(kw_only=True)
class Verdict(Answer):
    """The result of a check.  A counterexample is in `violation` and `trace`, and was replayed."""

    properties: tuple[str, ...] = ()
    engine: str | None = None
    order: str | None = None
    statistics: Statistics | None = None
    trace: Trace | None = None
    subject: Subject | None = None
    classification: tuple[CellClass, ...] = ()
    """How the threads share each cell; empty for strategies that do not ask."""
    explanation: tuple[ExplainedPart, ...] = ()
    """What the engine has made of the program, where that was asked for."""
    rounds: tuple[Round, ...] = ()
    """The rounds before the one that `statistics` counts."""
    alternative: Alternative | None = None
    counterexample: str | None = None
    """How the trace was chosen: `found`, `shortest` or `switches`."""
    assumptions: tuple[str, ...] = ()
    """What was taken for granted, which the scope names, too."""
    interchangeable: tuple[tuple[str, ...], ...] = ()
    """The threads that the search took as one up to renaming, by class."""
    formula: DeclaredFormula | None = None
    """The temporal formula that is violated, where one is."""
    formulas: tuple[CheckedFormula, ...] = ()
    """The temporal formulas that were checked after all that `statistics` is about."""
    asked: CheckOptions | None = None
    choice: str | None = None
    """Why `auto` has chosen the strategy, where it has."""
    times: Times | None = None
    """What the time was spent on; None after an error."""

    @property
    def options(self) -> dict[str, object]:
        """What was asked, by name; empty after an error."""
        return self.asked.to_json() if self.asked else {}

    @property
    def searches(self) -> tuple[Statistics, ...]:
        """The statistics of every round, the last one at the end; empty after an error."""
        earlier = tuple(earlier.statistics for earlier in self.rounds)
        return (*earlier, self.statistics) if self.statistics is not None else earlier

    @property
    def search_seconds(self) -> float:
        """All rounds together, without the searches for formulas."""
        return sum(search.seconds for search in self.searches)

    @property
    def total_seconds(self) -> float:
        """All searches together: what somebody has waited for."""
        return self.search_seconds + sum(each.statistics.seconds for each in self.formulas)

    @property
    def peak_bytes(self) -> int:
        """Each round starts afresh, so the largest one counts."""
        return max((search.peak_bytes for search in self.searches), default=0)

    def search_json(self) -> dict[str, object]:
        trace = self.trace
        return {
            "property": list(self.properties),
            "engine": self.engine,
            "strategy": self.strategy,
            "choice": self.choice,
            "order": self.order,
            "definitions": dict(self.subject.reading.definitions) if self.subject else {},
            "options": self.options,
            "stats": self._stats_json(),
            "assumptions": list(self.assumptions),
            "interchangeable": [list(names) for names in self.interchangeable],
            "rounds": self._rounds_json(),
            "formulas": [each.to_json() for each in self.formulas],
            "classification": [cell_json(cell) for cell in self.classification] or None,
            "explanation": [part_json(part) for part in self.explanation] or None,
            "violation": self.violation.to_json() if self.violation else None,
            "trace": [row.to_json() for row in trace.rows] if trace else None,
            "trace_omitted": trace.omitted if trace else 0,
            "counterexample": self.counterexample,
            "ending": [standing.to_json() for standing in trace.ending] if trace else None,
            "race": [side.to_json() for side in trace.collisions] if trace else [],
            "settled": trace.settled if trace else None,
            "loop_start": trace.loop_start if trace else None,
            "loops": [each.to_json() for each in trace.spinning] if trace else [],
            "limits": list(self.limits),
        }

    def _stats_json(self) -> dict[str, object]:
        """Counts are the last round's; the time and the memory of all rounds are there too."""
        statistics = self.statistics
        if statistics is None:
            return self._times_json()
        return {
            **size_json(statistics),
            "depth": statistics.depth,
            "seconds": round(statistics.seconds, 6),
            **self._storage_json(statistics),
            "rounds": len(self.searches),
            "total_seconds": round(self.total_seconds, 6),
            **self._times_json(),
        }

    def _times_json(self) -> dict[str, object]:
        if self.times is None:
            return {}
        return {
            "preparing_seconds": round(self.times.preparing, 6),
            "explaining_seconds": round(self.times.explaining, 6),
            "elapsed_seconds": round(self.times.elapsed, 6),
        }

    def _storage_json(self, statistics: Statistics) -> dict[str, object]:
        """What storing states costs; a search that stores none has no such figures."""
        if statistics.executions is not None:
            return {}
        if statistics.unrolled is not None:
            return {"peak_bytes": self.peak_bytes}
        return {
            "states_per_second": round(statistics.states_per_second),
            "peak_bytes": self.peak_bytes,
            "bytes_per_state": round(statistics.bytes_per_state, 2),
            "disk_bytes": statistics.disk_bytes,
            "coverage": statistics.coverage,
        }

    def _rounds_json(self) -> list[dict[str, object]]:
        reasons = [*(earlier.reason for earlier in self.rounds), None]
        return [
            {**size_json(search), "seconds": round(search.seconds, 6), "reason": reason}
            for search, reason in zip(self.searches, reasons, strict=False)
        ]


def size_json(statistics: Statistics) -> dict[str, object]:
    """How much a search has seen: states, or executions and the partial orders among them."""
    if statistics.unrolled is not None:
        known = {"states": statistics.states} if statistics.states else {}
        unrolled = {"unrolled": statistics.unrolled, "unrolled_unit": statistics.unrolled_unit}
        return {**known, **unrolled}
    seen: dict[str, object] = {"states": statistics.states}
    if statistics.executions is not None:
        seen = {"executions": statistics.executions}
        if statistics.partial_orders is not None:
            seen["partial_orders"] = statistics.partial_orders
    return {**seen, "transitions": statistics.transitions}


def cell_json(cell: CellClass) -> dict[str, object]:
    return {"cell": cell.cell, "class": cell.kind, "lock": cell.lock, "round": cell.round}


def part_json(part: ExplainedPart) -> dict[str, object]:
    return {"title": part.title, "rows": [list(row) for row in part.rows]}


def property_list(properties: tuple[str, ...]) -> str:
    """`assertions and deadlocks`."""
    names = [PROPERTY_NAMES[name] for name in PROPERTIES if name in properties]
    return listed(names) if names else ALWAYS


def limit_name(limit: str) -> str:
    """A limit for people; the message of a passed bound speaks for itself."""
    return NAMED_LIMITS.get(limit, limit)


def extent_text(statistics: Statistics) -> str:
    """How far a search went: `12 states examined`, `3 executions run to their end`."""
    if statistics.unrolled is not None:
        many = counted(statistics.unrolled, statistics.unrolled_unit)
        return f"all executions of up to {many} examined"
    number = statistics.executions
    if number is None:
        return f"{counted(statistics.states, 'state')} examined"
    return f"{counted(number, 'execution')} run to {'its' if number == 1 else 'their'} end"


def coverage_text(coverage: float | None) -> str:
    """An estimated part of the states, never rounded to all of them: `about 99.98 %`."""
    percent = 100 * (coverage or 0)
    if percent > 99.99:
        return "more than 99.99 %"
    return f"about {percent:.2f} %"


def name_threads(classes: Sequence[Sequence[str]]) -> str:
    """`a and a#2, of b and c, which take the same steps`."""
    texts = []
    for names in classes:
        shown = list(names) if len(names) <= MOST_NAMES else [*names[: MOST_NAMES - 1]]
        more = len(names) - len(shown)
        text = listed([*shown, f"{more} more"] if more else shown)
        functions = {name.partition("(")[0].partition("#")[0] for name in names}
        texts.append(f"{text}, which take the same steps" if len(functions) > 1 else text)
    return ", of ".join(texts)


def scope_sentence(
    verdict: str,
    properties: tuple[str, ...],
    statistics: Statistics,
    limits: tuple[str, ...],
    reduction: str | None = None,
    interchangeable: Sequence[Sequence[str]] = (),
    always: str = ALWAYS,
) -> str:
    """What a verdict covers, so that nobody takes it for more.

    A reduction, which is named, has not examined every reachable state, and does not say so, even
    though the verdict is about all of them.  Threads that were taken as one are named, too, unless
    there is a counterexample, which speaks for itself.
    """
    what = f"{property_list(properties)}, and {always}" if properties else always
    means = [f"reduced by {reduction}"] if reduction else []
    if interchangeable and verdict != VIOLATED:
        means.append(f"up to renaming of {name_threads(interchangeable)}")
    by = f" ({', '.join(means)})" if means else ""
    if limits == (UNSOUND,):
        count = counted(statistics.states, "state")
        if statistics.executions is not None:
            count = counted(statistics.executions, "execution")
        return f"{what}: none found in {count}{by}, but the strategy may miss some"
    if verdict == INCONCLUSIVE and limits == (BITSTATE,):
        part = coverage_text(statistics.coverage)
        return f"{what}: {extent_text(statistics)}, by estimate {part} of those that were met"
    if verdict == INCONCLUSIVE:
        return f"{what}: {extent_text(statistics)}{by}, others were not"
    if verdict == VIOLATED and statistics.unrolled == 0:
        return f"{what}: some executions examined{by}"
    if verdict == HOLDS and statistics.proof is not None:
        return f"{what}: none in any execution, by {statistics.proof}"
    if verdict == HOLDS and statistics.unrolled is not None:
        many = counted(statistics.unrolled, statistics.unrolled_unit)
        return f"{what}: all executions examined, for which {many} suffice{by}"
    if verdict == HOLDS and not reduction:
        number, noun = statistics.executions, "execution"
        if number is None:
            number, noun = statistics.states, "reachable state"
        return (
            f"{what}: {f'the only {noun}' if number == 1 else f'all {number:,} {noun}s'} examined"
            f"{by}"
        )
    if verdict == HOLDS and statistics.executions is not None:
        same = "differs from it" if statistics.executions == 1 else "differs from one of these"
        alike = f"every other {same} only in the order of independent steps"
        return f"{what}: {extent_text(statistics)}, and {alike}{by}"
    return f"{what}: {extent_text(statistics)}{by}"
