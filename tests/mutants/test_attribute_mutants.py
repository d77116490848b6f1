"""Mutants of where attributes live, and of operators of C code: each loses a failure.

Beside each mutant stands the program that must catch it: it fails without the mutant, and holds
with it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from mazurka.report.answer import ERROR, HOLDS, VIOLATED
from mazurka.runtime.exploring.entry import explore_test
from mazurka.runtime.exploring.options import ExploreOptions
from mazurka.runtime.python import attributes, deep, expressions, variables
from mazurka.runtime.python.iteration import loops
from mazurka.runtime.rewrite import named_objects
from mazurka.runtime.sharing.older_state import OlderState
from mazurka.runtime.testing.decorator import make_test
from tests.unit.runtime.observed_programs import module_of

HEAD = """
import ctypes, threading, types
class Box:
    n = 0
    def one(self):
        return 1
class Zero:
    def __get__(self, box, kind):
        return 0
class Hiding:
    zero = Zero()
class Holder:
    items = []
def together(*functions):
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""
ENTRIES = """
def program():
    box = Box()
    def by_attribute():
        box.n = box.n + 1
    def by_entry():
        entries = box.__dict__
        entries["n"] = entries.get("n", 0) + 1
    together(by_attribute, by_entry)
    assert box.n == 2
"""
CHANGED_CLASS = """
class Late:
    pass
def program():
    late = Late()
    late.n = 0
    def add():
        late.n = late.n + 1
    together(add, add)
    found = late.n
    Late.n = property(lambda self: 5)
    def look():
        late.n
    together(look, look)
    assert found == 2
"""
METHODS = """
def program():
    box = Box()
    def replace():
        box.one = lambda: 2
    def call():
        assert box.one() == 1
    together(call, replace)
"""
HIDDEN = """
def program():
    box = Hiding()
    def look():
        assert box.zero == 0
    def hide():
        box.zero = 1
    together(look, hide)
"""
KEPT_BY_C = """
def program():
    error = ValueError()
    def change():
        error.args = (1,)
    def look():
        assert error.args == ()
    together(look, change)
"""
OPERATORS = """
def program():
    numbers = (ctypes.c_int * 1)()
    def add():
        numbers[0] = numbers[0] + 1
    together(add, add)
    assert numbers[0] == 2
"""
NAMESPACE = """
def program():
    box, texts = types.SimpleNamespace(a=0, b=0), []
    def change():
        box.a = 1
        box.b = 1
    together(lambda: texts.append(repr(box)), change)
    assert texts != ["namespace(a=1, b=0)"]
"""
WRITTEN = """
def program():
    error, texts = ValueError(0), []
    def change():
        error.args = (1,)
        error.args = (2,)
    together(lambda: texts.append(str(error)), change)
    assert texts != ["1"]
"""
CLASS_SHOWN = """
def program():
    made = []
    def make():
        if "made" not in Box.__dict__:
            made.append(1)
            Box.made = True
    together(make, make)
    assert made == [1]
"""
CLASS_HOLDS = """
def program():
    box = Holder()
    def add():
        if not box.items:
            box.items.append(1)
    together(add, add)
    assert box.items == [1]
"""
STARRED = """
def program():
    items, found = [1], []
    def count(*given, n):
        found.append(len(given) == n)
    together(lambda: count(*items, n=len(items)), lambda: items.append(2))
    assert found == [True]
"""
STORED = """
class Checked:
    def __init__(self):
        self.__dict__["n"] = 0
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)
def program():
    box, found = Checked(), []
    def change():
        box.n = 1
    together(change, lambda: found.append(box.n))
    assert found == [1]
"""
find_sort = attributes._find_sort


def nothing(*arguments: Any) -> None:
    """Note nothing."""


def never(*arguments: Any) -> bool:
    return False


def always(*arguments: Any) -> bool:
    return True


def no_names(kind: type, *arguments: Any) -> tuple[str, ...]:
    return ()


def first(value: Any, *arguments: Any) -> Any:
    return value


def compute_always(kind: type, name: str) -> int:
    found = find_sort(kind, name)
    return attributes._COMPUTE if found == attributes._DATA else found


def operate_unseen(thing: Any, site: int, function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


@pytest.mark.parametrize(
    ("module", "name", "mutant", "program"),
    [
        (attributes, "expose", nothing, ENTRIES),
        (attributes, "_learn_moving", nothing, METHODS),
        (attributes, "_find_sort", compute_always, HIDDEN),
        (attributes, "_is_kept_by_c", never, KEPT_BY_C),
        (attributes, "space_of_store", nothing, CLASS_SHOWN),
        (variables, "_COMPUTING", (setattr, delattr, object.__setattr__), STORED),
        (loops, "unpack_at_once", first, STARRED),
        (expressions, "is_done_by_c", never, OPERATORS),
        (expressions, "operate", operate_unseen, OPERATORS),
        (deep, "_keeps_attributes", never, NAMESPACE),
        (deep, "expose", nothing, NAMESPACE),
        (deep, "fields_of_error", no_names, WRITTEN),
    ],
)
def test_the_mutant_loses_the_failure(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    module: ModuleType,
    name: str,
    mutant: Any,
    program: str,
) -> None:
    (tmp_path / "pyproject.toml").touch()
    made = module_of(tmp_path, HEAD + program)
    test = make_test(made.program, made.program)
    options = ExploreOptions(preemptions=1, leave_out=(__name__,))  # where mutants are
    assert explore_test(test, options).verdict == VIOLATED
    monkeypatch.setattr(module, name, mutant)
    result = explore_test(test, options)
    assert result.verdict == HOLDS, result.report()


def test_what_a_class_holds_is_known_in_two_ways(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its name, and when an object leads to it; without both the failure is lost."""
    (tmp_path / "pyproject.toml").touch()
    made = module_of(tmp_path, HEAD + CLASS_HOLDS)
    test = make_test(made.program, made.program)
    options = ExploreOptions(preemptions=1, leave_out=(__name__,))
    monkeypatch.setattr(named_objects, "_parts_of_class", no_names)
    assert explore_test(test, options).verdict == VIOLATED
    monkeypatch.setattr(OlderState, "hold_attribute", nothing)
    assert explore_test(test, options).verdict == HOLDS


def test_runs_that_take_a_class_for_unchanged_differ_from_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").touch()
    made = module_of(tmp_path, HEAD + CHANGED_CLASS)
    test = make_test(made.program, made.program)
    options = ExploreOptions(preemptions=1, leave_out=(__name__,))
    assert explore_test(test, options).verdict == VIOLATED
    monkeypatch.setattr(attributes, "is_same", always)
    assert explore_test(test, options).verdict == ERROR
