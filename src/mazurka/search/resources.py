"""What this process may take of the machine: processors and memory."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from mazurka.errors import OptionError

MOST_WORKERS = 256
"""No more help one machine; a larger number is a slip, and would fill the memory with processes."""
USUAL_LIMIT = 4_000_000_000
CONTROL_GROUP_FILES = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def processors() -> int:
    """How many there are for this process."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def refuse_many(option: str, workers: int) -> None:
    """The same number is refused on every machine, so that a test's own options work on all."""
    if workers > MOST_WORKERS:
        raise OptionError(
            f"{option} must be {MOST_WORKERS} or less, not {workers}; more than there are"
            f" processors ({processors()} here) do not make a search faster"
        )


def available_bytes() -> int:
    """What this process may use: the least of what machine, container and user allow."""
    return min([_machine_bytes(), *_container_bytes(), *_address_space_bytes()])


def _machine_bytes() -> int:
    """What the machine can spare now; a guess of 4 GiB where it does not say."""
    with contextlib.suppress(OSError, ValueError), open("/proc/meminfo", encoding="ascii") as file:
        for line in file:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    with contextlib.suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return 4 << 30


def _container_bytes() -> list[int]:
    """What is left of a control group's limit, where there is one."""
    for limit, used in CONTROL_GROUP_FILES:
        with contextlib.suppress(OSError, ValueError):
            return [max(int(Path(limit).read_text()) - int(Path(used).read_text()), 0)]
    return []


def _address_space_bytes() -> list[int]:
    """A share of a limited address space: stack, log and origins reserve as much each."""
    with contextlib.suppress(ImportError, OSError):
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        if soft != resource.RLIM_INFINITY:
            return [soft // 6]
    return []


def address_space_is_limited() -> bool:
    """Whether several searches, which reserve much more than they use, may be too many."""
    return bool(_address_space_bytes())


def default_limit_bytes() -> int:
    """Enough for a hundred million states; never more than three quarters of what is available.

    A search that nobody has given a limit ends as inconclusive, and the machine lives on.
    """
    return min(USUAL_LIMIT, available_bytes() // 4 * 3)


def resident_bytes() -> int:
    """The memory of this process; 0 where the system does not tell, and no limit is kept."""
    with contextlib.suppress(OSError, ValueError), open("/proc/self/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    with contextlib.suppress(ImportError, OSError):
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes on macOS
    return 0
