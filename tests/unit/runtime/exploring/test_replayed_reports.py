"""A failure that is replayed is shown as it was when it was found: the same rows, by number."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from mazurka.runtime.exploring.entry import explore_test, replay_test
from mazurka.runtime.exploring.options import ExploreOptions
from mazurka.runtime.exploring.tokens import decode
from mazurka.runtime.story.result import Result
from mazurka.runtime.testing.collecting import collect

LIST_OF_THREADS = """
    import threading

    class Counter:
        def __init__(self):
            self.value = 0
            self.step = 1

        def add(self):
            self.value += self.step

    def test_it():
        counter = Counter()
        ts = [threading.Thread(target=counter.add) for _ in range(2)]
        ts[0].start()
        ts[1].start()
        ts[0].join()
        ts[1].join()
        assert counter.value == 2
"""
SAME_PLACE_FOR_TWO = """
    import threading

    class Box:
        def __init__(self):
            self.n = 0

    def add(box, own):
        for one in (own, box):
            one.n += 1

    def test_it():
        box = Box()
        one, two = (threading.Thread(target=add, args=(box, Box())) for _ in range(2))
        one.start()
        two.start()
        one.join()
        two.join()
        assert box.n == 2, f"{box.n} of 2"
"""
DEADLOCK = """
    import threading

    class Account:
        def __init__(self, name):
            self.name = name
            self.lock = threading.Lock()

        def pay(self, other):
            with self.lock:
                with other.lock:
                    self.name, other.name

    def test_it():
        accounts = [Account("a"), Account("b")]
        ts = [threading.Thread(target=accounts[i].pay, args=(accounts[1 - i],)) for i in (0, 1)]
        for t in ts:
            t.start()
        for t in ts:
            t.join()
"""
QUEUE = """
    import queue
    import threading

    def work(jobs, done):
        while not jobs.empty():
            done.append(jobs.get(timeout=None))

    def test_it():
        jobs, done = queue.Queue(), []
        jobs.put(1)
        ts = [threading.Thread(target=work, args=(jobs, done)) for _ in range(2)]
        for t in ts:
            t.start()
        for t in ts:
            t.join()
"""
EXECUTOR = """
    from concurrent.futures import ThreadPoolExecutor

    total = {}

    def add(key):
        old = total.get(key, 0)
        total[key] = old + 1

    def test_it():
        total.clear()
        with ThreadPoolExecutor(2) as pool:
            results = list(pool.map(add, ["a", "a"]))
        assert total["a"] == len(results)
"""
LOOP = """
    import threading

    class Flags:
        def __init__(self):
            self.ready = self.heard = False
            self.rounds = [0, 0]

    def wait(flags):
        while not flags.ready:
            flags.rounds[0]
        flags.heard = True

    def tell(flags):
        if not flags.heard:
            flags.ready = flags.rounds[1] > 0

    def test_it():
        flags = Flags()
        ts = [threading.Thread(target=f, args=(flags,)) for f in (wait, tell)]
        for t in ts:
            t.start()
        for t in ts:
            t.join()
"""
PROGRAMS = {
    "a list of threads": LIST_OF_THREADS,
    "a place that touches two objects": SAME_PLACE_FOR_TWO,
    "a deadlock": DEADLOCK,
    "a queue": QUEUE,
    "an executor": EXECUTOR,
    "a loop that waits": LOOP,
}


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    path = list(sys.path)
    yield tmp_path / "test_seen_again.py"
    sys.path[:] = path
    sys.modules.pop("test_seen_again", None)


def shown(result: Result) -> str:
    """The headline, and everything from the rows on, but for the token and the costs."""
    text = result.report(width=110)
    assert "counterexample:" in text, text
    rows = text[text.index("counterexample:") :].partition("see it again")[0]
    rows = rows.partition("\n1 execution ")[0]
    return "\n".join((text.partition("\n")[0], rows.rstrip()))


@pytest.mark.parametrize("options", [{}, {"strategy": "random", "seed": 3}], ids=["all", "random"])
@pytest.mark.parametrize("source", PROGRAMS.values(), ids=PROGRAMS)
def test_the_replay_shows_what_the_failure_showed(
    file: Path, source: str, options: dict[str, object]
) -> None:
    file.write_text(dedent(source), encoding="utf-8")
    found = explore_test(collect(f"{file}::test_it")[0].test, ExploreOptions(**options))  # type: ignore[arg-type]
    assert found.verdict == "violated", found.report()
    assert found.token is not None
    again = replay_test(collect(f"{file}::test_it")[0].test, ExploreOptions(), decode(found.token))
    assert again.verdict == "violated", again.report()
    assert shown(again) == shown(found)
    assert found.story is not None
    assert again.story is not None
    assert [step.text for step in again.story.steps] == [s.text for s in found.story.steps]
