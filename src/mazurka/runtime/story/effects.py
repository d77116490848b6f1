"""What a step on shared data is about, as people see it: the place, and the value."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from types import CellType, FrameType, ModuleType
from typing import Any

from mazurka.runtime.core.assertions import FrameValues
from mazurka.runtime.core.insides import ancestors, field_of, find_in_class, names_in_class
from mazurka.runtime.core.operations import ReadClock, RealOperation
from mazurka.runtime.core.sites import sites
from mazurka.runtime.core.spinning import Spin
from mazurka.runtime.core.values import MISSING, attribute_of, element_of, of_class, shown
from mazurka.runtime.python.catalogue import CachedFunction
from mazurka.runtime.python.containers import family_of
from mazurka.runtime.python.places.files import FilePlace
from mazurka.runtime.sharing.accesses import ContainerAccess, DataAccess, How, Together
from mazurka.runtime.sharing.names import Seen, objects
from mazurka.runtime.sharing.places import PlaceAccess, SharedPlace
from mazurka.runtime.story.container_names import name_container
from mazurka.runtime.story.labels import DICTIONARY, Labels, as_written
from mazurka.runtime.story.story import Effects

_AUGMENTED = re.compile(r" *(?:\*\*|//|<<|>>|[-+*/%&|^@])= ")
"""Between the place and the rest of `place += rest`."""


_MANGLED = re.compile(r"^_[A-Z]\w*?__(?=\w)")
"""What the compiler puts before the name of a private attribute, `_Cache__size`."""


def data_access(operation: object) -> DataAccess | None:
    """Return the access to data that an operation is; None where it synchronizes."""
    if isinstance(operation, Spin):
        return data_access(operation.operation)
    return operation if isinstance(operation, DataAccess) else None


def kind_of(operation: RealOperation) -> str:
    """Return what an operation is known by in a token; an access has its source text in it."""
    access = data_access(operation)
    return operation.kind if access is None else f"{access.kind} {sites[access.site].text}"


@dataclass(frozen=True)
class Place:
    """What an access touches: a variable of an object, an element of a container, or all of it."""

    text: str
    """What people call it: `account.balance`, `jobs[0]`."""
    whole: str
    """The same without the key."""
    holder: Any = None
    name: str = ""
    key: Any = None

    def found(self) -> Any:
        """Return the present value; `MISSING` where there is none, or where it cannot be read."""
        if self.holder is None:
            return MISSING
        if self.name:
            own = attribute_of(self.holder, self.name)
            return of_class(self.holder, self.name) if own is MISSING else own
        return self.holder if self.key is None else element_of(self.holder, self.key)

    @property
    def is_opaque(self) -> bool:
        """Whether an object is used as a whole and has no contents to show, such as a file."""
        as_whole = self.holder is not None and not self.name and self.key is None
        return as_whole and family_of(type(self.holder)) is None

    @property
    def lacks_attribute(self) -> bool:
        """Whether an object has no such attribute, and no code that would make one up."""
        sort = type(self.holder)
        if not self.name or self.holder is None or issubclass(sort, (CellType, ModuleType)):
            return False
        kind: Any = type(self.holder)
        if find_in_class(kind, "__getattribute__") is not object.__getattribute__ or not field_of(
            kind, "__dictoffset__"
        ):
            return False
        named = (self.name, "__getattr__")
        made_up = any(name in names_in_class(base) for base in ancestors(kind) for name in named)
        return not made_up and self.found() is MISSING

    def value(self) -> str | None:
        found = self.found()
        return None if found is MISSING or self.is_opaque else shown(found)


def find_place(access: DataAccess, labels: Labels, frame: FrameType | None) -> Place:
    """Find the place of an access by a thread that stands at a frame."""
    told = _find_told(access)
    if told is not None:
        return Place(told[0].text, told[0].text, told[0])
    text = _AUGMENTED.split(sites[access.site].text, maxsplit=1)[0]
    found = _find_holder(access)
    if found is None:
        return Place(text, text)
    seen, name = found
    kept = seen.thing
    if seen.vague and issubclass(type(kept), list):  # and not the `__dict__` of such an object
        kept = kept[0] if len(kept) == 1 else _look_up_owner(text, frame)
    if kept is None:
        return Place(text, text)
    if issubclass(type(kept), CellType):
        name = _find_captured(text, frame) or name
    if issubclass(type(kept), (ModuleType, CellType)):
        return Place(name, name, kept, name)
    part = _find_part(access)
    keyless = part is None or issubclass(type(kept), set) or type(kept) is CachedFunction
    key = None if part is None or keyless else key_of(part.token)
    owner = labels.path_to(kept, frame)
    if name:
        text = f"{owner}.{as_written(name, kept)}" if owner else text
        return Place(text, text, kept, name)
    if owner is None and text.rpartition(".")[2] == key:
        return Place(text, text, kept, "", key)  # of a `__dict__`: the attribute says it all
    whole = owner or name_container(sites[access.site], text, kept)
    holder = whole.removesuffix(DICTIONARY)
    if whole != holder and type(key) is str:
        return Place(f"{holder}.{_MANGLED.sub('__', key)}", whole, kept, "", key)
    return Place(whole if key is None else f"{whole}[{key!r}]", whole, kept, "", key)


def _find_part(access: DataAccess) -> ContainerAccess | None:
    """Return the access to a container that an access is, or the first of those it consists of."""
    first = access.parts[0] if isinstance(access, Together) else access
    return first if isinstance(first, ContainerAccess) else None


def key_of(token: Any) -> Any:
    """Return the key that a token stands for; None where reports show no key."""
    if isinstance(token, tuple) and token[0] == "tuple":
        parts = tuple(map(key_of, token[1:]))
        return None if None in parts else parts
    return token if isinstance(token, (int, str)) and token != "None" else None


def _look_up_owner(text: str, frame: FrameType | None) -> Any:
    """Find the object whose attribute an expression such as `node.next.value` is about."""
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
    if frame is None or not isinstance(node, ast.Attribute):
        return None
    found = FrameValues(frame, steady=True).value(node.value)
    return None if found is MISSING else found


def _find_captured(text: str, frame: FrameType | None) -> str | None:
    """Find the name of the captured variable with which an expression begins."""
    found = re.match(r"\w+", text)
    if found is None or frame is None:
        return None
    code = frame.f_code
    return found[0] if found[0] in (*code.co_freevars, *code.co_cellvars) else None


def _find_holder(access: DataAccess) -> tuple[Seen, str] | None:
    """Find the object that a location belongs to, and its name there; none for a container."""
    wanted: Any = access.shared
    for seen in list(objects.values()):
        if seen.whole.shared is wanted:
            return seen, ""
        for name, location in seen.items():
            if location.shared is wanted:
                return seen, name
    return None


def tell_place(operation: object) -> str | None:
    """Say in words what an operation does to a file or a setting; None if it is about neither."""
    access = data_access(operation)
    if isinstance(access, PlaceAccess):
        return access.words
    told = None if access is None else _find_told(access)
    if access is None or told is None:
        return None
    method = sites[access.site].text.rpartition(".")[2]
    return f"{method if method in _METHODS else told[1].kind} {told[0].text}"


_METHODS = frozenset(
    {"read", "read1", "readline", "readlines", "readinto", "write", "writelines", "seek", "tell"}
    | {"truncate", "flush"}
)
"""Methods of files that say what they do."""


def tell_outcome(operation: object, known: Before) -> str:
    """Say what has come of an operation on a file, which has been performed."""
    access = data_access(operation)
    if isinstance(access, PlaceAccess):
        return access.ending
    is_kept_back = known.contents is not None and known.contents == _read_contents(access)
    return " (still in the buffer)" if is_kept_back else ""


def _read_contents(access: DataAccess | None) -> bytes | None:
    """Read the file that an access writes by a method of a file object, if it is small."""
    if access is None or isinstance(access, PlaceAccess):
        return None
    if sites[access.site].text.rpartition(".")[2] not in ("write", "writelines"):
        return None
    told = _find_told(access)
    if told is None or not isinstance(told[0], FilePlace) or not access.writes:
        return None
    try:
        with open(told[0].path, "rb") as file:
            return file.read(_LARGE)
    except OSError:
        return None


_LARGE = 1 << 20


def _find_told(access: DataAccess) -> tuple[SharedPlace, DataAccess] | None:
    """Find the file or the setting that an access is about, and the part of it that is.

    An operation on a file, or on objects, may look at settings, too: it is not about these.
    """
    parts = access.parts if isinstance(access, Together) else (access,)
    places = {
        id(seen.whole.shared): seen.kept
        for seen in list(objects.values())
        if issubclass(type(seen.kept), SharedPlace)
    }
    told = [(places[id(part.shared)], part) for part in parts if id(part.shared) in places]
    for place, part in told:
        if issubclass(type(place), FilePlace):
            return place, part
    return told[0] if told and len(told) == len(parts) else None


@dataclass(frozen=True)
class Before:
    """What is known of a step that has been chosen and not been taken yet."""

    place: Place | None = None
    writes: bool = False
    """Whether it changes anything: to remove a key that is not there does not."""
    there: bool = False
    """Whether there is anything at its place."""
    contents: bytes | None = None
    """What is in the file that it writes to by way of a buffer."""


def look_before(operation: RealOperation, place: Place | None) -> Before:
    access = data_access(operation)
    if access is None or place is None:
        return Before()
    there = place.found() is not MISSING
    return Before(place, access.writes, there, _read_contents(access))


def find_effects(operation: RealOperation, known: Before) -> Effects:
    """Find what a step that has been taken has read or written."""
    access, place = data_access(operation), known.place
    look = operation.operation if isinstance(operation, Spin) else operation
    if isinstance(look, ReadClock):
        return Effects(reads={str(look.shared.name): look.seen})
    if access is None or place is None:
        return Effects()
    value = access.value if access.value is not None else place.value()
    if value is None and known.writes and known.there and not place.is_opaque:
        value = DELETED
    elif value is None and place.key is not None:
        if not issubclass(type(place.holder), dict):
            return Effects(reads={place.whole: shown(place.holder)})
        value = NOT_THERE
    elif value is None and not known.writes and place.lacks_attribute:
        value = NOT_THERE
    if value is None:
        return Effects()
    if known.writes:
        return Effects(writes={place.text: value + _note_element(access)})
    return Effects(reads={place.text: value})


DELETED = "deleted"
"""Stands for the value after a deletion; a string that is a value has quotes around it."""
NOT_THERE = "missing"


def _note_element(access: DataAccess) -> str:
    """Say which element a set has gained or lost: all of them may be too many to be shown."""
    part = _find_part(access)
    if part is None or part.shared.keyed or part.how not in _SETS:
        return ""
    key = key_of(part.token)
    return "" if key is None else f" ({shown(key)} {_SETS[part.how]})"


_SETS = {How.ENSURE: "added", How.REMOVE: "removed"}
