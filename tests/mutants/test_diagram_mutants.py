"""Deliberately broken searches with decision diagrams: each change is noticed in some model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path

import pytest

from mazurka.checking import load_program
from mazurka.errors import InternalError
from mazurka.ir.program import Program
from mazurka.search import SearchOptions, Silent
from mazurka.search.reading import Reading
from mazurka.search.registry import load_strategy
from mazurka.symbolic.solving import reachability
from mazurka.symbolic.solving.diagrams import AllStates, DiagramSolver, TargetFound
from mazurka.symbolic.solving.reachability import (
    DiagramPart,
    PassStart,
    Reachability,
    ReachProblem,
    ReachProgress,
    Ring,
    StepPart,
)
from tests.limits import ENOUGH

TURNS = """
from mazurka.model import Int, await_, choose
x: Int[0, 4] = 0
y: Int[0, 7] = 0
def even():
    global x, y
    y = choose(range(8))
    x = 1
    await_(x == 2)
    x = 3
    await_(x == 4)
    assert y != 5
def odd():
    global x
    await_(x == 1)
    x = 2
    await_(x == 3)
    x = 4
threads = [even(), odd()]
"""


READS_EARLY = """
from mazurka.model import Int
x: Int[0, 1] = 0
def writes():
    global x
    x = 1
def reads():
    seen = x
    assert seen == 1
threads = [writes(), reads()]
"""


@lru_cache
def load(folder: Path, text: str) -> Program:
    path = folder / "model.py"
    path.write_text(text, encoding="utf-8")
    return load_program(str(path), Reading(merge=False))


def reach_here(
    solver: DiagramSolver,
    problem: ReachProblem,
    tell: Callable[[ReachProgress], None],
    report: Callable[[TargetFound], bool],
) -> AllStates | None:
    """The search in this process, where it can be broken."""
    search = Reachability(problem, tell, lambda target, frames: report(TargetFound(target, frames)))
    return AllStates(search.count(), search.passes) if search.search() else None


def find(folder: Path, text: str = TURNS, interleaving: str = "sweeps") -> str:
    tuning = {"interleaving": interleaving}
    options = SearchOptions(properties=frozenset({"assert"}), limit_seconds=ENOUGH, tuning=tuning)
    try:
        result = load_strategy("bdd").run(load(folder, text), options, Silent())
    except (InternalError, StopIteration, KeyError):
        return "circuit and interpreter disagree"
    if result.violation is not None:
        return f"{result.violation.kind} after {len(result.violation.path)} steps"
    return "inconclusive" if result.limits else f"holds in {result.statistics.states} states"


def forget_what_a_pass_has_found(patch: pytest.MonkeyPatch) -> None:
    """The rings of a pass are not expanded in it, and only the last one later."""
    plain = Reachability.expand

    def expand(search: Reachability, start: PassStart) -> Iterator[Ring]:
        rings = list(plain(search, start))
        return iter(rings[-1:])

    patch.setattr(Reachability, "expand", expand)


def quantify_early(patch: pytest.MonkeyPatch) -> None:
    """Variables are quantified in the first cluster, whatever the others depend on."""
    plain = Reachability._make_part

    def make_part(
        search: Reachability, part: StepPart, literals: Callable[[int], object]
    ) -> DiagramPart:
        made = plain(search, part, literals)
        every = sorted(name for due in made.quantified for name in due)
        made.quantified = [every, *([] for _ in made.quantified[1:])]
        return made

    patch.setattr(Reachability, "_make_part", make_part)


def keep_old_bits(patch: pytest.MonkeyPatch) -> None:
    """A part's first change is forgotten."""
    plain = Reachability._make_part

    def make_part(
        search: Reachability, part: StepPart, literals: Callable[[int], object]
    ) -> DiagramPart:
        return plain(search, part._replace(changes=part.changes[1:]), literals)

    patch.setattr(Reachability, "_make_part", make_part)


def take_any_predecessor(patch: pytest.MonkeyPatch) -> None:
    """The step back pays no attention to the bits that stay."""
    plain = Reachability._step_back

    def step_back(search: Reachability, state: dict[str, bool], part: DiagramPart) -> object:
        wrong = {name: not value for name, value in state.items()}
        changed = {f"x{place}" for place in part.changed}
        mixed = {name: (state if name in changed else wrong)[name] for name in state}
        return plain(search, mixed, part)

    patch.setattr(Reachability, "_step_back", step_back)


def step_from_what_was_found_first(patch: pytest.MonkeyPatch) -> None:
    """What the first image of a pass of single steps adds hides the others."""
    plain = Reachability._step_once
    patch.setattr(Reachability, "_step_once", lambda *given: islice(plain(*given), 1))


MUTANTS: list[tuple[str, Callable[[pytest.MonkeyPatch], None]]] = [
    ("a pass forgets what it has found", forget_what_a_pass_has_found),
    ("variables are quantified too early", quantify_early),
    ("a bit that changes stays", keep_old_bits),
    ("a way back changes other bits", take_any_predecessor),
]


def test_clusters_do_not_matter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    expected = find(tmp_path)
    assert expected.startswith("assert after")
    monkeypatch.setattr(DiagramSolver, "reach", reach_here)
    assert find(tmp_path) == expected
    monkeypatch.setattr(reachability, "MOST_NODES", 0)
    assert find(tmp_path).startswith("assert after")


@pytest.mark.parametrize(
    "break_it", [each for _, each in MUTANTS], ids=[name for name, _ in MUTANTS]
)
def test_a_broken_search_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    break_it: Callable[[pytest.MonkeyPatch], None],
) -> None:
    monkeypatch.setattr(DiagramSolver, "reach", reach_here)
    monkeypatch.setattr(reachability, "MOST_NODES", 0)  # a cluster for each conjunct
    expected = find(tmp_path)
    assert expected.startswith("assert after")
    break_it(monkeypatch)
    assert find(tmp_path) != expected


def test_a_pass_takes_every_step(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(DiagramSolver, "reach", reach_here)
    assert find(tmp_path, READS_EARLY, "full").startswith("assert after")
    step_from_what_was_found_first(monkeypatch)
    assert find(tmp_path, READS_EARLY, "full").startswith("holds")
