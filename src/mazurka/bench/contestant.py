"""One tool on one program, in a process of its own.

A tool may hang, or take all memory; the process can be ended, and nothing of it is left.  What the
tool says is printed as one line of JSON.  All get the same programs and the bound of two
preemptions, and stop at the first failure:

- Mazurka and interleave-test get the test function of `starting.py`, which starts the threads;
- frontrun starts threads itself, and gets what the test function uses: a constructor for the state,
  the workers, and the predicate that is asserted in the end.

The time is that of the exploration alone, without importing anything.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import runpy
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mazurka.bench.figures import Figures
from mazurka.bench.programs import TEST_FILE

PREEMPTIONS = 2
UNLIMITED = 10**9
MEMORY_BYTES = 4 << 30
UNNAMED = "failure"
"""A failure of which the tool does not say, in a word, what sort it is."""
MARK = "contestant: "
"""Begins the line with the answer; programs and tools may print, too."""
ANSWER = ("failure", "executions", "seconds", "error")


def ask_mazurka(file: Path) -> Figures:
    from mazurka.runtime.exploring.entry import explore_test
    from mazurka.runtime.exploring.options import ExploreOptions
    from mazurka.runtime.testing.collecting import collect

    (found,) = collect(f"{file.with_name(TEST_FILE)}::test")
    begun = time.perf_counter()
    result = explore_test(found.test, ExploreOptions(preemptions=PREEMPTIONS))
    seconds = time.perf_counter() - begun
    if result.error is not None:
        return Figures(error=result.error.message, seconds=seconds)
    failure = None if result.violation is None else result.violation.kind
    if failure is None and not result.levels[-1].complete:
        return Figures(error=", ".join(result.limits), seconds=seconds)
    return Figures(failure=failure, executions=result.executions, seconds=seconds)


def ask_frontrun(file: Path) -> Figures:
    frontrun = importlib.import_module("frontrun")
    # As its pytest plugin does, so that locks of the module are under its control, too.
    importlib.import_module("frontrun._cooperative").patch_locks()
    program = load(file)
    begun = time.perf_counter()
    result = frontrun.explore(
        setup=program.State,
        workers=list(program.WORKERS),
        invariant=program.holds,
        preemption_bound=PREEMPTIONS,
        reproduce_on_failure=0,
    )
    failure, error = None, None
    if result.property_holds is None:
        error = f"inconclusive: {getattr(result, 'inconclusive_reason', None)}"
    elif not result.property_holds:
        failure = UNNAMED
    seconds = time.perf_counter() - begun
    return Figures(failure=failure, executions=result.num_explored, seconds=seconds, error=error)


def ask_interleave_test(file: Path) -> Figures:
    interleave = importlib.import_module("interleave_test")
    test = load(file.with_name(TEST_FILE)).test
    begun = time.perf_counter()
    failure, error = None, None
    try:
        result = interleave.explore(
            test, strategy="dfs", max_preemptions=PREEMPTIONS, iterations=UNLIMITED
        )
    except (interleave.HangError, interleave.ReplayDivergence) as gives_up:
        result, error = gives_up.result, type(gives_up).__name__
    except interleave.InterleaveError as found:
        result, failure = found.result, found.failure.kind
        if isinstance(found.failure.exception, AssertionError):
            failure = "assert"
    seconds = time.perf_counter() - begun
    return Figures(failure=failure, executions=result.schedules_run, seconds=seconds, error=error)


def load(file: Path) -> Any:
    """Import a file as a module, and what lies beside it when it asks for that."""
    sys.path.insert(0, str(file.parent))
    return importlib.import_module(file.stem)


TOOLS: dict[str, Callable[[Path], Figures]] = {
    "mazurka": ask_mazurka,
    "frontrun": ask_frontrun,
    "interleave-test": ask_interleave_test,
}


def is_installed(tool: str) -> bool:
    return importlib.util.find_spec(tool.replace("-", "_")) is not None


def answer(tool: str, file: Path) -> Figures:
    try:
        return TOOLS[tool](file)
    except (Exception, SystemExit) as error:
        return Figures(seconds=0.0, error=f"{type(error).__name__}: {error}")


def limit_memory() -> None:
    """Let a search that explodes fail, and not the machine, where that can be done."""
    try:
        import resource
    except ImportError:
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = MEMORY_BYTES if most == resource.RLIM_INFINITY else min(MEMORY_BYTES, most)
    resource.setrlimit(resource.RLIMIT_AS, (limit, most))


def run_frontrun(*command: str) -> None:
    """Run a command as `frontrun` does, whose own command prepares the process that it starts."""
    sys.argv[1:] = command
    runpy.run_module("frontrun.cli", run_name="__main__", alter_sys=True)


def main(tool: str, file: str) -> None:
    limit_memory()
    print(MARK + json.dumps(answer(tool, Path(file)).to_json(*ANSWER)), flush=True)
    os._exit(0)  # threads that a tool has left behind may never end
