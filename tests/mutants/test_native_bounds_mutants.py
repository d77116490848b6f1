"""Deliberately broken bounds in native code: brute force must tell each from ours.

A mutant is a kernel that has been changed in one place, or a copy of the run that leaves something
out.  It is caught as those in Python are (`test_context_bounded_mutants`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from mazurka.compiled import cache
from mazurka.errors import MazurkaError
from mazurka.stateless.bounded.context_bound import ContextBounds
from mazurka.stateless.bounded.flat_run import FlatRun
from mazurka.stateless.bounded.recording import Recording, Stand
from mazurka.stateless.iterative import find_search
from tests.mutants.mutant_kernels import KernelMutant, compile_mutants
from tests.mutants.test_context_bounded_mutants import ALL, disagrees
from tests.soundness.simulated_threads import random_program
from tests.soundness.whole_runs import Execution, Watched, executions
from tests.unit.stateless.bodies import writes
from tests.unit.stateless.simulated import Body, Simulated, World

PROGRAMS = 60
SCHEDULES = 900
LEVELS = 3


def mutant(text: str, replacement: str) -> KernelMutant:
    kernel = "context_bounds"
    return KernelMutant(kernel, kernel, text, replacement, engine="stateless")


KERNEL_MUTANTS = {
    "those who need an event are not asked again": mutant(
        "bit_of(run.schedule[event]) | words_at(block[blocks.AWAITED])[event]",
        "bit_of(run.schedule[event])",
    ),
    "those who look at what is written are not asked again": mutant(
        "        again |= watching[written[place]]\n", "        again |= NOTHING\n"
    ),
    "what a thread needs is not looked at": mutant(
        "if kind == blocks.NEVER or not is_within(\n"
        "        stands, start + blocks.STAND_NEEDS, items.words, prefix, words\n    ):",
        "if kind == blocks.NEVER:",
    ),
    "what comes last once a step is left out": mutant(
        "        if not covered:\n            numbers[made",
        "        if covered:\n            numbers[made",
    ),
    "a switch from a thread that can go on is free": mutant(
        "        cost += able >> thread & ONE\n", "        cost += NOTHING\n"
    ),
    "the first way to a state is the cheapest": mutant(
        "if place == 0 or cost < others:", "if place == 0:"
    ),
    "CB(s, t) is the same for all threads": mutant(
        "return min(cost, arrival >> ARRIVAL_COST)", "return cost"
    ),
    "Mark before the last step": mutant(
        "            if left > 1:  # L18", "            if left > 2:"
    ),
    "steps beyond the bound are counted": mutant(
        "    if shape >> SHAPE_COST <= bound:\n        return count_bits(able)",
        "    if shape >> SHAPE_COST <= bound + ONE:\n        return count_bits(able)",
    ),
    "states that lie beyond the bound are marked": mutant(
        "            if arrival >> ARRIVAL_COST > bound:\n",
        "            if arrival >> ARRIVAL_COST > bound + ONE:\n",
    ),
}

copy_stands, ask, cut = FlatRun._copy_stands, FlatRun.ask, Recording.cut


def nothing_changes(self: FlatRun, number: int) -> None:
    pass


def old_stands_stay(self: FlatRun, thread: int, line: list[Stand], changed: set[int]) -> None:
    if len(line) > len(self._stands[thread]):
        copy_stands(self, thread, line, changed)


def old_events_stay(self: Recording, count: int) -> None:
    kept = self.kept
    cut(self, count)
    self.kept = min(kept, count + 1)


COPY_MUTANTS: dict[str, tuple[type, str, Callable[..., None]]] = {
    "what objects are like is copied once": (FlatRun, "_copy_object", nothing_changes),
    "where threads stood in an earlier run": (FlatRun, "_copy_stands", old_stands_stay),
    "an event of an earlier run": (Recording, "cut", old_events_stay),
}


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ContextBounds, "usual_native_from", 1)


@pytest.fixture(scope="module")
def kernels(
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[KernelMutant, cache.Kernel]:
    return compile_mutants(tmp_path_factory.mktemp("mutants"), list(KERNEL_MUTANTS.values()))


def programs() -> Iterator[tuple[Simulated, dict[Execution, int]]]:
    for program in (beginning(), *map(random_program, range(PROGRAMS))):
        whole = executions(program, SCHEDULES)
        if whole is not None:
            yield program, whole


def beginning() -> Simulated:
    """A thread that begins after what another one does may have come before or after."""

    def first(world: World) -> Body:
        yield world.write("x", 1)
        yield world.start(writes("y", "x"))
        yield world.write("y", 2)

    return Simulated([first, writes("x")])


def disagrees_by_levels(program: Simulated, whole: dict[Execution, int]) -> bool:
    """Whether a search through several levels does not complete each execution once."""
    watched = Watched(program)
    search = find_search("algorithm-2")(watched, ALL)
    try:
        for bound in range(LEVELS):
            search.explore(bound)
    except (MazurkaError, KeyError, IndexError):
        return True
    expected = [ran for ran, least in whole.items() if least < LEVELS]
    return Counter(watched.completed) != Counter(expected)


def is_caught() -> bool:
    return any(disagrees(*each) or disagrees_by_levels(*each) for each in programs())


@pytest.mark.parametrize("name", KERNEL_MUTANTS)
def test_the_changed_kernel_is_caught(
    name: str,
    kernels: dict[KernelMutant, cache.Kernel],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = kernels[KERNEL_MUTANTS[name]]
    monkeypatch.setattr(cache, "bind_kernel", lambda _, address: lambda: run(address))
    assert is_caught()


@pytest.mark.parametrize("name", COPY_MUTANTS)
def test_the_incomplete_copy_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, method, replacement = COPY_MUTANTS[name]
    monkeypatch.setattr(owner, method, replacement)
    assert is_caught()


def test_the_original_is_not() -> None:
    assert not is_caught()
