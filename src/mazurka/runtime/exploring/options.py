"""What is explored, and how; options by name: of a call, of a marker, of the command line."""

from __future__ import annotations

import inspect
import os
import random
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from typing import Any

from mazurka.deadline import refuse_long
from mazurka.errors import OptionError, suggest
from mazurka.runtime.core.sites import shown_path
from mazurka.search.resources import refuse_many
from mazurka.stateless import randomized
from mazurka.stateless.bounded.algorithm1 import Algorithm1
from mazurka.stateless.bounded.algorithm2 import Algorithm2
from mazurka.stateless.bounded.bounded_search import ContextBoundedDFS
from mazurka.stateless.explored import Allowance
from mazurka.stateless.iterative import REDUCTIONS

BOUNDED = {
    "algorithm2": Algorithm2.name,
    "algorithm1": Algorithm1.name,
    "cb-dfs": ContextBoundedDFS.name,
}
SEARCHES = {**BOUNDED, **{name: name for name in REDUCTIONS}}
STRATEGIES = (*SEARCHES, *randomized.STRATEGIES)
ANY_TIME, LAST_RESORT = "any", "last-resort"
TIMEOUTS = (ANY_TIME, LAST_RESORT)
GIL, FREE_THREADED = "gil", "free-threaded"
SEMANTICS = (GIL, FREE_THREADED)
SAMPLES = 1000
"""Random schedules, unless told otherwise."""


class Usual(Enum):
    """What an option is that nobody has given, where that depends on others."""

    BOUND = 2
    """Of preemptions; none for strategies that have no bound."""
    PROCESSOR_SECONDS = 12
    """Of the processor, for a search by one process that nobody has given a limit."""
    SECONDS = 60
    """The same by the clock on the wall: machines have other things to do, too."""


def default_semantics() -> str:
    """Return the semantics of the running interpreter."""
    has_lock: Callable[[], bool] = getattr(sys, "_is_gil_enabled", lambda: True)
    return GIL if has_lock() else FREE_THREADED


@dataclass(frozen=True, kw_only=True)
class ExploreOptions:
    """How a test is explored."""

    preemptions: int | Usual | None = Usual.BOUND
    """The most preemptions of an execution; None for any number."""
    strategy: str = "algorithm2"
    seed: int | None = None
    """For `random` and `pct`; drawn, and told, where it is not given."""
    executions: int | None = None
    """The most runs of the test; for random schedules, how many."""
    seconds: float | Usual | None = Usual.PROCESSOR_SECONDS
    """The longest time; None for any."""
    races: bool = False
    """Report data races, even where the test passes."""
    leave_out: tuple[str, ...] = ()
    """Modules and packages that are not observed; the verdict names them."""
    virtual_time: bool = True
    """`time.sleep` and the clocks follow the schedule instead of the world."""
    patience: float = 5.0
    """Seconds after which a call that nobody controls is reported."""
    max_steps: int = 10_000
    """The most steps of an execution."""
    workers: int = 1
    """Processes that search together."""
    isolate: bool = False
    """Explore in a separate process, so that the test can end no other."""
    timeouts: str = ANY_TIME
    """When sleeps and timeouts may end: at any time, or only when nobody else can move."""
    semantics: str = field(default_factory=default_semantics)
    """Which operations of C code are one step: those with a global lock, or those without."""

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            raise OptionError(
                f"there is no strategy {self.strategy!r}; there are {', '.join(STRATEGIES)}"
                f"{suggest(str(self.strategy), STRATEGIES)}"
            )
        self._check_types()
        if self.seed is not None and not self.sampled:
            raise OptionError(
                f"a seed is for random schedules, and the strategy {self.strategy} has none: choose"
                f" the strategy {' or '.join(randomized.STRATEGIES)}, or leave the seed out"
            )
        if isinstance(self.preemptions, int) and self.preemptions < 0:
            raise OptionError(f"preemptions must be 0 or more, not {self.preemptions}")
        if isinstance(self.preemptions, int) and self.strategy in REDUCTIONS:
            raise OptionError(
                f"the strategy {self.strategy} has no bound on preemptions, it runs all"
                f" executions: choose one of {', '.join(BOUNDED)}, or leave the bound out"
            )
        if self.timeouts not in TIMEOUTS:
            raise OptionError(
                f"timeouts must be {' or '.join(map(repr, TIMEOUTS))}, not {self.timeouts!r}"
                f"{suggest(str(self.timeouts), TIMEOUTS)}"
            )
        if self.timeouts == LAST_RESORT and self.strategy in REDUCTIONS:
            raise OptionError(
                f"the strategy {self.strategy} runs all executions, those with early timeouts"
                f" included: choose one of {', '.join(BOUNDED)}, random or pct, or leave"
                f" timeouts={LAST_RESORT!r} out"
            )
        if self.semantics not in SEMANTICS:
            raise OptionError(
                f"semantics must be {' or '.join(map(repr, SEMANTICS))}, not {self.semantics!r}"
                f"{suggest(str(self.semantics), SEMANTICS)}"
            )
        if self.executions is not None and self.executions < 1:
            raise OptionError(f"executions must be 1 or more, not {self.executions}")
        if self.limit_seconds is not None and not self.limit_seconds > 0:
            raise OptionError(f"the time limit must be above 0 seconds, not {self.limit_seconds:g}")
        if not self.patience > 0:
            raise OptionError(f"patience must be above 0 seconds, not {self.patience:g}")
        refuse_long("the time limit", self.limit_seconds)
        refuse_long("patience", self.patience)
        if self.max_steps < 1:
            raise OptionError(f"max_steps must be 1 or more, not {self.max_steps}")
        if self.workers < 1:
            raise OptionError(f"workers must be 1 or more, not {self.workers}")
        refuse_many("workers", self.workers)
        if self.workers > 1 and self.strategy != "algorithm2":
            raise OptionError(f"several workers need the strategy algorithm2, not {self.strategy}")
        if self.workers > 1 and not hasattr(os, "fork"):
            raise OptionError("several workers need os.fork, which this system does not have")
        if self.isolate and not hasattr(os, "fork"):
            raise OptionError("isolate needs os.fork, which this system does not have")

    def _check_types(self) -> None:
        """A marker takes anything; say what is wrong by its name."""
        for name in ("preemptions", "seed", "executions", "max_steps", "workers"):
            value = getattr(self, name)
            if value is Usual.BOUND:
                continue
            optional = name in ("preemptions", "seed", "executions")
            if not (value is None and optional) and type(value) is not int:
                none = " or None" if optional else ""
                raise OptionError(f"{name} must be a whole number{none}, not {value!r}")
        for name in ("races", "virtual_time", "isolate"):
            value = getattr(self, name)
            if type(value) is not bool:
                raise OptionError(f"{name} must be True or False, not {value!r}")
        for name in ("seconds", "patience"):
            value = getattr(self, name)
            if name == "seconds" and (value is None or isinstance(value, Usual)):
                continue
            if type(value) not in (int, float):
                raise OptionError(f"{name} must be a number of seconds, not {value!r}")

    @property
    def sampled(self) -> bool:
        return self.strategy in randomized.STRATEGIES

    @property
    def limit_seconds(self) -> float | None:
        """The longest time, where somebody has set a limit."""
        return None if isinstance(self.seconds, Usual) else self.seconds

    @property
    def is_limited(self) -> bool:
        """Whether somebody has said when the search may end early."""
        return self.executions is not None or self.limit_seconds is not None or self.sampled

    def find_allowance(self) -> Allowance | None:
        """Find when a search ends that begins now, and that nobody has given a limit.

        People wait for a test.  Several processes are for those who want to wait.
        """
        usual = isinstance(self.seconds, Usual) and not self.is_limited and self.workers == 1
        if not usual:
            return None
        return Allowance(
            time.process_time() + Usual.PROCESSOR_SECONDS.value,
            time.perf_counter() + Usual.SECONDS.value,
        )

    @property
    def bound(self) -> int | None:
        """The most preemptions of an execution; None for any number."""
        if not isinstance(self.preemptions, Usual):
            return self.preemptions
        return None if self.strategy in REDUCTIONS else self.preemptions.value

    def with_seed(self) -> ExploreOptions:
        if not self.sampled or self.seed is not None:
            return self
        return replace(self, seed=random.SystemRandom().randrange(1_000_000))


@dataclass(frozen=True, kw_only=True)
class Test:
    """What is explored: a function without arguments, and what to call it."""

    __test__ = False

    body: Callable[[], object]
    name: str
    """`tests/test_bank.py::test_transfer`, as a token holds it."""
    function: Callable[..., object]
    """The user's function, whose module is observed."""
    skips: Callable[[], Mapping[type[BaseException], str]] = dict
    """What gives the exceptions of the test that are no failures, but end an execution, each with a
    verb; asked when there is one, since the test may import what defines them."""
    ends: Callable[[], tuple[type[BaseException], ...]] = tuple
    """What gives the exceptions that end the whole session."""

    @property
    def place(self) -> tuple[str | None, int | None]:
        code = getattr(inspect.unwrap(self.function), "__code__", None)
        return (shown_path(code.co_filename), code.co_firstlineno) if code else (None, None)


INSTRUMENT_IS_GONE = (
    "there is no option 'instrument' any more, and none is needed: all Python code that threads run"
    " is observed, that of installed packages and of the standard library, too; leave_out"
    " (--leave-out NAME) names what is not to be"
)


def guess_meaning(value: object) -> str:
    """Guess which option was meant by a value without a name."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f": preemptions={value}"
    if isinstance(value, str):
        known = {"strategy": STRATEGIES, "timeouts": TIMEOUTS, "semantics": SEMANTICS}
        name = next((name for name, values in known.items() if value in values), "leave_out")
        return f": {name}={value!r}"
    return ": preemptions=2"


def check_names(given: Iterable[str]) -> None:
    """Refuse an option that does not exist, with those that do."""
    names = {field.name for field in fields(ExploreOptions)}
    for name in given:
        if name == "instrument":
            raise OptionError(INSTRUMENT_IS_GONE)
        if name not in names:
            known = ", ".join(sorted(names))
            hint = suggest(name, names)
            raise OptionError(f"there is no option {name!r}; there are {known}{hint}")


def read_options(given: Mapping[str, Any], base: ExploreOptions | None = None) -> ExploreOptions:
    """Read options by name; refuse one that does not exist, with those that do."""
    check_names(given)
    return replace(base or ExploreOptions(), **_with_lists(given))


LISTS = ("leave_out",)
"""Options that are lists of names, which add to those that are given for more tests."""


def _with_lists(given: Mapping[str, Any]) -> dict[str, Any]:
    """Make tuples of the options that are lists; one name may stand for itself."""
    found = dict(given)
    for name in LISTS:
        if name in found:
            value = found[name]
            found[name] = (value,) if isinstance(value, str) else tuple(value)
    return found


def combine_options(*layers: Mapping[str, Any]) -> ExploreOptions:
    """Read what a test is given on several layers: the first for most tests, the last for itself.

    Each layer comes before those that are for more tests.  What these say is left out where the
    test's strategy does not take it.
    """
    found: dict[str, Any] = {}
    for layer in layers:
        check_names(layer)
        given = _with_lists(layer)
        strategy = given.get("strategy", found.get("strategy", ExploreOptions.strategy))
        useless = find_useless(strategy)
        found = {name: value for name, value in found.items() if name not in useless}
        for name in LISTS:
            if name in found and name in given:
                given[name] = tuple(dict.fromkeys((*found[name], *given[name])))
        found |= given
    return read_options(found)


def read_marker(marker: Any) -> dict[str, Any]:
    """Read what `@pytest.mark.mazurka(...)` gives, by name."""
    if marker.args:
        raise OptionError(
            f"the marker mazurka takes options by name{guess_meaning(marker.args[0])}"
        )
    return dict(marker.kwargs)


def find_useless(strategy: str) -> set[str]:
    """Find the options that a strategy does not take."""
    useless = {"seed"} if strategy in SEARCHES else set()
    if strategy != "algorithm2":
        useless.add("workers")
    if strategy in REDUCTIONS:
        useless |= {"preemptions", "timeouts"}
    return useless


def refuse_useless(given: dict[str, Any]) -> None:
    """Refuse options of the command line that no test could have.  A seed may be for tests that say
    themselves that their schedules are random."""
    takes_seed = "strategy" in given
    read_options({name: given[name] for name in given if name != "seed" or takes_seed})


def override_options(own: ExploreOptions, given: dict[str, Any]) -> ExploreOptions:
    """Let the options of the command line take the place of a test's own.

    Several processes are for one strategy only, a seed is for others, and some have no bound on
    preemptions and take all timeouts; a test whose strategy does not take one of these goes without
    it, or no session could have it that has both kinds of tests.  So does a test that is given
    another strategy than its own.
    """
    strategy = given.get("strategy", own.strategy)
    useless = find_useless(strategy)
    if "strategy" in given:
        kept = {name: getattr(ExploreOptions(), name) for name in useless if name not in given}
        own = replace(own, **kept, strategy=strategy) if kept else own
    else:
        given = {name: value for name, value in given.items() if name not in useless}
    if "leave_out" in given:
        given = {**given, "leave_out": dict.fromkeys((*own.leave_out, *given["leave_out"]))}
    return read_options(given, own)
