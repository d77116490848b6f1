"""Breadth-first search by several workers, on a device, by a cluster finds what one worker finds.

Random programs are small, so all levels are shared out, and every array begins too small.  The
device is this machine: the same kernel as on a GPU, with threads as its workers.  So is the
cluster: its workers take turns, which are drawn by chance.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from mazurka.analysis import futures
from mazurka.ir.expressions import Const
from mazurka.ir.program import Check, Fault, Program
from mazurka.search import SearchOptions, SearchResult, Silent
from mazurka.search.registry import load_strategy
from mazurka.stateful.cluster import part
from mazurka.stateful.cluster import search as cluster_search
from mazurka.stateful.device import search as device_search
from mazurka.stateful.device.host import HostDevice
from mazurka.stateful.device.search import DeviceSearch
from mazurka.stateful.quotient import code_for
from mazurka.stateful.reference.stubborn import explore_persistent
from mazurka.stateful.searches import parallel, persistent
from mazurka.stateful.variants import Proviso, Relation
from tests.soundness.cluster_searches import by_parts
from tests.soundness.reductions import Subject
from tests.soundness.replaying import replays
from tests.soundness.shared_searches import EVERYTHING, FIRST, by_workers, difference
from tests.unit.ir.programs import Builder, put


@pytest.fixture(autouse=True)
def small_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "SMALL_LEVEL": 1,
        "FIRST_CAPACITY": 16,
        "EARLY_CAPACITY": 4,
        "FINDING_ROOM": 0,
    }.items():
        monkeypatch.setattr(parallel, name, value)
    for name, value in {"OUT_ROOM": 8, "SENT_ROOM": 16, "FINDING_ROOM": 0}.items():
        monkeypatch.setattr(part, name, value)
    monkeypatch.setattr(cluster_search, "LARGE_LEVEL", 2)
    for name, value in {"FIRST_ROOM": 3, "FINDING_ROOM": 4, "LONGEST_LAUNCH": 64}.items():
        monkeypatch.setattr(device_search, name, value)


def on_this_machine(program: Program, options: SearchOptions) -> SearchResult:
    return DeviceSearch(code_for(program, options), options, Silent(), HostDevice(3)).run()


@pytest.mark.parametrize("workers", [2, 5])
def test_workers_change_nothing(workers: int) -> None:
    for seed in range(52_000 + 20 * workers, 52_012 + 20 * workers):
        subject = Subject(seed)
        search = by_workers(workers)
        wrong = difference(subject.program(), search, symmetry=seed % 2 == 0)
        assert wrong is None, f"{subject}: {wrong}"


def test_a_device_changes_nothing() -> None:
    for seed in range(54_000, 54_004):
        subject = Subject(seed)
        wrong = difference(subject.program(), on_this_machine, symmetry=seed % 2 == 0)
        assert wrong is None, f"{subject}: {wrong}"


def test_a_cluster_changes_nothing() -> None:
    for seed in range(55_000, 55_010):
        subject = Subject(seed)
        search = by_parts(2 + seed % 3, seed, shared_level=1 + seed % 5)
        wrong = difference(subject.program(), search, symmetry=seed % 2 == 0)
        assert wrong is None, f"{subject}: {wrong}"


def reduced(strategy: str, program: Program, options: SearchOptions, workers: int) -> SearchResult:
    tuning = {"proviso": "sticky", "workers": workers}
    asked = replace(options, order="dfs", tuning=tuning)
    return load_strategy(strategy).run(program, asked, Silent())


def test_workers_change_nothing_in_reduced_searches() -> None:
    """Counts are those of the search in plain Python, and of one worker's."""
    for seed in range(56_000, 56_010):
        program = Subject(seed).program()
        for relation in Relation:
            where = (seed, relation)
            strategy = "stubborn" if relation is Relation.STATIC else str(relation)
            one = reduced(strategy, program, EVERYTHING, 1)
            several = reduced(strategy, program, EVERYTHING, 3)
            written = explore_persistent(program, relation=relation, proviso=Proviso.STICKY)
            assert several.order == "bfs", where
            made = several.statistics
            assert made.states == one.statistics.states == len(written.states), where
            assert made.transitions == one.statistics.transitions == written.transitions, where
            assert (several.limits, several.notes) == (one.limits, one.notes), where
            assert (several.violation is None) == (one.violation is None), where
            first = reduced(strategy, program, FIRST, 3).violation
            assert (first is None) == (one.violation is None), where
            assert first is None or replays(program, first, FIRST.properties), where


def test_a_reduced_search_without_its_proviso_loses_a_violation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One thread goes round for ever, and the other one, which fails, has nothing to do with it."""
    program = goes_round()
    assert reduced("stubborn", program, FIRST, 2).violation is not None
    for module in (persistent, futures):
        monkeypatch.setattr(module, "find_sticky_locations", lambda program: [frozenset()] * 2)
    assert reduced("stubborn", program, FIRST, 2).violation is None


def goes_round() -> Program:
    builder = Builder()
    own = builder.shared("own", 0, 1)
    body = builder.thread()
    here, there = body.at(), body.at()
    body.edge(here, there, put(own, 1))
    body.edge(there, here, put(own, 0))
    builder.thread().line(Check(Const(0), Fault.ASSERT, "never"))
    return builder.program()


def test_what_is_reported_does_not_depend_on_the_timing() -> None:
    for seed in range(53_000, 53_008):
        program = Subject(seed).program()
        found = [by_workers(workers)(program, FIRST) for workers in (2, 3, 5)]
        kinds = {each.violation.kind if each.violation else None for each in found}
        counted = {(each.statistics.states, each.statistics.transitions) for each in found}
        assert len(kinds) == len(counted) == 1, Subject(seed)
