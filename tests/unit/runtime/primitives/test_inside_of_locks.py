"""What programs read of the library's own objects, past their calls."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest
from observed_programs import module_of

from mazurka.report.answer import ERROR, HOLDS, VIOLATED
from mazurka.runtime.exploring.entry import explore_test
from mazurka.runtime.exploring.options import ExploreOptions
from mazurka.runtime.story.result import Result
from mazurka.runtime.testing.decorator import make_test

HEAD = """
import queue, threading
from concurrent.futures import Future, ThreadPoolExecutor

def together(*bodies):
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

def wait(barrier):
    try:
        barrier.wait()
    except threading.BrokenBarrierError:
        pass

def wait_for(condition):
    with condition:
        condition.wait(1)

"""


def explored(folder: Path, body: str) -> Result:
    module = module_of(folder, f"{HEAD}def program():\n{textwrap.indent(body, '    ')}")
    return explore_test(make_test(module.program, module.program), ExploreOptions(preemptions=2))


READ = {
    "Semaphore._value": ("threading.Semaphore(2)", "thing.acquire()", "thing._value"),
    "BoundedSemaphore._value": ("threading.BoundedSemaphore(2)", "thing.acquire()", "thing._value"),
    "getattr": ("threading.Semaphore(2)", "thing.acquire()", "getattr(thing, '_value')"),
    "Semaphore repr": ("threading.Semaphore(2)", "thing.acquire()", "repr(thing)[-3:]"),
    "unfinished_tasks": ("queue.Queue()", "thing.put(1)", "thing.unfinished_tasks"),
    "Event._flag": ("threading.Event()", "thing.set()", "thing._flag"),
    "Event repr": ("threading.Event()", "thing.set()", "'unset' in repr(thing)"),
    "Event text": ("threading.Event()", "thing.set()", "'unset' in f'{thing}'"),
    "locked": ("threading.Lock()", "thing.acquire()", "thing.locked()"),
    "Lock repr": ("threading.Lock()", "thing.acquire()", "'unlocked' in repr(thing)"),
    "RLock repr": ("threading.RLock()", "thing.acquire()", "'unlocked' in repr(thing)"),
    "Condition repr": ("threading.Condition()", "wait_for(thing)", "repr(thing)[-3:]"),
    "broken": ("threading.Barrier(2)", "thing.abort()", "thing.broken"),
    "n_waiting": ("threading.Barrier(2, timeout=1)", "wait(thing)", "thing.n_waiting"),
    "Barrier._state": ("threading.Barrier(2)", "thing.abort()", "thing._state"),
    "Future._state": ("Future()", "thing.set_result(1)", "thing._state"),
    "Future._result": ("Future()", "thing.set_result(1)", "thing._result"),
    "qsize": ("queue.SimpleQueue()", "thing.put(1)", "thing.qsize()"),
    "name": ("threading.Thread()", "setattr(thing, 'name', 'x')", "thing.name == 'x'"),
    "daemon": ("threading.Thread()", "setattr(thing, 'daemon', True)", "thing.daemon"),
    "ident": ("threading.Thread()", "thing.start()", "thing.ident is None"),
    "native_id": ("threading.Thread()", "thing.start()", "thing.native_id is None"),
    "_started": ("threading.Thread()", "thing.start()", "thing._started.is_set()"),
    "finished": ("threading.Timer(1, print)", "thing.cancel()", "thing.finished._flag"),
}
"""What makes the object, what changes it, and what is read of it."""
NAMED = {
    "Queue.queue": ("queue.Queue()", "thing.put(1)", "len(thing.queue)"),
    "ThreadPoolExecutor._threads": ("ThreadPoolExecutor()", "thing.shutdown()", "thing._threads"),
    "Queue._qsize": ("queue.Queue()", "thing.put(1)", "thing._qsize()"),
    "assignment to Semaphore._value": (
        *("threading.Semaphore(2)", "setattr(thing, '_value', 3)", "thing"),
    ),
}


def program_of(made: str, changed: str, read: str) -> str:
    return f"""
thing = {made}
def read():
    return {read}
before, got = read(), []
together(lambda: {changed}, lambda: got.append(read()))
assert got == [before]
"""


@pytest.mark.parametrize("name", READ)
def test_the_moment_matters(tmp_path: Path, name: str) -> None:
    result = explored(tmp_path, program_of(*READ[name]))
    assert result.verdict == VIOLATED, result.report()
    assert result.violation is not None
    assert result.violation.kind == "assert"
    assert result.not_observed == ()


@pytest.mark.parametrize("name", NAMED)
def test_what_can_be_kept_or_is_changed_is_named(tmp_path: Path, name: str) -> None:
    result = explored(tmp_path, program_of(*NAMED[name]))
    assert result.not_observed == (name,)


def test_a_method_without_a_lock_is_called_at_every_moment(tmp_path: Path) -> None:
    result = explored(tmp_path, program_of(*NAMED["Queue._qsize"]))
    assert result.verdict == VIOLATED, result.report()


def test_the_inside_of_a_queue_under_its_mutex(tmp_path: Path) -> None:
    body = """
channel, got = queue.Queue(), []
def look():
    with channel.mutex:
        got.append(len(channel.queue))
together(look, lambda: channel.put(1))
assert got == [0]
"""
    result = explored(tmp_path, body)
    assert result.verdict == VIOLATED, result.report()
    assert result.not_observed == ()


def test_parts_of_a_queue_of_its_own(tmp_path: Path) -> None:
    body = """
class Last(queue.Queue):
    def _put(self, item):
        if not self._qsize():
            super()._put(item)
channel = Last()
together(lambda: channel.put(1), lambda: channel.put(2))
assert channel.qsize() == 1
"""
    result = explored(tmp_path, body)
    assert result.verdict == HOLDS, result.report()
    assert result.not_observed == ()


REFUSED = {
    "Condition._waiters": """
condition = threading.Condition()
thread = threading.Thread(target=wait_for, args=(condition,))
thread.start()
try:
    condition._waiters
except Exception:
    pass
thread.join()
""",
    "Condition.acquire of a condition inside a queue": """
channel = queue.Queue()
def look():
    try:
        with channel.not_empty:
            pass
    except Exception:
        pass
together(look, lambda: channel.put(1), lambda: channel.put(2))
""",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_supported_is_refused_whatever_is_caught(tmp_path: Path, name: str) -> None:
    result = explored(tmp_path, REFUSED[name])
    assert result.verdict == ERROR
    assert f"{name} is not supported under control" in " ".join(result.report().split())


def test_a_thread_that_has_started_has_an_identity(tmp_path: Path) -> None:
    body = """
thread = threading.Thread(target=lambda: None)
assert thread.ident is thread.native_id is None
thread.start()
assert thread.ident and thread.native_id
thread.join()
assert thread.ident
"""
    assert explored(tmp_path, body).verdict == HOLDS


@pytest.mark.skipif(sys.version_info < (3, 13), reason="Queue.shutdown is new in Python 3.13")
def test_whether_a_queue_is_shut_down(tmp_path: Path) -> None:
    body = program_of("queue.Queue()", "thing.shutdown()", "thing.is_shutdown")
    assert explored(tmp_path, body).verdict == VIOLATED


ORDERED = {
    "heapq": "heapq.heappush(values, Key(n))",
    "bisect": "bisect.insort(values, Key(n))",
}


@pytest.mark.parametrize("name", ORDERED)
def test_comparisons_inside_of_library_code_are_named(tmp_path: Path, name: str) -> None:
    body = f"""
import bisect, heapq
class Key:
    def __init__(self, n): self.n = n
    def __lt__(self, other): return self.n < other.n
values, lock = [], threading.Lock()
def put(n):
    with GUARD:
        {ORDERED[name]}
together(lambda: put(1), lambda: put(2))
"""
    loose = explored(tmp_path, body.replace("with GUARD", "if True"))
    assert loose.not_observed == (f"comparisons inside of {name}",)
    held = explored(tmp_path, body.replace("with GUARD", "with lock"))
    assert held.not_observed == ()


def test_what_is_printed_where_a_library_has_put_a_file(tmp_path: Path) -> None:
    body = """
import io
from unittest import mock
with mock.patch("sys.stdout", new_callable=io.StringIO) as out:
    together(lambda: print("a"), lambda: print("b"))
assert out.getvalue().split() == ["a", "b"]
"""
    assert explored(tmp_path, body).verdict == VIOLATED
