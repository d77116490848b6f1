"""One tool on one program, in a process of its own: `python -m mazurka.bench.contestant`.

A tool may hang, or take all memory; the process can be ended, and nothing of it is left.  What the
tool says is printed as one line of JSON.  All get the same programs and the bound of two
preemptions, and stop at the first failure:

- Mazurka and interleave-test get the test function, which starts the threads itself;
- frontrun starts threads itself, and gets what the test function is made of: a constructor for the
  state, the workers, and the predicate that is asserted in the end.

The time is that of the exploration alone, without importing anything.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

PREEMPTIONS = 2
UNLIMITED = 10**9
MEMORY_BYTES = 4 << 30
UNNAMED = "failure"
"""A failure of which the tool does not say, in a word, what sort it is."""
MARK = "contestant: "
"""Begins the line with the answer; programs and tools may print, too."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a tool says about a program."""

    failure: str | None = None
    """What it found: `assert`, `deadlock`, ..., or UNNAMED; None if it found nothing."""
    executions: int | None = None
    seconds: float = 0.0
    error: str | None = None
    """Why it says nothing."""


def with_mazurka(file: Path) -> Answer:
    from mazurka.runtime.exploring.exploration import explore_test
    from mazurka.runtime.exploring.options import ExploreOptions
    from mazurka.runtime.testing.collecting import collect

    (found,) = collect(f"{file}::test")
    begun = time.perf_counter()
    result = explore_test(found.test, ExploreOptions(preemptions=PREEMPTIONS))
    seconds = time.perf_counter() - begun
    if result.error is not None:
        return Answer(error=result.error.message, seconds=seconds)
    failure = None if result.violation is None else result.violation.kind
    if failure is None and not result.levels[-1].complete:
        return Answer(error=", ".join(result.limits), seconds=seconds)
    return Answer(failure=failure, executions=result.executions, seconds=seconds)


def with_frontrun(file: Path) -> Answer:
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
    seconds, executions = time.perf_counter() - begun, result.num_explored
    if result.property_holds is None:
        reason = getattr(result, "inconclusive_reason", None)
        return Answer(error=f"inconclusive: {reason}", executions=executions, seconds=seconds)
    failure = None if result.property_holds else UNNAMED
    return Answer(failure=failure, executions=executions, seconds=seconds)


def with_interleave_test(file: Path) -> Answer:
    interleave, program = importlib.import_module("interleave_test"), load(file)
    begun = time.perf_counter()
    failure, error = None, None
    try:
        result = interleave.explore(
            program.test, strategy="dfs", max_preemptions=PREEMPTIONS, iterations=UNLIMITED
        )
    except (interleave.HangError, interleave.ReplayDivergence) as gives_up:
        result, error = gives_up.result, type(gives_up).__name__
    except interleave.InterleaveError as found:
        result, failure = found.result, found.failure.kind
        if isinstance(found.failure.exception, AssertionError):
            failure = "assert"
    seconds = time.perf_counter() - begun
    return Answer(failure=failure, executions=result.schedules_run, seconds=seconds, error=error)


def load(file: Path) -> Any:
    """The program as a module."""
    sys.path.insert(0, str(file.parent))
    return importlib.import_module(file.stem)


TOOLS: dict[str, Callable[[Path], Answer]] = {
    "mazurka": with_mazurka,
    "frontrun": with_frontrun,
    "interleave-test": with_interleave_test,
}
MODULES = {"frontrun": "frontrun", "interleave-test": "interleave_test"}


def is_installed(tool: str) -> bool:
    return tool not in MODULES or importlib.util.find_spec(MODULES[tool]) is not None


def answer(tool: str, file: Path) -> Answer:
    try:
        return TOOLS[tool](file)
    except (Exception, SystemExit) as error:
        return Answer(error=f"{type(error).__name__}: {error}")


def limit_memory() -> None:
    """Where that can be done: a search that explodes is to fail, and not the machine."""
    try:
        import resource
    except ImportError:
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = MEMORY_BYTES if most == resource.RLIM_INFINITY else min(MEMORY_BYTES, most)
    resource.setrlimit(resource.RLIMIT_AS, (limit, most))


def main(tool: str, file: str) -> None:
    limit_memory()
    print(MARK + json.dumps(asdict(answer(tool, Path(file)))), flush=True)
    os._exit(0)  # threads that a tool has left behind may never end


if __name__ == "__main__":
    main(*sys.argv[1:])
