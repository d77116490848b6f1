"""Rows of set-up and of libraries are folded, those that matter are not; paths are short."""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import mazurka
from mazurka.runtime.story.paths import is_library, short_path

POOL = """\
class Ring:
    def __init__(self):
        self.length = 0
        self.log = []

    def note(self, what):
        self.log.append(what)
        if len(self.log) > 10:
            self.log.pop(0)


class Pool:
    def __init__(self):
        self.ring = Ring()
        self.made = 0

    def get(self):
        self.ring.note("get")
        if self.made < 1:
            self.made += 1
            self.ring.note("made")
        self.ring.note("got")


class Scanner:
    def __init__(self):
        self.text = ""
        self.at = 0
        self.seen = ""

    def scan(self, text):
        self.text = text
        self.at = 0
        self.seen = ""
        while self.at < len(self.text):
            self.seen += self.text[self.at]
            self.at += 1
        return self.seen
"""


@pytest.fixture(scope="module")
def pools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """A package that is installed, as its path says."""
    folder = tmp_path_factory.mktemp("env") / "lib" / "site-packages"
    (folder / "pools").mkdir(parents=True)
    (folder / "pools" / "__init__.py").write_text("from pools.pool import Pool, Scanner\n")
    (folder / "pools" / "pool.py").write_text(POOL)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        import pools  # type: ignore[import-not-found]

        yield pools
    for name in ("pools", "pools.pool"):
        del sys.modules[name]


@pytest.fixture(scope="module")
def result(pools: Any) -> mazurka.Result:
    def program() -> None:
        pool = pools.Pool()

        def use() -> None:
            pool.get()

        threads = [threading.Thread(target=use, name=f"client {n}") for n in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert pool.made == 1

    return mazurka.explore(program, preemptions=1)


def test_steps_inside_a_package_are_folded_to_the_call(result: mazurka.Result) -> None:
    text = result.report(200)
    assert "pool.get()" in text
    assert "2 steps in pools: Ring.note" in text
    assert "self.log.append(what)" not in text
    assert "; --full-trace shows folded rows" in text


def test_what_the_diagnosis_names_is_shown(result: mazurka.Result) -> None:
    text = result.report(200)
    assert "checks pool.made at pools/pool.py:19 and acts at pools/pool.py:20" in text
    assert "19 pool.py: if self.made < 1:   pool.made ➜ 0" in text
    assert "20 pool.py: self.made += 1" in text


def test_a_full_trace_shows_all_rows(result: mazurka.Result) -> None:
    text = result.report(200, full=True)
    assert "self.log.append(what)" in text
    assert "steps in pools" not in text
    assert "--full-trace" not in text


def test_where_threads_share_a_lot_the_rows_stay_by_which_one_learns_of_another(
    pools: Any,
) -> None:
    """Before, the report had a row for each step of both threads."""

    def program() -> None:
        scanner, found = pools.Scanner(), list[str]()

        def scan(text: str) -> None:
            found.append(scanner.scan(text))

        threads = [threading.Thread(target=scan, args=(letter * 40,)) for letter in "ab"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(found) == ["a" * 40, "b" * 40]

    result = mazurka.explore(program, preemptions=1)
    text = result.report(200)
    assert len(result.report(200, full=True).splitlines()) > 200
    assert len(text.splitlines()) < 60
    assert "✗ assert sorted(found)" in text
    assert text.count("36 pool.py: self.seen += self.text[self.at]") == 2
    assert text.count("38 pool.py: return self.seen") == 1


def test_set_up_is_folded() -> None:
    seen = {"n": 0}

    def fill(jobs: queue.Queue[int]) -> None:
        jobs.put(1)
        jobs.put(2)
        jobs.get()
        jobs.get()

    def add() -> None:
        seen["n"] += 1

    def program() -> None:
        seen["n"] = 0
        fill(queue.Queue())
        threads = [threading.Thread(target=add) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert seen["n"] == 2

    result = mazurka.explore(program, preemptions=1)
    assert "jobs.put(2)" not in result.report(200)
    assert "4 steps: fill" in result.report(200)
    assert "jobs.put(2)" in result.report(200, full=True)


def test_items_of_queues_are_told() -> None:
    def program() -> None:
        jobs: queue.Queue[Any] = queue.Queue()
        out: queue.SimpleQueue[Any] = queue.SimpleQueue()
        jobs.put("a")
        jobs.put(("b", 2))

        def work() -> None:
            out.put(jobs.get()[0])

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [out.get(), out.get()] == ["a", "b"]

    text = mazurka.explore(program, preemptions=1).report(120)
    for told in ("put 'a' into jobs", "get ('b', 2) from jobs", "put 'b' into out"):
        assert told in text
    assert "Thread-1 gets 'a' from jobs at" in text


def test_private_names_are_those_of_the_source() -> None:
    class Account:
        def __init__(self) -> None:
            self.__balance = 0

        def pay(self) -> None:
            self.__balance += 1

        def check(self) -> None:
            assert self.__balance == 2

    def program() -> None:
        account = Account()
        threads = [threading.Thread(target=account.pay) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        account.check()

    text = mazurka.explore(program, preemptions=1).report(120)
    assert "account.__balance ➜ 0" in text
    assert "lost update: Thread-1 reads account.__balance at" in text


def test_paths_are_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    short_path.cache_clear()
    assert short_path(str(tmp_path / "env/lib/site-packages/pools/pool.py")) == "pools/pool.py"
    assert short_path(queue.__file__) == "queue.py"
    assert short_path(str(tmp_path / "tests/test_pool.py")) == "tests/test_pool.py"
    assert short_path("<frozen _collections_abc>") == "_collections_abc.py"
    assert is_library(queue.__file__)
    assert is_library("<frozen _collections_abc>")
    assert not is_library(str(tmp_path / "tests/test_pool.py"))
