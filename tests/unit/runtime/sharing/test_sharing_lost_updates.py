"""Updates that are lost, whatever holds the value."""

from __future__ import annotations

from pathlib import Path

import pytest
from observed_programs import find

HEAD = """
import threading
from collections import deque
from dataclasses import dataclass

def together(*bodies):
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""

LOST = {
    "global": """
count = 0
def work():
    global count
    count += 1
def program():
    global count
    count = 0
    together(work, work)
    return count
""",
    "global of another name": """
count = 0
def work():
    global count
    got = count
    count = got + 1
def program():
    globals()["count"] = 0
    together(work, work)
    return count
""",
    "cell": """
def program():
    count = 0
    def work():
        nonlocal count
        count += 1
    together(work, work)
    return count
""",
    "cell in a loop target": """
def program():
    count = 0
    def work():
        nonlocal count
        for count in (count + 1,):
            pass
    together(work, work)
    return count
""",
    "list element": """
def program():
    counts = [0]
    def work():
        counts[0] += 1
    together(work, work)
    return counts[0]
""",
    "negative index": """
def program():
    counts = [7, 0]
    def work():
        counts[-1] = counts[1] + 1
    together(work, work)
    return counts[1]
""",
    "dict element": """
def program():
    counts = {"a": 0}
    def work():
        counts["a"] = counts["a"] + 1
    together(work, work)
    return counts["a"]
""",
    "dict get": """
def program():
    counts = {}
    def work():
        counts["a"] = counts.get("a", 0) + 1
    together(work, work)
    return counts["a"]
""",
    "private attribute": """
class Box:
    def __init__(self):
        self.__n = 0
    def work(self):
        self.__n += 1
    def n(self):
        return self.__n
def program():
    box = Box()
    together(box.work, box.work)
    return box.n()
""",
    "slot": """
class Box:
    __slots__ = ("n",)
def program():
    box = Box()
    box.n = 0
    def work():
        box.n += 1
    together(work, work)
    return box.n
""",
    "class attribute": """
class Box:
    n = 0
def work():
    Box.n += 1
def program():
    Box.n = 0
    together(work, work)
    return Box.n
""",
    "dataclass": """
@dataclass
class Box:
    n: int = 0
def program():
    box = Box()
    def work():
        box.n += 1
    together(work, work)
    return box.n
""",
    "property": """
class Box:
    def __init__(self):
        self._n = 0
    @property
    def n(self):
        return self._n
    @n.setter
    def n(self, value):
        self._n = value
def program():
    box = Box()
    def work():
        box.n += 1
    together(work, work)
    return box.n
""",
    "setattr": """
class Box: n = 0
def program():
    box = Box()
    def work():
        setattr(box, "n", getattr(box, "n") + 1)
    together(work, work)
    return box.n
""",
    "targets": """
class Box: pass
def program():
    box = Box()
    box.n, rest = 0, None
    def work():
        box.n, rest = box.n + 1, None
    together(work, work)
    return box.n
""",
}


@pytest.mark.parametrize("name", LOST)
def test_updates_are_lost(tmp_path: Path, name: str) -> None:
    found = find(tmp_path, HEAD + LOST[name], bound=1)
    assert found.outcomes == {1, 2}, found.points
    assert found.explored.complete
