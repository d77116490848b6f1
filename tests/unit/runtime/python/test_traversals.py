"""Without a global lock, C code goes through containers in several steps."""

from __future__ import annotations

import itertools
import marshal
import sys
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.soundness.free_threaded_programs import DIFFERENT, SAME, Program

import mazurka
from mazurka.errors import OptionError
from mazurka.runtime.exploring.entry import replay_test
from mazurka.runtime.exploring.options import ExploreOptions
from mazurka.runtime.exploring.tokens import decode
from mazurka.runtime.python.traversals import ROWS, traverses
from mazurka.runtime.story.result import Result
from mazurka.runtime.testing.decorator import make_test

SIZE = 3
PROJECT = Path(__file__).parents[4]


def explore(program: Program, semantics: str) -> Result:
    def scenario() -> None:
        values = program.make(SIZE)
        seen: list[bool] = []
        threads = [
            threading.Thread(target=lambda: seen.append(program.check(values, SIZE))),
            threading.Thread(target=lambda: program.change(values, SIZE)),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert seen == [True]

    return mazurka.explore(scenario, semantics=semantics)


def test_there_are_as_many_programs_as_we_say() -> None:
    assert len(DIFFERENT) >= 40


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_call_that_traverses_is_split(name: str) -> None:
    assert explore(DIFFERENT[name], "gil").verdict == "holds"
    found = explore(DIFFERENT[name], "free-threaded")
    assert found.violation is not None, found.report()


@pytest.mark.parametrize("name", SAME)
def test_a_call_that_locks_is_one_step(name: str) -> None:
    assert explore(SAME[name], "gil").verdict == "holds"
    found = explore(SAME[name], "free-threaded")
    assert found.verdict == "holds", found.report()


# -- what is not explored ------------------------------------------------------------------------


def run_both(first: Callable[[], object], second: Callable[[], object]) -> None:
    threads = [threading.Thread(target=first), threading.Thread(target=second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def see_insertion() -> None:
    values = [1]
    run_both(lambda: values.insert(0, 2), lambda: values[0])


def see_update() -> None:
    table = {"a": 1}
    run_both(lambda: table.update(a=2, b=2), lambda: table.get("a"))


def write_unknown() -> None:
    values = [1]
    run_both(lambda: values.append(2), lambda: marshal.dumps(values))


def read_nested() -> None:
    table = [[1], [2]]
    run_both(lambda: (table[1].append(2), table.append([])), lambda: repr(table))


def share_iterator() -> None:
    items = iter([1, 2, 3])
    run_both(lambda: next(items), lambda: next(items))


def see_deletion() -> None:
    values = [1, 2, 3]
    run_both(lambda: values.__delitem__(0), lambda: values[0])


def compare_bytes() -> None:
    data = bytearray(b"ab")
    run_both(lambda: data == b"ba", data.reverse)


def match_rows() -> None:
    row = [1, 2]

    def match() -> None:
        match row:
            case [1, 2]:
                pass

    run_both(match, lambda: row.append(3))


def unpack_nested() -> None:
    row: list[Any] = [1, [2, 3]]

    def unpack() -> None:
        first, (second, third) = row
        assert (first, third) == (1, 3)
        assert second in (2, 5)

    run_both(unpack, lambda: row[1].__setitem__(0, 5))


def write_deque() -> None:
    items = deque([1, 2])
    run_both(lambda: str(items) + f"{items}", lambda: items.append(3))


@pytest.mark.parametrize(
    "scenario",
    [
        *(see_insertion, see_update, write_unknown, read_nested, share_iterator, see_deletion),
        *(compare_bytes, match_rows, write_deque, unpack_nested),
    ],
)
def test_steps_that_are_not_explored_are_named(scenario: Callable[[], None]) -> None:
    assert mazurka.explore(scenario, semantics="gil").verdict == "holds"
    found = mazurka.explore(scenario, semantics="free-threaded")
    assert (found.verdict, found.limits) == ("inconclusive", ("unobserved-code",))
    assert "without a global lock, C code takes several steps" in found.scope


def see_lengths() -> None:
    values: list[int] = []
    run_both(lambda: values.append(1), lambda: len(values))


def insert_both() -> None:
    values: list[int] = []
    run_both(lambda: values.insert(0, 1), lambda: values.insert(0, 2))
    assert len(values) == 2


def insert_under_a_lock() -> None:
    values: list[int] = []
    lock = threading.Lock()

    def insert() -> None:
        with lock:
            values.insert(0, len(values))

    run_both(insert, insert)
    assert values == [1, 0]


def unpack_rows() -> None:
    rows = [[1, 2], [3, 4]]

    def add_up() -> int:
        return sum(first * second for first, second in rows)

    run_both(add_up, lambda: rows[0].__setitem__(0, 5))


def share_counter() -> None:
    numbers = itertools.count()
    seen: list[int] = []
    run_both(lambda: seen.append(next(numbers)), lambda: seen.append(next(numbers)))
    assert sorted(seen) == [0, 1]


class Key:
    """A key that is not told apart from others by its value."""

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return 1


def write_with_object_as_key() -> None:
    key = Key()
    table: dict[Key, int] = {key: 1}
    run_both(lambda: table.__setitem__(key, 2), lambda: table.get(key))


@pytest.mark.parametrize(
    "scenario",
    [
        *(see_lengths, insert_both, insert_under_a_lock, share_counter, write_with_object_as_key),
        unpack_rows,
    ],
)
def test_a_change_whose_states_are_not_seen_is_one_step(scenario: Callable[[], None]) -> None:
    assert mazurka.explore(scenario, semantics="free-threaded").verdict == "holds"


# -- the table -----------------------------------------------------------------------------------


def test_the_page_has_each_row() -> None:
    page = (PROJECT / "docs" / "python-atomicity.md").read_text("utf-8")
    for row in ROWS:
        operations = row.operations.replace("|", r"\|")
        assert f"| {operations} | " in page
        assert f" | {row.documented} |\n" in page


def test_what_no_row_names_traverses() -> None:
    assert traverses(marshal.dumps, [1])
    assert traverses(list, deque([1]))
    assert traverses(list, OrderedDict({1: 1}))
    assert not traverses(list, [1])
    assert not traverses(list, (1,))


# -- a verdict says what it is about -------------------------------------------------------------


def test_a_verdict_says_that_there_is_no_lock() -> None:
    found = explore(DIFFERENT["x in l"], "free-threaded")
    assert "threads run without a global lock" in found.scope
    assert found.to_json()["semantics"] == "free-threaded"
    assert explore(SAME["list(l)"], "gil").to_json()["semantics"] == "gil"
    assert "global lock" not in explore(SAME["list(l)"], "gil").scope


def test_a_token_is_replayed_in_its_semantics() -> None:
    def scenario() -> None:
        values = ["a", "b", "c"]
        seen: list[bool] = []
        run_both(lambda: seen.append("c" in values), lambda: values.reverse())
        assert seen == [True]

    found = mazurka.explore(scenario, semantics="free-threaded")
    assert found.token is not None
    token = decode(found.token)
    assert token.semantics == "free-threaded"
    options = ExploreOptions(semantics="gil")
    assert replay_test(make_test(scenario, scenario), options, token).verdict == "violated"


def test_the_default_is_that_of_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    assert ExploreOptions().semantics == "free-threaded"
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: True, raising=False)
    assert ExploreOptions().semantics == "gil"


def test_another_semantics_is_refused() -> None:
    with pytest.raises(OptionError, match="semantics must be 'gil' or 'free-threaded', not 'GIL'"):
        ExploreOptions(semantics="GIL")
