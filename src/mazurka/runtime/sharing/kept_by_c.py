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
import mmap
import sys
from _random import Random
from array import array
from collections import deque
from collections.abc import Callable
from contextvars import Context, ContextVar
from functools import partial
from gc import get_referents
from hashlib import blake2b
from itertools import count
from types import (
    AsyncGeneratorType,
    BuiltinFunctionType,
    CellType,
    CodeType,
    CoroutineType,
    FunctionType,
    GeneratorType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, Final, NamedTuple, TypeAlias
from weakref import CallableProxyType, ProxyType, ref

from mazurka.runtime.core.insides import (
    WRAPPED,
    ancestors,
    field_of,
    find_in_class,
    is_machinery,
    is_of_c,
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
    found = bytearray((ctypes.c_char * field_of(kind, "__basicsize__")).from_address(id(thing)).raw)
    for offset in (field_of(kind, "__dictoffset__"), field_of(kind, "__weakrefoffset__")):
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


_OF_PARTIAL: Final = tuple(vars(partial)[name] for name in ("func", "args", "keywords"))


def _read_partial(thing: Any) -> Any:
    held = {slot: slot.__get__(thing) for slot in _OF_PARTIAL}
    return _Entries(held), _Entries(held[_OF_PARTIAL[-1]])


def _write_partial(thing: Any, state: Any) -> None:
    """Set the fields, and the entries of the same dictionary of keyword arguments."""
    function, arguments, keywords = state[0].space.values()
    keywords.clear()
    keywords.update(state[1].space)
    space = vars(partial)["__dict__"].__get__(thing)
    vars(partial)["__setstate__"](thing, (function, arguments, keywords, space))


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


def _read_large_buffer(thing: Any) -> Any:
    return blake2b(memoryview(thing).tobytes()).digest()


def _read_mapped(thing: Any) -> Any:
    """Read the position in a mapped file, and its contents, or their hash if they are large."""
    return thing.tell(), (_read_buffer if len(thing) <= LARGEST else _read_large_buffer)(thing)


def _write_mapped(thing: Any, state: Any) -> None:
    if len(state[1]) == len(thing) and _read_mapped(thing)[1] != state[1]:
        _write_buffer(thing, state[1])
    thing.seek(state[0])


def _read_variables(context: Any) -> Any:
    return _Entries(dict(context.items()))


def _write_variables(context: Any, state: Any) -> None:
    """Set the variables of a context; new ones cannot be removed."""
    for variable, value in state.space.items():
        context.run(variable.set, value)


_OF_TEXT: Final = ("encoding", "errors", "line_buffering", "newlines", "write_through")


def _read_place(thing: Any) -> Any:
    """Read where a file stands, which writes what waits for being written."""
    if thing.closed:
        return None
    is_text = issubclass(type(thing), io.TextIOWrapper)
    return thing.tell(), *(getattr(thing, name) for name in _OF_TEXT if is_text)


def _write_place(thing: Any, state: Any) -> None:
    thing.seek(0, io.SEEK_END)  # what a buffer has read ahead is not what is there now
    thing.seek(state[0])


def _read_database(thing: Any) -> Any:
    return thing.total_changes, thing.in_transaction


_NONE: Final = id(None).to_bytes(POINTER, sys.byteorder)


def _words_of(memory: bytes) -> list[bytes]:
    """Cut memory into words; where it refers to None, some C code has nothing at first."""
    words = (memory[at : at + POINTER] for at in range(0, len(memory), POINTER))
    return [bytes(POINTER) if word == _NONE else word for word in words]


def _read_memory(thing: Any, depth: int = DEPTH) -> Any:
    kind = type(thing)
    size = _length_of(kind)
    found = [_words_of(memory_of(thing)), None if size is None else size(thing)]
    if depth and _is_iterator(kind):
        for part in get_referents(thing):
            inner = get_referents(part) if type(part) is tuple else (part,)
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
    offset = field_of(type(wrapper), "__dictoffset__")
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
    if field_of(type(thing), "__dictoffset__") < 0:
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
    return type(find_in_class(kind, "__next__")) is WrapperDescriptorType


def _length_of(kind: type) -> Read | None:
    """Find what C code tells the length of an object by."""
    for base in ancestors(kind):
        found = names_in_class(base).get("__len__")
        if found is not None:
            return found if type(found) is WrapperDescriptorType else None
    return None


_SEEN_OTHERWISE: Final = (
    *(GeneratorType, CoroutineType, AsyncGeneratorType, count, Random),
    *(ContextVar, ref, ProxyType, CallableProxyType, CodeType),
)
"""Types whose objects are put back by other means, or keep what belongs to a thread."""
_SEQUENCES: Final[tuple[Any, ...]] = ([], (), "", "é", b"", bytearray(), range(0))
_PLACED: Final = frozenset(
    {type(iter(one)) for one in _SEQUENCES} | {type(reversed(one)) for one in _SEQUENCES}
)
"""Iterators whose position can be set."""
_KEEP_NOTHING: Final = frozenset({"_csv.writer", "_thread._local"})
"""Types whose memory changes with every use and tells nothing."""
_VALUES: Final = frozenset({"datetime", "decimal", "_struct", "typing", "types", "operator", "re"})
"""Modules of C types whose objects are values, but for `_NO_VALUES`."""
_NO_VALUES: Final = frozenset({"decimal.Context", "re.Scanner"})
_KNOWN: Final = (
    *(type, ModuleType, FunctionType, CellType, MethodType, BuiltinFunctionType, property),
    type(None),
    *(dict, list, set, frozenset, deque, bytearray, array, tuple),
    *(str, bytes, int, float, complex, CodeType, MethodWrapperType, WrapperDescriptorType),
    *(MethodDescriptorType, GetSetDescriptorType, MemberDescriptorType),
)
"""Types of which all is known: objects are put back, or never change for the program."""
_hiding: dict[type, bool] = {}


def hides_something(kind: type) -> bool:
    """Return whether objects of a type have state that only C code sees."""
    found = _hiding.get(kind)
    if found is None:
        found = not issubclass(kind, _KNOWN) and any(map(_is_hiding, ancestors(kind)))
        _hiding[kind] = found
    return found


def _is_hiding(base: type) -> bool:
    name = f"{module_of(base)}.{qualified_name(base)}"
    is_value = module_of(base) in _VALUES and name not in _NO_VALUES
    return base is not object and not is_value and is_of_c(base)


def read_hidden_in_class(thing: Any) -> Any:
    """Read what C code of a metaclass keeps of a class, behind what it keeps of all classes; None
    if there is no such code."""
    kind = type(thing)
    if (
        kind is type
        or not issubclass(kind, type)
        or not any(map(_is_of_metaclass, ancestors(kind)))
    ):
        return None
    space = get_referents(names_in_class(thing))[0]
    return _memory_behind(thing, type), _memory_behind(space, dict)


def _is_of_metaclass(base: type) -> bool:
    return base not in (object, type) and is_of_c(base)


def _memory_behind(thing: Any, base: type) -> list[bytes]:
    """Copy the memory of an object that those of a base do not have."""
    size = type(thing).__basicsize__ - base.__basicsize__
    return _words_of((ctypes.c_char * size).from_address(id(thing) + base.__basicsize__).raw)


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
    if issubclass(kind, Context):
        return StateAccess(_read_variables, _write_variables)
    if issubclass(kind, mmap.mmap):
        return StateAccess(_read_mapped, _write_mapped)
    if issubclass(kind, io.IOBase):
        is_left = is_machinery(thing) or not _is_placed(thing) or _is_standard(thing)
        return None if is_left else StateAccess(_read_place, _write_place)
    if issubclass(kind, partial):
        return StateAccess(_read_partial, _write_partial)
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
    return _find_access_to_buffer(thing)


def _find_access_to_buffer(thing: Any) -> StateAccess:
    try:
        view = memoryview(thing)
    except (TypeError, ValueError, BufferError):
        return StateAccess(_read_memory)
    if view.readonly:
        return StateAccess(_read_memory)
    is_written = view.c_contiguous and view.nbytes <= LARGEST
    return (
        StateAccess(_read_buffer, _write_buffer) if is_written else StateAccess(_read_large_buffer)
    )


def _is_placed(file: Any) -> bool:
    """Return whether a file has a position; others are ends of streams."""
    try:
        return bool(file.seekable())
    except Exception:  # it is closed, or code of the program says so
        return False


def _is_standard(file: Any) -> bool:
    """Whether a file is what all tests print to, or a part of it."""
    streams = (sys.stdin, sys.stdout, sys.stderr, sys.__stdin__, sys.__stdout__, sys.__stderr__)
    buffers = [getattr(stream, "buffer", None) for stream in streams]
    raw = [getattr(buffer, "raw", None) for buffer in buffers]
    return any(file is part for part in (*streams, *buffers, *raw))


# -- the objects of an exploration ---------------------------------------------------------------

_UNKNOWN: Final = object()


class OlderInC:
    """The older objects whose state only C code sees."""

    def __init__(self) -> None:
        self._first: dict[int, tuple[Any, StateAccess | None, Any]] = {}
        """By identity: each object, how it is copied, and the copy."""
        self._met: dict[int, None] = {}
        """The identities of those that the present run has come to, in that order: a file before
        the one inside, to which it writes what it has kept."""

    def clear(self) -> None:
        """Forget all of them, or let them be copied anew."""
        self._first.clear()
        self._met.clear()
        _hiding.clear()

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
        self._met[key] = None

    def put_back(self) -> None:
        """Put the objects back that the run has changed."""
        for key in self._met:
            thing, access, state = self._first[key]
            if access is not None and access.write is not None and not _has(thing, access, state):
                _try(access.write, thing, state)

    def take_lost(self) -> list[Any]:
        """Forget the run, and return the objects that could not be put back."""
        met, self._met = self._met, {}
        return [
            thing
            for thing, access, state in map(self._first.__getitem__, met)
            if access is not None and not _has(thing, access, state)
        ]


def _has(thing: Any, access: StateAccess, state: Any) -> bool:
    """Whether an object is in a state; not if nobody can tell."""
    present = _try(access.read, thing)
    return present is not _UNKNOWN and bool(present == state)


def _try(action: Callable[..., Any], *given: Any) -> Any:
    """Call a function of C code; what it refuses is not known."""
    try:
        return action(*given)
    except Exception:
        return _UNKNOWN


older_in_c: Final = OlderInC()
