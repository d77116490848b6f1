"""What libclang says in callbacks: the children of a cursor, and the fields of a structure.

An exception in a callback of `ctypes` is printed and forgotten, and libclang ends the visit: the
list is cut short, and statements are missing.  So the functions here look at how a visit has ended,
and raise what has ended it.  All of this package asks them, never `get_children` and its like.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mazurka.deadline import check_time

_NEXT, _END = 1, 0
"""What a callback returns; an exception that leaves it counts as the end."""

FRAMES = 10
"""More calls than a callback makes."""


def children_of(cursor: Any) -> list[Any]:
    """Return the children of a cursor, in the order of libclang."""
    from clang.cindex import callbacks, conf

    return _collect(
        cursor._tu,
        callbacks["cursor_visit"],
        lambda callback, found: conf.lib.clang_visitChildren(cursor, callback, found),
    )


def fields_of(type_: Any) -> list[Any]:
    """Return the fields of a structure or union."""
    from clang.cindex import callbacks, conf

    def visit(callback: Any, found: list[Any]) -> int:
        conf.lib.clang_Type_visitFields(type_, callback, found)
        return 0  # this one does not tell how it has ended

    return _collect(type_._tu, callbacks["fields_visit"], visit)


def _collect(unit: Any, kind: Any, visit: Callable[[Any, list[Any]], int]) -> list[Any]:
    """Return the cursors of a visit, or raise the exception that has ended it."""
    found: list[Any] = []
    problems: list[BaseException] = []

    def collect(cursor: Any, *_: Any) -> int:
        try:
            cursor._tu = unit  # so that the unit lives as long as the cursor
            found.append(cursor)
        except BaseException as error:
            problems.append(error)
            return _END
        return _NEXT

    _need(FRAMES)
    ended = visit(kind(collect), found)
    if problems:
        raise problems[0]
    check_time()  # the alarm may have rung before `collect` could catch it
    if ended:
        raise RecursionError("a callback of the parser was not called")
    return found


def _need(frames: int) -> None:
    """Raise `RecursionError` unless there is room on the stack for so many calls."""
    if frames:
        _need(frames - 1)
