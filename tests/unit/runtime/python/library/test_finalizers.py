"""Finalizers of `weakref.finalize`: each is an object of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from observed_programs import find

from mazurka.runtime.python.library.finalizers import Finalizers

HEAD = """
import threading, weakref
class Thing:
    pass
def together(*calls):
    threads = [threading.Thread(target=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
OLDER = Thing()
OLDER.finalizer = weakref.finalize(OLDER, int)
"""
APART = """
def work():
    thing = Thing()
    found = []
    finalizer = weakref.finalize(thing, found.append, 1)
    other = weakref.finalize(thing, found.append, 2)
    assert other.alive and other.detach()[1] is not None and not other.alive
    del thing
    assert not finalizer.alive
    return found
def program():
    together(work, work)
"""
SHARED = """
def program():
    thing, found = Thing(), []
    finalizer = weakref.finalize(thing, lambda: 5)
    together(lambda: found.append(finalizer()), lambda: found.append(finalizer.alive))
    return found.count(False)
"""
OLDER = """
def program():
    was = OLDER.finalizer.alive
    together(OLDER.finalizer, OLDER.finalizer)
    return was, OLDER.finalizer.alive
"""


def test_finalizers_of_two_threads_have_nothing_in_common(tmp_path: Path) -> None:
    found = find(tmp_path, HEAD + APART)
    assert found.explored.executions == 1
    assert not found.explored.failures


def test_one_finalizer_is_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks after the call finds it dead; a mutant that does not see the call loses that."""
    assert find(tmp_path, HEAD + SHARED).outcomes == {0, 1}
    monkeypatch.setattr(Finalizers, "pop", Finalizers._pop)
    assert find(tmp_path, HEAD + SHARED).outcomes != {0, 1}


def test_every_run_finds_older_finalizers_alive(tmp_path: Path) -> None:
    found = find(tmp_path, HEAD + OLDER)
    assert found.outcomes == {(True, False)}
    assert not found.not_observed


def test_who_uses_the_registry_itself_gets_no_proof(tmp_path: Path) -> None:
    source = "def program():\n    return type(len(weakref.finalize._registry))"
    assert "finalize._registry" in " ".join(find(tmp_path, HEAD + source).not_observed)
