"""What rewritten code calls for loops and comprehensions: each step through a container reads."""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable, Iterator
from sys import getrefcount
from typing import Any, Final

from mazurka.runtime.core.moment import now
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.python.containers import Part, is_built_in, is_mine, perform
from mazurka.runtime.python.expressions import family, part_of, unpack
from mazurka.runtime.python.opaque import is_iterator, steps
from mazurka.runtime.python.turns import LONE, LONE_INSIDE, delegated
from mazurka.runtime.python.variables import write_captured
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.locations import progress, step

_READ: Final = How.READ
_READ_ALL: Final = How.READ_ALL


def iterate(value: Any, unpacked: bool, site: int) -> Any:
    """What a loop goes through.  Each step through a container is an access; each step through
    anything moves something that its thread's frames do not show, so that it is no idle round."""
    run = session.current
    if run.ident != get_ident():
        return value
    part = None if family(value) is None else part_of(value, _READ_ALL)
    if part is None or not is_built_in(type(value), "__iter__"):
        return steps(value, site) if is_iterator(value) else _advancing(value, site)
    return _steps(part, value, None, unpacked, site)


def iterate_lazily(value: Any, unpacked: bool, site: int) -> Any:
    """What a generator expression goes through, once somebody asks it to."""
    part = None if family(value) is None else part_of(value, How.READ_ALL)
    if part is None or not is_built_in(type(value), "__iter__"):
        return iterate(value, unpacked, site)
    return _steps(part, value, iterator_of(part, value, site), unpacked, site)


def iterator_of(
    part: Part, value: Any, site: int, function: Callable[[Any], Any] = iter
) -> Iterator[Any]:
    """An iterator over a container.  Most remember how large it is then, and are made by an access;
    those of lists look when they are asked for the next element."""
    container, found, _, _ = part
    if found in (list, bytearray) and function is iter:
        return iter(value)
    items: Iterator[Any] = perform((container, found, How.LOOK, None), site, function, value)
    return items


def delegate(value: Any, site: int) -> Any:
    """What `yield from` goes through; a generator that nobody else has is left alone."""
    if family(value) is not None:
        return iterate(value, False, site)
    return value if getrefcount(value) <= LONE else delegated(value, site)


def _advancing(items: Any, site: int) -> Iterator[Any]:
    if type(items) in _NEW_EACH_TIME:
        born = session.current.running.turns
        for value in items:
            step(born)
            yield value
        return
    items = iter(items)
    if is_iterator(items) and getrefcount(items) > LONE_INSIDE:
        yield from steps(items, site)  # the class of the program has it, and may share it
        return
    for value in items:
        progress()
        yield value


_NEW_EACH_TIME: Final = frozenset({range, tuple, str, bytes, frozenset})
"""Types whose iterators nobody else can have."""


def iterate_captured(items: Any, site: int) -> Iterator[Any]:
    """What a comprehension goes through whose variables functions inside keep.

    Before it has bound them for the first time there are no such functions.  From then on, each
    step is about to write them.
    """
    kept = Kept()
    for value in items:
        for look in kept.looks:
            write_captured(None, look, site)
        _last[get_ident()] = kept
        yield value


class Kept:
    """Variables of a comprehension that functions inside keep."""

    __slots__ = ("looks",)

    def __init__(self) -> None:
        self.looks: tuple[Any, ...] = ()


_last: dict[int, Kept] = {}
"""By thread: of the comprehension that has made the last step."""


def bind_captured(*looks: Any) -> bool:
    """Such a comprehension has bound its variables; gives True."""
    _last[get_ident()].looks = looks
    return True


def how_stepping(part: Part, items: Any) -> How:
    """What a step of an iterator does to its container."""
    if part[1] not in (dict, set):
        return _READ
    if part[2] is _READ_ALL and type(items) in (_VALUES_STEP, _ITEMS_STEP):
        return _READ_ALL
    return How.LOOK


def _steps(
    part: Part, value: Any, items: Iterator[Any] | None, unpacked: bool, site: int
) -> Iterator[Any]:
    """Without an iterator the first step makes one: loops do both at once."""
    container, found, _, _ = part
    how = how_stepping(part, iter(value))
    born = session.current.running.turns

    def first() -> Any:
        nonlocal items
        items = iter(value)
        return next(items)

    index = 0
    while True:
        run = session.current
        try:
            if run.ident == get_ident() and is_mine(container, site, False):
                element = first() if items is None else next(items)
            elif items is None:
                element = perform((container, found, how, index), site, first)
            else:
                element = perform((container, found, how, index), site, next, items)
        except StopIteration:
            return
        index += 1
        rounds = run.running.rounds  # as in `step`
        if rounds is not None:
            rounds.step(born)
        now.where = None
        yield unpack(element, site) if unpacked else element


_VALUES_STEP: Final[type] = type(iter({}.values()))
_ITEMS_STEP: Final[type] = type(iter({}.items()))
