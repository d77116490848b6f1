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

HUGE_PAGE = 2 << 20


class Area:
    """Words that begin as zero and take memory page by page as they are written."""

    def __init__(self, length: int, *, scattered: bool = False) -> None:
        """`scattered`: accessed at random, where large pages save much looking up of addresses."""
        self.length = max(length, 1)
        size = self.length * 8
        private = getattr(mmap, "MAP_PRIVATE", 0) | getattr(mmap, "MAP_ANONYMOUS", 0)
        if private:
            flags = private | getattr(mmap, "MAP_NORESERVE", 0)
            self._map = mmap.mmap(-1, size, flags=flags)
        else:
            self._map = mmap.mmap(-1, size)
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


def available_bytes() -> int:
    """What the machine can spare now; a guess of 4 GiB where it does not say."""
    with contextlib.suppress(OSError, ValueError), open("/proc/meminfo", encoding="ascii") as file:
        for line in file:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    with contextlib.suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return 4 << 30


def default_limit_bytes() -> int:
    """Three quarters of what is available: a search ends as inconclusive, the machine lives on."""
    return available_bytes() // 4 * 3
