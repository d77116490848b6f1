"""What C code does to built-in containers in several steps where there is no global lock.

With a global lock, a call of C code that runs no Python code is one step.  Without it
(`semantics="free-threaded"`), CPython locks single objects instead.  Some operations hold the lock
of their container; others *traverse* it: they read one element after the other, and other threads
can change the container in between.  `ROWS` says which, after the page *Thread Safety Guarantees*
of the documentation, and where that is silent, after the source of CPython 3.14.  **What no row
names traverses.**

No function is written again for this.  A call that traverses a container is given an iterator of
it instead (`in_steps`), or a list that is filled by that iterator (`read_in_steps`), and each step
of the iterator is an access.

Some operations lock a container and yet *show* states in between to operations that read without a
lock: while `l.insert(0, x)` moves the elements, `l[0]` does not wait.  These states are not
explored.  Where both kinds of operations meet in one container, the verdict is inconclusive, and so
it is for C code that reads nested or unknown data in steps of which nothing is known.
"""

from __future__ import annotations

import array
import heapq
import itertools
import operator
from collections import deque
from collections.abc import Sequence
from enum import Enum, auto
from types import BuiltinMethodType
from typing import Any, Final, NamedTuple

from mazurka.runtime.core.moment import now
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.python.catalogue import NONE
from mazurka.runtime.python.containers import family
from mazurka.runtime.python.elements import come_one_by_one
from mazurka.runtime.python.iteration import loops
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.locations import points
from mazurka.runtime.sharing.monitoring import IN_STEPS, unobserved

_KEYS: Final[type] = type({}.keys())
_VALUES: Final[type] = type({}.values())
_ITEMS: Final[type] = type({}.items())


class Steps(Enum):
    """How C code uses a container without a global lock."""

    ONE = auto()
    """It holds the lock of the container, or needs none: one step."""
    TRAVERSES = auto()
    """It reads one element after the other."""
    SHOWS = auto()
    """It holds the lock, and operations without a lock can see states in between."""


class Row(NamedTuple):
    """What the documentation says about some operations."""

    steps: Steps
    operations: str
    """The operations, as the page `python-atomicity.md` lists them."""
    documented: str
    """What the documentation says, or the source of CPython where that is silent."""
    called: tuple[Any, ...] = ()
    """Functions, and methods as pairs of a type and a name."""
    sources: frozenset[type] = frozenset()
    """The exact types of arguments that these read in one step."""


def _methods(owner: type, names: str) -> tuple[tuple[type, str], ...]:
    return tuple((owner, name) for name in names.split())


ROWS: Final = (
    Row(
        Steps.TRAVERSES,
        "`x in l`, `l.index(x)`, `l.count(x)`",
        "they traverse the list, read each item atomically, and take no lock",
        called=_methods(list, "__contains__ index count"),
    ),
    Row(
        Steps.TRAVERSES,
        "`x in a`, `a.index(x)`, `a.count(x)` of an `array.array`",
        "nothing is said; the source takes no lock",
        called=_methods(array.array, "__contains__ index count"),
    ),
    Row(
        Steps.ONE,
        "`list(x)`, `sorted(x)`, `[*x]`, `l.extend(x)`, `l += x` of a list, tuple, set, frozenset,"
        " dict or view of a dict",
        "`extend` is safe from concurrent changes of an iterable of just these types",
        called=(list, sorted, operator.iadd, operator.iconcat, *_methods(list, "extend __iadd__")),
        sources=frozenset({list, tuple, set, frozenset, dict, _KEYS, _VALUES, _ITEMS}),
    ),
    Row(
        Steps.ONE,
        "`tuple(l)`, `f(*l)`, `s.join(l)`, `itertools.product(l)` and the like of a list",
        "nothing is said; the source holds the lock of the list",
        called=(
            *(tuple, (str, "join"), itertools.product, itertools.permutations),
            *(itertools.combinations, itertools.combinations_with_replacement),
        ),
        sources=frozenset({list, tuple}),
    ),
    Row(
        Steps.ONE,
        "`set(x)`, `frozenset(x)`, `s.update(x)`, `s.union(x)` of a set, frozenset or dict",
        "both objects are locked only where the other operand is of just these types",
        called=(set, frozenset, *_methods(set, "update union symmetric_difference_update")),
        sources=frozenset({set, frozenset, dict}),
    ),
    Row(
        Steps.ONE,
        "`s.intersection(x)`, `s.difference(x)`, `s.isdisjoint(x)`, `s.issubset(x)`,"
        " `s.issuperset(x)`, and those that update",
        "they try to lock all objects",
        called=(
            *_methods(set, "intersection difference symmetric_difference isdisjoint issubset"),
            *_methods(set, "issuperset intersection_update difference_update"),
        ),
        sources=frozenset({set, frozenset, dict, list}),
    ),
    Row(
        Steps.ONE,
        "`dict(d)`, `d.update(e)`, `d |= e` of a dict; `dict.fromkeys(x)` of a dict, set or"
        " frozenset",
        "both objects are locked where the other one is of just these types",
        called=(dict, operator.ior, *_methods(dict, "update __ior__ fromkeys")),
        sources=frozenset({dict, set, frozenset}),
    ),
    Row(
        Steps.ONE,
        "`l[i:j] = m` of a list",
        "the iterable is locked only where it is a list",
        called=_methods(list, "__setitem__"),
        sources=frozenset({list}),
    ),
    Row(
        Steps.TRAVERSES,
        "`sum(x)`, `min(x)`, `max(x)`, `any(x)`, `all(x)`, `math.fsum(x)`, `deque(x)`, `tuple(s)`,"
        " `a, b = l`, `x in d.values()`, `operator.indexOf(l, x)`, and whatever else goes through"
        " an iterator",
        "operations that involve multiple accesses, as well as iteration, are never atomic",
    ),
    Row(
        Steps.SHOWS,
        "`l.insert(i, x)`, `l.pop(i)`, `l *= n`, `l.sort()`, `l.reverse()`, and any other change of"
        " a list but `l.append(x)`, `l.pop()`, `l.clear()`, `l[i] = x`, seen by `l[i]`, `len(l)`,"
        " `x in l` and iteration",
        "they modify several elements in place, which operations without a lock may observe; a list"
        " seems empty while it is sorted",
        called=_methods(list, "append clear"),
    ),
    Row(
        Steps.SHOWS,
        "`d.update(e)`, `d |= e`, seen by `d[k]`, `k in d`, `len(d)` and iteration; `s.update(t)`"
        " and the like, seen by `x in s`, `len(s)` and iteration",
        "reading takes no lock, and may observe states in between; `clear` shows none",
        called=(*_methods(dict, "clear move_to_end"), *_methods(set, "clear")),
    ),
)
"""A call of C code goes through its arguments in steps, unless a row says *one*; a method of a
container uses the container in one step, unless a row says that it traverses it."""
_SEARCHED: Final = frozenset(
    one for row in ROWS if row.steps is Steps.TRAVERSES for one in row.called
)
"""Methods that traverse their own container."""
_READ_AT_ONCE: Final[dict[Any, frozenset[type]]] = {
    one: row.sources for row in ROWS if row.steps is Steps.ONE for one in row.called
}
"""By function or method: the types of arguments that it reads in one step."""
_AT_ONCE: Final = frozenset(one for row in ROWS if row.steps is Steps.SHOWS for one in row.called)
"""Methods that change their container and show no state in between."""


def is_at_once(owner: Any, name: str, how: How) -> bool:
    """Tell whether a method holds the lock of its container, and shows no state in between."""
    if how is How.LOOK or how is How.READ_ALL:
        return name not in ("__len__", "__contains__")
    return (owner, name) in _AT_ONCE


def traverses(function: Any, value: Any) -> bool:
    """Tell whether a C function, or a method as type and name, reads an argument in steps."""
    found = family(value)
    if found is None:
        return False
    owner, at_once = _owner_of(function), _READ_AT_ONCE.get(function)
    if owner is dict and found is dict and type(value).__iter__ is dict.__iter__:
        return False
    if at_once is None and type(function) is BuiltinMethodType:
        at_once = _READ_AT_ONCE.get((owner, function.__name__))
    return at_once is None or type(value) not in at_once


def _owner_of(function: Any) -> Any:
    """Give the type whose method a function is; a type is that of its constructor."""
    if type(function) is tuple:
        return function[0]
    owner = getattr(function, "__self__", function)
    kind = owner if isinstance(owner, type) else type(owner)
    return dict if issubclass(kind, dict) else kind


def searches_in_steps(values: Any, name: str = "__contains__") -> bool:
    """Tell whether a search of a container traverses it."""
    if not session.current.free_threaded:
        return False
    return type(values) is _VALUES or (family(values), name) in _SEARCHED


def in_steps(
    function: Any, arguments: tuple[Any, ...], sources: slice, site: int
) -> tuple[Any, ...]:
    """Replace the containers that a C function traverses by iterators whose steps are accesses."""
    changed = list(arguments)
    found = [index for index in range(len(changed))[sources] if traverses(function, changed[index])]
    for index in found:
        changed[index] = come_one_by_one(function, changed[index], site)
    return tuple(changed) if found else arguments


def read_in_steps(function: Any, values: Any, site: int, *others: Any) -> Any:
    """Read a container one element after the other; give a container of that kind that no other
    thread has."""
    found = family(values)
    read = list(come_one_by_one(function, values, site, *others))
    return array.array(values.typecode, read) if found is array.array else read


def gather_in_steps(
    method: Any, arguments: tuple[Any, ...], sources: slice, site: int
) -> tuple[Any, ...]:
    """Read the containers that a method traverses before it changes its own.

    Their lock is not held meanwhile.  That of its own container is, which is not modelled: the
    container changes at once when all has been read.
    """
    if type(method) is tuple and method[0] in _SAME_KIND and method[1].startswith("__"):
        return arguments
    changed = list(arguments)
    for index in range(len(changed))[sources]:
        if traverses(method, changed[index]):
            changed[index] = list(come_one_by_one(method, changed[index], site))
    return tuple(changed)


_SAME_KIND: Final = frozenset({set, bytearray, array.array})
"""Containers whose operators take others of their kind, and lock both or none."""


def unpack(value: Any, site: int) -> Any:
    """Read a value before it is passed on by `*`: `[*value]`, `f(*value)`."""
    at_once = not traverses(list, value)
    return loops.unpack_at_once(value, site) if at_once else loops.unpack(value, site)


def unpack_into_set(value: Any, site: int) -> Any:
    """Read a value before it is passed on by `*` to a set: `{*value}`."""
    at_once = not traverses(set, value)
    return loops.unpack_at_once(value, site) if at_once else loops.unpack(value, site)


def unpack_to_targets(value: Any, site: int) -> Any:
    """Read a value before the interpreter takes it apart: `a, b = value`."""
    return loops.unpack(value, site)


# -- what is not explored ------------------------------------------------------------------------

_WRITTEN_AT_ONCE: Final = frozenset({list, dict, set})
"""Containers that C code compares and writes out in one step: the source holds their locks."""
_WRITING_OUT: Final = frozenset(
    {repr, str, ascii, format, sorted, len, bool, int, float}
    | {operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge}
    | {heapq.heappush, heapq.heappop, heapq.heapify, heapq.heapreplace, heapq.heappushpop}
    | {operator.setitem, operator.delitem, operator.iadd, operator.iconcat, operator.ior}
)
"""Functions that do so, and those that change a container as its methods do."""


def note_steps(function: Any, values: Sequence[Any], site: int, sources: slice = NONE) -> None:
    """Name C code that may use shared containers in steps of which nothing is known; `sources` are
    the arguments whose steps are known."""
    if not session.current.free_threaded or site not in points or now.alone:
        return
    known = range(len(values))[sources]
    found = [
        family(value)
        for index, value in enumerate(values)
        if index not in known and traverses(function, value)
    ]
    if function in _WRITING_OUT and _WRITTEN_AT_ONCE.issuperset(found):
        return
    if found:
        _note(getattr(function, "__qualname__", None) or type(function).__name__)


_VIEWS: Final = frozenset({_KEYS, _VALUES, _ITEMS})


def note_operator(operands: tuple[Any, Any], site: int) -> None:
    """Name an operator that reads a container in steps: one with neither lock nor row."""
    for value in operands:
        if type(value) in _VIEWS or family(value) in _COMPARED_IN_STEPS:
            note_steps(type(value), (value,), site)


_COMPARED_IN_STEPS: Final = frozenset({bytearray, array.array, deque})


def note_unlocked(container: Any, name: str, site: int) -> None:
    """Name a method of a container that has no lock at all."""
    if family(container) is array.array and site in points and not now.alone:
        _note(f"array.{name}")


def _note(name: str) -> None:
    unobserved.note_code(name, IN_STEPS)
