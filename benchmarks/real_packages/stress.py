"""Run one test many times in plain threads, without Mazurka, and count the runs that fail.

    python stress.py FILE NAME --runs 10000 --interval 1e-6 --seconds 60

Prints a JSON object.  A run fails if the test or one of its threads raises an exception, or if
nothing ends for half a minute; a run that hangs is the last one.  The seconds are those of the
processor: other programs on the machine do not count.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

HANGS_AFTER = 30.0


class Tally:
    """How many runs there were, and how many of them failed."""

    def __init__(self) -> None:
        self.runs = 0
        self.failed = 0
        self.hung = False
        self.raised = False

    def note_exception(self, _details: Any) -> None:
        self.raised = True

    def end(self) -> None:
        """Print the counts and end the process, whatever threads there are."""
        counts = {"runs": self.runs, "failed": self.failed, "hung": self.hung}
        print(json.dumps(counts), flush=True)
        os._exit(0)


def run_often(function: Any, tally: Tally, runs: int, seconds: float) -> None:
    """Run a test until there were so many runs, or the time is over."""
    threading.excepthook = tally.note_exception
    until = time.process_time() + seconds
    while tally.runs < runs and time.process_time() < until:
        tally.raised = False
        try:
            function()
        except BaseException:
            tally.raised = True
        tally.runs += 1
        tally.failed += tally.raised


def end_a_hang(tally: Tally) -> None:
    """End the process if a run takes too long."""
    while True:
        before = tally.runs
        time.sleep(HANGS_AFTER)
        if tally.runs == before:
            tally.runs += 1
            tally.failed += 1
            tally.hung = True
            tally.end()


def load_test(file: Path, name: str) -> Any:
    """Import a test as pytest would, with the folder of `together` on the path."""
    sys.path[:0] = [str(Path(__file__).parent), str(file.parent)]
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return getattr(module, name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("name")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--interval", type=float, help="the switch interval; Python's own if none")
    parser.add_argument("--seconds", type=float, default=60.0)
    arguments = parser.parse_args()
    function = load_test(arguments.file, arguments.name)
    tally = Tally()
    threading.Thread(target=end_a_hang, args=(tally,), daemon=True).start()
    if arguments.interval is not None:
        sys.setswitchinterval(arguments.interval)
    run_often(function, tally, arguments.runs, arguments.seconds)
    tally.end()


if __name__ == "__main__":
    main()
