"""Processes that compile kernels side by side and put them into the cache."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from mazurka.cache_folder import Cache
from mazurka.deadline import TimeLimitError, check_time, seconds_left
from mazurka.processes import Process, TimeoutExpired, python
from mazurka.processes import start as start_process

BUILD = "mazurka.compiled.cache:build"
"""What a process runs; its arguments: the directories of a cache and of its key, and the names of
kernels."""
LONGEST = 300.0
"""Nobody waits longer for a process: it must have come to harm."""
GLANCE = 0.02
"""How often somebody who waits for a kernel looks whether it is there, in seconds."""
left_behind: list[Process] = []
"""Processes that were still compiling when the time was up, or for which nobody has waited."""


def share_out(costs: Mapping[str, float], most: int) -> list[list[str]]:
    """Divide kernels among so many processes, so that all are busy for about as long."""
    groups: list[list[str]] = [[] for _ in range(most)]
    for name in sorted(costs, key=lambda name: -costs[name]):
        min(groups, key=lambda group: sum(costs[each] for each in group)).append(name)
    return [group for group in groups if group]


def build_side_by_side(place: Cache, groups: Sequence[Sequence[str]]) -> None:
    """Compile each group of kernels in a process of its own, and wait for all.

    A process that fails leaves its kernels to whoever needs them.  Where the time limit comes
    first, the processes go on, so that the next run finds what they have compiled.
    """
    running: list[Process] = []
    try:
        with suppress(OSError, ValueError):
            running.extend(start(place, group) for group in groups)
        for process in running:
            wait_for(process)
    except TimeLimitError:
        left_behind.extend(running)
        raise
    except KeyboardInterrupt:
        for process in running:
            process.kill()
        raise


def start_aside(place: Cache, names: Sequence[str]) -> None:
    """Compile kernels in a process of their own, for which nobody waits now."""
    with suppress(OSError, ValueError):
        left_behind.append(start(place, names))


def wait_for_left_behind(until: Callable[[], bool] = bool) -> None:
    """Wait for those that go on, or `until` what is needed is there: to start the same once more
    would only take the processor from them."""
    begun = time.monotonic()
    while left_behind and not until():
        process = left_behind[0]
        with suppress(TimeoutExpired):
            process.wait(GLANCE)
        check_time("preparing the engine")
        if time.monotonic() - begun > LONGEST:
            process.kill()
            process.wait()
        if process.poll() is not None:
            left_behind.pop(0)


def start(place: Cache, names: Sequence[str]) -> Process:
    return start_process(python(BUILD, str(place.folder), str(place.key_folder), *names))


def wait_for(process: Process) -> None:
    left = seconds_left()
    try:
        process.wait(LONGEST if left is None else min(left, LONGEST))
    except TimeoutExpired:
        check_time("preparing the engine")
        process.kill()
        process.wait()
