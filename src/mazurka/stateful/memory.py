"""Arrays of 64-bit words for the searches, without NumPy: it takes too long to import.

A search does not know how much room it will need.  An `Area` asks the system for address space,
which costs nothing until it is written to, so that stacks and logs never have to be copied to grow.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
from collections.abc import Iterable
from pathlib import Path

from mazurka.errors import MazurkaError

HUGE_PAGE = 2 << 20
USUAL_LIMIT = 4_000_000_000
CONTROL_GROUP_FILES = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


class Area:
    """Words that begin as zero and take memory page by page as they are written."""

    def __init__(self, length: int, *, scattered: bool = False) -> None:
        """`scattered`: accessed at random, where large pages save much looking up of addresses."""
        self.length = max(length, 1)
        size = self.length * 8
        self._map = _reserve(size)
        if scattered and size >= HUGE_PAGE and hasattr(mmap, "MADV_HUGEPAGE"):
            with contextlib.suppress(OSError):  # a kernel without large pages is merely slower
                self._map.madvise(mmap.MADV_HUGEPAGE)
        self.words = memoryview(self._map).cast("B")[:size].cast("Q")
        self.numbers = memoryview(self._map).cast("B")[:size].cast("q")
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self._map))

    @classmethod
    def of(cls, values: Iterable[int]) -> Area:
        """An area that holds the given numbers."""
        listed = list(values)
        area = cls(len(listed))
        for position, value in enumerate(listed):
            area.numbers[position] = value
        return area


def _reserve(size: int) -> mmap.mmap:
    private = getattr(mmap, "MAP_PRIVATE", 0) | getattr(mmap, "MAP_ANONYMOUS", 0)
    try:
        if not private:
            return mmap.mmap(-1, size)
        return mmap.mmap(-1, size, flags=private | getattr(mmap, "MAP_NORESERVE", 0))
    except (OSError, OverflowError) as error:
        raise MazurkaError(
            f"the system does not give {size:,} bytes of address space;"
            " try a smaller --limit-memory"
        ) from error


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


def default_limit_bytes() -> int:
    """Enough for a hundred million states; never more than three quarters of what is available.

    A search that nobody has given a limit ends as inconclusive, and the machine lives on.
    """
    return min(USUAL_LIMIT, available_bytes() // 4 * 3)
