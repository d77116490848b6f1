"""Deliberately broken rules for ends and joins of threads, and for which accesses are compared.

Ends and joins that are no steps are compared with those that are (`test_ends_and_joins`); what
needs a point, with a point before every access.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from mazurka.errors import MazurkaError
from mazurka.runtime.core.moment import now
from mazurka.runtime.sharing.locations import SEVERAL, SharedLocation
from mazurka.stateless.bounded.lives import LifeGraph
from mazurka.stateless.bounded.recording import Stand
from mazurka.stateless.runs import LifeRole, Operation
from tests.soundness import test_ends_and_joins
from tests.soundness.python_runs import module_of, under_control

stand = LifeGraph.stand
LIVES = (
    test_ends_and_joins.test_what_follows_a_join_comes_after_all_that_the_other_thread_did,
    test_ends_and_joins.test_a_thread_may_still_be_alive_after_its_last_operation,
    test_ends_and_joins.test_the_schedule_of_a_failure_has_the_last_ends_and_joins,
    test_ends_and_joins.test_two_threads_that_join_the_same_one_make_its_end_a_step,
    *(test_ends_and_joins.random_test(seed) for seed in test_ends_and_joins.SEEDS),
)
"""Those that were written for a rule come first: they catch its mutants soonest.  That none of them
fails without a mutant is what `test_ends_and_joins` shows."""


def lives_disagree() -> bool:
    for test in LIVES:
        try:
            if test.__name__.startswith("test_"):
                test()
            else:
                test_ends_and_joins.compare(test)
        except (AssertionError, MazurkaError, KeyError, IndexError, ValueError):
            return True
    return False


def joins_need_nothing(self: LifeGraph, thread: int, joined: int, needs: int) -> int:
    line = self.lines[thread]
    self._ends[thread] = needs | self.past[line.bit_length() - 1] if line else needs
    return needs


def ends_forget_joins(self: LifeGraph, thread: int, joined: int, needs: int) -> int:
    """What a thread has joined since its last step is not before its end."""
    if joined >= 0:
        return needs | self._ends[joined]
    line = self.lines[thread]
    self._ends[thread] = self.past[line.bit_length() - 1] if line else 0
    return needs


def anybody_may_join(self: LifeGraph, joined: int, thread: int) -> None:
    pass


def looks_see_nothing(self: LifeGraph, operation: Operation | None, needs: int) -> Stand:
    if self.silently and operation is not None and operation.role is LifeRole.LOOK:
        return self.ask(operation, needs)
    return stand(self, operation, needs)


def only_the_first_slip(self: LifeGraph, pending: Sequence[Operation | None], moved: int) -> None:
    del self.slips[1:]
    pass_on(self, pending, moved)


def last_slips_are_not_told(self: LifeGraph) -> None:
    self._last = -1, []


pass_on = LifeGraph.pass_on
OF_LIVES: dict[str, tuple[str, Callable[..., Any]]] = {
    "what follows a join needs nothing": ("_pass", joins_need_nothing),
    "an end needs no joins": ("_pass", ends_forget_joins),
    "two threads may join one": ("_require_one", anybody_may_join),
    "nobody sees who is alive": ("stand", looks_see_nothing),
    "one end or join at a time": ("pass_on", only_the_first_slip),
    "the last ends and joins are not told": ("_settle_last", last_slips_are_not_told),
}


@pytest.mark.parametrize("name", OF_LIVES)
def test_the_mutant_of_lives_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LifeGraph, *OF_LIVES[name])
    assert lives_disagree()


HEAD = """
import threading

class Box:
    def __init__(self):
        self.n = 0

def together(*bodies):
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

def program(note):
    lock, box, seen = threading.Lock(), Box(), []
"""
SHARING = {
    "a write and a read after a read by another": """
    together(lambda: box.n)
    def write():
        box.n = 1
    together(write, lambda: seen.append(box.n))
    note(seen)
""",
    "a read without a point, and a write at one": """
    other = Box()
    def increase(what):
        what.n += 1
    together(lambda: increase(box), lambda: increase(box))
    if box.n == 1:
        together(lambda: seen.append(other.n), lambda: increase(other))
    note(box.n, seen)
""",
}


def sharing_disagrees(folder: Path) -> bool:
    for body in SHARING.values():
        found = []
        for everywhere in (True, False):
            module = module_of(folder, HEAD + body)
            try:
                with under_control(module, everywhere=everywhere) as subject:
                    found.append(subject.search("algorithm-2", 2).outcomes)
            except (MazurkaError, KeyError, IndexError):
                return True
        if found[0] != found[1]:
            return True
    return False


def writes_forget_themselves(self: SharedLocation, site: int, written: bool) -> None:
    use(self, site, written)
    if written and self.owner == SEVERAL:
        self.uses.clear()


def owners_are_forgotten(self: SharedLocation) -> None:
    self.uses, self.owner = {}, SEVERAL


def points_are_not_compared(self: SharedLocation, site: int, written: bool) -> None:
    if self.owner >= 0:
        self.open()
    if not self.point_uses:
        self.point_uses = {}
    self.point_uses[now.thread, written] = (now.count, site)


use = SharedLocation.use
OF_SHARING: dict[str, tuple[str, Callable[..., Any]]] = {
    "a write forgets itself": ("use", writes_forget_themselves),
    "the first thread is forgotten": ("open", owners_are_forgotten),
    "accesses at points are not compared": ("use_at_point", points_are_not_compared),
}


@pytest.mark.parametrize("name", OF_SHARING)
def test_the_mutant_of_sharing_is_caught(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SharedLocation, *OF_SHARING[name])
    assert sharing_disagrees(tmp_path)


def test_the_original_of_sharing_is_not(tmp_path: Path) -> None:
    assert not sharing_disagrees(tmp_path)
