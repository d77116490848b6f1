"""What is a loop that waits, and what only looks like one."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from observed_programs import module_of

import mazurka
from mazurka.report.answer import HOLDS, VIOLATED
from mazurka.runtime.core.spinning import is_in_loop
from mazurka.runtime.exploring.entry import explore_test
from mazurka.runtime.exploring.options import ExploreOptions
from mazurka.runtime.story.result import Result
from mazurka.runtime.testing.decorator import make_test

HEAD = """
import bisect, datetime, decimal, functools, heapq, io, mmap, re, threading

def together(*bodies):
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

class Box:
    def __init__(self, n=0):
        self.n = n
    def get(self, *arguments):
        return self.n
    def __str__(self):
        return str(self.n)
    def __format__(self, how):
        return str(self.n)
    def __lt__(self, other):
        return self.n < other.n
    def __eq__(self, other):
        return self.n == other.n
    def __hash__(self):
        return self.n
    def __bool__(self):
        return self.n > 5

def program():
    box = Box()
    boxes = [Box(), Box()]
    named = {1: boxes[0], 2: boxes[1]}
    def put(where):
        where.n = 1
"""


def explored(folder: Path, body: str) -> Result:
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    module = module_of(folder, HEAD + lines)
    return explore_test(make_test(module.program, module.program), ExploreOptions(preemptions=2))


CALLED_BACK = [
    "print(box, box, box, box, file=io.StringIO())",
    "sorted([box] * 5)",
    "sorted([box] * 5, key=Box.get)",
    "sorted([box] * 5, key=lambda one: one.n)",
    "[box, box, box, box].sort(key=lambda one: one.n)",
    "list(map(Box.get, [box] * 5))",
    "list(map(box.get, [1] * 5))",
    "list(filter(box.get, [1] * 5))",
    "min([box] * 5)",
    "max([box] * 5, key=Box.get)",
    "Box(7) in [box] * 5",
    "[box] * 5 == [Box(0)] * 5",
    "any([box] * 5)",
    "'{}{}{}{}'.format(box, box, box, box)",
    "'%s%s%s%s' % (box, box, box, box)",
    "{box: 1, boxes[0]: 2, boxes[1]: 3}",
    "functools.reduce(lambda one, other: box.n, [1] * 5)",
    "re.sub('a', lambda match: str(box.n), 'aaaaa')",
    "heapq.heapify([box] * 6)",
    "bisect.bisect([Box(0)] * 60, box)",
]


@pytest.mark.parametrize("call", CALLED_BACK)
@pytest.mark.parametrize("where", ["{}", "while True:\n        {}\n        break"])
def test_c_code_that_calls_again_and_again_is_no_loop(
    tmp_path: Path, call: str, where: str
) -> None:
    body = f"def work():\n    {where.format(call)}\ntogether(work, lambda: put(box))"
    result = explored(tmp_path, body)
    assert result.verdict == HOLDS, result.report()


WAITING = {
    "in a comprehension": "while not all(one.n for one in boxes): pass",
    "in a list": "while not all([one.n for one in boxes]): pass",
    "by index": "while not all(boxes[i].n for i in range(2)): pass",
    "in a loop": """while True:
        for one in boxes:
            if not one.n:
                break
        else:
            break""",
    "in a dictionary": "while any(not one.n for one in named.values()): pass",
    "in comparisons": "one = Box(1)\n    while boxes.count(one) < 2: pass",
    "through a method": "while not (boxes[0].get() and boxes[1].get()): pass",
}


@pytest.mark.parametrize("name", WAITING)
def test_a_loop_that_steps_through_something_waits(tmp_path: Path, name: str) -> None:
    spin = f"def spin():\n    {WAITING[name]}\n"
    both = explored(tmp_path, f"{spin}together(spin, lambda: put(boxes[0]), lambda: put(boxes[1]))")
    assert both.verdict == HOLDS, both.report()
    one = explored(tmp_path, f"{spin}together(spin, lambda: put(boxes[0]))")
    assert one.verdict == VIOLATED
    assert one.violation is not None
    assert one.violation.kind == "livelock"


CONSTANT = {
    "captured": "done = False\ndef spin():\n    while not done: pass\ntogether(spin, lambda: None)",
    "own": "def spin():\n    while True: pass\ntogether(spin, lambda: None)",
    "nobody else is there": "done = []\nwhile not done: pass",
    "attribute": "def spin():\n    while not box.n: pass\ntogether(spin, lambda: None)",
    "after others": "together(lambda: put(box))\nwhile box.n: pass",
}


@pytest.mark.parametrize("name", CONSTANT)
def test_a_loop_that_waits_for_what_nobody_changes(tmp_path: Path, name: str) -> None:
    result = explored(tmp_path, CONSTANT[name])
    assert result.verdict == VIOLATED, result.report()
    assert result.violation is not None
    assert result.violation.kind == "livelock"


COMES_TO_AN_END = {
    "counting": "i = 0\n    while i < 3000: i += 1",
    "in an object": "own = Box()\n    while own.n < 3000: own.n += 1",
    "in a list": "own = [1] * 3000\n    while own: own.pop()",
    "an iterator": "own = iter([1] * 3000)\n    while next(own, 0): pass",
    "a generator": "own = (1 for _ in range(3000))\n    while next(own, 0): pass",
    "inside of other rounds": """for _ in [1] * 5:
        while True:
            for _ in [1]: box.n
            break""",
    "files": "own = io.StringIO('a' * 3000)\n    while own.read(1): pass",
    "of the thread": """own = threading.local()
    own.n = 0
    while own.n < 5:
        own.n += 1
        box.n""",
    "a context": """own = decimal.Context(prec=1)
    while own.prec < 3000: own.prec += 1""",
    "mapped memory": """own = mmap.mmap(-1, 1)
    while own[0] < 5:
        own[0] += 1
        box.n""",
    "through a slot of C code": """own = bytearray(3000)
    while not own[2999]: memoryview(own).__setitem__(own.find(0), 1)""",
    "notes": """own = ValueError()
    own.add_note("a")
    while len(own.__notes__) < 3000: own.add_note("a")""",
    "the clock of dates": """own = datetime.datetime.now() + datetime.timedelta(milliseconds=50)
    while datetime.datetime.now() < own: pass""",
}


@pytest.mark.parametrize("name", COMES_TO_AN_END)
def test_loops_that_make_progress_go_on(tmp_path: Path, name: str) -> None:
    body = f"def work():\n    {COMES_TO_AN_END[name]}\n    box.n = 2\n"
    result = explored(tmp_path, f"{body}together(work, lambda: put(box))\nassert box.n in (1, 2)")
    assert result.verdict == HOLDS, result.report()
    assert result.executions > 1


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[str]:
    """A module whose name begins like that of one that is under control."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    text = "n = 0\ndef tick():\n    global n\n    n += 1\n    return n % 8\n"
    (folder / "timelike.py").write_text(text)
    sys.path.insert(0, str(folder))
    yield "timelike"
    sys.path.remove(str(folder))
    sys.modules.pop("timelike", None)


def test_a_module_whose_name_begins_like_another(tmp_path: Path, elsewhere: str) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "pyproject.toml").touch()
    body = f"""
import {elsewhere}
{elsewhere}.n = 0
event = threading.Event()
def work():
    while True:
        event.is_set()
        if {elsewhere}.tick() == 0:
            break
together(work, lambda: None)
"""
    result = explored(root, body)
    assert result.verdict == HOLDS, result.report()
    assert result.not_observed == ()


def _without_loop() -> None:
    print(1)


def _with_loop() -> None:
    while True:
        print(1)


def test_instructions_that_can_come_again() -> None:
    last = len(_without_loop.__code__.co_code)
    assert not any(is_in_loop(_without_loop.__code__, at) for at in range(0, last, 2))
    assert any(is_in_loop(_with_loop.__code__, at) for at in range(0, last, 2))


def test_a_loop_that_takes_a_lock_in_each_round_is_named() -> None:
    def program() -> None:
        lock, done = threading.Lock(), list[int]()

        def finish() -> None:
            with lock:
                done.append(1)

        def wait() -> None:
            while True:
                with lock:
                    if done:
                        return

        threads = [threading.Thread(target=target) for target in (finish, wait)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    result = mazurka.explore(program, preemptions=1, max_steps=1200)
    assert result.verdict == "inconclusive", result.report()
    (note,) = result.notes
    assert note.startswith("Thread-2 (wait) ran last at ")
    assert "takes a lock in each round; let it wait for a condition" in note
