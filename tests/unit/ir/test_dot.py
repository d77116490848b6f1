"""Drawings of programs: the words of the source, and identical threads once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mazurka.checking import load_program
from mazurka.ir.dot import to_dot
from mazurka.search.reading import Reading

WORKERS = """
from mazurka.model import Condition, Mutex
n = 0
lock = Mutex()
changed = Condition()

def worker():
    global n
    for k in range(2):
        with lock:
            n += 1
    with changed:
        changed.wait()

def adder(step):
    global n
    if n == 0:
        n = step

threads = [worker(), worker(), worker(), adder(1), adder(2), adder(1)]
"""


@pytest.fixture(scope="module")
def drawing(tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("dot") / "workers.py"
    path.write_text(WORKERS, encoding="utf-8")
    return to_dot(load_program(str(path), Reading()))


def test_identical_threads_are_drawn_once(drawing):
    titles = re.findall(r'^    label="(.*)";', drawing, re.MULTILINE)
    assert titles == ["worker (3 times)", "adder(1) (2 times)", "adder(2)"]


def test_labels_are_in_the_words_of_the_source(drawing):
    labels = set(re.findall(r'-> \S+ \[label="([^"]*)"', drawing))
    assert {
        "10: acquire lock",
        "11: n += 1  (read n)",
        "11: n += 1  (write n)",
        "9: k < 2",
        "17: n == 0",
        "17: not (n == 0)",
        "13: wait at changed",
    } <= labels
    assert not any("temporary" in label for label in labels)


def test_what_happens_to_the_cells_is_in_the_tooltips(drawing):
    assert r"lock = this thread\l" in drawing
    assert r"n = (temporary_1 + 1)\l" in drawing
