"""Programs are explored alike, whether their source or their instructions are rewritten."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.runtime.observed_programs import find

HEAD = """
import threading
def together(*functions):
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""
ALIKE = {
    "read and write": """
class Box: n = 0
def program():
    box = Box()
    def work():
        for _ in range(2):
            box.n += 1
    together(work, work)
    return box.n
""",
    "containers": """
def program():
    table, order = {}, []
    def put(key):
        if key not in table:
            table[key] = len(table)
        order.append(key)
    together(lambda: put("a"), lambda: put("b"), lambda: put("a"))
    return sorted(table.items()) == [("a", 0), ("b", 1)], tuple(order)
""",
    "a queue and a lock": """
import queue
def program():
    jobs, lock, got = queue.Queue(), threading.Lock(), set()
    def work():
        while (job := jobs.get()) is not None:
            with lock:
                got.add(job)
    def feed():
        for job in (1, 2, None):
            jobs.put(job)
    together(work, feed)
    return tuple(sorted(got))
""",
    "a swap of captured variables": """
def program():
    a, b = 1, 2
    def swap():
        nonlocal a, b
        a, b = b, a
    together(swap, swap)
    return a, b
""",
    "a generator over a list that grows": """
def program():
    values, seen = [1, 2], []
    def look():
        seen.extend(v * 2 for v in values)
    together(look, lambda: values.append(3), lambda: values.pop(0))
    return tuple(seen)
""",
    "an object whose `__exit__` is C code": """
import io
def program():
    held, seen = io.StringIO(), []
    def leave():
        with held: pass
    def look():
        seen.append(held.closed)
    together(leave, look)
    return seen[0]
""",
    "a generator that delegates to a list": """
def program():
    values, seen = [1, 2], []
    def walk():
        yield from values
    def look():
        for value in walk():
            seen.append(value)
    together(look, lambda: values.append(3))
    return tuple(seen)
""",
    "an annotation": """
def program():
    table = {"n": 0}
    def work():
        def inner(x: table.__setitem__("n", table["n"] + 1)): pass
        class Inner:
            x: table.__setitem__("m", 1)
        return inner.__annotations__, Inner.__annotations__
    together(work, work)
    return table["n"]
""",
    "a match": """
class Point:
    __match_args__ = ("x", "y")
    x = y = 0
def program():
    point, got = Point(), []
    def look():
        match point:
            case Point(0, 0): got.append("origin")
            case Point(x, y=1): got.append(x)
            case _: got.append(None)
    def move():
        point.x = 1
        point.y = 1
    together(look, move)
    return got[0]
""",
}


@pytest.mark.parametrize("name", ALIKE)
def test_instructions_show_what_source_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    by_source = find(tmp_path, HEAD + ALIKE[name], bound=2)

    def refuse(file: str) -> None:
        raise ValueError(file)

    monkeypatch.setattr("mazurka.runtime.rewrite.sources.rewrite_file", refuse)
    by_instructions = find(tmp_path, HEAD + ALIKE[name], bound=2)
    assert by_instructions.outcomes == by_source.outcomes
    assert by_instructions.kinds == by_source.kinds
    assert by_instructions.not_observed == by_source.not_observed
    assert by_source.not_observed == []
    if name != "a match":  # what patterns ask for is read at once where there is source
        assert by_instructions.explored.executions == by_source.explored.executions
