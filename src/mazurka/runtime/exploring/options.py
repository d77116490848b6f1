"""What is explored, and how."""

from __future__ import annotations

import inspect
import os
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

from mazurka.errors import OptionError
from mazurka.runtime.core.sites import shown_path
from mazurka.search.resources import refuse_many
from mazurka.stateless import randomized
from mazurka.stateless.bounded.algorithm1 import Algorithm1
from mazurka.stateless.bounded.algorithm2 import Algorithm2
from mazurka.stateless.bounded.bounded_search import ContextBoundedDFS
from mazurka.stateless.iterative import REDUCTIONS

BOUNDED = {
    "algorithm2": Algorithm2.name,
    "algorithm1": Algorithm1.name,
    "cb-dfs": ContextBoundedDFS.name,
}
SEARCHES = {**BOUNDED, **{name: name for name in REDUCTIONS}}
STRATEGIES = (*SEARCHES, *randomized.STRATEGIES)
SAMPLES = 1000
"""Random schedules, unless told otherwise."""


class Usual(Enum):
    """What an option is that nobody has given, where that depends on others."""

    BOUND = 2
    """Of preemptions; none for strategies that have no bound."""


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
    seconds: float | None = None
    """The longest time."""
    races: bool = False
    """Report data races, even where the test passes."""
    instrument: tuple[str, ...] = ()
    """Modules and packages whose accesses are seen, besides the test's own and its project's."""
    virtual_time: bool = True
    """`time.sleep` and the clocks follow the schedule instead of the world."""
    patience: float = 5.0
    """Seconds after which a call that nobody controls is reported."""
    max_steps: int = 10_000
    """The most steps of an execution."""
    workers: int = 1
    """Processes that search together."""

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            raise OptionError(
                f"there is no strategy {self.strategy!r}; there are {', '.join(STRATEGIES)}"
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
        if self.executions is not None and self.executions < 1:
            raise OptionError(f"executions must be 1 or more, not {self.executions}")
        if self.seconds is not None and not self.seconds > 0:
            raise OptionError(f"the time limit must be above 0 seconds, not {self.seconds:g}")
        if not self.patience > 0:
            raise OptionError(f"patience must be above 0 seconds, not {self.patience:g}")
        if self.max_steps < 1:
            raise OptionError(f"max_steps must be 1 or more, not {self.max_steps}")
        if self.workers < 1:
            raise OptionError(f"workers must be 1 or more, not {self.workers}")
        refuse_many("workers", self.workers)
        if self.workers > 1 and self.strategy != "algorithm2":
            raise OptionError(f"several workers need the strategy algorithm2, not {self.strategy}")
        if self.workers > 1 and not hasattr(os, "fork"):
            raise OptionError("several workers need os.fork, which this system does not have")

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
        for name in ("seconds", "patience"):
            value = getattr(self, name)
            if not (value is None and name == "seconds") and type(value) not in (int, float):
                raise OptionError(f"{name} must be a number of seconds, not {value!r}")

    @property
    def sampled(self) -> bool:
        return self.strategy in randomized.STRATEGIES

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
    skips: Callable[[], tuple[type[BaseException], ...]] = tuple
    """What gives the exceptions of the test that are no failures, but say that it is not to be run;
    asked when there is one, since the test may import what defines them."""

    @property
    def propagate(self) -> tuple[type[BaseException], ...]:
        return self.skips()

    @property
    def place(self) -> tuple[str | None, int | None]:
        code = getattr(inspect.unwrap(self.function), "__code__", None)
        return (shown_path(code.co_filename), code.co_firstlineno) if code else (None, None)
