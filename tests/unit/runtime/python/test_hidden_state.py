"""State that is easily overlooked: in classes, iterators, generators, C code and libraries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from observed_programs import find, module_of

from mazurka.errors import InternalError
from mazurka.report.answer import ERROR, HOLDS
from mazurka.runtime.exploring.exploration import Exploration
from mazurka.runtime.exploring.guard import NondeterministicError
from mazurka.runtime.exploring.options import ExploreOptions, Test
from mazurka.runtime.sharing.monitoring import ENDS_LATE
from mazurka.runtime.story.result import Result

HEAD = """
import _thread
import array
import collections
import contextlib
import decimal
import functools
import io
import itertools
import operator
import os
import queue
import random
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

def together(*bodies):
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""
BOTH_TAKE = """
    got = [0, 0]
    def first():
        got[0] = next(source)
    def second():
        got[1] = next(source)
    together(first, second)
    return tuple(got)
"""
SEEN: dict[str, tuple[str, set[Any]]] = {
    "a default in the class": (
        """
class Box:
    a = 0
def program():
    box = Box()
    def work():
        box.a += 1
    together(work, work)
    return box.a
""",
        {1, 2},
    ),
    "an attribute that moves from the instance to the class": (
        """
class Box:
    pass
def program():
    if hasattr(Box, "n"):
        del Box.n
    box, got = Box(), []
    box.n = 1
    def move():
        del box.n
        Box.n = 5
    def look():
        got.append(getattr(box, "n", None))
    together(move, look)
    return got[0]
""",
        {1, None, 5},
    ),
    "classes that come before others": (
        """
class Base:
    pass
class Box(Base):
    pass
def program():
    Base.n = 0
    if "n" in vars(Box):
        del Box.n
    box, got = Box(), []
    def high():
        Base.n = 1
    def low():
        Box.n = 2
    def look():
        got.append(box.n)
    together(high, low, look)
    return got[0]
""",
        {0, 1, 2},
    ),
    "a method that an instance replaces": (
        """
class Box:
    def get(self):
        return 1
def program():
    box, got = Box(), []
    def replace():
        box.get = lambda: 2
    def call():
        got.append(box.get())
    together(replace, call)
    return got[0]
""",
        {1, 2},
    ),
    "an iterator over a list": (
        f"def program():\n    source = iter([1, 2]){BOTH_TAKE}",
        {(1, 2), (2, 1)},
    ),
    "an iterator of C code": (
        f"def program():\n    source = itertools.count(){BOTH_TAKE}",
        {(0, 1), (1, 0)},
    ),
    "lists that are zipped": (
        f"def program():\n    source = zip([1, 2], [3, 4]){BOTH_TAKE}",
        {((1, 3), (2, 4)), ((2, 4), (1, 3))},
    ),
    "an iterator in a loop": (
        """
def program():
    source, got = itertools.repeat(1, 2), [0, 0]
    def first():
        for _ in source:
            got[0] += 1
    def second():
        got[1] = sum(source)
    together(first, second)
    return tuple(got)
""",
        {(2, 0), (1, 1), (0, 2)},
    ),
    "a buffer": (
        """
def program():
    buffer = io.StringIO()
    together(lambda: buffer.write("a"), lambda: buffer.write("b"))
    return buffer.getvalue()
""",
        {"ab", "ba"},
    ),
    "functions of operator": (
        """
def program():
    table = {}
    def work():
        operator.setitem(table, "k", table.get("k", 0) + 1)
    together(work, work)
    return operator.getitem(table, "k")
""",
        {1, 2},
    ),
    "a method as a target": (
        """
def program():
    got = []
    threads = [threading.Thread(target=got.append, args=(n,)) for n in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tuple(got)
""",
        {(1, 2), (2, 1)},
    ),
    "a partial method": (
        """
def program():
    got = []
    first, second = functools.partial(got.append, 1), functools.partial(got.append, 2)
    together(lambda: first(), lambda: second())
    return tuple(got)
""",
        {(1, 2), (2, 1)},
    ),
    "a method of C code that knows its class": (
        """
def program():
    numbers = array.array("i")
    extend = numbers.extend
    together(lambda: extend([1]), lambda: extend([2]))
    return tuple(numbers)
""",
        {(1, 2), (2, 1)},
    ),
    "such a method as a target": (
        """
def program():
    numbers = array.array("i")
    threads = [threading.Thread(target=numbers.extend, args=([n],)) for n in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tuple(numbers)
""",
        {(1, 2), (2, 1)},
    ),
    "a file without a buffer": (
        """
def program():
    with open(__file__, "rb", buffering=0) as file:
        file.read(1)
        got = [0, 0]
        def first():
            got[0] = file.read(1)
        def second():
            got[1] = file.read(1)
        together(first, second)
    return tuple(got)
""",
        {(b"i", b"m"), (b"m", b"i")},
    ),
    "a context of decimal numbers": (
        """
def program():
    context = decimal.Context(prec=1)
    def work():
        context.prec += 1
    together(work, work)
    return context.prec
""",
        {2, 3},
    ),
    "what ends with the object of a thread": (
        """
class Tells:
    def __init__(self, box):
        self.box = box
    def __del__(self):
        self.box.append(1)
class Worker(threading.Thread):
    def run(self):
        pass
def program():
    box = []
    worker = Worker()
    worker.tells = Tells(box)
    worker.start()
    del worker
    return len(box)
""",
        {0, 1},
    ),
    "what ends with a thread that nobody else knows": (
        """
class Tells:
    def __init__(self, box):
        self.box = box
    def __del__(self):
        self.box.append(1)
def program():
    box = []
    _thread.start_new_thread(lambda tells: None, (Tells(box),))
    return len(box)
""",
        {0, 1},
    ),
    "what ends with a value of a thread": (
        """
class Tells:
    def __init__(self, box):
        self.box = box
    def __del__(self):
        self.box.append(1)
local = threading.local()
def program():
    box = []
    def work():
        local.value = Tells(box)
    thread = threading.Thread(target=work)
    thread.start()
    seen = len(box)
    thread.join()
    return seen, len(box)
""",
        {(0, 1), (1, 1)},
    ),
    "the rest of a generator that ends with a thread": (
        """
def rest(box):
    try:
        yield
    finally:
        box.append(1)
local = threading.local()
def program():
    box = []
    def work():
        local.value = rest(box)
        next(local.value)
    thread = threading.Thread(target=work)
    thread.start()
    seen = len(box)
    thread.join()
    return seen, len(box)
""",
        {(0, 1), (1, 1)},
    ),
    "the name of a function": (
        """
def program():
    def function(): pass
    function.__name__ = ""
    def work():
        function.__name__ += "a"
    together(work, work)
    return function.__name__
""",
        {"a", "aa"},
    ),
    "random numbers from a seed": (
        """
def program():
    chance, got = random.Random(1), [0, 0]
    def first():
        got[0] = chance.random()
    def second():
        got[1] = chance.random()
    together(first, second)
    return got[0] < got[1]
""",
        {True, False},
    ),
    "a generator": (
        """
def program():
    def steps():
        yield 1
        yield 2
    source, got = steps(), [0, 0]
    def take(n):
        try:
            got[n] = next(source)
        except ValueError:
            got[n] = "running"
    together(lambda: take(0), lambda: take(1))
    return tuple(got)
""",
        {(1, 2), (2, 1), (1, "running"), ("running", 1)},
    ),
    "a generator in a loop and in a call": (
        """
def program():
    source, got = (1 for _ in range(2)), [0, 0]
    def loop():
        try:
            for _ in source:
                got[0] += 1
        except ValueError:
            got[0] = "running"
    def call():
        try:
            got[1] = sum(source)
        except ValueError:
            got[1] = "running"
    together(loop, call)
    return got[0] == "running", got[1] == "running"
""",
        {(False, False), (True, False), (False, True)},
    ),
}


@pytest.mark.parametrize("case", SEEN)
def test_every_outcome_is_seen(tmp_path: Path, case: str) -> None:
    source, outcomes = SEEN[case]
    found = find(tmp_path, HEAD + source)
    assert found.explored.complete
    if ENDS_LATE and "__del__" in source:  # outcomes may be missing, and the result says why
        assert found.outcomes <= outcomes
        late = "Tells.__del__ (may run while no thread is under control)"
        assert late in found.not_observed
    else:
        assert found.outcomes == outcomes


@pytest.mark.parametrize("case", SEEN)
def test_points_everywhere_show_nothing_else(tmp_path: Path, case: str) -> None:
    source, outcomes = SEEN[case]
    assert find(tmp_path, HEAD + source, bound=2, everywhere=True).outcomes <= outcomes


def test_a_generator_that_runs_already_is_a_failure(tmp_path: Path) -> None:
    source = """
class Box:
    n = 0
def program():
    box = Box()
    def steps():
        while True:
            box.n += 1
            yield box.n
    source = steps()
    together(lambda: next(source), lambda: next(source))
"""
    found = find(tmp_path, HEAD + source)
    assert found.kinds == {"exception"}
    assert "generator already executing" in found.messages


UNSEEN = {
    "os": "os.getpriority(os.PRIO_PROCESS, 0)",
    "exec (of what is not known before)": "exec(*('pass',))",
    "eval (of what is not known before)": "eval(*('1',))",
}


@pytest.mark.parametrize("name", UNSEEN)
def test_what_is_not_seen_is_named(tmp_path: Path, name: str) -> None:
    found = find(tmp_path, f"{HEAD}\ndef program():\n    {UNSEEN[name]}\n")
    assert set(found.not_observed) == {name}


@pytest.mark.parametrize("name", ["__defaults__", "__kwdefaults__", "__code__"])
def test_giving_a_function_something_that_its_calls_read_is_named(
    tmp_path: Path, name: str
) -> None:
    source = f"""
def program():
    def function(n=0, *, m=0): return n + m
    def other(n=1, *, m=1): return n - m
    together(lambda: setattr(function, "{name}", other.{name}), function)
"""
    found = find(tmp_path, HEAD + source)
    reason = "of program.<locals>.function (nobody sees which calls come before it)"
    assert set(found.not_observed) == {f"assignment to {name} {reason}"}


def test_a_lost_change_of_default_values_is_found(tmp_path: Path) -> None:
    source = """
def program():
    def function(n=0): return n
    def work():
        function.__defaults__ = (function.__defaults__[0] + 1,)
    together(work, work)
    assert function() == 2
"""
    assert find(tmp_path, HEAD + source).kinds == {"assert"}


def test_a_subclass_of_what_is_not_seen_is_named(tmp_path: Path) -> None:
    source = """
import socket
class Plug(socket.socket):
    pass
plug = Plug()
plug.close()
def program():
    plug.fileno()
"""
    found = find(tmp_path, HEAD + source)
    assert set(found.not_observed) == {"socket"}


def test_library_classes_that_are_used_are_seen(tmp_path: Path) -> None:
    source = """
class Table(collections.UserDict):
    @functools.cached_property
    def value(self):
        return 1
table = Table()
def program():
    table["k"] = 0
    def work():
        table["k"] += table.value
    together(work, work)
    return table["k"]
"""
    found = find(tmp_path, HEAD + source, bound=1)
    assert set(found.not_observed) == set()
    assert found.outcomes == {1, 2}


def test_an_ordinary_test_needs_no_caveat(tmp_path: Path) -> None:
    source = """
@dataclass
class Box:
    n: int = 0
    @contextlib.contextmanager
    def held(self):
        self.n += 1
        yield self
def program():
    box, channel, ready, lock = Box(), queue.Queue(), threading.Event(), threading.Lock()
    def work():
        time.sleep(0.1)
        with lock, box.held():
            channel.put(f"{box.n:>3}".strip())
        ready.set()
    together(work)
    ready.wait()
    with ThreadPoolExecutor(1) as pool:
        texts = sorted(pool.map(str, [1]))
    assert texts == ["1"] and sum(n for n in range(3)) == 3
    return channel.get()
"""
    found = find(tmp_path, HEAD + source)
    assert found.outcomes == {"1"}
    assert found.not_observed == []


def test_a_search_that_contradicts_itself_is_an_error_with_likely_causes(tmp_path: Path) -> None:
    module = module_of(tmp_path, "def program():\n    pass\n")
    test = Test(body=module.program, name="program", function=module.program)
    result = Result(input="program", verdict=HOLDS, strategy="algorithm2")

    def conduct(_program: object) -> None:
        raise InternalError("Theorem 4")

    Exploration(test, ExploreOptions(), result).control(conduct)
    assert result.verdict == ERROR
    assert isinstance(result.error, NondeterministicError)
    assert "depends on something that is not observed" in result.error.message
