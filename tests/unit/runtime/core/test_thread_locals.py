"""Values in `threading.local` are there as long as their thread, in every Python version."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable

import mazurka


class Prepared(threading.local):
    def __init__(self, start: int = 1) -> None:
        self.count = start


LOCAL = threading.local()
PREPARED = Prepared(7)
KEPT: list[threading.local] = []


def run_twice(work: Callable[[], None]) -> None:
    threads = [threading.Thread(target=work) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def test_locals_of_a_module_begin_anew_in_each_thread() -> None:
    def work() -> None:
        assert not hasattr(LOCAL, "x")
        LOCAL.x = 1
        PREPARED.count += 1
        assert PREPARED.count == 8

    assert mazurka.explore(lambda: run_twice(work), preemptions=1).verdict == "holds"


def test_a_local_that_the_first_execution_leaves_begins_anew_in_the_next() -> None:
    def program() -> None:
        kept = KEPT or [threading.local()]
        KEPT[:] = kept

        def work() -> None:
            assert not hasattr(kept[0], "x")
            kept[0].x = 1

        run_twice(work)

    assert mazurka.explore(program, preemptions=1).verdict == "holds"


def test_values_end_with_their_thread() -> None:
    class Thing:
        pass

    def program() -> None:
        local = threading.local()
        found: list[weakref.ref[Thing]] = []

        def work() -> None:
            local.thing = Thing()
            found.append(weakref.ref(local.thing))

        run_twice(work)
        assert [one() for one in found] == [None, None]

    assert mazurka.explore(program, preemptions=1).verdict == "holds"


def test_what_the_caller_has_stored_stays() -> None:
    LOCAL.y = 5
    assert mazurka.explore(lambda: None, preemptions=1).verdict == "holds"
    assert LOCAL.y == 5
    del LOCAL.y
