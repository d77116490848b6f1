"""The nondeterminism guard: tests that do not do the same again are refused, with a reason."""

from __future__ import annotations

import importlib
import itertools
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import mazurka
from mazurka.runtime.exploring.causes import find_causes

LOCK = threading.Lock()
turns = itertools.cycle((0, 1))


class Kept:
    """What a test captures is its own: nobody puts that back between executions."""

    def __init__(self, count: int = 0) -> None:
        self.count = count


def alternating() -> None:
    if next(turns):
        with LOCK:
            pass
    with LOCK:
        pass


def test_what_differs_each_time_is_named() -> None:
    result = mazurka.explore(alternating, preemptions=1)
    assert result.verdict == "error"
    assert result.exit_status == 2
    text = str(result.error)
    assert "does not do the same again" in text
    assert "LOCK" in text
    assert "Probably it depends on a counter that every execution moves on, at" in text
    assert "`if next(turns):`: make the counter inside the test" in text
    assert result.error is not None
    assert result.error.file is not None
    assert result.error.file.endswith("test_guard.py")


def test_where_the_source_shows_no_cause_all_are_named() -> None:
    kept: list[int] = []

    def hiding() -> None:
        kept.append(1)
        if len(kept) % 2 == 0:
            with LOCK:
                pass

    text = str(mazurka.explore(hiding, preemptions=1).error)
    assert "Probably it depends on something other than the schedule: random numbers," in text


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("x = random.random()", "random numbers"),
        ("x = _random.Random()", "random numbers"),
        ("name = uuid.uuid1().hex", "random numbers"),
        ("until = time.process_time() + 1", "the clock"),
        ("stamp = datetime.now()", "the clock"),
        ("if thread_time() > 1:", "the clock"),
        ("key = f'{thing!r}'", "object identities"),
        ("by_id[id(thing)] = thing", "object identities"),
        ("part = parts[hash(key) % 8]", "object identities"),
        ("owner = threading.get_native_id()", "the number of a process or a thread"),
        ("job = next(jobs)", "a counter that every execution moves on"),
        ("if path.exists():", "files"),
        ("for line in open(path):", "files"),
        ("if os.environ.get('X'):", "what the environment says"),
    ],
)
def test_a_line_shows_its_cause_and_a_remedy(line: str, cause: str) -> None:
    assert cause in [found.name for found in find_causes(line)]
    assert all(found.remedy for found in find_causes(line))


@pytest.mark.parametrize("line", ["with lock:", "box.value = other", "queue.put(item)"])
def test_other_lines_show_none(line: str) -> None:
    assert not find_causes(line)


def test_a_search_that_contradicts_itself_names_the_step() -> None:
    """Under the first schedule the executions are alike; only where a thread comes first that comes
    later there, they are not."""
    turn = itertools.cycle((0, 1))

    def program() -> None:
        box = [0]

        def work(number: int) -> None:
            if box[0] == 0 and number == 2:
                for _ in range(next(turn)):
                    with LOCK:
                        box.append(1)
            box[0] = number
            with LOCK:
                box.append(number)

        threads = [threading.Thread(target=work, args=(number,)) for number in (1, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    result = mazurka.explore(program, preemptions=2)
    assert result.verdict == "error", result.report()
    text = str(result.error)
    assert "test_guard.py:" in text
    assert "a counter that every execution moves on" in text, text


class Skipping(threading.Semaphore):
    """A semaphore that Mazurka does not see being made."""

    def __init__(self) -> None:
        self._value = 1


def test_an_object_without_a_model_is_named_with_advice() -> None:
    def skipping() -> None:
        Skipping().release()

    text = str(mazurka.explore(skipping, preemptions=1).error)
    assert "release semaphore outside#1` at first and `main: release semaphore outside#2`" in text
    assert "it has no model, and is called `outside#...`" in text
    assert "call super().__init__()" in text
    assert "random" not in text


def test_state_left_by_the_first_execution_is_named() -> None:
    kept = Kept()

    def cached() -> None:
        if not kept.count:
            with LOCK:
                kept.count += 1
        with LOCK:
            pass

    text = str(mazurka.explore(cached, preemptions=1).error)
    assert "the first execution has left something behind" in text


def test_endings_are_compared() -> None:
    kept = Kept(1)

    def growing() -> None:
        kept.count += 1
        assert kept.count < 3, f"{kept.count}"

    text = str(mazurka.explore(growing, preemptions=1).error)
    assert "it ends differently" in text
    assert "it passes" in text


def test_imports_of_the_first_execution_are_no_fault() -> None:
    import sys

    sys.modules.pop("colorsys", None)

    def imports() -> None:
        if "colorsys" not in sys.modules:
            with LOCK:
                import colorsys  # noqa: F401
        with LOCK:
            pass

    result = mazurka.explore(imports, preemptions=1)
    assert result.verdict == "holds", result.error


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Any]:
    """A module that is not observed where it is left out."""
    text = "n = 0\ndef draw():\n    global n\n    n += 1\n    return n\n"
    (tmp_path / "drawing.py").write_text(text)
    sys.path.insert(0, str(tmp_path))
    yield importlib.import_module("drawing")
    sys.path.remove(str(tmp_path))
    del sys.modules["drawing"]


def test_what_was_not_observed_is_a_likely_reason(elsewhere: Any) -> None:
    def drawing() -> None:
        if elsewhere.draw() % 2:
            with LOCK:
                pass

    text = str(mazurka.explore(drawing, leave_out="drawing").error)
    assert "does not do the same again" in text
    assert text.endswith("The reason may be what was not observed: drawing (drawing.draw).")


def test_so_it_is_where_a_failure_cannot_be_reproduced(elsewhere: Any) -> None:
    def drawing_late() -> None:
        count = [0]

        def work() -> None:
            count[0] += 1

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if count[0] == 1:
            assert elsewhere.draw() > 1

    text = str(mazurka.explore(drawing_late, leave_out="drawing").error)
    assert "a failure could not be reproduced" in text
    assert "not observed: drawing (drawing.draw)" in text


def test_nothing_is_named_where_all_was_observed() -> None:
    assert "not observed" not in str(mazurka.explore(alternating, preemptions=1).error)
