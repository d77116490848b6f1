"""What a search is asked: the options that all have, and those that strategies declare."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

from mazurka.errors import OptionError, suggest

PROPERTIES = ("assert", "deadlock", "hang", "race")
ALWAYS_LOOKED_FOR = ("range", "index", "lock", "memory", "exception")
"""Faults that are found whatever is asked for."""
ORDERS = ("dfs", "bfs")

TAKEN = frozenset(
    (
        *("file", "path", "help", "json", "observer", "order"),
        *("engine", "engines", "strategy", "strategies"),
        *("property", "properties", "language", "define", "definitions", "merge", "no_merge"),
        *(
            "granularity",
            "max_threads",
            "max_depth",
            "model",
            "heap",
            "overflow",
            "self_check",
            "deterministic",
            "explain",
            "explore_all",
            "classification",
            "symmetry",
            "no_symmetry",
        ),
        *("limit_time", "limit_seconds", "limit_memory", "limit_bytes"),
        *("counterexample", "trace", "full_trace", "witness", "format", "form", "ltl", "fair"),
    )
)
"""Names of the options that all strategies have, on the command line or in Python: a declared
option of such a name would never get a value."""

Value = TypeVar("Value", str, int, float, bool)


@dataclass(frozen=True, kw_only=True)
class Option(Generic[Value]):
    """An option that a strategy declares for itself; the user interfaces take it from there.

    The command line's name has dashes for underscores; in Python and in JSON it is `name`.
    Strategies that share an option share one declaration.
    """

    name: str
    default: Value
    help: str
    values: tuple[Value, ...] = ()
    """All values that it can have; empty where any value of the default's type will do."""
    refuse: Callable[[Value], None] | None = None
    """Raises `OptionError` for a value that makes no sense."""
    ignorable: bool = False
    """Strategies that do not declare it ignore it, and `auto` hands it on; they refuse others."""
    implies: str = ""
    """The strategy that `auto` takes where this option is given; it refuses others."""

    @property
    def flag(self) -> str:
        return f"--{self.name.replace('_', '-')}"

    @property
    def metavar(self) -> str:
        return "|".join(map(str, self.values)) or {int: "N", float: "X"}.get(
            type(self.default), "TEXT"
        )

    def read(self, word: Any) -> object:
        """The value that a word on the command line stands for, or the word itself if there is
        none, for `validate` to refuse."""
        try:
            return type(self.default)(word)
        except ValueError:
            return word

    def validate(self, value: object) -> None:
        if self.values:
            one_of(self.name.replace("_", " "), value, self.values)
        kinds = (int, float) if isinstance(self.default, float) else (type(self.default),)
        if type(value) not in kinds:
            raise OptionError(f"{self.flag} needs {type(self.default).__name__}, not {value!r}")
        if self.refuse is not None:
            self.refuse(cast(Value, value))


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    properties: frozenset[str] = frozenset({"assert", "deadlock"})
    dispensable: frozenset[str] = frozenset()
    """Those of them that were not asked for by name: where `auto` turns to a strategy that does not
    preserve them, it does without, and the verdict says so."""
    order: str = "dfs"
    stop_at_first: bool = True
    """False: go on after a violation, so that the counts are those of the whole state space."""
    limit_seconds: float | None = None
    limit_bytes: int | None = None
    limit_transitions: int | None = None
    """Stop after about so many transitions; for searches that try something out."""
    symmetry: bool = False
    """Keep one state of those that differ only in the numbers of interchangeable threads, where the
    strategy can do that."""
    self_check: bool = False
    """Repeat the search in the plainest way there is, its invariants asserted, and compare."""
    cancelled: Callable[[], bool] | None = None
    """Asked between slices whether somebody else has found the answer meanwhile."""
    share_bytes: int | None = None
    """The part of `limit_bytes` to begin with, where other searches have the rest."""
    more_bytes: Callable[[], int] | None = None
    """Asked where the share is used up: how large it is by now."""
    explain: bool = False
    """Say what was made of the program."""
    deterministic: bool = False
    """Let nothing depend on how long something takes."""
    tuning: Mapping[str, object] = field(default_factory=dict)
    """The strategy's own options, by name, where they are not as usual."""

    def value(self, option: Option[Value]) -> Value:
        return cast(Value, self.tuning.get(option.name, option.default))


def one_of(what: str, value: object, known: tuple[object, ...]) -> None:
    """Refuse a value that is not among those known, with the one that was probably meant."""
    if value not in known:
        names = [str(each) for each in known]
        there_are = f"{', '.join(names)}{suggest(str(value), names)}"
        raise OptionError(f"{what} {value!r} is not known; there are: {there_are}")


def require_positive(flag: str, value: float | None) -> None:
    if value is not None and not value > 0:
        raise OptionError(f"{flag} must be greater than 0, not {value}")
