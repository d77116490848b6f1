"""Kernels that run at once: as plain Python until their machine code is there.

Where nothing can compile it, that is until the end."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from mazurka.compiled.cache import Kernel, compile_aside, is_compiled, kernel, module_of
from mazurka.compiled.plain import load_plain
from mazurka.extras import MODELS
from mazurka.search import Observer
from mazurka.stateful import blocks

LONGEST_SLICE = 256
"""How many transitions plain Python makes before something else can be done."""
MOST_TRANSITIONS = 4096
"""A search with more is worth waiting for machine code."""


def early_kernel(name: str, observer: Observer) -> Kernel | EarlyKernel:
    """Return the function `run` of a kernel module at once.

    Other processes compile it meanwhile if it is not in the cache."""
    plain = None if is_compiled(name) else load_plain(module_of(name))
    if plain is None:
        return kernel(name, observer)
    compile_aside(name)
    return EarlyKernel(name, plain, observer)


class EarlyKernel:
    """The function `run` of a kernel module: plain Python until there is machine code.

    Both forms work on the same block and do the same, so a search does not notice the change.
    Whoever calls it asks for slices of at most `longest_slice` transitions.  A longer slice, and a
    search that has become long, wait for the machine code."""

    def __init__(self, name: str, plain: Callable[[int], int], observer: Observer) -> None:
        self.name = name
        self.observer = observer
        self.longest_slice = LONGEST_SLICE
        self.plain = plain
        self.compilable = MODELS.is_installed
        self.native: Kernel | None = None
        self.transitions = 0
        """How many the plain form has made."""

    def __call__(self, address: int) -> int:
        numbers = (ctypes.c_int64 * blocks.BLOCK_WORDS).from_address(address)
        if self.native is None:
            long = max(self.transitions, numbers[blocks.BUDGET]) > MOST_TRANSITIONS
            if self.compilable and (long or is_compiled(self.name)):
                self.native = kernel(self.name, self.observer)
                self.longest_slice = Kernel.longest_slice
        if self.native is not None:
            return self.native(address)
        before = numbers[blocks.TRANSITIONS]
        reason = self.plain(address)
        self.transitions += numbers[blocks.TRANSITIONS] - before
        return reason
