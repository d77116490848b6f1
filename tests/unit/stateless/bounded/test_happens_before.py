"""Graphs as states: actions and their hashes, prefixes, and what is derived at them."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.unit.stateless.bodies import critical_sections, reads, recorded, writes
from tests.unit.stateless.simulated import Body, Simulated, World

from mazurka.stateless.bounded.happens_before import Graph
from mazurka.stateless.bounded.hashing import EMPTY, encode_name, hash_action
from mazurka.stateless.runs import Shared

PRINT_HASH = """
from mazurka.stateless.bounded.hashing import encode_name, hash_action
print(hash_action(1, 2, [(encode_name(("queue", 0, 3)), True, 4), (encode_name("x"), False, 1)]))
"""


def test_hashes_are_the_same_in_all_processes() -> None:
    seen = {
        subprocess.run(
            [sys.executable, "-c", PRINT_HASH],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    x, queue = encode_name("x"), encode_name(("queue", 0, 3))
    here = hash_action(1, 2, [(x, False, 1), (queue, True, 4)])
    assert seen == {f"{here}\n"}


def test_every_part_of_an_action_counts() -> None:
    x, y = encode_name("x"), encode_name("y")
    parts = [
        (0, 1, [(x, True, 1)]),
        (1, 1, [(x, True, 1)]),
        (0, 2, [(x, True, 1)]),
        (0, 1, [(y, True, 1)]),
        (0, 1, [(x, False, 1)]),
        (0, 1, [(x, True, 2)]),
        (0, 1, [(x, True, 1), (y, False, 0)]),
        (0, 1, []),
    ]
    assert len({hash_action(*part) for part in parts}) == len(parts)
    assert all(0 < hash_action(*part) < 1 << 128 for part in parts)


def test_different_names_are_encoded_differently() -> None:
    names = ["a", "ab", b"a", 1, -1, 11, "1", None, ("a", "b"), ("ab",), (("a",), "b"), (), ((),)]
    assert len({encode_name(name) for name in names}) == len(names)


def test_names_that_no_other_process_knows_are_refused() -> None:
    with pytest.raises(TypeError, match="names are made of strings"):
        encode_name(frozenset({1, 2}))


def test_equivalent_schedules_lead_to_one_state() -> None:
    program = Simulated([writes("x", "y"), writes("z")])
    hashes = {recorded(program, schedule)[0].hash for schedule in ((0, 0, 1), (0, 1, 0), (1, 0, 0))}
    assert len(hashes) == 1


def test_the_order_of_conflicting_steps_is_told_apart() -> None:
    for first, second in ((writes("x"), writes("x")), (writes("x"), reads("x"))):
        program = Simulated([first, second])
        assert recorded(program, (0, 1))[0].hash != recorded(program, (1, 0))[0].hash
    program = Simulated([reads("x"), reads("x")])
    assert recorded(program, (0, 1))[0].hash == recorded(program, (1, 0))[0].hash


def test_the_cursor_goes_back_and_forth() -> None:
    graph, _ = recorded(Simulated([writes("x", "y"), writes("z")]), (0, 1, 0))
    end = graph.hash
    assert graph.frontier() == [0, 1]
    graph.back(1)
    assert graph.frontier() == [0]
    shorter, _ = recorded(Simulated([writes("x", "y"), lambda world: iter(())]))  # type: ignore[arg-type, return-value]
    assert graph.hash == shorter.hash
    graph.back(0)
    graph.back(0)
    assert graph.hash == EMPTY
    assert graph.frontier() == []
    for thread in (1, 0, 0):
        graph.forth(thread)
    assert graph.hash == end


def test_what_comes_before_another_step_is_not_in_the_frontier() -> None:
    graph, _ = recorded(Simulated([writes("x"), reads("x"), writes("x")]), (0, 1, 2))
    assert graph.frontier() == [2]
    graph.back(2)
    assert graph.frontier() == [1]


def test_enabled_threads_of_a_prefix_that_was_never_driven() -> None:
    """Thread 0 holds the lock when thread 1 has taken a step: no such state was passed."""
    graph, _ = recorded(
        Simulated([critical_sections(1), critical_sections(1)]), (0,) * 4 + (1,) * 4
    )
    for _ in range(3):
        graph.back(1)
    assert graph.enabled()[0] == 0b10
    graph.back(1)
    assert graph.enabled()[0] == 0b10
    for _ in range(3):
        graph.back(0)
    assert graph.enabled()[0] == 0b01, "the lock is taken"
    graph.back(0)
    assert graph.enabled()[0] == 0b11


def test_next_states_of_prefixes_are_those_that_are_driven_to() -> None:
    program = Simulated([critical_sections(1), critical_sections(1)])
    graph, _ = recorded(program, (0,) * 4 + (1,) * 4)
    while graph.frontier():
        graph.back(graph.frontier()[0])
    other, _ = recorded(program, (1,) * 4 + (0,) * 4)
    while other.frontier():
        other.back(other.frontier()[0])
    other.forth(1)
    assert graph.next_hash(1) == other.hash


def test_a_thread_exists_only_after_its_start() -> None:
    def starter(world: World) -> Body:
        yield world.write("x", 1)
        yield world.start(writes("y"))

    graph, _ = recorded(Simulated([starter]))
    assert graph.schedule == [0, 0, 1]
    assert graph.frontier() == [1], "a thread's first step comes after its start"
    graph.back(1)
    assert graph.enabled()[0] == 0b10
    graph.back(0)
    assert graph.enabled()[0] == 0b01


def test_steps_are_taken_back() -> None:
    program = Simulated([critical_sections(1), critical_sections(1)])
    graph, _ = recorded(program, (0,) * 4 + (1,) * 4)
    for _ in range(4):
        graph.cut(len(graph.schedule) - 1)
    graph.back(0)
    assert graph.enabled() == (0b01, 0b01, 0)
    assert len(graph.schedule) == 4
    graph.forth(0)
    assert graph.enabled()[0] == 0b10
    graph.restart()
    assert graph.hash == EMPTY
    assert graph.counts == []


def test_an_object_that_is_read_and_written_is_written() -> None:
    x = Shared("x")
    graph = Graph()
    assert graph.resolve([(x, False), (x, True)]) == ((0, x, True),)
    assert graph.resolve([(x, True), (x, False)]) == ((0, x, True),)
