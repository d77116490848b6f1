"""Bounds in native code: when they begin, when Python goes on instead, limits, failures."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.stateless.bodies import Thread, critical_sections, writes
from tests.unit.stateless.simulated import Body, Simulated, World

from mazurka.compiled import cache
from mazurka.stateless.bounded import native_bounds
from mazurka.stateless.bounded.algorithm2 import Algorithm2
from mazurka.stateless.bounded.context_bound import NEVER, ContextBounds, cost_of
from mazurka.stateless.bounded.hashing import EMPTY
from mazurka.stateless.explored import PROCESSOR_TIME, Allowance, Exceeded, RunOptions
from mazurka.stateless.runs import Decider, Ended

ALL = RunOptions(stop_at_first=False)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let native code begin with the second execution."""
    monkeypatch.setattr(ContextBounds, "usual_native_from", 1)


def search_both(program: Simulated, bound: int, options: RunOptions = ALL) -> list[Algorithm2]:
    """The search in native code, and in Python."""
    searches = []
    for first in (1, NEVER):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(ContextBounds, "usual_native_from", first)
            search = Algorithm2(program, options)
        search.explore(bound)
        searches.append(search)
    return searches


@pytest.mark.usefixtures("at_once")
def test_it_begins_after_an_execution() -> None:
    search = Algorithm2(Simulated([writes("x", "x")] * 2), ALL)
    search.bounds.hasten(search.closed, search.open)
    assert search.bounds.native is None, "nothing is known yet"
    search.explore(1)
    native = search.bounds.native
    assert native is not None
    assert search.bounds.known == {}, "everything has been handed over"
    assert native.find(EMPTY) >= 0
    assert native.find(1 << 127) == -1
    assert native.states == sum(1 for _ in native)


def test_a_small_search_loads_no_compiler(tmp_path: Path) -> None:
    text = """
import sys, threading, mazurka
lock, found = threading.Lock(), []
def body():
    for _ in range(3):
        with lock:
            found.append(1)
def test():
    threads = [threading.Thread(target=body) for _ in range(2)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
result = mazurka.explore(test, preemptions=6)
print(result.executions, "llvmlite" in sys.modules)
"""
    file = tmp_path / "small.py"
    file.write_text(text)
    ran = subprocess.run([sys.executable, file], capture_output=True, text=True, check=True)
    assert ran.stdout == "20 False\n"


@pytest.mark.usefixtures("at_once")
def test_python_goes_on_where_there_is_no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(cache, "bind_kernel", lambda name, address: None)
    monkeypatch.setattr(cache, "prepare_kernel", asked.append)
    search = Algorithm2(Simulated([critical_sections(2)] * 3), ALL)
    assert search.explore(3).executions == 90
    assert search.bounds.native is None
    assert search.bounds.native_from > 1, "it is not asked for again at each execution"
    assert asked == [], "so small a search is not worth compiling it"
    monkeypatch.setattr(native_bounds, "COMPILED_FROM", 1)
    Algorithm2(Simulated([critical_sections(2)] * 3), ALL).explore(3)
    assert set(asked) == {native_bounds.KERNEL}


def rests_if_it_sees(value: int) -> Thread:
    def body(world: World) -> Body:
        seen = yield world.read("x")
        if seen == value:
            yield world.nothing(yields=True)
        yield world.write("y", 1)

    return body


def fails_late(world: World) -> Body:
    seen = yield world.read("x")
    seen += yield world.read("x")
    if seen == 1:
        world.fail("a write came in between")


@pytest.mark.parametrize("bound", range(4))
def test_python_takes_over_once_a_thread_gives_way(bound: int) -> None:
    """The first executions do not show that a thread may rest."""
    threads = [rests_if_it_sees(1), writes("x", "y"), writes("y", "x")]
    native, python = search_both(Simulated(threads), bound)
    assert native.bounds.native is None
    assert native.bounds.known.keys() == python.bounds.known.keys()
    assert native.closed == python.closed
    assert native.open == python.open
    assert native.terminals == python.terminals
    assert native.bounds.unseen == python.bounds.unseen
    for state, bounds in python.bounds.known.items():
        other = native.bounds.known[state]
        for thread in range(len(threads)):
            assert cost_of(other, thread) == cost_of(bounds, thread)


@pytest.mark.parametrize("threads", [60, 61])
def test_so_many_threads_have_room(threads: int) -> None:
    program = Simulated([writes("x"), writes("x"), *[writes()] * (threads - 2)])
    native, python = search_both(program, 1)
    assert (native.bounds.native is not None) == (threads <= native_bounds.MOST_THREADS)
    assert native.closed == python.closed


def test_so_many_events_have_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_bounds, "MOST_EVENTS", 70)

    def longer_if_late(world: World) -> Body:
        rounds = yield world.read("x")
        for _ in range(60 + 20 * rounds):
            yield world.write("y", 1)

    native, python = search_both(Simulated([longer_if_late, writes("x")]), 1)
    assert native.bounds.native is None
    assert native.closed == python.closed
    assert native.bounds.unseen == python.bounds.unseen


def test_failures_have_as_few_preemptions() -> None:
    native, python = search_both(Simulated([fails_late, writes("x"), writes("y")]), 2)
    (found,), (expected,) = native.explored.failures, python.explored.failures
    assert (found.schedule, found.preemptions) == (expected.schedule, expected.preemptions)
    assert found.preemptions == 1


class GivingUp(Simulated):
    """Gives up where a thread has seen the other's write."""

    def run(self, decider: Decider) -> Ended:
        end = super().run(decider)
        end.abandoned = end.abandoned or self.log[0][0] == 1
        return end


def test_a_program_that_gives_up() -> None:
    native, python = search_both(GivingUp([writes("x", "x"), writes("x")]), 2)
    assert native.explored.executions == python.explored.executions > 2
    assert native.closed == python.closed
    assert native.bounds.unseen == python.bounds.unseen


@pytest.mark.usefixtures("at_once")
def test_limits_are_kept() -> None:
    wide = Simulated([writes(*"abcdefghij" * 3), writes(*"klmnopqrst" * 3), writes("a", "k")])
    search = Algorithm2(wide, RunOptions(max_states=4000, stop_at_first=False))
    assert not search.explore(2).complete
    assert search.explored.limits == ("more than 4,000 states",)
    native = search.bounds.native
    assert native is not None
    assert native.states < 4000 + native.numbers[native_bounds.blocks.CHECK_EVERY]
    bounds = search.bounds
    bounds.max_states = None
    bounds.allowance = Allowance(processor=0.0, world=math.inf)
    with pytest.raises(Exceeded, match=PROCESSOR_TIME):
        bounds.here()
    bounds.allowance = None
    known = native.states
    bounds.here()
    assert native.states > known, "what was left is worked out after all"
    python = ContextBounds(search.graph)
    assert python.here()[0] == bounds.here()[0]
    for state, expected in python.known.items():
        found = bounds.get(state)
        assert found[0] == expected[0]
        assert [cost_of(found, thread) for thread in range(3)] == [
            cost_of(expected, thread) for thread in range(3)
        ]


def test_the_table_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    """All arrays begin so small that they have to grow, some in the middle of a call."""
    for name in ("FIRST_RECORDS", "FIRST_ITEM_WORDS"):
        monkeypatch.setattr(native_bounds, name, 1)
    native, python = search_both(Simulated([critical_sections(2)] * 3), 3)
    assert native.bounds.native is not None
    assert native.bounds.native.states == len(python.bounds.known)
    assert native.closed == python.closed


def test_a_lower_bound_begins_anew() -> None:
    (search, _) = search_both(Simulated([critical_sections(2)] * 2), 2)
    before = search.explore(1).executions
    (other, _) = search_both(Simulated([critical_sections(2)] * 2), 1)
    assert before == other.explored.executions
