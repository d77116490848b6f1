"""What a search is asked: how the input is read, and how it is searched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from mazurka.ir.passes.granularity import Granularity

PROPERTIES = ("assert", "deadlock", "race")


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The options that decide which program a file stands for."""

    definitions: Mapping[str, str] = field(default_factory=dict)
    merge: bool = True
    granularity: str | None = None
    """`instruction` or `line`, where that decides what one step is and nothing is merged."""
    max_threads: int = 8
    max_depth: int = 8

    def scope(self, sentence: str) -> str:
        """A verdict's scope, with what this way of reading may hide from it."""
        if self.granularity == Granularity.LINE:
            return f"at line granularity: {sentence}; interruptions inside a line are left out"
        return sentence

    def to_json(self) -> dict[str, object]:
        return {
            "merge": self.merge and self.granularity is None,
            "granularity": self.granularity,
            "max_threads": self.max_threads,
            "max_depth": self.max_depth,
        }


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    properties: frozenset[str] = frozenset({"assert", "deadlock"})
    order: str = "dfs"
    stop_at_first: bool = True
    """False: go on after a violation, so that the counts are those of the whole state space."""
    limit_seconds: float | None = None
    limit_bytes: int | None = None
    movers: str = "inferred"
    """Where a reduction by transactions takes the protection of cells from: `inferred` while
    searching, `static` (a lockset analysis beforehand), or `declared` in the model."""
    self_check: bool = False
    """Repeat the search on the interpreter, its invariants asserted (`stateful.self_check`)."""
    cycle_rule: str = "return"
    """When a thread's prefix in a cartesian vector counts as infinite (`stateful.cartesian`)."""
    workers: int = 1
    """How many cartesian vectors are made at the same time."""
    limit_transitions: int | None = None
    """Stop after about so many transitions; for searches that try something out."""
    cancelled: Callable[[], bool] | None = None
    """Asked between slices whether somebody else has found the answer meanwhile."""
    proviso: str = "stack"
    """What keeps persistent sets from ignoring a thread for ever: `stack` or `sticky`."""
