"""Loops, comprehensions and unpacking: each step through a container is an access.

The second half is about rounds of `while` statements.  Most loops that wait for another thread are
recognised by what they read (`core.spinning`).  Two kinds are not.

* A loop in which a thread goes round and round without reading anything that threads share: what it
  looks at is bound once for all.  Its place is learned like that of an access (`Learned.points`),
  and each round of it is an operation from then on, which touches nothing.
* A loop whose rounds step through something: `while not all(part.done for part in parts)`.  Each
  step moves an iterator that no frame shows.  But an iterator that is younger than the round is
  gone when the round is over: if a thread has only read, and all that it has moved is as young as
  that, it would go the same round again.
"""

from __future__ import annotations

import sys
from _thread import get_ident
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from sys import getrefcount
from types import FrameType, FunctionType, GeneratorType
from typing import Any, Final, NamedTuple

from mazurka.runtime.core.frame_variables import read_variables
from mazurka.runtime.core.insides import find_in_class, has_in_class
from mazurka.runtime.core.moment import now
from mazurka.runtime.core.operations import Idle, Purpose
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.spinning import NEVER, SpinHistory, Turn, is_same, same_values, stack_of
from mazurka.runtime.core.tasks import Task
from mazurka.runtime.python.callbacks import LONE, LONE_INSIDE, delegate_to, itself, step_through
from mazurka.runtime.python.calls import receive
from mazurka.runtime.python.catalogue import NEW_EACH_TIME, PLAIN, SIMPLE
from mazurka.runtime.python.classes import changing, read_classes
from mazurka.runtime.python.containers import Part, family, is_built_in, part_of, perform, use_alone
from mazurka.runtime.python.deep import perform_deep
from mazurka.runtime.python.iteration.set_order import in_order, steps_of
from mazurka.runtime.python.opaque import (
    is_done_by_c,
    is_gone_through_by_c,
    is_iterator,
    iterate_opaque,
    opaque_parts,
    operate,
)
from mazurka.runtime.python.variables import write_captured
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.locations import LIMIT, learned, points, progress, step

_READ: Final = How.READ
_READ_ALL: Final = How.READ_ALL


def iterate(value: Any, unpacked: int, site: int) -> Any:
    """Give what a loop goes through; `unpacked` says how deep it takes each element apart, 2 for
    `for a, (b, c) in value`.

    Each step through a container is an access.  Each step through anything moves an iterator that
    the frames of the thread do not show, so that the thread is not idle.
    """
    if session.current.ident != get_ident():
        return value
    if changing.any:
        read_classes((value,), site)
    part = None if family(value) is None else part_of(value, _READ_ALL)
    if part is None or not is_built_in(type(value), "__iter__"):
        items = _advance_opaque(value, site) if is_iterator(value) else _advance(value, site)
        return map(partial(UNPACKING[unpacked], site=site), items) if unpacked else items
    return _steps(part, value, None, unpacked, site)


def iterate_lazily(value: Any, unpacked: int, site: int) -> Any:
    """Give what a generator expression goes through, once somebody asks it to."""
    part = None if family(value) is None else part_of(value, How.READ_ALL)
    if part is None or not is_built_in(type(value), "__iter__"):
        return iterate(value, unpacked, site)
    return _steps(part, value, iterator_of(part, value, site), unpacked, site)


class AsyncUnpacked:
    """Stands for what `async for a, b in value` goes through: each element is read when it has
    come."""

    __slots__ = ("_depth", "_items", "_site")

    def __init__(self, items: Any, depth: int, site: int) -> None:
        self._items = items
        self._depth = depth
        self._site = site

    def __aiter__(self) -> AsyncUnpacked:
        self._items = aiter(self._items)
        return self

    async def __anext__(self) -> Any:
        return UNPACKING[self._depth](await anext(self._items), self._site)


def iterate_async(value: Any, unpacked: int, site: int) -> Any:
    """Give what an asynchronous loop goes through that takes its elements apart."""
    return AsyncUnpacked(value, unpacked, site)


def iterator_of(
    part: Part, value: Any, site: int, function: Callable[[Any], Any] = iter
) -> Iterator[Any]:
    """Make an iterator over a container.

    Most remember the size of the container at that moment, so making one is an access.  Those of
    lists look when they are asked for the next element.
    """
    container, found, _, _ = part
    if found in (list, bytearray) and function is iter:
        return iter(value)
    making = steps_of if found is set and function is iter else function
    items: Iterator[Any] = perform((container, found, How.LOOK, None), site, making, value)
    return items


def delegate(value: Any, site: int) -> Any:
    """Give what `yield from` goes through; a generator that nobody else has is left alone."""
    if family(value) is not None:
        return iterate(value, False, site)
    return value if getrefcount(value) <= LONE else delegate_to(value, site)


def read_whole(value: Any, site: int) -> Any:
    """Read all of a container before C code does so at once: `f(**value)`, `a < value < b`."""
    if changing.any:
        read_classes((value,), site)
    if family(value) is None:
        kind = type(value)
        if kind in PLAIN:
            return value
        if type(find_in_class(kind, "keys")) is FunctionType:
            return dict(take_items(value, site))
        return operate(value, site, itself, value) if is_done_by_c(kind, "__getitem__") else value
    part = part_of(value, How.READ_ALL)
    return value if part is None else perform(part, site, itself, value)


def take_items(value: Any, site: int) -> Iterator[tuple[Any, Any]]:
    """Go through a mapping in Python as C code does that makes a dictionary of it."""
    for key in iterate(value.keys(), 0, site):
        yield key, value[key]


def unpack(value: Any, site: int) -> Any:
    """Read a value before C code takes it apart: `a, b = value`.

    Without a global lock it reads one element after the other."""
    if session.current.free_threaded and session.current.ident == get_ident():
        part = part_of(value, _READ_ALL)
        if part is not None and part[1] is not None:
            return iterate(value, 0, site)
    return unpack_at_once(value, site)


def unpack_at_once(value: Any, site: int) -> Any:
    """Read a value before C code passes it on: `f(*value)`."""
    if family(value) is not None:
        return in_order(read_whole(value, site))
    if type(value) in PLAIN or getrefcount(value) <= LONE:
        return in_order(value)
    if changing.any:
        read_classes((value,), site)
    return step_through(value, site)


def unpack_nested(value: Any, site: int) -> Any:
    """Read a value before C code takes it apart, and what is in it: `a, (b, c) = value`."""
    return read_nested(unpack(value, site), site)


def read_nested(value: Any, site: int) -> Any:
    """Read what is in a value that has been read, before C code takes that apart, too."""
    if type(value) is tuple and SIMPLE.issuperset(map(type, value)):
        return value
    if session.current.free_threaded and type(value) is GeneratorType:
        value = list(value)
    return perform_deep((value,), site, itself, value)


UNPACKING: Final = (read_whole, unpack, unpack_nested)
"""By how deep an element is taken apart; nobody asks for the first."""


def unpack_later(value: Any, site: int) -> Any:
    """Give what stands for `*value` where it is the only argument by position, before others by
    name: the interpreter goes through it when it has evaluated those."""
    kind = type(value)
    if kind is tuple or session.current.ident != get_ident() or not has_in_class(kind, "__iter__"):
        return value
    return LateArguments(value, site)


class LateArguments:
    """Stands for an iterable in a call, and is unpacked when the interpreter goes through it."""

    __slots__ = ("_site", "given")

    def __init__(self, value: Any, site: int) -> None:
        self.given = value
        self._site = site

    def __iter__(self) -> Iterator[Any]:
        return iter(unpack_at_once(self.given, self._site))


def unpack_names_later(value: Any, site: int) -> Any:
    """Give what stands for `**value` until a function is called with it."""
    late = issubclass(type(value), dict) and session.current.ident == get_ident()
    return LateNames(value, site) if late else value


class LateNames:
    """Stands for a dictionary in a call, and is read when the interpreter asks for its keys."""

    __slots__ = ("_read", "_site", "given")

    def __init__(self, value: Any, site: int) -> None:
        self.given = value
        self._site = site
        self._read: dict[str, Any] = {}

    def keys(self) -> Iterable[str]:
        part = (self.given, dict, How.READ_ALL, None)
        self._read = perform(part, self._site, dict, self.given)
        return self._read.keys()

    def __getitem__(self, name: str) -> Any:
        return self._read[name]


def unpack_bound(value: Any, site: int) -> Any:
    """Read a value before C code takes it apart that is bound as a whole, too: `v = a, b = value`.

    A set stays one, and is taken apart in whatever order it has.
    """
    if family(value) is not None:
        return read_whole(value, site)
    if type(value) in PLAIN:
        return value
    if is_gone_through_by_c(type(value)):
        return operate(value, site, itself, value)
    return step_through(value, site)


def _advance(items: Any, site: int) -> Iterator[Any]:
    """Go through a value that is no container."""
    if type(items) in NEW_EACH_TIME:
        born = session.current.running.turns
        for value in in_order(items):
            step(born)
            yield value
        return
    if is_gone_through_by_c(type(items)):
        yield from _advance_opaque(operate(items, site, iter, items), site, items)
        return
    items = iter(items)
    if is_iterator(items) and getrefcount(items) > LONE_INSIDE:
        yield from _advance_opaque(items, site)  # the class of the program has it, and may share it
        return
    for value in items:
        progress()
        yield _receive_container(value)


def _advance_opaque(items: Any, site: int, owner: Any = None) -> Iterator[Any]:
    """Go through an iterator of C code; `owner` is what has made it."""
    return map(_receive_container, iterate_opaque(items, site, owner))


def _receive_container(value: Any) -> Any:
    """Name a container that C code may have made for this step of a loop."""
    return receive(value) if type(value) in _MADE else value


_MADE: Final = (list, dict, set)


def iterate_captured(items: Any, site: int) -> Iterator[Any]:
    """Give what a comprehension goes through whose variables functions inside capture.

    Before it has bound them for the first time there are no such functions.  From then on, each
    step is about to write the variables.
    """
    captured: list[Any] = []
    for value in items:
        for look in tuple(captured):
            write_captured(None, look, site)
        _last[get_ident()] = captured
        yield value


_last: dict[int, list[Any]] = {}
"""By thread: the captured variables of the comprehension that has made the last step."""


def bind_captured(*looks: Any) -> bool:
    """Note that a comprehension has bound variables that functions capture; return True."""
    _last[get_ident()][:] = looks
    return True


def effect_of_step(part: Part, value: Any) -> How:
    """Tell what a step of an iterator does to its container; `value` is the container, or the view
    that it goes through."""
    if part[1] not in (dict, set):
        return _READ
    if part[2] is _READ_ALL and issubclass(type(value), _WITH_VALUES):
        return _READ_ALL
    return How.LOOK


def _steps(
    part: Part, value: Any, items: Iterator[Any] | None, unpacked: int, site: int
) -> Iterator[Any]:
    """Go through a container; without an iterator, the first step makes one, as in a loop."""
    container, found, _, _ = part
    how = effect_of_step(part, value)
    born = session.current.running.turns

    def first() -> Any:
        nonlocal items
        items = steps_of(value) if found is set else iter(value)
        return next(items)

    index = 0
    while True:
        run = session.current
        try:
            if run.ident == get_ident() and use_alone(container, site, False):
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
        yield UNPACKING[unpacked](element, site) if unpacked else element


_WITH_VALUES: Final[tuple[type, ...]] = (type({}.values()), type({}.items()))
"""Views whose iterators give values; those of an `OrderedDict` are subclasses of them."""


# -- rounds of `while` statements ----------------------------------------------------------------

PATIENCE = 256
"""After how many rounds it is checked whether a thread does anything in them."""


class NextRound(Idle):
    """The operation of beginning one more round of a loop, which touches nothing."""

    __slots__ = ("site",)
    kind = "loop"

    def __init__(self, site: int) -> None:
        self.site = site

    def waits_for(self, purpose: Purpose | None) -> str:
        return "to go round a loop"


class ManyRounds(NamedTuple):
    """What a thread that goes many rounds looked like when it was last checked."""

    site: int
    frame: FrameType
    own: dict[str, Any]
    operations: int
    """The number of operations of all threads until then."""
    reads: int
    """The number of reads without a point since the last operation."""
    turns: int


def begin_round(site: int) -> None:
    """Note that the running thread begins a round."""
    run = session.current
    if run.ident != get_ident():
        return
    me = run.running
    me.turns = turns = me.turns + 1
    rounds = me.rounds
    if rounds is not None:
        rounds.turns = turns
    if site in points:
        run.point(NextRound(site))
    elif rounds is not None and rounds.base:
        _come_round(rounds, site, turns)
    if not turns % PATIENCE:
        _watch_rounds(me, site)


def _come_round(rounds: SpinHistory, site: int, turns: int) -> None:
    """Wait if this round would be the same as the one before."""
    stack = stack_of(sys._getframe(1), turns)
    before, oldest = rounds.turn, rounds.oldest
    rounds.turn, rounds.oldest = Turn(site, turns, len(rounds.reads), stack), NEVER
    if (
        before is None
        or before.site != site
        or before.reads == len(rounds.reads)
        or oldest < before.turns
        or not is_same(before.stack, stack)
    ):
        return
    operation = NextRound(site)
    waiting = rounds.come_round(before.reads, operation)
    if waiting is not operation:
        session.current.point(waiting)


def _watch_rounds(me: Task, site: int) -> None:
    """Learn a scheduling point if a thread does nothing in its rounds."""
    rounds = me.rounds
    if rounds is None:
        rounds = me.rounds = SpinHistory()
    frame = sys._getframe(2)
    before, oldest = rounds.watched, rounds.oldest_watched
    at = ManyRounds(site, frame, read_variables(frame), now.count, now.idle, me.turns)
    rounds.watched, rounds.oldest_watched = at, NEVER
    if (
        before is None
        or rounds.polls
        or (before.site, before.operations) != (site, now.count)
        or before.frame is not frame
        or oldest < before.turns
        or not same_values(before.own, at.own)
        or opaque_parts(at.own.values())
    ):
        return
    if now.idle > before.reads:
        now.idle = LIMIT  # what it reads next is what it waits for
    else:
        learned.learn(site)
