"""Lazy proxies of C code that are older than the executions: each of these finds them empty."""

from __future__ import annotations

import operator
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.unit.runtime.observed_programs import module_of

import mazurka
from mazurka.runtime.python import expressions
from mazurka.runtime.sharing.kept_by_c import OlderInC
from mazurka.runtime.testing.collecting import collect_tests

SOURCE = """
import threading
from tests.unit.runtime.sharing.types_of_c import make_lazy_type

loads = []
def load():
    loads.append(1)
    return {"debug": True}
settings = make_lazy_type(load, deletable=DELETABLE)()

def use(get):
    threads = [threading.Thread(target=get) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loads) <= 1

def test_items():
    use(lambda: settings["debug"])

def test_wrapped():
    use(lambda: settings.__wrapped__)
"""


@pytest.mark.parametrize("test", ["test_items", "test_wrapped"])
def test_the_race_of_the_first_use_is_found(test: str, tmp_path: Path) -> None:
    module = module_of(tmp_path, SOURCE.replace("DELETABLE", "True"))
    result = mazurka.explore(getattr(module, test), preemptions=2)
    assert result.verdict == "violated", result
    assert not module.loads


@pytest.mark.parametrize("test", ["test_items", "test_wrapped"])
def test_a_proxy_that_cannot_be_emptied_is_named(test: str, tmp_path: Path) -> None:
    module = module_of(tmp_path, SOURCE.replace("DELETABLE", "False"))
    result = mazurka.explore(getattr(module, test), preemptions=2)
    assert result.verdict == "inconclusive", result
    assert f"cannot be put back: {module.__name__}.settings" in result.scope


def test_tests_are_collected_without_asking_values_for_their_class(tmp_path: Path) -> None:
    text = "class Lazy:\n    __class__ = property(asked.append)\nlazy = Lazy()\n"
    module = module_of(tmp_path, f"asked = []\n{text}def test_one(): pass\n")
    assert len(list(collect_tests(module, "test.py"))) == 1
    assert not module.asked


def test_the_first_item_that_is_read_of_a_type_is_observed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Row(sqlite3.Row):
        pass

    seen: list[Any] = []

    def operate(thing: Any, site: int, function: Any, *arguments: Any) -> Any:
        seen.append((thing, function))
        return function(*arguments)

    monkeypatch.setattr(expressions, "operate", operate)
    with closing(sqlite3.connect(":memory:")) as base:
        row = Row(base.execute("select 5"), (5,))
    assert expressions.read_item(row, 0, 0) == 5
    assert seen == [(row, operator.getitem)]


def test_the_dictionary_of_a_wrapper_belongs_to_its_state() -> None:
    def function() -> None:
        pass

    wrapper: Any = staticmethod(function)
    older = OlderInC()
    older.meet(wrapper)
    wrapper.is_used = True
    assert not older.put_back()
    assert not hasattr(wrapper, "is_used")
