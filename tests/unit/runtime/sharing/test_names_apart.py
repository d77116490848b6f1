"""Objects of different kinds have different names, whatever the program calls them."""

from __future__ import annotations

import json.encoder
from pathlib import Path

import pytest
from observed_programs import find

from mazurka.runtime.sharing.names import names

REBOUND = """
import threading

items = [0]

def worker():
    global items
    items[0] += 1
    items = items

def program():
    items[0] = 0
    threads = [threading.Thread(target=worker) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return items[0]
"""


def test_a_variable_of_a_module_is_not_the_list_in_it(tmp_path: Path) -> None:
    """Both are points: the list is changed without protection, and so is the variable."""
    assert set(find(tmp_path, REBOUND, bound=2).outcomes) == {1, 2}


def test_a_module_is_not_an_object_of_that_name_in_its_package() -> None:
    counter = object()
    package = type(names)()
    package.pin(counter, "json.encoder")
    assert package.see(counter).name != package.see(json.encoder).name


HEAD = """
import threading
def together(*calls):
    threads = [threading.Thread(target=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""
KEPT = """
class Table:
    rows, more, names, last = [1], [2], ["a"], [3]

def remember(**options):
    def work():
        own = dict(options)
        own["x"] = len(Table.rows) + len(Table.more) + len(Table.names) + len(Table.last)
    return work

def program():
    work = remember(a=1)
    together(work, work)
"""
PUBLISHED = """
table = {}

def work():
    for key in range(5):
        box = table.get(key)
        if box is None:
            box = table[key] = [0]
        box.append(1)
    own = [1]
    own.append(2)

def program():
    together(work, work)
    return len(table[0])
"""


def test_what_classes_hold_and_named_arguments_have_names(tmp_path: Path) -> None:
    """Two threads meet them first, and nothing orders the two."""
    found = find(tmp_path, HEAD + KEPT)
    assert (found.restarts, found.explored.executions) == (0, 1)


def test_an_object_that_is_published_without_protection_is_named_by_its_maker(
    tmp_path: Path,
) -> None:
    """As soon as the place of publication is a point; other objects of its type stay apart."""
    found = find(tmp_path, HEAD + PUBLISHED, bound=0)
    assert found.outcomes == {3}
    assert not any("own" in point for point in found.points)


MADE = """
from collections import defaultdict
table = defaultdict(list)

def work():
    for key in range(5):
        table[key].append(1)
    own = [1]
    own.append(2)

def program():
    together(work, work)
    return len(table[0])
"""


def test_what_a_container_makes_is_named_by_whoever_asks_first(tmp_path: Path) -> None:
    """The access that makes it also publishes it, so all others come after."""
    found = find(tmp_path, HEAD + MADE, bound=0)
    assert found.outcomes == {2}
    assert not any("own" in point for point in found.points)


MADE_BY_C = {
    "a slice": (
        "boxes = {0: [1, 2, 3]}",
        "boxes[0] = boxes[0][1:]; len(boxes[0])",
        "len(boxes[0])",
        {1, 2},
    ),
    "an operator": (
        "boxes = {0: [1]}",
        "boxes[0] = boxes[0] + [2]; len(boxes[0])",
        "len(boxes[0])",
        {2, 3},
    ),
    "a parser": ("boxes = json.loads('[[1], {}]')", "boxes[0][0] += 1", "boxes[0][0]", {2, 3}),
    "rows": ("boxes = list(csv.reader(['a']))", "boxes[0][0] += 'b'", "boxes[0][0]", {"ab", "abb"}),
    "a step": (
        "boxes = {}",
        "for row in csv.reader(['a']): boxes[0] = row; boxes[0].append(1)",
        "len(boxes[0])",
        {2, 3},
    ),
    "named arguments of a partial function": (
        "boxes = partial(dict, a=[1])",
        "boxes.keywords['a'][0] += 1",
        "boxes.keywords['a'][0]",
        {2, 3},
    ),
}


@pytest.mark.parametrize("made", MADE_BY_C)
def test_what_c_code_makes_is_named_by_the_thread_that_asked_for_it(
    tmp_path: Path, made: str
) -> None:
    """Other objects of its type stay apart: the lists of one thread are no scheduling points."""
    begin, act, result, outcomes = MADE_BY_C[made]
    source = f"""
import csv, json
from functools import partial

def program():
    {begin}
    def work():
        {act}
        own = [1]
        own.append(2)
        mine = {{1: 2}}
        mine[2] = 3
    together(work, work)
    return {result}
"""
    found = find(tmp_path, HEAD + source, bound=1)
    assert found.outcomes == outcomes
    assert not any("own" in point or "mine" in point for point in found.points)


ASKED = """
class Late:
    def __init__(self):
        self.size = 0
    def __len__(self):
        return self.size
    def __new__(cls):
        return super().__new__(cls)

def program():
    made = []
    together(lambda: made.append(Late().size))
    return made[0]
"""


def test_naming_an_object_asks_it_nothing(tmp_path: Path) -> None:
    """It may not be complete: `__new__` has made it, and `__init__` has not run."""
    assert find(tmp_path, HEAD + ASKED, bound=0).outcomes == {0}


ANNOTATED = """
class Plain: pass
class Other: pass
class Third: pass
class Fourth: pass

def work():
    for kind in (Plain, Other, Third, Fourth):
        assert "x" not in kind.__annotations__
    own = {}
    own["y"] = 1

def program():
    together(work, work)
"""


def test_annotations_that_a_class_gets_on_demand_have_a_name(tmp_path: Path) -> None:
    """The interpreter makes them when the first thread asks; other dictionaries stay apart."""
    found = find(tmp_path, HEAD + ANNOTATED)
    assert found.explored.executions == 1
    assert not found.points


def test_annotations_that_are_made_anew_in_each_run_are_one_with_all_dictionaries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(names), "_name_annotations", lambda self, thing: None)  # the mutant
    assert find(tmp_path, HEAD + ANNOTATED, bound=0).points


UNWOUND = """
class Box: pass

def program():
    event = threading.Event()
    thread = threading.Thread(target=event.wait)
    thread.start()
    box = Box()
    try:
        thread.join()
    finally:
        box.n = 1
"""


def test_nothing_is_learned_about_objects_while_threads_unwind(tmp_path: Path) -> None:
    """The run ends in the other thread, and main meets its own object after that."""
    found = find(tmp_path, HEAD + UNWOUND)
    assert found.kinds == {"deadlock"}
    assert found.restarts == 0
