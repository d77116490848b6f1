"""The answer to a check: what is known, in which scope, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass, field

from mazurka.report.confirm import Finding
from mazurka.report.selection import Alternative
from mazurka.report.subject import Subject
from mazurka.report.trace import Trace
from mazurka.search.options import PROPERTIES
from mazurka.search.result import CellClass, Round, Statistics
from mazurka.version import __version__

HOLDS = "holds"
VIOLATED = "violated"
INCONCLUSIVE = "inconclusive"
ERROR = "error"

EXIT_STATUS = {HOLDS: 0, VIOLATED: 1, ERROR: 2, INCONCLUSIVE: 3}

UNREDUCED = "full"
"""The strategy that visits every reachable state; any other is said to reduce them."""
UNSOUND = "unsound-strategy"
NAMED_LIMITS = {
    "time": "time limit",
    "memory": "memory limit",
    "interrupted": "interrupted",
    UNSOUND: "the strategy is unsound by design",
}
PROPERTY_NAMES = {"assert": "assertions", "deadlock": "deadlocks", "race": "data races"}
ALWAYS = "range, index and lock errors"


@dataclass(frozen=True)
class Problem:
    """Why there is no answer: bad input, or something that is not supported."""

    message: str
    file: str | None = None
    line: int | None = None

    def to_json(self) -> dict[str, object]:
        return {"message": self.message, "file": self.file, "line": self.line}


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The result of a check.

    `verdict` is `holds`, `violated`, `inconclusive` or `error`; `scope` says in a sentence what
    that covers.  A counterexample is in `violation` and `trace`, and has been replayed.
    """

    input: str | None
    verdict: str
    scope: str = ""
    properties: tuple[str, ...] = ()
    strategy: str | None = None
    order: str | None = None
    statistics: Statistics | None = None
    violation: Finding | None = None
    trace: Trace | None = None
    limits: tuple[str, ...] = ()
    error: Problem | None = None
    subject: Subject | None = None
    notes: tuple[str, ...] = ()
    classification: tuple[CellClass, ...] = ()
    """How the threads share each cell; empty for strategies that do not ask."""
    rounds: tuple[Round, ...] = ()
    """The rounds before the one that `statistics` counts."""
    alternative: Alternative | None = None
    counterexample: str | None = None
    """How the trace was chosen: `found`, `shortest` or `switches`."""
    options: dict[str, object] = field(default_factory=dict)
    choice: str | None = None
    """Why `auto` has chosen the strategy, where it has."""

    @property
    def exit_status(self) -> int:
        return EXIT_STATUS[self.verdict]

    @property
    def searches(self) -> tuple[Statistics, ...]:
        """The statistics of every round, the last one at the end; empty after an error."""
        earlier = tuple(earlier.statistics for earlier in self.rounds)
        return (*earlier, self.statistics) if self.statistics is not None else earlier

    @property
    def total_seconds(self) -> float:
        """All rounds together: what somebody has waited for."""
        return sum(search.seconds for search in self.searches)

    @property
    def peak_bytes(self) -> int:
        """Each round starts afresh, so the largest one counts."""
        return max((search.peak_bytes for search in self.searches), default=0)

    def __bool__(self) -> bool:
        """True where the property holds, so that `assert mazurka.check(...)` reads well."""
        return self.verdict == HOLDS

    def to_json(self) -> dict[str, object]:
        """The object that `--json` prints."""
        trace = self.trace
        return {
            "tool": "mazurka",
            "version": __version__,
            "input": self.input,
            "verdict": self.verdict,
            "scope": self.scope,
            "property": list(self.properties),
            "strategy": self.strategy,
            "choice": self.choice,
            "order": self.order,
            "definitions": dict(self.subject.reading.definitions) if self.subject else {},
            "options": self.options,
            "stats": self._stats_json(),
            "rounds": self._rounds_json(),
            "classification": [cell_json(cell) for cell in self.classification] or None,
            "violation": self.violation.to_json() if self.violation else None,
            "trace": [row.to_json() for row in trace.rows] if trace else None,
            "trace_omitted": trace.omitted if trace else 0,
            "counterexample": self.counterexample,
            "ending": [standing.to_json() for standing in trace.ending] if trace else None,
            "race": [side.to_json() for side in trace.collisions] if trace else [],
            "limits": list(self.limits),
            "notes": list(self.notes),
            "error": self.error.to_json() if self.error else None,
        }

    def _stats_json(self) -> dict[str, object]:
        """Counts are the last round's; the time and the memory of all rounds are there too."""
        statistics = self.statistics
        if statistics is None:
            return {}
        return {
            **size_json(statistics),
            "depth": statistics.depth,
            "seconds": round(statistics.seconds, 6),
            **self._storage_json(statistics),
            "rounds": len(self.searches),
            "total_seconds": round(self.total_seconds, 6),
        }

    def _storage_json(self, statistics: Statistics) -> dict[str, object]:
        """What storing states costs; a search that stores none has no such figures."""
        if statistics.executions is not None:
            return {}
        return {
            "states_per_second": round(statistics.states_per_second),
            "peak_bytes": self.peak_bytes,
            "bytes_per_state": round(statistics.bytes_per_state, 2),
        }

    def _rounds_json(self) -> list[dict[str, object]]:
        reasons = [*(earlier.reason for earlier in self.rounds), None]
        return [
            {
                **size_json(search),
                "seconds": round(search.seconds, 6),
                "reason": reason,
            }
            for search, reason in zip(self.searches, reasons, strict=False)
        ]


def size_json(statistics: Statistics) -> dict[str, object]:
    """How much a search has seen: states, or executions and the partial orders among them."""
    seen: dict[str, object] = {"states": statistics.states}
    if statistics.executions is not None:
        seen = {"executions": statistics.executions}
        if statistics.partial_orders is not None:
            seen["partial_orders"] = statistics.partial_orders
    return {**seen, "transitions": statistics.transitions}


def cell_json(cell: CellClass) -> dict[str, object]:
    return {"cell": cell.cell, "class": cell.kind, "lock": cell.lock, "round": cell.round}


def property_list(properties: tuple[str, ...]) -> str:
    """`assertions and deadlocks`."""
    names = [PROPERTY_NAMES[name] for name in PROPERTIES if name in properties]
    if not names:
        return ALWAYS
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def limit_name(limit: str) -> str:
    """A limit for people; the message of a passed bound speaks for itself."""
    return NAMED_LIMITS.get(limit, limit)


def states_text(states: int) -> str:
    return f"{states:,} {'state' if states == 1 else 'states'}"


def executions_text(executions: int) -> str:
    return f"{executions:,} {'execution' if executions == 1 else 'executions'}"


def extent_text(statistics: Statistics) -> str:
    """How far a search went: `12 states examined`, `3 executions run to their end`."""
    number = statistics.executions
    if number is None:
        return f"{states_text(statistics.states)} examined"
    return f"{executions_text(number)} run to {'its' if number == 1 else 'their'} end"


def scope_sentence(
    verdict: str,
    properties: tuple[str, ...],
    statistics: Statistics,
    limits: tuple[str, ...],
    strategy: str | None = None,
) -> str:
    """What a verdict covers, so that nobody takes it for more.

    A reduction has not examined every reachable state, and does not say so, even though the
    verdict is about all of them.
    """
    what = property_list(properties)
    if properties:
        what = f"{what}, and {ALWAYS}"
    by = "" if strategy in (None, UNREDUCED) else f" (reduced by {strategy})"
    if limits == (UNSOUND,):
        count = states_text(statistics.states)
        return f"{what}: none found in {count}{by}, but the strategy may miss some"
    if verdict == INCONCLUSIVE:
        return f"{what}: {extent_text(statistics)}{by}, others were not"
    if verdict == HOLDS and statistics.executions is not None:
        same = "differs from it" if statistics.executions == 1 else "differs from one of these"
        alike = f"every other {same} only in the order of independent steps"
        return f"{what}: {extent_text(statistics)}, and {alike}{by}"
    if verdict == HOLDS and not by:
        one = statistics.states == 1
        count = "the only reachable state" if one else f"all {statistics.states:,} reachable states"
        return f"{what}: {count} examined"
    return f"{what}: {extent_text(statistics)}{by}"


def error_verdict(
    message: str, *, file: str | None = None, line: int | None = None, path: str | None = None
) -> Verdict:
    return Verdict(input=path, verdict=ERROR, error=Problem(message, file, line))
