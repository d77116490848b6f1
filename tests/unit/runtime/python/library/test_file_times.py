"""Times of files follow the virtual clock."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import mazurka


def in_threads(*works: Callable[[], None]) -> None:
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_a_file_is_as_old_as_the_clock_says(tmp_path: Path) -> None:
    path = tmp_path / "file"

    def work() -> None:
        path.write_text("x")
        time.sleep(10)
        found = os.stat(path)
        assert 9.9 < time.time() - found.st_mtime < 10.5
        assert (found.st_size, found[8]) == (1, int(found.st_mtime))
        with path.open("a") as file:
            file.write("more")
        assert time.time() - os.path.getmtime(path) < 1
        os.utime(path, (5, 5))
        assert path.stat().st_mtime == 5

    assert mazurka.explore(lambda: in_threads(work), preemptions=2).verdict == "holds"


def test_no_file_comes_from_the_future(tmp_path: Path) -> None:
    path = tmp_path / "file"

    def work() -> None:
        assert os.stat(path).st_mtime <= time.time()

    def program() -> None:
        now = real_time()
        while real_time() - now < 0.02:  # the clock of files is coarse
            pass
        path.write_text("x")
        in_threads(work, work)

    real_time = time.thread_time
    assert mazurka.explore(program, preemptions=2).verdict == "holds"
