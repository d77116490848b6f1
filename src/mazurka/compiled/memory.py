"""Arrays of 64-bit words for the searches, without NumPy: it takes too long to import.

A search does not know how much room it will need.  An `Area` asks the system for address space,
which costs nothing until it is written to, so that stacks and logs never have to be copied to grow.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import sys
from array import array
from collections.abc import Iterable

from mazurka.errors import MazurkaError

HUGE_PAGE = 2 << 20
IS_USUAL_LINUX = sys.platform == "linux" and os.uname().machine in ("x86_64", "aarch64")
NO_RESERVE: int = getattr(mmap, "MAP_NORESERVE", 0x4000 if IS_USUAL_LINUX else 0)
"""Take address space whether or not there is so much memory; older Pythons do not name the flag."""
MADV_COLLAPSE = 25
"""Linux 6.1: make large pages of what is there already; other systems refuse it."""


class Area:
    """Words that begin as zero and take memory page by page as they are written."""

    def __init__(self, length: int, *, scattered: bool = False) -> None:
        """`scattered`: accessed at random, where large pages save much looking up of addresses."""
        self.length = max(length, 1)
        size = self.length * 8
        self._map: mmap.mmap | array[int] = _reserve(size)
        if scattered and size >= HUGE_PAGE and hasattr(mmap, "MADV_HUGEPAGE"):
            self._advise(mmap.MADV_HUGEPAGE)
        self.words = memoryview(self._map).cast("B")[:size].cast("Q")
        self.numbers = memoryview(self._map).cast("B")[:size].cast("q")
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self._map))

    def use_large_pages(self) -> None:
        """Have large pages from now on; what is there already moves, a gigabyte in a second."""
        if self.length * 8 >= HUGE_PAGE and hasattr(mmap, "MADV_HUGEPAGE"):
            self._advise(mmap.MADV_HUGEPAGE)
            self._advise(MADV_COLLAPSE)

    def _advise(self, advice: int) -> None:
        """Tell the system something; one that does not listen is merely slower."""
        assert isinstance(self._map, mmap.mmap)
        with contextlib.suppress(OSError):
            self._map.madvise(advice)

    @classmethod
    def of(cls, values: Iterable[int]) -> Area:
        """An area that holds the given numbers."""
        area = cls.__new__(cls)
        kept = array("q", values) or array("q", [0])
        area.length, area._map = len(kept), kept
        area.numbers = memoryview(kept)
        area.words = area.numbers.cast("B").cast("Q")
        area.address = kept.buffer_info()[0]
        return area


def _reserve(size: int) -> mmap.mmap:
    private = getattr(mmap, "MAP_PRIVATE", 0) | getattr(mmap, "MAP_ANONYMOUS", 0)
    try:
        if not private:
            return mmap.mmap(-1, size)
        return mmap.mmap(-1, size, flags=private | NO_RESERVE)
    except (OSError, OverflowError) as error:
        raise MazurkaError(
            f"the system does not give {size:,} bytes of address space;"
            " try a smaller --limit-memory"
        ) from error
