"""Caches of `functools.lru_cache`: keys are told apart; the order of uses counts if it shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from observed_programs import find

from mazurka.runtime.python.containers import forget_tokens, token_of
from mazurka.runtime.python.library import caches

HEAD = """
import functools, threading, typing
def together(*calls):
    threads = [threading.Thread(target=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
@functools.lru_cache(maxsize=2)
def make(key, *, also=None):
    return [key]
def program():
    make.cache_clear()
    found = []
"""


def outcomes_of(folder: Path, body: str) -> set[object]:
    return find(folder, HEAD + "".join(f"    {line}\n" for line in body.splitlines())).outcomes


def test_other_keys_have_nothing_in_common(tmp_path: Path) -> None:
    """No operation of one thread conflicts with one of the other: one partial order."""
    source = "    together(lambda: make('a'), lambda: make('b'))\n"
    found = find(tmp_path, HEAD + source)
    assert found.explored.executions == 1
    assert not found.not_observed


@pytest.mark.parametrize(
    ("one", "other"),
    [("int", "str"), ("list[int]", "dict"), ("list[int]", "list[str]"), ("together", "make")],
)
def test_classes_and_functions_are_told_apart(tmp_path: Path, one: str, other: str) -> None:
    source = f"    together(lambda: make({one}), lambda: make({other}))\n"
    assert find(tmp_path, HEAD + source).explored.executions == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *(("'a'", "'a'"), ("1.0", "True"), ("1, also=2", "1, also=2"), ("(1, 'a')", "(1, 'a')")),
        *(("int", "int"), ("list[int]", "list[int]"), ("typing.List[int]", "typing.List[int]")),
        *(("int | str", "str | int"), ("typing.Union[int, str]", "typing.Union[str, int]")),
    ],
)
def test_equal_keys_may_both_be_missing(tmp_path: Path, one: str, other: str) -> None:
    body = (
        f"together(lambda: found.append(make({one})), lambda: found.append(make({other})))\n"
        "return found[0] is found[1]"
    )
    assert outcomes_of(tmp_path, body) == {True, False}


def test_a_name_that_means_another_class_is_no_other_key(tmp_path: Path) -> None:
    """Two classes with one name are two keys of a dictionary."""
    source = """
import threading
class Key: pass
Other = type("Key", (), {"__module__": __name__})
table = {Key: 1}
def program():
    global Key
    first, sizes = Key, []
    def add():
        table[Other] = 2
    def look():
        sizes.append(len(table))
    Key = Other
    threads = [threading.Thread(target=each) for each in (add, look)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    del table[Other]
    Key = first
    return sizes[0]
"""
    assert find(tmp_path, source).outcomes == {1, 2}


def test_a_hit_is_counted_for_those_who_ask(tmp_path: Path) -> None:
    body = (
        "make('a')\n"
        "together(lambda: make('a'), lambda: found.append(make.cache_info().hits))\n"
        "return found[0]"
    )
    assert outcomes_of(tmp_path, body) == {0, 1}


def test_a_cache_may_be_cleared_in_between(tmp_path: Path) -> None:
    body = (
        "was = make('a')\n"
        "together(lambda: found.append(make('a')), make.cache_clear)\n"
        "return found[0] is was"
    )
    assert outcomes_of(tmp_path, body) == {True, False}


DROPPED = (
    "make('a')\n"
    "was = make('b')\n"
    "together(lambda: make('a'), lambda: make('b'))\n"
    "make('c')\n"
    "return make('b') is was"
)
"""The hits of two threads: the last one decides which key is dropped afterwards."""


def test_the_order_of_uses_counts_where_something_is_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mutant that does not notice that a key is dropped finds one outcome only."""
    assert outcomes_of(tmp_path, DROPPED) == {True, False}
    monkeypatch.setattr(caches, "_notice_dropping", lambda function: None)
    assert len(outcomes_of(tmp_path, DROPPED)) == 1


class Renamed:
    pass


def test_a_class_with_another_name_is_the_same_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "Other", Renamed)
    try:
        first = token_of(Renamed)
        Renamed.__qualname__ = "Other"
        assert first is not None
        assert token_of(Renamed) == first
    finally:
        Renamed.__qualname__ = "Renamed"
        forget_tokens()
