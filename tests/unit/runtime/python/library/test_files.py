"""Files under control: what is told, what is put back, and locks on files."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from observed_programs import module_of

import mazurka
from mazurka.runtime.sharing import older_files

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no fcntl")

HEAD = """
import contextlib, fcntl, mmap, os, sqlite3, threading, time
PLACE = os.path.dirname(__file__)
PATH = os.path.join(PLACE, "n")
def together(*bodies):
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
def put(path, text):
    with open(path, "w") as file:
        file.write(text)
def get(path):
    with open(path) as file:
        return file.read()
def add():
    put(PATH, str(int(get(PATH)) + 1))
"""


def explored(folder: Path, body: str, **options: Any) -> Any:
    source = f"{HEAD}def program():\n{textwrap.indent(textwrap.dedent(body), '    ')}"
    module = module_of(folder, source)
    return mazurka.explore(module.program, **{"preemptions": 2, **options})


HOLDS = {
    "own files": (
        """
        together(lambda: put(PATH + "1", "1"), lambda: put(PATH + "2", "2"))
        assert {"n1", "n2"} <= set(os.listdir(PLACE))
        """,
        1,
    ),
    "only readers": (
        """
        put(PATH, "1")
        together(lambda: get(PATH), lambda: os.stat(PATH), lambda: os.listdir(PLACE))
        """,
        1,
    ),
    "a lock on a file": (
        """
        put(PATH, "0")
        def work():
            file = os.open(PLACE, os.O_RDONLY)
            fcntl.flock(file, fcntl.LOCK_EX)
            add()
            os.close(file)
        together(work, work)
        assert get(PATH) == "2"
        """,
        2,
    ),
    "a lock that is asked for again and again": (
        """
        put(PATH, "0")
        def work():
            file = os.open(PLACE, os.O_RDONLY)
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    time.sleep(1)
            add()
            fcntl.flock(file, fcntl.LOCK_UN)
            os.close(file)
        together(work, work)
        assert get(PATH) == "2"
        """,
        None,
    ),
    "a lock by flags whose operators run code of the program": (
        """
        put(PATH, "0")
        asked = []
        class Flags(int):
            def __or__(self, other):
                asked.append(other)
                return Flags(int(self) | other)
            __and__ = __or__
        def work():
            file = os.open(PLACE, os.O_RDONLY)
            while True:
                try:
                    fcntl.flock(file, Flags(fcntl.LOCK_EX | fcntl.LOCK_NB))
                    break
                except BlockingIOError:
                    time.sleep(1)
            add()
            os.close(file)
        together(work, work)
        assert get(PATH) == "2"
        assert not asked
        """,
        None,
    ),
    "a file that is moved into place": (
        """
        put(PATH, "old")
        def work():
            put(PATH + "~", "new")
            os.replace(PATH + "~", PATH)
        def read():
            assert get(PATH) in ("old", "new")
        together(work, read)
        """,
        None,
    ),
    "a folder that may be there": (
        """
        def work():
            os.makedirs(os.path.join(PLACE, "a", "b"), exist_ok=True)
        together(work, work)
        """,
        None,
    ),
}


@pytest.mark.parametrize("name", HOLDS)
def test_what_is_right_holds(tmp_path: Path, name: str) -> None:
    body, executions = HOLDS[name]
    result = explored(tmp_path, body)
    assert result.verdict == "holds", result.report()
    assert result.not_observed == ()
    assert executions in (None, result.executions)


VIOLATED = {
    "a lock that several may hold": """
        put(PATH, "0")
        def work():
            file = os.open(PLACE, os.O_RDONLY)
            fcntl.flock(file, fcntl.LOCK_SH)
            n = int(get(PATH) or 0)
            put(PATH, str(n + 1))
            os.close(file)
        together(work, work)
        assert get(PATH) == "2"
        """,
    "locks on files in different orders": """
        put(PATH + "1", "")
        put(PATH + "2", "")
        def work(one, other):
            with open(PATH + one) as first, open(PATH + other) as second:
                fcntl.flock(first, fcntl.LOCK_EX)
                fcntl.flock(second, fcntl.LOCK_EX)
        together(lambda: work("1", "2"), lambda: work("2", "1"))
        """,
    "a file that is mapped into memory": """
        put(PATH, "0")
        def work():
            with open(PATH, "r+b") as file, mmap.mmap(file.fileno(), 1) as shown:
                shown[0] += 1
        together(work, work)
        assert get(PATH) == "2"
        """,
    "a database in memory": """
        base = sqlite3.connect(":memory:", check_same_thread=False)
        base.execute("create table t(n)")
        base.execute("insert into t values (0)")
        def work():
            n, = base.execute("select n from t").fetchone()
            base.execute("update t set n = ?", (n + 1,))
        together(work, work)
        found = base.execute("select n from t").fetchall()
        base.close()
        assert found == [(2,)]
        """,
    "a database in a file": """
        def connect():
            return sqlite3.connect(PATH, isolation_level=None)
        with contextlib.closing(connect()) as base:
            base.execute("pragma synchronous = off")
            base.execute("create table t(n)")
            base.execute("insert into t values (0)")
            def work():
                with contextlib.closing(connect()) as own:
                    (n,), = own.execute("select n from t").fetchall()
                    own.execute("update t set n = ?", (n + 1,))
            together(work, work)
            found = base.execute("select n from t").fetchall()
        assert found == [(2,)]
        """,
}
NAMED = {"mapped": "mmap", "database": "sqlite3"}


@pytest.mark.parametrize("name", VIOLATED)
def test_what_is_wrong_is_found(tmp_path: Path, name: str) -> None:
    result = explored(tmp_path, VIOLATED[name])
    assert result.verdict == "violated", result.report()
    named = tuple(library for part, library in NAMED.items() if part in name)
    assert result.not_observed == named


def test_a_connection_waits_until_another_one_has_committed(tmp_path: Path) -> None:
    body = """
        base = sqlite3.connect(PATH)
        base.execute("pragma synchronous = off")
        base.execute("create table t(n)")
        base.execute("insert into t values (0)")
        base.commit()
        base.close()
        def work():
            base = sqlite3.connect(PATH)
            with base:
                base.execute("update t set n = n + 1")
            base.close()
        together(work, work)
        """
    result = explored(tmp_path, body, preemptions=1)
    assert result.verdict == "holds", result.report()


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_nothing_is_proved_where_nobody_closes_a_file(tmp_path: Path) -> None:
    body = """
        def work():
            file = open(PATH, "w")
            file.write("1")
        def read():
            if os.path.exists(PATH):
                get(PATH)
        together(work, read)
        """
    result = explored(tmp_path, body)
    assert result.verdict == "inconclusive", result.report()
    assert result.not_observed == (
        "the end of a file that nobody closes (other threads use it meanwhile)",
    )


def test_files_are_as_before_after_an_exploration(tmp_path: Path) -> None:
    (tmp_path / "n").write_text("older")
    body = """
        assert get(PATH) == "older"
        together(lambda: put(PATH, "1"), lambda: put(PATH + "2", "2"))
        os.remove(PATH)
        os.mkdir(PATH)
        """
    result = explored(tmp_path, body)
    assert result.verdict == "holds", result.report()
    assert (tmp_path / "n").read_text() == "older"
    assert not (tmp_path / "n2").exists()


def test_a_file_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(older_files, "MOST", 3)
    (tmp_path / "n").write_text("large")
    result = explored(tmp_path, "put(PATH, '1')")
    assert result.verdict == "error"
    assert "too large to be put back after each execution" in str(result.error)
    assert (tmp_path / "n").read_text() == "large"


def test_a_report_tells_what_is_done_to_files(tmp_path: Path) -> None:
    body = """
        path = os.path.join(PLACE, "cache")
        def work():
            if not os.path.exists(path):
                os.mkdir(path)
        together(work, work)
        """
    report = explored(tmp_path, body).report()
    assert report.count("look for cache ➜ missing") == 2
    assert report.count("create folder cache\n") == 1
    assert report.count("create folder cache: FileExistsError\n") == 1
    assert "genericpath" not in report
    assert "check then act: Thread-1 checks cache at line" in report
    assert "the mask of new files" not in report


def test_a_report_tells_what_stays_in_a_buffer(tmp_path: Path) -> None:
    body = """
        with open(PATH, "w") as file:
            def write():
                file.write("a")
                file.flush()
            def read():
                assert get(PATH) == ""
            together(write, read)
        """
    report = explored(tmp_path, body).report()
    assert report.count("write n (still in the buffer)\n") == 1
    assert report.count("flush n\n") == 1
