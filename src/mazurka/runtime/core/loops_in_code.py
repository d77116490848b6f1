"""Which instructions of a function can be executed again: those that a jump backwards spans.

A thread that comes back to an instruction without having left its frame has jumped back over it.
Where no jump can have done that, C code has called the program again, and goes on by itself:
`print` asks one argument after the other for its text, a sort compares one pair after the other.
"""

from __future__ import annotations

import dis
from functools import lru_cache
from types import CodeType


def is_in_loop(code: CodeType, instruction: int) -> bool:
    return any(first <= instruction <= last for first, last in _loops(code))


@lru_cache(maxsize=1024)
def _loops(code: CodeType) -> tuple[tuple[int, int], ...]:
    """Where jumps backwards lead, and where they are."""
    return tuple(
        (jump.argval, jump.offset)
        for jump in dis.get_instructions(code)
        if "BACKWARD" in jump.opname and "NO_INTERRUPT" not in jump.opname
    )
