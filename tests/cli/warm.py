"""Run the command many times in copies of one process, which has loaded everything already.

A copy differs from a process that a user starts only in what it need not load.  It begins where
`python -m mazurka` begins, and ends as Python ends.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

SERVER = """
import contextlib, gc, io, json, os, resource, sys
import mazurka.__main__
from mazurka.cli import main

with contextlib.redirect_stdout(io.StringIO()):
    for words in json.loads(sys.argv[1]):
        sys.argv[1:] = words
        main.main()
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
        opened = os.open(place, os.O_WRONLY | os.O_CREAT, 0o600)
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
sys.argv[1:] = asked["words"]
exec(asked["before"])
mazurka.__main__.main()
"""


@dataclass
class Outcome:
    status: int
    out: str
    err: str


class WarmCommand(AbstractContextManager["WarmCommand"]):
    """A process with a copy for each command that it is asked to run."""

    def __init__(self, environment: dict[str, str], folder: Path, *first: list[str]) -> None:
        """`first` are commands that run in the process itself, so that it loads what they need."""
        self.folder = folder
        self.server = subprocess.Popen(
            [sys.executable, "-c", SERVER, json.dumps(first)],
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
    ) -> Outcome:
        """Run the command.  `out` and `err` are files, "closed", or "nowhere": a closed pipe.
        `before` is code that runs first, in the copy."""
        for name in ("out", "err"):
            (self.folder / name).unlink(missing_ok=True)
        asked = {"words": words, "folder": str(self.folder), "out": out, "err": err}
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        self.server.stdin.write(json.dumps({**asked, "limit": limit, "before": before}) + "\n")
        self.server.stdin.flush()
        status = int(self.server.stdout.readline())
        said = [self.folder / name for name in ("out", "err")]
        texts = [each.read_text("utf-8", "replace") if each.exists() else "" for each in said]
        return Outcome(status, *texts)

    def address_space(self) -> int:
        """Return the bytes of addresses that each copy begins with."""
        pages = Path(f"/proc/{self.server.pid}/statm").read_text("ascii").split()[0]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def __exit__(self, *_: object) -> None:
        self.server.communicate()
