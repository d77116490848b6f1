"""What annotations touch is found, wherever and whenever they are evaluated."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.unit.runtime.observed_programs import find, module_of

import mazurka

LATER = sys.version_info >= (3, 14)
later = pytest.mark.skipif(not LATER, reason="annotations are evaluated where they stand")
HEAD = """
import threading
def together(*functions):
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""
COUNTED = """
def program():
    count = {"n": 0}
    def evaluate():
        count["n"] = count["n"] + 1
        return int
"""
MADE = {
    "a parameter": "def f(x: evaluate()): pass\n        f.__annotations__",
    "a result": "def f() -> evaluate(): pass\n        f.__annotations__",
    "a class": "class C:\n            x: evaluate()\n        C.__annotations__",
    "without a call": (
        "def f(x: count.__setitem__('n', count['n'] + 1)): pass\n        f.__annotations__"
    ),
    "a method in a class with such a name": (
        "class C:\n            n = 1\n            def f(self, x: evaluate() or n): pass\n"
        "        C.f.__annotations__"
    ),
}


@pytest.mark.parametrize("name", MADE)
def test_a_lost_update_in_an_annotation_is_found(tmp_path: Path, name: str) -> None:
    work = f"    def work():\n        {MADE[name]}\n"
    source = HEAD + COUNTED + work + "    together(work, work)\n    return count['n']\n"
    assert find(tmp_path, source).outcomes == {1, 2}


SHARED = {
    "a function": ("def f(x: evaluate()): pass", "f.__annotations__"),
    "a class": ("class C:\n        x: evaluate()", "C.__annotations__"),
}


@pytest.mark.parametrize("name", SHARED)
def test_two_threads_may_both_evaluate_what_they_share(tmp_path: Path, name: str) -> None:
    definition, use = SHARED[name]
    work = f"    {definition}\n    def work():\n        assert {use} == {{'x': int}}\n"
    source = HEAD + COUNTED + work + "    together(work, work)\n    return count['n']\n"
    assert find(tmp_path, source).outcomes == ({1, 2} if LATER else {1})


TEXTS = """
import annotationlib
value = [1]
def program():
    def f(x: value[0], y: value.append(2)) -> [v for v in value]: pass
    class C:
        z: unknown.name[value]
    text = annotationlib.Format.STRING
    return str((annotationlib.get_annotations(f, format=text),
                annotationlib.get_annotations(C, format=text), value))
"""


@later
def test_their_texts_are_those_of_the_source(tmp_path: Path) -> None:
    plain = module_of(tmp_path, TEXTS).program()
    assert "'y': 'value.append(2)'" in plain
    assert "unknown.name[value]" in plain
    assert find(tmp_path, TEXTS, bound=0).outcomes == {plain}


@later
def test_an_execution_evaluates_those_of_an_older_function_anew(tmp_path: Path) -> None:
    source = "seen = []\ndef f(x: seen.append(1)): pass\nclass C:\n    y: seen.append(2)\n"
    older = module_of(tmp_path, source)

    def test() -> None:
        older.seen.clear()
        assert older.f.__annotations__ == {"x": None}
        assert older.C.__annotations__ == {"y": None}
        assert older.seen == [1, 2]

    assert mazurka.explore(test, preemptions=1)
    test()


DELETED = """
{definition}
def attempt(said, action):
    try:
        action()
        said.append("done")
    except Exception as error:
        said.append(type(error).__name__)
def ask():
    {owner}.__annotations__
def delete():
    del {owner}.__annotations__
def program():
    said = [], []
    def first():
        attempt(said[0], ask)
        attempt(said[0], delete)
    def second():
        attempt(said[1], delete)
        attempt(said[1], ask)
    together(first, second)
    return repr(said)
"""
OWNERS = {
    "a class": ("class Owner: pass", "Owner"),
    "a class with annotations": ("class Owner: x: int = 0", "Owner"),
    "a module": ("import sys; owner = sys.modules[__name__]", "owner"),
}


@pytest.mark.parametrize("name", OWNERS)
def test_who_asks_for_annotations_that_were_deleted_makes_new_ones(
    tmp_path: Path, name: str
) -> None:
    """They were made before the thread's turn, so that nobody found them gone."""
    definition, owner = OWNERS[name]
    source = HEAD + DELETED.format(definition=definition, owner=owner)
    assert find(tmp_path, source).outcomes == {
        "(['done', 'done'], ['done', 'done'])",
        "(['done', 'done'], ['AttributeError', 'done'])",
        "(['done', 'AttributeError'], ['done', 'done'])",
    }
