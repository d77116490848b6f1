"""Which counterexample to show: the one that was found, or one with fewer context switches."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mazurka.ir.program import Fault, Program
from mazurka.stateful.strategy import Observer, SearchOptions, Violation

CHOICES = ("auto", "found", "switches")

CHEAP_SECONDS = 3.0
"""How long `auto` looks for a counterexample with fewer context switches."""

FEWEST = "the one with the fewest context switches"
FIRST = "the one that the search met first"


@dataclass(frozen=True)
class Alternative:
    """Another counterexample to the same violation, and the option that shows it."""

    option: str
    what: str
    steps: int | None = None


@dataclass(frozen=True)
class Selection:
    """The counterexample to show, how it was chosen, and what else can be had."""

    violation: Violation
    how: str
    """`found`, `shortest` or `switches`."""
    alternative: Alternative | None = None


def select(
    program: Program, found: Violation, wanted: str, options: SearchOptions, observer: Observer
) -> Selection:
    """Choose what to show.

    A breadth-first search has found a shortest one, which `auto` keeps.  After a depth-first
    search `auto` looks for one with fewer switches, but not for long.
    """
    breadth_first = options.order == "bfs"
    as_found = Selection(found, "shortest" if breadth_first else "found")
    if found.kind == Fault.BOUND or len(found.path) < 2:
        return as_found
    if wanted == "auto" and not breadth_first:
        options = replace(options, limit_seconds=CHEAP_SECONDS)
    elif wanted != "switches":
        return replace(as_found, alternative=Alternative("--counterexample switches", FEWEST))
    fewest = _fewest_switches(program, found, options, observer)
    if fewest is None:
        return replace(as_found, alternative=Alternative("--counterexample switches", FEWEST))
    if fewest.path == found.path:
        return Selection(fewest, "switches")
    other = Alternative("--counterexample found", FIRST, len(found.path))
    return Selection(fewest, "switches", other)


def _fewest_switches(
    program: Program, found: Violation, options: SearchOptions, observer: Observer
) -> Violation | None:
    from mazurka.stateful.minimize import fewest_switches

    return fewest_switches(program, found, options, observer)
