"""What C code keeps of objects that are older than the runs, and whether it can be put back.

An older object whose state only C code sees is copied when a run first comes to it: a text in
memory, a buffer, an arithmetic context, the position of an iterator.  After the run that is put
back.  Of other objects the memory is compared, with the number of elements and with what they go
through; where it differs, the next run would begin in another state, and nobody can help it: the
object is named, and nothing is proved.  A lazy proxy that a run has filled is emptied (`del
proxy.__wrapped__`), if then its memory is what it was.

What lies behind pointers in the memory of such an object, and changes without any of this, is not
noticed: rows of a table of an extension module, for instance.
"""

from __future__ import annotations

import ctypes
import io
from _random import Random
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, ContextVar, Token
from functools import partial
from gc import get_referents
from itertools import count
from types import (
    AsyncGeneratorType,
    CoroutineType,
    GeneratorType,
    GetSetDescriptorType,
    WrapperDescriptorType,
)
from typing import Any, Final, NamedTuple, TypeAlias
from weakref import CallableProxyType, ProxyType, ref

from mazurka.runtime.core.insides import (
    WRAPPED,
    ancestors,
    is_standing_for_another,
    module_of,
    names_in_class,
    qualified_name,
)
from mazurka.runtime.sharing.older_caches import CACHED, read_entries

HEADER: Final = object.__basicsize__
POINTER: Final = ctypes.sizeof(ctypes.c_void_p)
LARGEST: Final = 1 << 20
"""The size of buffers, in bytes, up to which they are copied."""
LONGEST_DIGEST: Final = 64
"""How many bytes are asked of a hash that gives as many as one likes."""
DEPTH: Final = 3
"""How far the iterators inside of an iterator are looked at."""

Read: TypeAlias = Callable[[Any], Any]
Write: TypeAlias = Callable[[Any, Any], None]


def memory_of(thing: Any) -> bytes:
    """Copy the memory of an object, without what the interpreter keeps there for any object."""
    kind = type(thing)
    found = bytearray((ctypes.c_char * kind.__basicsize__).from_address(id(thing)).raw)
    for offset in (kind.__dictoffset__, kind.__weakrefoffset__):
        if offset > 0:
            found[offset : offset + POINTER] = bytes(POINTER)
    return bytes(found[HEADER:])


# -- how objects of a type are copied ------------------------------------------------------------


class StateAccess(NamedTuple):
    """How to read what C code keeps of an object, and how to write it; None if nobody can."""

    read: Read
    write: Write | None = None


def _read_text(thing: Any) -> Any:
    kind = io.StringIO if issubclass(type(thing), io.StringIO) else io.BytesIO
    state: Any = kind.__getstate__(thing)
    return state[:-1]  # the last is the dictionary of its attributes


def _write_text(thing: Any, state: Any) -> None:
    kind: Any = io.StringIO if issubclass(type(thing), io.StringIO) else io.BytesIO
    kind.__setstate__(thing, (*state, None))


_FIELDS: Final = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")


def _read_context(thing: Any) -> Any:
    signals = [tuple(sorted(map(str, kept))) for kept in thing.__reduce__()[1][-2:]]
    return (*(getattr(thing, name) for name in _FIELDS), *signals)


def _write_context(thing: Any, state: Any) -> None:
    for name, value in zip(_FIELDS, state, strict=False):
        setattr(thing, name, value)
    for kept, known in zip((thing.flags, thing.traps), state[-2:], strict=True):
        for signal in kept:
            kept[signal] = str(signal) in known


def _read_partial(thing: Any) -> Any:
    return thing.func, thing.args, dict(thing.keywords), None


def _read_position(thing: Any) -> Any:
    _, (gone_through, *_), *position = thing.__reduce__()
    return (*position, type(gone_through)) if position else None


def _write_position(thing: Any, state: Any) -> None:
    if state is not None and type(state[0]) is int:
        thing.__setstate__(state[0])


def _read_buffer(thing: Any) -> Any:
    return memoryview(thing).tobytes()


def _write_buffer(thing: Any, state: Any) -> None:
    memoryview(thing).cast("B")[:] = state


def _read_place(thing: Any) -> Any:
    return thing.closed or thing.tell()


def _write_place(thing: Any, state: Any) -> None:
    thing.seek(state)


def _read_database(thing: Any) -> Any:
    return thing.total_changes, thing.in_transaction


def _read_memory(thing: Any, depth: int = DEPTH) -> Any:
    kind = type(thing)
    size = _length_of(kind)
    found = [memory_of(thing), None if size is None else size(thing)]
    if depth and _is_iterator(kind):
        for part in get_referents(thing):
            inner = part if type(part) is tuple else (part,)
            found += [_read_memory(one, depth - 1) for one in inner if _is_iterator(type(one))]
    return found


class _Entries:
    """A copy of a dictionary, which is equal to others that hold the same objects."""

    def __init__(self, space: dict[Any, Any] | None) -> None:
        self.space = dict(space or {})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Entries) and self._identities() == other._identities()

    def __hash__(self) -> int:
        return hash(self._identities())

    def _identities(self) -> tuple[tuple[int, int], ...]:
        return tuple((id(name), id(value)) for name, value in self.space.items())


def _dictionary_of(wrapper: Any) -> dict[Any, Any] | None:
    """Find the dictionary of a wrapper itself; its `__dict__` may be that of what it stands for."""
    offset = type(wrapper).__dictoffset__
    place = ctypes.c_void_p.from_address(id(wrapper) + offset) if offset > 0 else None
    if place is None or not place.value:
        return None
    found: dict[Any, Any] = ctypes.cast(place, ctypes.py_object).value
    return found


def _read_wrapper(thing: Any) -> Any:
    """Read what a wrapper refers to; what it is asked for, its length, too, it would pass on, and a
    lazy one would make what it stands for."""
    return memory_of(thing), _Entries(_dictionary_of(thing))


def _write_wrapper(thing: Any, state: Any) -> None:
    """Let a lazy wrapper make what it stands for anew, if it can; otherwise all of it stays, since
    what is in its dictionary may tell that it has been made."""
    memory, entries = state
    if type(thing).__dictoffset__ < 0:
        return  # the interpreter manages the dictionary, and nobody else finds it
    for base in ancestors(type(thing)) if memory_of(thing) != memory else ():
        wrapped = names_in_class(base).get(WRAPPED)
        if type(wrapped) is GetSetDescriptorType:
            wrapped.__delete__(thing)
            break
    space = _dictionary_of(thing)
    if space is not None and memory_of(thing) == memory:
        space.clear()
        space.update(entries.space)


def _read_size(thing: Any) -> Any:
    return thing.cache_info().currsize


def _read_hash(thing: Any) -> Any:
    return thing.digest() if thing.digest_size else thing.digest(LONGEST_DIGEST)


def _is_iterator(kind: type) -> bool:
    return isinstance(getattr(kind, "__next__", None), WrapperDescriptorType)


def _length_of(kind: type) -> Read | None:
    """Find what C code tells the length of an object by."""
    for base in ancestors(kind):
        found = names_in_class(base).get("__len__")
        if found is not None:
            return found if type(found) is WrapperDescriptorType else None
    return None


_SEEN_OTHERWISE: Final = (
    *(GeneratorType, CoroutineType, AsyncGeneratorType, count, Random),
    *(Context, ContextVar, Token, ref, ProxyType, CallableProxyType),
)
"""Types whose objects are put back by other means, or keep what belongs to a thread."""
_SEQUENCES: Final[tuple[Any, ...]] = ([], (), "", "é", b"", bytearray(), range(0))
_PLACED: Final = frozenset(
    {type(iter(one)) for one in _SEQUENCES} | {type(reversed(one)) for one in _SEQUENCES}
)
"""Iterators whose position can be set."""
_KEEP_NOTHING: Final = frozenset({"_csv.writer", "_thread._local", "mmap.mmap"})
"""Types whose memory changes with every use and tells nothing, or is the contents of a file."""


def _find_access(thing: Any) -> StateAccess | None:
    """Find how an object is copied; None if it is put back by other means."""
    kind = type(thing)
    name = f"{module_of(kind)}.{qualified_name(kind)}"
    if issubclass(kind, _SEEN_OTHERWISE) or name in _KEEP_NOTHING:
        return None
    if kind is CACHED:
        return None if read_entries(thing) is not None else StateAccess(_read_size)
    if is_standing_for_another(kind):
        return StateAccess(_read_wrapper, _write_wrapper)
    if issubclass(kind, (io.StringIO, io.BytesIO)):
        return StateAccess(_read_text, _write_text)
    if issubclass(kind, io.IOBase):
        return StateAccess(_read_place, _write_place) if _is_only_read(thing) else None
    if issubclass(kind, partial):
        return StateAccess(_read_partial, vars(partial)["__setstate__"])
    if name == "decimal.Context":
        return StateAccess(_read_context, _write_context)
    if name == "sqlite3.Connection":
        return StateAccess(_read_database)
    if _is_iterator(kind):
        is_placed = kind in _PLACED
        return (
            StateAccess(_read_position, _write_position) if is_placed else StateAccess(_read_memory)
        )
    if "hexdigest" in names_in_class(kind):
        return StateAccess(_read_hash)
    return (
        StateAccess(_read_buffer, _write_buffer) if _is_buffer(thing) else StateAccess(_read_memory)
    )


def _is_only_read(file: Any) -> bool:
    with suppress(Exception):
        return bool(file.readable() and not file.writable() and file.seekable())
    return False


def _is_buffer(thing: Any) -> bool:
    with suppress(TypeError, ValueError, BufferError):
        view = memoryview(thing)
        return not view.readonly and view.c_contiguous and view.nbytes <= LARGEST
    return False


# -- the objects of an exploration ---------------------------------------------------------------

_UNKNOWN: Final = object()


class OlderInC:
    """The older objects whose state only C code sees."""

    def __init__(self) -> None:
        self._first: dict[int, tuple[Any, StateAccess | None, Any]] = {}
        """By identity: each object, how it is copied, and the copy."""
        self._met: set[int] = set()
        """The identities of those that the present run has come to."""

    def clear(self) -> None:
        """Forget all of them, or let them be copied anew."""
        self._first.clear()
        self._met.clear()

    def meet(self, thing: Any) -> None:
        """Note that the present run may change an older object."""
        key = id(thing)
        if key not in self._first:
            access = _find_access(thing)
            state = None if access is None else _try(access.read, thing)
            if state is _UNKNOWN:  # or what changes would look like what does not
                access = StateAccess(_read_memory)
                state = _read_memory(thing)
            self._first[key] = thing, access, state
        self._met.add(key)

    def put_back(self) -> list[Any]:
        """Put back what the run has changed; return the objects of which that is impossible."""
        lost = []
        while self._met:
            thing, access, state = self._first[self._met.pop()]
            if access is None or _try(access.read, thing) == state:
                continue
            if access.write is not None and state is not _UNKNOWN:
                _try(access.write, thing, state)
                if _try(access.read, thing) == state:
                    continue
            lost.append(thing)
        return lost


def _try(action: Callable[..., Any], *given: Any) -> Any:
    """Call a function of C code; what it refuses is not known."""
    try:
        return action(*given)
    except Exception:
        return _UNKNOWN


older_in_c: Final = OlderInC()
