"""Programs from source text, instrumented and explored."""

from __future__ import annotations

import importlib.util
import itertools
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from mazurka.runtime.core.host import ControlSettings
from mazurka.runtime.core.sites import AccessSite, sites
from mazurka.runtime.exploring.observed_program import ObservedProgram
from mazurka.runtime.rewrite.selection import is_left_alone
from mazurka.runtime.sharing.accesses import DataAccess
from mazurka.runtime.sharing.locations import learned
from mazurka.stateless.explored import Explored, RunOptions
from mazurka.stateless.iterative import explore
from mazurka.stateless.runs import Decider

SETTINGS = ControlSettings(patience=3.0, pin=False)
_numbers = itertools.count()


def site_of(number: int) -> AccessSite:
    """A place in rewritten code.  There are thousands, which no module of a program under test may
    hold: explorations name whatever it holds."""
    return sites[number]


def module_of(folder: Path, source: str) -> ModuleType:
    """A module with that source, imported."""
    name = f"observed_{next(_numbers)}"
    file = folder / f"{name}.py"
    file.write_text(textwrap.dedent(source))
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@contextmanager
def observed(module: ModuleType, test: Callable[[], object]) -> Iterator[ObservedProgram]:
    with ObservedProgram(
        test, lambda name, file: name == module.__name__, SETTINGS, _is_left
    ) as program:
        yield program


def _is_left(name: str, file: str) -> bool:
    """Leave the functions alone that call programs here: they are no part of them."""
    return name == __name__ or is_left_alone(name, file)


OWN = {"observed_programs", "tests"}
"""How this module is named, which calls the programs: from Python 3.12 on, results name it, too."""


@dataclass
class Found:
    explored: Explored
    outcomes: set[Any]
    points: set[str]
    """What is done at points: the source of each, and its role."""
    restarts: int
    not_observed: list[str]

    @property
    def kinds(self) -> set[str]:
        return {failing.failed.kind for failing in self.explored.failures}

    @property
    def messages(self) -> str:
        return "; ".join(failing.failed.message for failing in self.explored.failures)


def find(
    folder: Path,
    source: str,
    bound: int | None = None,
    everywhere: bool = False,
    algorithm: str = "algorithm-2",
) -> Found:
    """Explore the function `program` of a source; what it returns are the outcomes.

    `everywhere`: all places are points from the start, and so they are not listed.
    """
    (found,) = find_at(folder, source, [bound], everywhere, algorithm)
    return found


def find_at(
    folder: Path,
    source: str,
    bounds: Sequence[int | None],
    everywhere: bool = False,
    algorithm: str = "algorithm-2",
) -> list[Found]:
    """Do the same at several bounds under one control.

    Each search knows the points that the one before it has learned.  If bounds rise, its own lower
    levels would have taught it these; without a bound there are no such levels.
    """
    assert everywhere or len(bounds) == 1 or None not in bounds
    assert everywhere or list(bounds) == sorted(bounds, key=str)
    module = module_of(folder, source)
    outcomes: set[Any] = set()

    def search(bound: int | None) -> Explored:
        outcomes.clear()
        if everywhere:
            learned.points.update(range(len(sites)))
        options = RunOptions(stop_at_first=False)
        return explore(program, bound, algorithm, options)

    found = []
    with observed(module, lambda: outcomes.add(module.program())) as program:
        for bound in bounds:
            explored = program.supervise(lambda bound=bound: search(bound))
            assert program.code.functions > 0
            known = () if everywhere else map(site_of, learned.points)
            points = {f"{site.role} {site.text}" for site in known}
            others = [name for name in program.not_observed if name not in OWN]
            seen = Found(explored, set(outcomes), points, program.restarts, others)
            found.append(seen)
    return found


def find_failing(folder: Path, source: str, names: Sequence[str], bound: int = 1) -> list[bool]:
    """Explore functions of a source one after the other, under one control; tell which can fail.

    What has been learned of one is forgotten before the next one.
    """
    module = module_of(folder, source)
    chosen = list(names[:1])
    failing = []
    with observed(module, lambda: getattr(module, chosen[0])()) as program:
        for name in names:
            chosen[0] = name
            program.forget()
            explored = program.supervise(
                lambda: explore(program, bound, "algorithm-2", RunOptions(stop_at_first=True))
            )
            failing.append(bool(explored.failures))
    return failing


class Trail(Decider):
    """Follows thread numbers, runs on without preemption after them, and keeps what was done."""

    def __init__(self, schedule: Sequence[int] = ()) -> None:
        self._schedule = list(schedule)
        self.accesses: list[tuple[int, str, str]] = []
        """Threads, kinds of access, and the source of each."""
        self.touches: list[tuple[int, list[tuple[str, bool]]]] = []
        """Threads, and the names of what they touch, and whether they write it."""

    def decide(self, pending: Any, enabled: Any, last: int) -> int:
        chosen = self._schedule.pop(0) if self._schedule else None
        if chosen not in enabled:
            chosen = last if last in enabled else enabled[0]
        operation = pending[chosen]
        if isinstance(operation, DataAccess):
            self.accesses.append((chosen, operation.kind, site_of(operation.site).text))
            touches = operation.at(lambda shared: shared.state)
            self.touches.append((chosen, [(str(shared.name), bool(w)) for shared, w in touches]))
        return chosen


def follow(module: ModuleType, schedules: Iterable[Sequence[int]]) -> list[Trail]:
    """One run for each schedule, with every place a point."""
    trails = []

    def runs() -> None:
        trails.clear()
        learned.points.update(range(len(sites)))
        for schedule in schedules:
            trail = Trail(schedule)
            program.run(trail)
            trails.append(trail)

    with observed(module, lambda: module.program()) as program:
        program.supervise(runs)
    return trails
