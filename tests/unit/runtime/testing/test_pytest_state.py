"""What pytest gives to a test: fixtures of its own and of others, new in each execution."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from tests.warm import run_warm

CONFTEST = """\
import queue
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

LOCK = threading.Lock()


class Service:
    lock = threading.Lock()

    def __init__(self):
        self.own = threading.RLock()


@pytest.fixture(scope="session")
def session_lock():
    return threading.Lock()


@pytest.fixture(scope="module")
def module_lock():
    lock = threading.Lock()
    yield lock
    assert type(lock).__module__ == "_thread"
    assert not lock.locked()


@pytest.fixture(scope="session")
def service():
    return Service()


@pytest.fixture(scope="session")
def pair():
    return threading.Lock(), threading.Lock()


@pytest.fixture(scope="session")
def frozen():
    return frozenset([threading.Lock()])


@pytest.fixture(scope="session")
def things():
    return {
        "queue": queue.Queue(),
        "simple": queue.SimpleQueue(),
        "event": threading.Event(),
        "condition": threading.Condition(),
    }


@pytest.fixture(scope="session")
def executor():
    with ThreadPoolExecutor(2) as pool:
        yield pool


@pytest.fixture
def user(session_lock):
    return [session_lock]


@pytest.fixture
def conftest_lock():
    return LOCK


@pytest.fixture
def default_lock(lock=threading.Lock()):
    return lock
"""

SHARED = """\
import threading
import pytest

pytestmark = pytest.mark.mazurka(patience=1)


def together(*targets):
    threads = [threading.Thread(target=target) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""

LOCKS = (
    SHARED
    + """

def twice(lock):
    count = [0]

    def add():
        with lock:
            count[0] += 1

    together(add, add)
    assert count[0] == 2


def test_session(session_lock): twice(session_lock)
def test_module(module_lock): twice(module_lock)
def test_through_a_fixture(user, session_lock):
    assert user[0] is session_lock
    twice(user[0])
def test_asked_for(request): twice(request.getfixturevalue("session_lock"))
def test_attributes(service):
    twice(service.lock)
    twice(service.own)
def test_tuple(pair): twice(pair[1])
def test_conftest(conftest_lock): twice(conftest_lock)
def test_default_of_fixture(default_lock): twice(default_lock)
def test_default(lock=threading.Lock()): twice(lock)
def test_condition(things): twice(things["condition"])


def test_things(things):
    for name in ("queue", "simple"):
        together(lambda: things[name].put(1), things[name].get)
    together(things["event"].set, things["event"].wait)
    things["event"].clear()


def test_executor(executor):
    assert executor.submit(lambda: 3).result() == 3


def closure():
    lock = threading.Lock()
    def test(): twice(lock)
    return test


test_closure = closure()


class TestClass:
    lock = threading.Lock()

    def test_of_the_class(self): twice(self.lock)


def test_wrong_order(pair, session_lock, conftest_lock):
    def take(one, two):
        with one, two:
            pass

    together(
        lambda: take(pair[0], session_lock),
        lambda: take(session_lock, conftest_lock),
        lambda: take(conftest_lock, pair[0]),
    )


def test_wrong_set(frozen): twice(next(iter(frozen)))
"""
)

BUILT_IN = (
    SHARED
    + """
import logging
import os
import time
import warnings
from unittest import mock


def test_tmp_only(tmp_path): pass


def test_tmp(tmp_path, tmp_path_factory, tmpdir):
    assert tmp_path.name == "test_tmp0"
    assert list(tmp_path.iterdir()) == []
    own = tmp_path_factory.mktemp("own", numbered=False)
    other = tmp_path_factory.mktemp("other")
    assert other.name == "other0"
    together(lambda: (own / "a").write_text("x"), lambda: (tmp_path / "b").write_text("x"))
    assert len(list(tmp_path.iterdir())) == len(list(own.iterdir())) == 1


def test_caplog(caplog):
    together(lambda: logging.warning("a"), lambda: logging.warning("b"))
    assert sorted(caplog.messages) == ["a", "b"]


@pytest.fixture
def logs(caplog):
    logging.warning("set up")
    yield
    assert [record.getMessage() for record in caplog.get_records("call")] == ["x"]


def test_phases(logs, caplog):
    assert caplog.messages == []
    assert [record.getMessage() for record in caplog.get_records("setup")] == ["set up"]
    caplog.set_level(logging.DEBUG)
    logging.debug("x")
    assert caplog.messages == ["x"]


def test_wrong_caplog(caplog):
    together(lambda: logging.warning("a"), lambda: logging.warning("b"))
    assert caplog.messages == ["a", "b"]


def test_capsys(capsys):
    together(lambda: print("x"), lambda: print("x"))
    assert capsys.readouterr().out == "x\\nx\\n"


def test_wrong_capsys(capsys):
    together(lambda: print("a"), lambda: print("b"))
    assert capsys.readouterr().out == "a\\nb\\n"


def test_wrong_capfd(capfd):
    together(lambda: print("a"), lambda: print("b"))
    assert capfd.readouterr().out == "a\\nb\\n"


def test_capfd(capfd):
    together(lambda: os.write(1, b"a"), lambda: None)
    assert capfd.readouterr().out == "a"


def test_recwarn(recwarn):
    together(lambda: warnings.warn("x"), lambda: None)
    assert len(recwarn) == 1


def test_monkeypatch(monkeypatch):
    assert "MAZURKA_X" not in os.environ
    monkeypatch.setenv("MAZURKA_X", "1")
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    together(lambda: os.environ["MAZURKA_X"], lambda: time.sleep(1))


def test_request(request, record_property):
    path = request.getfixturevalue("tmp_path")
    assert list(path.iterdir()) == []
    (path / "a").mkdir()
    record_property("one", 1)
    assert request.node.user_properties == [("one", 1)]
    together(lambda: None)


@mock.patch("os.getcwd")
@mock.patch.object(os, "getppid", return_value=3)
def test_mock(getppid, getcwd, tmp_path):
    lock = threading.Lock()
    def ask():
        with lock:  # a mock may lose calls otherwise
            os.getppid()
    together(ask, ask)
    assert getppid.call_count == 2
    assert os.getcwd() is getcwd.return_value


told = []


@pytest.fixture(autouse=True)
def automatic():
    told[:] = ["up"]
    yield
    assert told == ["up"]


class TestClass:
    @pytest.fixture(autouse=True)
    def mine(self, automatic):
        self.values = [1]
        yield
        assert self.values == [1, 2]

    def test_method(self):
        assert told == ["up"]
        together(lambda: self.values.append(2), lambda: None)


def test_wrong_unread_output():
    n = {"a": 0}  # named by its number among what the execution has met
    def tell():
        n["a"] += 1
        if n["a"] == 1:
            print("told")
    together(tell, tell)
    assert n["a"] == 2


def test_wrong_output():
    def tell():
        print("printed")
        logging.warning("logged")

    together(tell, tell)
    assert False


@pytest.fixture
def failing():
    assert False, "in the fixture"


def test_wrong_fixture(failing): pass


@pytest.fixture
def skipping():
    pytest.skip("not today")


def test_skipped(skipping): pass


@pytest.fixture
def lock(request):
    made = threading.Lock()
    if "stuck" in request.node.name:
        made.acquire()
        made.acquire()
    yield made
    made.acquire()  # not if the test has left it locked: the execution ends here


class TestCut:
    def setup_method(self):
        self.mine = 1

    def test_wrong_tear_down(self, lock): lock.acquire()
    def test_after_tear_down(self): assert self.mine == 1
    def test_wrong_stuck_set_up(self, lock): pass
    def test_after_set_up(self, lock): assert self.mine == 1
"""
)


def run(directory: Path, *arguments: str) -> str:
    words = ("-p", "no:cacheprovider", "-rA", *arguments)
    environment = {**os.environ, "COLUMNS": "150"}
    found = run_warm("pytest", *words, folder=directory, environment=environment)
    return found.stdout + found.stderr


def outcomes(output: str) -> dict[str, str]:
    found = re.findall(r"^(PASSED|FAILED|ERROR) \S+::(\w+)", output, re.MULTILINE)
    return {name: outcome for outcome, name in found}


WORKERS_AT_ONCE = """\
def pytest_runtest_setup():
    from mazurka.runtime.exploring.workers import parallel

    parallel.SCOUTING = 1
"""
"""A plugin: worker processes take on all but one execution."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("project")
    (directory / "pytest.ini").touch()
    (directory / "conftest.py").write_text(CONFTEST)
    (directory / "test_locks_outside.py").write_text(LOCKS)
    (directory / "test_built_in.py").write_text(BUILT_IN)
    (directory / "workers_at_once.py").write_text(WORKERS_AT_ONCE)
    return directory


@pytest.fixture(scope="module")
def locks(project: Path) -> str:
    return run(project, "test_locks_outside.py")


@pytest.fixture(scope="module")
def built_in(project: Path) -> str:
    """With the runs beside the search: fixtures are new in those, too."""
    more = ("-p", "no:search_alone", f"--basetemp={project / 'temporary'}")
    return run(project, "test_built_in.py", *more)


def test_locks_of_wider_fixtures_are_under_control(locks: str) -> None:
    found = outcomes(locks)
    assert len(found) == 16, locks
    for name, outcome in found.items():
        assert outcome == ("FAILED" if "wrong" in name else "PASSED"), locks


def test_locks_of_fixtures_have_their_names(locks: str) -> None:
    assert "waits to acquire lock session_lock" in locks
    assert "acquire pair[0]" in locks


def test_a_lock_that_stays_real_is_explained(locks: str) -> None:
    text = " ".join(locks.split())
    assert "a lock was created outside of the test, and is held by frozen in a set" in text


def test_built_in_fixtures_are_new_in_each_execution(built_in: str) -> None:
    found = outcomes(built_in)
    assert len(found) == 21, built_in
    for name, outcome in found.items():
        assert outcome == ("FAILED" if "wrong" in name else "PASSED"), built_in
    assert "1 skipped" in built_in


def test_built_in_fixtures_are_new_in_each_execution_of_a_worker(project: Path) -> None:
    """Directories have the names that they have for the process that started the workers."""
    chosen = ("-k", "tmp", "--mazurka-workers=2", "-p")
    output = run(project, "test_built_in.py", *chosen, "workers_at_once")
    assert outcomes(output) == dict.fromkeys(("test_tmp_only", "test_tmp"), "PASSED"), output


def test_an_execution_that_ends_in_a_fixture_leaves_nothing_set_up(built_in: str) -> None:
    found = outcomes(built_in)
    assert found["test_after_tear_down"] == found["test_after_set_up"] == "PASSED"
    for name in ("test_wrong_tear_down", "test_wrong_stuck_set_up"):
        assert f"{name} - deadlock: nobody can go on" in built_in


def test_the_order_of_what_is_told_is_seen(built_in: str) -> None:
    assert "['b', 'a'] == ['a', 'b']" in built_in
    assert r"'b\na\n' == 'a\nb\n' (assert capsys" in " ".join(built_in.split())
    assert r"'b\na\n' == 'a\nb\n' (assert capfd" in " ".join(built_in.split())
    assert "acquire sys.stdout" in built_in


def test_what_an_execution_prints_makes_no_difference_to_the_next(built_in: str) -> None:
    assert 'AssertionError: 1 == 2 (assert n["a"] == 2)' in built_in
    assert "could not be reproduced" not in built_in


def test_only_the_last_execution_is_shown(built_in: str) -> None:
    assert built_in.splitlines().count("printed") == 2
    assert len(re.findall(r"^WARNING .* logged$", built_in, re.MULTILINE)) == 2


def test_directories_of_one_execution_stay(project: Path, built_in: str) -> None:
    assert built_in
    found = sorted(path.name for path in (project / "temporary").iterdir() if not path.is_symlink())
    assert found == ["other0", "own", "test_mock0", "test_request0", "test_tmp0", "test_tmp_only0"]
    assert (project / "temporary" / "own" / "a").exists()


TYPO = """\
import pytest

@pytest.mark.mazurka(preemtions=2)
def test_typo(): pass

def test_other(): pass
"""
LATE = """\
import pytest

@pytest.fixture
def marker(request):
    request.node.add_marker(pytest.mark.mazurka(preemtions=2))

def test_late(marker): pass
"""


@pytest.mark.parametrize(
    ("source", "arguments", "others"),
    [(TYPO, (), 1), (TYPO, ("-n1",), 1), (LATE, (), 0)],
    ids=["session", "workers", "late"],
)
def test_a_wrong_option_is_one_message(
    tmp_path: Path, source: str, arguments: tuple[str, ...], others: int
) -> None:
    (tmp_path / "test_typo.py").write_text(source)
    output = run(tmp_path, *arguments)
    assert "there is no option 'preemtions'; there are executions" in output
    for unrelated in ("KeyError", "StashKey", "INTERNALERROR", "Traceback", "During handling"):
        assert unrelated not in output, output
    assert output.count("PASSED") == others
