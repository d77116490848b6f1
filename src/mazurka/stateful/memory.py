"""Room for large arrays that is taken only as it is used.

A search does not know how much it will need.  `reserve` asks the system for address space, which
costs nothing until it is written to, so that stacks and logs never have to be copied to grow.
"""

from __future__ import annotations

import contextlib
import mmap
import os
from typing import Any, TypeAlias

import numpy as np

Words: TypeAlias = np.ndarray[Any, np.dtype[np.uint64]]

HUGE_PAGE = 2 << 20


def reserve(words: int) -> Words:
    """An array of zero words, backed by memory page by page as they are written."""
    size = max(words * 8, 8)
    flags = getattr(mmap, "MAP_PRIVATE", 0) | getattr(mmap, "MAP_ANONYMOUS", 0)
    if not flags:
        return np.zeros(words, np.uint64)
    area = mmap.mmap(-1, size, flags=flags | getattr(mmap, "MAP_NORESERVE", 0))
    return np.frombuffer(area, np.uint64, count=words)


def scattered(words: int) -> Words:
    """Like `reserve`, for an array that is accessed at random: large pages save address lookups."""
    size = max(words * 8, 8)
    flags = getattr(mmap, "MAP_PRIVATE", 0) | getattr(mmap, "MAP_ANONYMOUS", 0)
    if not flags:
        return np.zeros(words, np.uint64)
    area = mmap.mmap(-1, size, flags=flags | getattr(mmap, "MAP_NORESERVE", 0))
    if size >= HUGE_PAGE and hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):  # a kernel without large pages is merely slower
            area.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(area, np.uint64, count=words)


def available_bytes() -> int:
    """What the machine can spare now; a guess of 4 GiB where it does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 4 << 30


def default_limit_bytes() -> int:
    """Three quarters of what is available: a search ends as inconclusive, the machine lives on."""
    return available_bytes() // 4 * 3
