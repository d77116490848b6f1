"""What people call the objects that threads share.

A lock has no name of its own.  But somebody holds a reference to it: a variable of the test, an
attribute of one of its objects, an element of a list.  So the shortest expression that leads to it
is looked for, first from the variables of the test, then from those of the thread that uses it,
then from its module's: `accounts[0].lock`.  Two objects never get the same label in one report.

This looks at dictionaries only, and runs no code of the user's.
"""

from __future__ import annotations

import re
from collections import OrderedDict, defaultdict, deque
from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from os.path import basename
from types import FrameType, FunctionType, ModuleType
from typing import Any

from mazurka.runtime.core.frame_variables import read_variables
from mazurka.runtime.core.insides import ancestors, field_of, is_one_of, module_of, slots
from mazurka.runtime.core.names import created
from mazurka.runtime.core.operations import Object
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.sites import user_frames
from mazurka.runtime.core.tasks import Life
from mazurka.runtime.primitives.primitive import ATTRIBUTE
from mazurka.runtime.primitives.process_lock import PROCESS_LOCKS
from mazurka.runtime.primitives.registry import CLASSES, HIDDEN, PARTS
from mazurka.stateless.runs import Shared

DEEPEST = 4
MOST = 4000
"""How many objects are looked at for one label."""
LONGEST = 64
"""Elements of a container that are looked at."""
DICTIONARY = ".__dict__"
"""What follows the name of an object if its attributes as a whole are meant."""
_INSIDE = HIDDEN | {ATTRIBUTE}
"""Attributes that nobody would think of: what a thread is about to call."""
_PLAIN = (int, float, complex, str, bytes, type(None), ModuleType)


class Labels:
    """Labels for the shared objects of one run."""

    def __init__(self) -> None:
        self._labels: dict[int, str] = {}
        self._kept: list[Any] = []
        """What has a label stays alive, so that no other object gets its identity."""
        self._taken: set[str] = set()

    def of(self, shared: Shared) -> str:
        """Return the label of a lock, an event, a queue or a thread."""
        if isinstance(shared, Life):
            return shared.label
        return self._labels.get(id(shared)) or describe_unnamed(shared)

    def meet(self, shared: Shared, frame: FrameType | None) -> None:
        """Find a label for an object that a thread at a frame is about to use."""
        if not isinstance(shared, Life) and id(shared) not in self._labels:
            self._find(shared, frame)

    def path_to(self, thing: Any, frame: FrameType | None) -> str | None:
        """Return a label for any object, such as the one whose attribute is read, or None."""
        thing = _dictionary(thing).get(ATTRIBUTE) or thing  # the same as its model
        if id(thing) not in self._labels:
            self._find(thing, frame)
        return self._labels.get(id(thing))

    def give(self, shared: Shared, label: str) -> None:
        """Give an object a label, unless it has one."""
        self._labels.setdefault(id(shared), label)
        self._kept.append(shared)

    def _find(self, wanted: Any, frame: FrameType | None) -> None:
        for roots in _find_roots(frame):
            found = find_path(roots, wanted)
            if found is not None:
                self._label(wanted, *found)
                return

    def _label(self, thing: Any, text: str, is_part: bool) -> None:
        label, number = text, 1
        while label in self._taken and not is_part:
            number += 1
            label = f"{text}#{number}"
        if not is_part:
            self._taken.add(label)
        self._labels[id(thing)] = label
        self._kept.append(thing)


def describe_unnamed(shared: Shared) -> str:
    if not isinstance(shared, Object):
        return str(shared.name)
    if shared.origin is not None:
        return simplify_name(shared.origin)
    place = created.get(str(shared.name))
    if place is None:
        return f"{shared.kind} {shared.name}"
    alone = sum(other == place for other in created.values()) == 1
    which = "" if alone else f" ({shared.name})"
    return f"{shared.kind} created at {basename(place[0])}:{place[1]}{which}"


def simplify_name(name: str) -> str:
    """Shorten the name of objects that are known by their type only: `any Node`."""
    if not name.startswith("any "):
        return name
    if name.startswith("any builtins.type"):
        return f"a local class{name.removeprefix('any builtins.type')}"
    return _ANY.sub(r"any \1", name)


_ANY = re.compile(r"^any (?:\w+\.)*?([A-Z]\w*)")
"""`any package.module.Class`: the class is enough."""


def find_path(roots: Iterable[tuple[str, Any]], wanted: Any) -> tuple[str, bool] | None:
    """Find the shortest expression for an object, breadth first, and whether it names a part."""
    waiting = deque((name, value, 0, False) for name, value in roots)
    seen: set[int] = set()
    while waiting and len(seen) < MOST:
        text, value, depth, is_part = waiting.popleft()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if _is(value, wanted):
            return text, is_part
        if type(wanted) is dict and _dictionary(value) is wanted:
            return text + DICTIONARY, is_part
        if depth < DEEPEST:
            for child, inner in _children(text, value):
                waiting.append((child, inner, depth + 1, child == text))
    return None


def _is(value: Any, wanted: Any) -> bool:
    return value is wanted or _dictionary(value).get(ATTRIBUTE, value) is wanted


def _dictionary(value: Any) -> dict[str, Any]:
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return found if isinstance(found, dict) else {}


def _children(text: str, value: Any) -> Iterator[tuple[str, Any]]:
    if issubclass(type(value), _PLAIN):
        return
    kind = type(value)
    if is_one_of(kind, (list, tuple)):
        for number, item in enumerate(value[:LONGEST]):
            yield f"{text}[{number}]", item
    elif is_one_of(kind, (dict, defaultdict, OrderedDict)):
        for key in list(dict.keys(value))[:LONGEST]:
            if type(key) in (str, int):
                yield f"{text}[{key!r}]", value[key]
    elif issubclass(type(value), FunctionType):
        for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=False):
            try:
                yield name, cell.cell_contents
            except ValueError:
                continue
    elif issubclass(type(value), type):
        yield from _attributes(text, vars(value))
    else:
        named = issubclass(kind, CLASSES) or module_of(kind) == PROCESS_LOCKS
        parts = PARTS if named else ()
        yield from _attributes(text, _dictionary(value), parts, kind)
        for name, slot in slots(kind):
            with suppress(AttributeError):
                yield from _attributes(text, {name: slot.__get__(value)}, parts, kind)


def _attributes(
    text: str, names: Any, parts: Container[str] = (), kind: type = object
) -> Iterator[tuple[str, Any]]:
    for name, inner in list(names.items())[:LONGEST]:
        if isinstance(name, str) and not name.startswith("__") and name not in _INSIDE:
            yield text if name in parts else f"{text}.{demangle(name, kind)}", inner


def as_written(name: str, owner: Any) -> str:
    """Return the name of an object's attribute as the source has it."""
    return demangle(name, type(owner))


def demangle(name: str, kind: type) -> str:
    """Return a name as the class has it that keeps it private: `__size`, not `_Cache__size`."""
    if not name.startswith("_") or "__" not in name:
        return name
    for base in ancestors(kind):
        prefix = f"_{field_of(base, '__name__').lstrip('_')}__"
        if name.startswith(prefix):
            return name.removeprefix(prefix[:-2])
    return name


def _find_roots(frame: FrameType | None) -> Iterator[Iterator[tuple[str, Any]]]:
    """Find the variables at which expressions may begin, the preferred ones first."""
    tasks = session.current.tasks
    main = tasks[0] if tasks else None
    own = user_frames(0, frame) if frame is not None else []
    of_test = user_frames(main.ident) if main is not None else []
    for one in (*of_test[::-1], *own):
        if one.f_locals is not one.f_globals:
            yield _variables(read_variables(one))
    for one in (*own[:1], *of_test[::-1]):
        yield _variables(one.f_globals)


def _variables(names: Any) -> Iterator[tuple[str, Any]]:
    for name, value in list(names.items()):
        if not name.startswith(("__", "@")):
            yield name, value
