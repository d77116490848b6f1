"""Accesses to built-in containers, and to objects that are treated like containers.

To learn where scheduling points are needed, a container is one location.  The operations at points
tell its elements apart (`sharing.accesses.ContainerAccess`).  These operations know what is in the
container from the state of its structure, so a container that has been touched at a point may be
changed at points only; a place that changes it otherwise becomes a point.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import typing
from _thread import get_ident
from collections.abc import Callable, Sequence
from contextvars import Context
from enum import Enum
from itertools import count
from types import (
    AsyncGeneratorType,
    CoroutineType,
    FunctionType,
    GeneratorType,
    GenericAlias,
    ModuleType,
)
from typing import Any, Final, TypeAlias

from mazurka.runtime.core.insides import (
    ancestors,
    field_of,
    find_in_class,
    module_of,
    names_in,
    names_in_class,
    qualified_name,
)
from mazurka.runtime.core.moment import now
from mazurka.runtime.core.operations import present
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.sites import sites
from mazurka.runtime.python.catalogue import CONTAINERS, LISTS, VIEWS, CachedFunction
from mazurka.runtime.sharing import accesses
from mazurka.runtime.sharing.accesses import EVERY, WRITING, ContainerAccess, How, Keys, Token
from mazurka.runtime.sharing.locations import NOBODY, SharedLocation, learned, points, suspect
from mazurka.runtime.sharing.monitoring import IN_STEPS, unobserved
from mazurka.runtime.sharing.names import UNTOUCHED, Seen, known, see
from mazurka.stateless.runs import Touch

Family: TypeAlias = type | None
"""The built-in container type on which a type is built; None for what is no container."""
TELLING: Final = 256
"""The size up to which the elements of a container are told apart."""
UNKNOWN: Final = object()

families: dict[type, Any] = {}
known_family = families.get


def family_of(kind: type) -> Family:
    """Find the built-in container type on which a type is built."""
    found = known_family(kind, UNKNOWN)
    if found is UNKNOWN:
        bases = (base for base in ancestors(kind) if base in CONTAINERS or base in VIEWS)
        found = families[kind] = next(bases, None)
    family: Family = found
    return family


def is_built_in(kind: type, method: str) -> bool:
    """Tell whether a container type has a method from C code, and no Python code for it."""
    return not isinstance(find_in_class(kind, method), FunctionType)


def family(value: Any) -> Family:
    """Find the built-in container type of a value; None if it is no container."""
    kind = type(value)
    found = known_family(kind, UNKNOWN)
    return family_of(kind) if found is UNKNOWN else found


def part_of(value: Any, how: How) -> Part | None:
    """Describe an access to a whole container, or to the one that a view shows; None for others."""
    found = family(value)
    if found is None:
        return None
    if found in VIEWS:
        if found is Context:
            return value, None, How.CHANGE, None
        keys_only = found is VIEWS[0]
        is_buffer = found is memoryview
        value = behind(value)
        found = family(value)
        if found is None:
            is_changeable = is_buffer and value is not None and type(value) is not bytes
            return (value, None, how, None) if is_changeable else None
        if keys_only and how is How.READ_ALL:
            how = How.LOOK
    return value, found, how, None


def behind(view: Any) -> Any:
    """Find the container that a view shows; None if that cannot be known any more."""
    if type(view) is not memoryview:
        shown = gc.get_referents(view)[0]
        return behind(shown) if family(shown) in _MAPPING_VIEWS else shown  # a view of a view
    try:
        found = view.obj
    except ValueError:
        return released.get(id(view))
    if type(found) in (bytes, *CONTAINERS):
        return found
    if issubclass(type(found), C_DATA):
        return root_in_memory(found)
    if module_of(type(found)) != "_io":
        return found
    inner = [one for one in gc.get_referents(found) if one is not type(found)]
    return inner[0] if inner else found  # a `BytesIO` shows its buffer by another object


C_DATA: Final[Any] = vars(ctypes)["_SimpleCData"].__mro__[-2]
"""The type of all objects of `ctypes`."""


def root_in_memory(thing: Any) -> Any:
    """Find the object of `ctypes` in whose memory another one lies: the structure of a field."""
    while thing._b_base_ is not None:
        thing = thing._b_base_
    return thing


_MAPPING_VIEWS: Final = frozenset(VIEWS) - {memoryview, Context}
released: dict[int, Any] = {}
"""By the identity of a `memoryview` that has been released: what it has shown."""


def parts_of(values: Any, how: How = How.READ_ALL) -> list[Part]:
    """Describe accesses to all containers among some values."""
    return [part for value in values if (part := part_of(value, how)) is not None]


# -- keys ----------------------------------------------------------------------------------------


def token_of(key: Any) -> Token:
    """Make the token of a key; None if keys that differ might be equal to it."""
    kind = type(key)
    if kind in (str, int, bytes):
        return key  # type: ignore[no-any-return]
    if kind is bool:
        return int(key)
    if key is None:
        return "None"
    if kind is tuple:
        parts = tuple(token_of(part) for part in key)
        return None if None in parts else ("tuple", *parts)
    if kind in _ALIASES and not getattr(key, "__unpacked__", False):
        named = token_of((key.__origin__, key.__args__))
        return named and ("alias", kind.__name__, named)
    if kind in _FUNCTIONS:
        function = key if kind is FunctionType else key.__wrapped__
        return _name_lasting(key, function.__module__, getattr(function, "__qualname__", None))
    equality: Any = find_in_class(kind, "__eq__")
    if issubclass(kind, Enum) and equality is object.__eq__:
        return ("enum", module_of(kind), qualified_name(kind), key.name)
    if issubclass(kind, type) and equality is object.__eq__:
        return _name_lasting(key, module_of(key), qualified_name(key))
    return None


_ALIASES: Final = (GenericAlias, type(typing.Sequence[Any]))
"""Types such as that of `list[int]`, which are equal if their parts are, in the same order."""
_FUNCTIONS: Final = (FunctionType, CachedFunction)
_lasting: dict[Token, Any] = {}
"""Classes and functions that the run has met as keys, by token."""
_tokens: dict[int, Token] = {}
"""Their tokens, by identity."""


def _name_lasting(thing: Any, module: object, name: object) -> Token:
    """Make a token of where a class or a function is found; None unless it is found there."""
    if id(thing) in _tokens:  # the run may have given it another name since
        return _tokens[id(thing)]
    if type(module) is not str or type(name) is not str:
        return None
    token = "lasting", module, name
    if token in _lasting or _find_named(module, name) is not thing:
        return None
    _lasting[token], _tokens[id(thing)] = thing, token
    return token


def _find_named(module: str, name: str) -> Any:
    """Find what a module has under a name, which may be that of a part of a class."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        if type(found) is ModuleType:
            found = names_in(found).get(part)
        elif issubclass(type(found), type):
            found = names_in_class(found).get(part)
        else:
            return None
    return found


def forget_tokens() -> None:
    """Begin a run: a name may mean something else."""
    _lasting.clear()
    _tokens.clear()


def keys_of(container: Any, family: Family) -> Keys:
    """Tell what is in a container, for the state of its structure; None if that is unknown.

    The class of the container may have methods of its own, which are not called: they may answer
    something else, and would come back here.
    """
    kind: Any = family
    if kind is None:
        return EVERY if type(container) is CachedFunction else None
    size: int = kind.__len__(container)
    if size > TELLING:
        return None
    if family in LISTS:
        return size
    tokens = frozenset(token_of(key) for key in list(kind.__iter__(container)))
    return None if None in tokens or len(tokens) < size else tokens


# -- accesses ------------------------------------------------------------------------------------

Part: TypeAlias = tuple[Any, Family, How, Any]
"""An access: the container, the built-in type that it is built on, what happens, and the key."""
ONE_STEP: Final = object()
"""The key of a use of a whole container that holds its lock and shows no states in between."""
_READ_WITHOUT_LOCK: Final = frozenset({list, dict, set})
"""Containers that some operations read without a lock where there is no global one."""
_WITH_LOCKS: Final = frozenset(
    {"_io", "_random", "random", "functools", "collections", "_collections", "_contextvars"}
    | {"_hashlib", "_md5", "_sha1", "_sha2", "_sha3", "_blake2", "_hmac", "zlib", "_bz2", "_lzma"}
    | {"sqlite3", "_ctypes"}
)
"""Modules of C types whose objects have locks of their own: the source of CPython 3.14."""
_ATOMIC: Final = frozenset({count, Context, GeneratorType, CoroutineType, AsyncGeneratorType})
"""Other such types, and those whose use by two threads at once is an error."""


def _has_lock(kind: type) -> bool:
    """Tell whether each use of an object of C code is one step without a global lock."""
    return kind in _ATOMIC or issubclass(kind, type) or module_of(kind) in _WITH_LOCKS


class PendingAccess:
    """An access to a container that a thread stands before or performs."""

    __slots__ = ("container", "family", "how", "key", "operation", "seen", "touches")

    def __init__(self, part: Part, seen: Seen, operation: ContainerAccess) -> None:
        self.container, self.family, self.how, self.key = part
        self.seen = seen
        self.operation = operation
        self.touches: Sequence[Touch] = ()

    def begin(self) -> None:
        """Note that the access has been chosen, and is about to be performed."""
        self.touches = self.operation.at(present)
        if session.current.free_threaded:
            self._note_unexplored_steps()
        self.seen.whole.use_at_point(self.operation.site, self.operation.how in WRITING)

    def _note_unexplored_steps(self) -> None:
        """Name steps that are not explored where there is no global lock (`traversals`).

        These are uses of an object of C code that has no lock, and a change of a container that
        shows states in between, if another operation reads the container without its lock.
        """
        if self.key is ONE_STEP:
            return
        structure, site = self.operation.shared, self.operation.site
        if self.family is None:
            kind = type(self.container)
            if module_of(kind).startswith("mazurka."):
                kind = self.container.__class__  # a wrapper says what it stands for
            if self.how is How.CHANGE and not _has_lock(kind):
                unobserved.note_code(f"a {qualified_name(kind)} at {sites[site]}", IN_STEPS)
        elif self.family in _READ_WITHOUT_LOCK:
            if self._reads_without_lock():
                structure.read_unlocked = site
            elif self._shows_states():
                structure.shown = site
            if structure.read_unlocked is not None and structure.shown is not None:
                changed, read = sites[structure.shown], sites[structure.read_unlocked]
                what = f"a change of a {self.family.__name__} at {changed} that is seen at {read}"
                unobserved.note_code(what, IN_STEPS)

    def _reads_without_lock(self) -> bool:
        """Tell whether the access reads one element, or which elements there are."""
        if type(self.key) is slice:
            return False
        is_step = self.how is How.READ_ALL and self.key is not None
        return is_step or self.how is How.READ or self.how is How.LOOK

    def _shows_states(self) -> bool:
        """Tell whether several elements change or move, one after the other."""
        if self.how is How.CHANGE:
            return True
        if self.family is not list:
            return False
        takes = self.how is How.TAKE and self.key is not None
        return takes or self.how is How.REMOVE or type(self.key) is slice

    def settle(self) -> None:
        """Update the state of the container after the access."""
        if any(written for _, written in self.touches):
            keys = None if self.seen.vague else keys_of(self.container, self.family)
            self.operation.settle(self.touches, keys)


def use_alone(container: Any, site: int, written: bool) -> bool:
    """Note an access to a container that only the running thread has used; False if others have.

    This is the short way, for accesses that need no point.  To be called under control.
    """
    seen = known(id(container))
    if seen is None:
        return False
    location = seen.whole
    if location.owner != now.thread or site in points:
        return now.alone and _use_before_others(location, written)
    if written:
        location.write = now.count
        location.write_site = site
        session.current.running.rounds = None
        now.idle = 0
    else:
        location.read = now.count
        location.read_site = site
        now.idle = idle = now.idle + 1
        if idle > now.limit:
            suspect(site)
    return True


def _use_before_others(location: SharedLocation, written: bool) -> bool:
    """Note that a thread that is alone uses a container; False if it has been shared before.

    As long as only threads that were alone have used it, there is nothing to keep: this access
    comes after all accesses so far, and before those of all threads that begin later.  The
    container has been met, so what it held before the run is known.
    """
    if location is not UNTOUCHED and (location.owner != NOBODY or location.shared is not None):
        return False
    if written:
        session.current.running.rounds = None
        now.idle = 0
    return True


def use_at_end(container: Any, site: int, *, written: bool = False) -> None:
    """Note that C code uses a container where nothing tells before: an object ends."""
    seen = see(container)
    if seen.whole is UNTOUCHED:
        seen.whole = SharedLocation()
    seen.whole.use(site, written)


def approach(part: Part, site: int) -> PendingAccess | None:
    """Stand before an access to a container, if it needs a scheduling point.

    To be called under control.  What is returned has to be settled after the access.
    """
    container, _, how, _ = part
    if use_alone(container, site, how in WRITING):
        return None
    seen = see(container)
    if not _needs_point(seen, how, site):
        return None
    access = _prepare(part, seen, site)
    session.current.point(access.operation)
    access.begin()
    return access


def approach_all(parts: Sequence[Part], site: int) -> list[PendingAccess]:
    """Stand before one operation on several containers, if it needs a scheduling point."""
    pending = enter(parts, site)
    if pending:
        session.current.point(accesses.Together([access.operation for access in pending]))
        for access in pending:
            access.begin()
    return pending


def enter(parts: Sequence[Part], site: int) -> list[PendingAccess]:
    """Prepare those accesses of an operation that need a scheduling point; note the others."""
    pending = []
    for part in parts:
        seen = see(part[0])
        if _needs_point(seen, part[2], site):
            pending.append(_prepare(part, seen, site))
    return pending


def _needs_point(seen: Seen, how: How, site: int) -> bool:
    """Tell whether an access to a whole container needs a scheduling point; note it otherwise."""
    if now.alone and _use_before_others(seen.whole, how in WRITING):
        return False
    if seen.whole is UNTOUCHED:
        seen.whole = SharedLocation()
    location = seen.whole
    if session.current.over:
        return False
    if site in points and not (now.alone and location.shared is None):
        return True
    written = how in WRITING
    location.use(site, written)
    if written and location.shared is not None:
        learned.learn(site)
    if written:
        session.current.running.rounds = None
        now.idle = 0
    else:
        now.idle += 1
        if now.idle > now.limit:
            suspect(site)
    return False


_ANY_KEY: Final = {
    How.READ: How.READ_ALL,
    **dict.fromkeys((How.WRITE, How.ENSURE, How.REMOVE), How.CHANGE),
}
"""What operations on the element of a key do where it is unknown which element that is."""


def _prepare(part: Part, seen: Seen, site: int) -> PendingAccess:
    container, family, how, key = part
    structure: accesses.Structure | None = seen.whole.shared
    if structure is None:
        keys = None if seen.vague else keys_of(container, family)
        structure = accesses.Structure(f"{seen.name}[]", keys)
        structure.keyed = family is not set
        structure.origin = seen.origin or f"{field_of(type(container), '__name__')} {seen.name}"
        seen.whole.shared = structure
    token: Token = None
    if how in _ANY_KEY:
        token = token_of(key)
        if token is None or (family in LISTS and type(token) is not int):
            how = _ANY_KEY[how]
    return PendingAccess(part, seen, ContainerAccess(structure, how, token, site))


def perform(
    part: Part, site: int, action: Callable[..., Any], /, *arguments: Any, **named: Any
) -> Any:
    """Perform an action on a container, as one access."""
    if session.current.ident != get_ident():
        return action(*arguments, **named)
    access = approach(part, site)
    if access is None:
        return action(*arguments, **named)
    try:
        return action(*arguments, **named)
    finally:
        access.settle()


def perform_all(
    parts: Sequence[Part], site: int, action: Callable[..., Any], /, *arguments: Any, **named: Any
) -> Any:
    """Perform an action on several containers, as one access."""
    if not parts or session.current.ident != get_ident():
        return action(*arguments, **named)
    pending = approach_all(parts, site)
    try:
        return action(*arguments, **named)
    finally:
        for access in pending:
            access.settle()
