"""What a step on shared data is about, as people see it: the place, and the value."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from types import CellType, FrameType, ModuleType
from typing import Any
from weakref import ReferenceType

from mazurka.runtime.accesses_names import Seen, objects
from mazurka.runtime.accesses_operations import Access, ContainerAccess
from mazurka.runtime.assertions import Lookup
from mazurka.runtime.labels import Labels
from mazurka.runtime.operations import Step
from mazurka.runtime.rewriting_sites import sites
from mazurka.runtime.spinning import Spin
from mazurka.runtime.values import MISSING, attribute_of, element_of, shown

_AUGMENTED = re.compile(r" *(?:\*\*|//|<<|>>|[-+*/%&|^@])= ")
"""Between the place and the rest of `place += rest`."""


@dataclass(frozen=True)
class Effects:
    """Values by place."""

    reads: dict[str, str] = field(default_factory=dict)
    writes: dict[str, str] = field(default_factory=dict)


def data_access(operation: object) -> Access | None:
    """The access that an operation is; None where it synchronizes."""
    if isinstance(operation, Spin):
        return data_access(operation.operation)
    return operation if isinstance(operation, Access) else None


def kind_of(operation: Step) -> str:
    """What an operation is known by in a token: an access has its expression in the source."""
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

    def value(self) -> str | None:
        """What is there now; None where that cannot be told."""
        if self.holder is None:
            return None
        if self.name:
            found = attribute_of(self.holder, self.name)
        elif self.key is not None:
            found = element_of(self.holder, self.key)
        else:
            found = self.holder
        return None if found is MISSING else shown(found)


def place_of(access: Access, labels: Labels, frame: FrameType | None) -> Place:
    """The place of an access, for the thread that stands at the frame."""
    text = _AUGMENTED.split(sites[access.site].text, maxsplit=1)[0]
    found = _holder(access)
    if found is None:
        return Place(text, text)
    seen, name = found
    kept = seen.kept
    if isinstance(kept, ReferenceType):
        kept = kept()
    if seen.vague:
        kept = kept[0] if len(kept) == 1 else _named(text, frame)
    if kept is None:
        return Place(text, text)
    if isinstance(kept, CellType):
        name = _captured(text, frame) or name
    if isinstance(kept, (ModuleType, CellType)):
        return Place(name, name, kept, name)
    key = access.token if isinstance(access, ContainerAccess) else None
    if not isinstance(key, (int, str)):
        key = None
    owner = labels.path_to(kept, frame)
    if name:
        text = f"{owner}.{name}" if owner else text
        return Place(text, text, kept, name)
    whole = owner or text
    return Place(whole if key is None else f"{whole}[{key!r}]", whole, kept, "", key)


def _named(text: str, frame: FrameType | None) -> Any:
    """The object whose attribute an expression such as `node.next.value` is about."""
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
    if frame is None or not isinstance(node, ast.Attribute):
        return None
    found = Lookup(frame, steady=True).value(node.value)
    return None if found is MISSING else found


def _captured(text: str, frame: FrameType | None) -> str | None:
    """The name of a captured variable that an expression is about; it begins with it."""
    found = re.match(r"\w+", text)
    if found is None or frame is None:
        return None
    code = frame.f_code
    return found[0] if found[0] in (*code.co_freevars, *code.co_cellvars) else None


def _holder(access: Access) -> tuple[Seen, str] | None:
    """The object that a location belongs to, and its name there; no name for a container."""
    wanted: Any = access.shared
    for seen in list(objects.values()):
        if seen.whole.shared is wanted:
            return seen, ""
        for name, location in seen.items():
            if location.shared is wanted:
                return seen, name
    return None


def effects_of(operation: Step, place: Place | None) -> Effects:
    """After the step: what it has read or written."""
    access = data_access(operation)
    if access is None or place is None:
        return Effects()
    value = access.value if access.value is not None else place.value()
    if value is None:
        return Effects()
    values = {place.text: value}
    return Effects(writes=values) if access.kind == "write" else Effects(reads=values)
