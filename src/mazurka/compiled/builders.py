"""Processes that compile kernels side by side and put them into the cache."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from mazurka.deadline import TimeLimitError, check_time, seconds_left

HOME = str(Path(__file__).parents[2])
PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from mazurka.compiled.cache import build
build(sys.argv[2:])
"""
"""What a process runs; its arguments: where Mazurka is, and the names of kernels."""
LONGEST = 300.0
"""Nobody waits longer for a process: it must have come to harm."""
left_behind: list[subprocess.Popen[bytes]] = []
"""Processes that were still compiling when the time was up, or for which nobody has waited."""


def share_out(costs: Mapping[str, float], most: int) -> list[list[str]]:
    """Divide kernels among so many processes, so that all are busy for about as long."""
    groups: list[list[str]] = [[] for _ in range(most)]
    for name in sorted(costs, key=lambda name: -costs[name]):
        min(groups, key=lambda group: sum(costs[each] for each in group)).append(name)
    return [group for group in groups if group]


def build_side_by_side(groups: Sequence[Sequence[str]]) -> None:
    """Compile each group of kernels in a process of its own, and wait for all.

    A process that fails leaves its kernels to whoever needs them.  Where the time limit comes
    first, the processes go on, so that the next run finds what they have compiled.
    """
    running: list[subprocess.Popen[bytes]] = []
    try:
        with suppress(OSError, ValueError):
            running.extend(map(start, groups))
        for process in running:
            wait_for(process)
    except TimeLimitError:
        left_behind.extend(running)
        raise
    except KeyboardInterrupt:
        for process in running:
            process.kill()
        raise


def start_aside(names: Sequence[str]) -> None:
    """Compile kernels in a process of their own, for which nobody waits now."""
    with suppress(OSError, ValueError):
        left_behind.append(start(names))


def wait_for_left_behind() -> None:
    """Wait for those that go on since an earlier time limit: to start the same once more would only
    take the processor from them."""
    while left_behind:
        wait_for(left_behind[-1])
        left_behind.pop()


def start(names: Sequence[str]) -> subprocess.Popen[bytes]:
    nothing = subprocess.DEVNULL
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, HOME, *names], stdin=nothing, stdout=nothing, stderr=nothing
    )


def wait_for(process: subprocess.Popen[bytes]) -> None:
    left = seconds_left()
    try:
        process.wait(LONGEST if left is None else min(left, LONGEST))
    except subprocess.TimeoutExpired:
        check_time("preparing the engine")
        process.kill()
        process.wait()
