"""Accesses to shared data as operations: what a thread stands before at a scheduling point.

A variable (an attribute, a global, a captured variable) is one object of the search, and its state
is the number of its writes.  A built-in container is several objects: its *structure*, which says
what is in it, and one for each element.  An operation on an element reads the structure and touches
the element; one that changes what is in the container writes the structure, and therefore conflicts
with all others.

Whether `d[k] = 1` adds a key or replaces a value depends on the moment.  The state of the structure
says which keys are there, so that `ContainerAccess.at` can answer for any moment.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from enum import Enum, auto
from typing import Any, ClassVar, Final, TypeAlias

from mazurka.runtime.core.operations import Object, RealOperation, present
from mazurka.stateless.runs import Lookup, Touch

Token: TypeAlias = Hashable
"""Represents a key in the names of elements; the same in every run."""
Keys: TypeAlias = frozenset[Token] | int | str | None
"""What is in a container: the keys, or the length; None if elements are not told apart."""
EVERY: Final = "every"
"""Stands for the keys of what has an element for every key, whether or not that has been filled:
the cache of a function.  An operation on one key touches its element alone."""


class SharedVariable(Object):
    """An attribute, a global or captured variable, or an element of a container."""

    __slots__ = ()
    kind = "variable"

    def __init__(self, name: str) -> None:
        super().__init__(name, 0)


class Structure(Object):
    """The structure of a container; its state is the number of changes, and the keys."""

    __slots__ = ("elements", "keyed", "read_unlocked", "shown")
    kind = "container"

    def __init__(self, name: str, keys: Keys) -> None:
        super().__init__(name, (0, keys))
        self.elements: dict[Token, SharedVariable] = {}
        self.keyed = True
        """Whether keys have elements with objects of their own (the keys of a set do not)."""
        self.read_unlocked: int | None = None
        """Without a global lock: the place where an operation has read it without its own."""
        self.shown: int | None = None
        """The place where one has changed it, and shows states in between to such reads."""

    def element(self, token: Token) -> SharedVariable:
        found = self.elements.get(token)
        if found is None:
            found = self.elements[token] = SharedVariable(f"{self.name}[{token!r}]")
        return found


class DataAccess(RealOperation):
    """A read or a write of one variable."""

    __slots__ = ("site", "value")
    site: int
    kind: ClassVar[str] = "read"
    writes: ClassVar[bool] = False

    def __init__(self, shared: Object, site: int) -> None:
        self.shared = shared
        self.site = site
        """The number of the place in the source (`core.sites`)."""
        self.value: str | None = None
        """The value that was read or written, if it has been asked for."""


class Read(DataAccess):
    __slots__ = ()


class ReadSeveral(DataAccess):
    """A read that depends on several variables: an attribute that several objects may have."""

    __slots__ = ("variables",)

    def __init__(self, variables: Sequence[SharedVariable], site: int) -> None:
        super().__init__(variables[0], site)
        self.variables = variables

    def at(self, lookup: Lookup) -> Sequence[Touch]:
        return tuple((variable, False) for variable in self.variables)


class Write(DataAccess):
    __slots__ = ()
    kind = "write"
    writes = True


class How(Enum):
    """What an operation does to a container."""

    LOOK = auto()
    """Looks at what is in it, not at the elements: `len`, `in`."""
    READ = auto()
    """Reads the element of a key."""
    READ_ALL = auto()
    WRITE = auto()
    """Writes the element of a key, and adds the key if it is new."""
    ENSURE = auto()
    """Adds the key if it is new, and otherwise reads its element."""
    REMOVE = auto()
    """Removes a key if it is there."""
    TAKE = auto()
    """Removes some element, unless the container is empty."""
    CHANGE = auto()
    """Changes what is in it."""

    __hash__ = object.__hash__  # looked up at every access; the one of `Enum` is slow


WRITING = frozenset({How.WRITE, How.ENSURE, How.REMOVE, How.TAKE, How.CHANGE})
"""Operations that may write."""


class ContainerAccess(DataAccess):
    """One atomic operation on a built-in container."""

    __slots__ = ("how", "token")
    shared: Structure

    def __init__(self, shared: Structure, how: How, token: Token, site: int) -> None:
        super().__init__(shared, site)
        self.how = how
        self.token = token

    @property
    def kind(self) -> str:  # type: ignore[override]
        return "write" if self.how in WRITING else "read"

    @property
    def writes(self) -> bool:  # type: ignore[override]
        return any(written for _, written in self.at(present))

    def at(self, lookup: Lookup) -> Sequence[Touch]:
        structure, how = self.shared, self.how
        if how is How.LOOK:
            return ((structure, False),)
        if how is How.CHANGE:
            return ((structure, True),)
        state: Any = lookup(structure)
        keys: Keys = state[1]
        if keys is None:
            return ((structure, how in WRITING),)
        if isinstance(keys, str):
            return self._of_every_key()
        if how is How.READ_ALL:
            return self._all(keys)
        if how is How.TAKE:
            return ((structure, bool(keys)),)
        token = self.token
        if isinstance(keys, int):
            index: Any = token
            token = index = index + keys if index < 0 else index
            there = 0 <= index < keys
            adds = False
        else:
            there = token in keys
            adds = how is not How.READ
        if how is How.REMOVE:
            return ((structure, there),)
        if not there:
            return ((structure, adds),)
        if not structure.keyed:
            return ((structure, False),)
        return ((structure, False), (structure.element(token), how is How.WRITE))

    def _all(self, keys: frozenset[Token] | int) -> Sequence[Touch]:
        structure = self.shared
        if not structure.keyed:
            return ((structure, False),)
        tokens = range(keys) if isinstance(keys, int) else sorted(keys, key=repr)
        elements = [(structure.element(token), False) for token in tokens]
        return ((structure, False), *elements)

    def _of_every_key(self) -> Sequence[Touch]:
        """Touch the element of a key, and nothing else; or everything, where no key is known.

        Those that touch one element read the structure.  So one that touches all of them writes it,
        even if it only reads.
        """
        structure = self.shared
        if self.token is None:
            return ((structure, True),)
        return ((structure, False), (structure.element(self.token), self.how in WRITING))

    def settle(self, touches: Sequence[Touch], keys: Keys) -> None:
        """Update states after the operation; `keys` is what is in the container now."""
        for shared, written in touches:
            if not written:
                continue
            state: Any = shared.state
            shared.state = (state[0] + 1, keys) if shared is self.shared else state + 1


class Together(DataAccess):
    """One atomic operation on several containers: `a.extend(b)`, `a == b`."""

    __slots__ = ("parts",)

    def __init__(self, parts: Sequence[DataAccess]) -> None:
        super().__init__(parts[0].shared, parts[0].site)
        self.parts = parts

    @property
    def kind(self) -> str:  # type: ignore[override]
        return "write" if any(part.kind == "write" for part in self.parts) else "read"

    @property
    def writes(self) -> bool:  # type: ignore[override]
        return any(part.writes for part in self.parts)

    def at(self, lookup: Lookup) -> Sequence[Touch]:
        merged: dict[str, Touch] = {}
        for part in self.parts:
            for shared, written in part.at(lookup) or ():
                name = str(shared.name)
                known = merged.get(name)
                merged[name] = (shared, written or (known is not None and known[1]))
        return tuple(merged.values())
