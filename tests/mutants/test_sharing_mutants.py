"""Mutants of what is known to be shared: each loses an outcome."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mazurka.runtime.python import containers, functions
from tests.unit.runtime.observed_programs import find

HEAD = """
import contextvars, threading
def together(*calls):
    threads = [threading.Thread(target=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""
PHASES = """
def program():
    table, found = {"a": 0}, []
    together(lambda: table.update(a=1), lambda: table.update(a=2))
    del table["a"]
    def add():
        table["a"] = 3
    together(add, lambda: found.append(len(table)))
    return found[0]
"""
CONTEXT = """
NAME = contextvars.ContextVar("NAME")
def program():
    context, found = contextvars.Context(), []
    def inside():
        NAME.set(1)
        NAME.set(2)
    together(lambda: context.run(inside), lambda: found.append(context.get(NAME)))
    return found[0]
"""
PROGRAMS: dict[str, tuple[str, set[Any]]] = {
    "phases": (PHASES, {0, 1}),
    "context": (CONTEXT, {None, 1, 2}),
}


def loses_an_outcome(folder: Path, name: str) -> bool:
    source, outcomes = PROGRAMS[name]
    return not outcomes <= find(folder, HEAD + source, bound=1).outcomes


def forget_structure(location: Any, written: bool) -> bool:
    """Whoever is alone changes containers that have been shared, and nobody is told."""
    return True


def forget_context(function: Any, site: int, /, *arguments: Any) -> Any:
    """Context variables touch nothing, wherever they are used."""
    return function(*arguments)


MUTANTS: dict[str, tuple[Any, str, Any]] = {
    "phases": (containers, "_use_before_others", forget_structure),
    "context": (functions.opaque, "use_variable", forget_context),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_the_mutant_is_caught(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not loses_an_outcome(tmp_path, name)
    monkeypatch.setattr(*MUTANTS[name])
    assert loses_an_outcome(tmp_path, name)
