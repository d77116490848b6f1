"""Attributes of a class that change while other threads find them through its objects."""

from __future__ import annotations

from pathlib import Path

from tests.unit.runtime.observed_programs import find

HEAD = """
import threading
def together(*functions):
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""
COUNTER = """
class Box:
    count = 0
def program():
    box, seen = Box(), []
    def look():
        seen.append(box.count)
        seen.append(box.count)
    def add():
        Box.count += 1
    together(look, add)
    return tuple(seen)
"""
SLOT = """
class Box:
    __slots__ = ("n", "__dict__")
def program():
    box = Box()
    box.n = 0
    slot, seen = Box.n, []
    def use():
        seen.append(Box.n.__get__(box) if type(Box.n) is type(slot) else None)
        slot.__set__(box, 1)
        seen.append(slot.__get__(box))
        slot.__delete__(box)
    def hide():
        Box.n = 8
    together(use, hide)
    return seen[0] in (0, None), seen[1], len(vars(box)), box.n
"""


def test_an_attribute_that_the_same_thread_has_read_before_it_assigns_it(tmp_path: Path) -> None:
    """`Box.count += 1` was taken for a write that only users of the class itself see."""
    assert find(tmp_path, HEAD + COUNTER).outcomes == {(0, 0), (0, 1), (1, 1)}


def test_a_slot_stays_what_it_is_when_its_class_hides_it(tmp_path: Path) -> None:
    """The attribute of that name was read, which is another one by then."""
    assert find(tmp_path, HEAD + SLOT).outcomes == {(True, 1, 0, 8)}
