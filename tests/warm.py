"""Run `python -m mazurka` and `python -m pytest` in copies of a process that has loaded them.

To start a process and load everything takes longer than most commands and sessions of tests take.
A copy differs from a process that a user starts only in what it need not load.  It begins where
`python -m` begins, and ends as Python ends.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.limits import ENOUGH

SERVER = """
import contextlib, gc, io, json, os, resource, sys

program, first = json.loads(sys.argv[1])
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    if program == "mazurka":
        import mazurka.__main__
        from mazurka.cli import main
        begin, load = mazurka.__main__.main, main.main
    else:
        import runpy
        import pytest
        begin = load = lambda: runpy.run_module("pytest", run_name="__main__")
    for words in first:
        sys.argv[1:] = words
        with contextlib.suppress(SystemExit):
            load()
for name in [name for name in sys.modules if name.startswith("test_")]:
    del sys.modules[name]
gc.collect()
gc.freeze()
print(flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if not child:
        break
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
else:
    sys.exit()

def lead(number, place):
    os.close(number)
    if place == "nowhere":
        reading, writing = os.pipe()
        if writing != number:
            os.dup2(writing, number)
            os.close(writing)
        os.close(reading)
    elif place != "closed":
        opened = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        if opened != number:
            os.dup2(opened, number)
            os.close(opened)

os.close(0)
os.open(os.devnull, os.O_RDONLY)
os.chdir(asked["folder"])
lead(1, asked["out"])
lead(2, asked["err"])
if asked["limit"]:
    kind, value = asked["limit"]
    resource.setrlimit(getattr(resource, kind), (value, resource.getrlimit(
        getattr(resource, kind))[1]))
if asked["environment"] is not None:
    os.environ.clear()
    os.environ.update(asked["environment"])
sys.path[:1] = [] if program == "mazurka" else [asked["folder"]]
sys.argv[:] = [program, *asked["words"]]
exec(asked["before"])
sys.exit(begin())
"""


@dataclass
class Outcome:
    status: int
    out: str
    err: str


class WarmCommand(AbstractContextManager["WarmCommand"]):
    """A process with a copy for each command that it is asked to run."""

    def __init__(
        self,
        environment: Mapping[str, str],
        folder: Path,
        *first: list[str],
        program: str = "mazurka",
    ) -> None:
        """`first` are commands that run in the process itself, so that it loads what they need."""
        self.folder = folder
        self.server = subprocess.Popen(
            [sys.executable, "-c", SERVER, json.dumps([program, first])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            cwd=folder,
            text=True,
        )
        assert self.server.stdout is not None
        assert self.server.stdout.readline() == "\n"

    def run(
        self,
        *words: str,
        out: str = "out",
        err: str = "err",
        limit: tuple[str, int] | None = None,
        before: str = "",
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Outcome:
        """Run the command.  `out` and `err` are files, "closed", or "nowhere": a closed pipe.
        `before` is code that runs first, in the copy."""
        places = [self.folder / name for name in (out, err)]
        for place in places:
            if place.parent == self.folder:
                place.unlink(missing_ok=True)
        asked = {
            "words": words,
            "folder": str(folder or self.folder),
            "out": self._place(out),
            "err": self._place(err),
            "limit": limit,
            "before": before,
            "environment": None if environment is None else dict(environment),
        }
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        self.server.stdin.write(json.dumps(asked) + "\n")
        self.server.stdin.flush()
        if not select.select([self.server.stdout], [], [], ENOUGH)[0]:
            self.server.kill()
            raise TimeoutError(f"{words} has not ended after {ENOUGH:g} s")
        status = int(self.server.stdout.readline())
        said = [self.folder / name for name in ("out", "err")]
        texts = [each.read_text("utf-8", "replace") if each.exists() else "" for each in said]
        return Outcome(status, *texts)

    def _place(self, name: str) -> str:
        return name if name in ("closed", "nowhere") else str(self.folder / name)

    def address_space(self) -> int:
        """Return the bytes of addresses that each copy begins with."""
        pages = Path(f"/proc/{self.server.pid}/statm").read_text("ascii").split()[0]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def __exit__(self, *_: object) -> None:
        self.server.communicate()


EXPLORED = """
import threading
import pytest

@pytest.mark.mazurka
def test_passes():
    thread = threading.Thread(target=list)
    thread.start()
    thread.join()

@pytest.mark.mazurka
def test_fails():
    lock = threading.Lock()
    with lock:
        assert not lock.locked()
"""
MODEL = """
from mazurka.model import Int
x: Int[0, 2] = 0
def work():
    global x
    x = x + 1
threads = [work(), work()]
"""
FIRST = {
    "mazurka": [["test", "test_first.py"], ["check", "first.py", "--strategy", "full"]],
    "pytest": [["-p", "no:cacheprovider", "test_first.py"]],
}
"""What a program runs to load what its copies need."""
FIXED = ("PYTHONPATH", "PYTHONHASHSEED", "PYTHONWARNINGS")
"""What Python reads when it starts: copies have what the first process had."""


@cache
def _warm(program: str, fixed: tuple[str | None, ...]) -> WarmCommand:
    """Start a process whose copies run a program, once for these values of `FIXED`."""
    # Not a `TemporaryDirectory`: processes that `multiprocessing` forks forget what `atexit` keeps
    # from Python 3.14 on, and the directory would be removed with the object.
    folder, process = Path(tempfile.mkdtemp(prefix="mazurka-warm-")), os.getpid()
    (folder / "test_first.py").write_text(EXPLORED)
    (folder / "first.py").write_text(MODEL)
    values = {name: value for name, value in zip(FIXED, fixed, strict=True) if value is not None}
    environment = {name: value for name, value in os.environ.items() if name not in FIXED}
    command = WarmCommand({**environment, **values}, folder, *FIRST[program], program=program)

    def end() -> None:
        if os.getpid() == process:
            command.__exit__()
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(end)
    return command


def run_warm(
    program: str,
    *words: str,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Return what `python -m PROGRAM` prints, where it runs in a copy of a warm process."""
    environment = dict(os.environ if environment is None else environment)
    if not hasattr(os, "fork"):
        return subprocess.run(
            [sys.executable, "-m", program, *words],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=ENOUGH,
            check=False,
        )
    command = _warm(program, tuple(map(environment.get, FIXED)))
    done = command.run(*words, folder=folder or Path.cwd(), environment=environment)
    return subprocess.CompletedProcess(words, done.status, done.out, done.err)
