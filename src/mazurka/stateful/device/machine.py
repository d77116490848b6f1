"""What a search needs of a device: memory at addresses, and functions that all workers run."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, Protocol

from mazurka.stateful.device.program import CodeTarget


class Device(Protocol):
    """A device; every call has had its effect when it returns."""

    name: str
    target: CodeTarget
    """What code has to be made for."""
    most_workers: int
    """How many workers run at the same time at most."""

    def free_bytes(self) -> int:
        """How much memory there is for the search."""

    def allocate(self, count: int) -> int:
        """Reserve bytes, whose contents mean nothing; their address."""

    def release(self, address: int) -> None:
        """Give memory back."""

    def clear(self, address: int, count: int) -> None:
        """Set bytes to zero."""

    def copy(self, target: int, source: int, count: int) -> None:
        """Copy bytes within the device."""

    def write(self, address: int, words: Sequence[int]) -> None:
        """Put words into the device's memory."""

    def read(self, address: int, count: int) -> array[int]:
        """Get words out of it."""

    def compile(self, module: Any, name: str) -> Any:
        """Make a function of the device out of one of an LLVM module (`device.program`)."""

    def launch(self, function: Any, block: int, items: int) -> None:
        """Have all workers run a function that was compiled; there are so many items of work."""
