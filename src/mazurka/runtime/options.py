"""What is explored, and how."""

from __future__ import annotations

import inspect
import os
import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from mazurka.errors import OptionError
from mazurka.runtime.sites import shown_path
from mazurka.stateless import randomized
from mazurka.stateless.algorithm1 import Algorithm1
from mazurka.stateless.algorithm2 import Algorithm2
from mazurka.stateless.cb_dfs import ContextBoundedDFS

SEARCHES = {
    "algorithm2": Algorithm2.name,
    "algorithm1": Algorithm1.name,
    "cb-dfs": ContextBoundedDFS.name,
}
STRATEGIES = (*SEARCHES, *randomized.STRATEGIES)
SAMPLES = 1000
"""Random schedules, unless told otherwise."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a test is explored."""

    preemptions: int | None = 2
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
    patience: float = 5.0
    max_steps: int = 10_000
    workers: int = 1
    """Processes that search together."""

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            raise OptionError(
                f"there is no strategy {self.strategy!r}; there are {', '.join(STRATEGIES)}"
            )
        if self.preemptions is not None and self.preemptions < 0:
            raise OptionError(f"preemptions must be 0 or more, not {self.preemptions}")
        if self.executions is not None and self.executions < 1:
            raise OptionError(f"executions must be 1 or more, not {self.executions}")
        if self.seconds is not None and not self.seconds > 0:
            raise OptionError(f"the time limit must be above 0 seconds, not {self.seconds:g}")

        if self.workers < 1:
            raise OptionError(f"workers must be 1 or more, not {self.workers}")
        if self.workers > 1 and self.strategy != "algorithm2":
            raise OptionError(f"several workers need the strategy algorithm2, not {self.strategy}")
        if self.workers > 1 and not hasattr(os, "fork"):
            raise OptionError("several workers need os.fork, which this system does not have")

    @property
    def sampled(self) -> bool:
        return self.strategy in randomized.STRATEGIES

    def with_seed(self) -> Options:
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
    propagate: tuple[type[BaseException], ...] = ()
    """Exceptions of the test that are no failures, but say that it is not to be run."""

    @property
    def place(self) -> tuple[str | None, int | None]:
        code = getattr(inspect.unwrap(self.function), "__code__", None)
        return (shown_path(code.co_filename), code.co_firstlineno) if code else (None, None)
