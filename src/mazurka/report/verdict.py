"""The answer to a check: what is known, in which scope, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass, field

from mazurka import __version__
from mazurka.report.confirm import Finding
from mazurka.report.selection import Alternative
from mazurka.report.subject import Subject
from mazurka.report.trace import Trace
from mazurka.stateful.strategy import PROPERTIES, Statistics

HOLDS = "holds"
VIOLATED = "violated"
INCONCLUSIVE = "inconclusive"
ERROR = "error"

EXIT_STATUS = {HOLDS: 0, VIOLATED: 1, ERROR: 2, INCONCLUSIVE: 3}

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
    alternative: Alternative | None = None
    counterexample: str | None = None
    """How the trace was chosen: `found`, `shortest` or `switches`."""
    options: dict[str, object] = field(default_factory=dict)

    @property
    def exit_status(self) -> int:
        return EXIT_STATUS[self.verdict]

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
            "order": self.order,
            "definitions": dict(self.subject.reading.definitions) if self.subject else {},
            "options": self.options,
            "stats": statistics_json(self.statistics),
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


def statistics_json(statistics: Statistics | None) -> dict[str, object]:
    if statistics is None:
        return {}
    return {
        "states": statistics.states,
        "transitions": statistics.transitions,
        "depth": statistics.depth,
        "seconds": round(statistics.seconds, 6),
        "states_per_second": round(statistics.states_per_second),
        "peak_bytes": statistics.peak_bytes,
        "bytes_per_state": round(statistics.bytes_per_state, 2),
    }


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


def scope_sentence(
    verdict: str, properties: tuple[str, ...], statistics: Statistics, limits: tuple[str, ...]
) -> str:
    """What a verdict covers, so that nobody takes it for more."""
    what = property_list(properties)
    if properties:
        what = f"{what}, and {ALWAYS}"
    seen = statistics.states
    if verdict == HOLDS:
        one = seen == 1
        count = "the only reachable state" if one else f"all {seen:,} reachable states"
        return f"{what}: {count} examined"
    if verdict == VIOLATED:
        return f"{what}: {states_text(seen)} examined"
    if limits == (UNSOUND,):
        return f"{what}: none found in {states_text(seen)}, but the strategy may miss some"
    return f"{what}: {states_text(seen)} examined, others were not"


def error_verdict(
    message: str, *, file: str | None = None, line: int | None = None, path: str | None = None
) -> Verdict:
    return Verdict(input=path, verdict=ERROR, error=Problem(message, file, line))
