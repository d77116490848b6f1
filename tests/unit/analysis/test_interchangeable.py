"""Which threads are interchangeable, and what gives their identity away."""

from __future__ import annotations

import textwrap
from dataclasses import fields
from typing import Any

import pytest

from mazurka.analysis.interchangeable import find_symmetry
from mazurka.frontend.python.elaboration import elaborate
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import Assign, Cell, Check, Edge, Location, Program, Thread
from mazurka.ir.symmetry import ThreadClass

PRELUDE = "from mazurka.model import *\nimport threading\n"


def program_of(source: str, *, merge: bool = True) -> Program:
    return prepare(elaborate(PRELUDE + textwrap.dedent(source), "model.py"), merge=merge)


def members_of(source: str) -> list[tuple[int, ...]]:
    symmetry = find_symmetry(program_of(source))
    return [each.members for each in symmetry.classes] if symmetry is not None else []


def only_class(program: Program) -> ThreadClass:
    symmetry = find_symmetry(program)
    assert symmetry is not None
    (found,) = symmetry.classes
    return found


def names(program: Program, addresses: tuple[int, ...]) -> list[str]:
    return [program.cells[address].name for address in addresses]


ALIKE = {
    "a shared variable": """
        x: Int[0, 9] = 0
        def worker():
            global x
            x = x + 1
        threads = [worker() for _ in range(3)]
    """,
    "a lock": """
        lock = Mutex()
        x: Int[0, 9] = 0
        def worker():
            global x
            with lock:
                x = x + 1
        threads = [worker(), worker(), worker()]
    """,
    "the same arguments": """
        x: Int[0, 9] = 0
        def worker(amount):
            global x
            x = x + amount
        threads = [worker(2), worker(2), worker(2)]
    """,
    "an array of one's own": """
        x: Int[0, 9] = 0
        def worker():
            seen = [0, 0, 0]
            k = choose(range(3))
            seen[k] = x
            assert seen[0] + seen[k] < 20
        threads = [worker() for _ in range(3)]
    """,
    "elements that each thread has for itself": """
        done = [0, 0, 0]
        def worker(i):
            done[i] = 1
        threads = [worker(i) for i in range(3)]
    """,
    "the queue of a condition": """
        ready = Condition()
        x: Int[0, 3] = 0
        def worker():
            with ready:
                ready.wait()
                ready.notify()
        threads = [worker(), worker(), worker()]
    """,
    "flags of a condition": """
        ready = Condition()
        def worker():
            with ready:
                ready.wait()
                ready.notify_all()
        threads = [worker(), worker(), worker()]
    """,
    "a read-write lock": """
        lock = RWLock()
        x = 0
        def worker():
            global x
            with lock.read():
                seen = x
            with lock.write():
                x = 1 - seen
        threads = [worker(), worker(), worker()]
    """,
    "semaphores, barriers, events, queues": """
        s, b, e, q = Semaphore(1), Barrier(3), Event(), Queue(2, Int[0, 3])
        def worker():
            s.acquire()
            s.release()
            b.wait()
            e.set()
            e.wait()
            q.put(1)
            assert q.get() == 1
        threads = [worker(), worker(), worker()]
    """,
}


@pytest.mark.parametrize("source", ALIKE.values(), ids=ALIKE)
def test_threads_that_are_alike(source: str) -> None:
    assert members_of(source) == [(0, 1, 2)]


DIFFERENT = {
    "other arguments": """
        x: Int[0, 9] = 0
        def worker(amount):
            global x
            x = x + amount
        threads = [worker(1), worker(3)]
    """,
    "a number that is computed with": """
        last: Int[0, 9] = 0
        def worker(me):
            global last
            last = me + last % 2
        threads = [worker(1), worker(2)]
    """,
    "an order among the numbers": """
        last: Int[0, 9] = 0
        def worker(me):
            global last
            assert last < me
            last = me
        threads = [worker(1), worker(2)]
    """,
    "an element chosen by a number": """
        done = [0, 0, 0]
        last: Int[0, 2] = 0
        def worker(me):
            global last
            last = me
            done[last] = 1
        threads = [worker(1), worker(2)]
    """,
    "somebody who knows one of them": """
        last: Int[0, 2] = 0
        def worker(me):
            global last
            last = me
        def judge():
            assert last != 2
        threads = [worker(1), worker(2), judge()]
    """,
    "an invariant that knows one of them": """
        done = [0, 0]
        def worker(i):
            done[i] = 1
        invariant(done[0] >= done[1])
        threads = [worker(0), worker(1)]
    """,
    "threads that are started one after the other": """
        x: Int[0, 9] = 0
        def worker():
            global x
            x = x + 1
        def main():
            first, second = threading.Thread(target=worker), threading.Thread(target=worker)
            first.start()
            second.start()
            first.join()
            second.join()
        threads = [main()]
    """,
    "neighbours in a ring": """
        forks = [Mutex() for _ in range(3)]
        def philosopher(i):
            with forks[i]:
                with forks[(i + 1) % 3]:
                    pass
        threads = [philosopher(i) for i in range(3)]
    """,
    "a number kept by each thread": """
        last: Int[0, 2] = 0
        def worker(me):
            global last
            seen = last
            last = me
            yield_()
            assert seen != me
        threads = [worker(1), worker(2)]
    """,
}


@pytest.mark.parametrize("source", DIFFERENT.values(), ids=DIFFERENT)
def test_threads_whose_identity_matters(source: str) -> None:
    assert members_of(source) == []


def test_an_invariant_over_all_of_them_is_no_obstacle() -> None:
    source = """
        inside: Int[0, 3] = 0
        lock = Mutex()
        def worker():
            global inside
            with lock:
                inside += 1
                inside -= 1
        invariant(inside <= 1)
        threads = [worker(), worker(), worker()]
    """
    assert members_of(source) == [(0, 1, 2)]


def test_several_classes_and_threads_in_between() -> None:
    source = """
        x: Int[0, 9] = 0
        lock = Mutex()
        def add(amount):
            global x
            with lock:
                x = (x + amount) % 9
        def read():
            assert x < 9
        threads = [add(1), read(), add(2), add(1), read(), add(2), add(3)]
    """
    assert members_of(source) == [(0, 3), (1, 4), (2, 5)]


def test_the_numbers_1_2_by_chance_do_not_hide_the_threads_that_are_alike() -> None:
    """The first two arguments are the threads' own numbers plus one."""
    source = """
        x: Int[0, 9] = 0
        def worker(amount):
            global x
            x = (x + amount) % 9
        threads = [worker(1), worker(2), worker(1), worker(1)]
    """
    assert members_of(source) == [(0, 2, 3)]


def test_a_number_that_is_only_compared_for_equality_is_renamed() -> None:
    program = program_of("""
        last: Int[0, 2] = 0
        def worker(me):
            global last
            last = me
            with atomic():
                assert last == me
        threads = [worker(1), worker(2)]
    """)
    found = only_class(program)
    assert names(program, found.holders) == ["last"]
    assert found.members == (0, 1)


def test_two_threads_may_use_each_others_cells() -> None:
    """Peterson's algorithm: exchanging the threads exchanges the flags and the turn."""
    program = program_of("""
        flag = [False, False]
        turn: Int[0, 2] = 0
        def process(i, me, other):
            global turn
            flag[i] = True
            turn = other
            with atomic():
                assume(not flag[1 - i] or turn == me)
            flag[i] = False
        threads = [process(0, 1, 2), process(1, 2, 1)]
    """)
    found = only_class(program)
    assert names(program, found.holders) == ["turn"]
    assert ["flag[0]", "flag[1]"] in [sorted(names(program, each)) for each in found.columns]


def test_a_lock_and_the_places_of_a_queue_are_holders() -> None:
    program = program_of(ALIKE["the queue of a condition"])
    places = [f"ready.waiting[{place}]" for place in range(3)]
    assert names(program, only_class(program).holders) == ["ready", *places]


def test_flags_and_local_cells_are_columns() -> None:
    program = program_of(ALIKE["a read-write lock"], merge=False)
    columns = [names(program, column) for column in only_class(program).columns]
    assert [f"lock.reader[{number}]" for number in range(3)] in columns
    counters = [thread.counter for thread in program.threads]
    assert names(program, tuple(counters)) in columns


KNOWN_FIELDS = {
    Thread: "name counter entry locations edges active observer",
    Location: "mode span resets",
    Edge: "source target kind span guard operations choices atomic subject text relaxed",
    Assign: "address value",
    Check: "condition fault message",
    Cell: "name low high initial owner role points span inferred unsigned",
    Program: "name cells threads constants sources declared text formulas remarks functions"
    " assumed weak",
}


@pytest.mark.parametrize("kind", KNOWN_FIELDS, ids=lambda kind: str(kind.__name__))
def test_all_that_a_program_consists_of_is_compared(kind: Any) -> None:
    """What is new in a program's text must be renamed and compared, too, before two threads are
    said to be alike: `interchangeable` must know of it, and whether it may tell threads apart."""
    assert {field.name for field in fields(kind)} == set(KNOWN_FIELDS[kind].split())


def test_canonical_states_sort_threads_and_rename_the_holder() -> None:
    program = program_of(ALIKE["a lock"])
    symmetry = find_symmetry(program)
    assert symmetry is not None
    initial = program.initial_state()
    lock = names(program, tuple(range(len(program.cells)))).index("lock")
    counters = [thread.counter for thread in program.threads]

    def holding(thread: int) -> tuple[int, ...]:
        cells = list(initial)
        cells[lock], cells[counters[thread]] = thread + 1, initial[counters[thread]] + 1
        return tuple(cells)

    assert symmetry.canonical(initial) == initial
    assert {symmetry.canonical(holding(thread)) for thread in range(3)} == {holding(2)}
    assert symmetry.rename(holding(0))[1][0] == 2
