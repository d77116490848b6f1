"""What a thread that goes round a loop waits for, as people call it: `serving[0]`.

It has read variables and elements of containers.  To read an element is to read what is in the
container, too; people would name the element alone, or the container where several were read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from mazurka.runtime.sharing.accesses import Structure
from mazurka.runtime.story.effects import key_of
from mazurka.stateless.runs import Shared

NOTHING = "for nothing that anybody could change"


def changes_of(seen: Iterable[Shared], label: Callable[[Shared], str]) -> str:
    """`for a change of ...`; `label` says what variables, locks and containers are called."""
    read = list(seen)
    owners = {
        id(element): (structure, token)
        for structure in read
        if isinstance(structure, Structure)
        for token, element in structure.elements.items()
    }
    elements: dict[int, list[str]] = {}
    for shared in read:
        if id(shared) in owners:
            structure, token = owners[id(shared)]
            elements.setdefault(id(structure), []).append(_element(label(structure), token))
    names = []
    for shared in read:
        if id(shared) not in owners:
            own = elements.get(id(shared), ())
            names.append(own[0] if len(own) == 1 else label(shared))
    known = ", ".join(dict.fromkeys(names))
    return f"for a change of {known}" if known else NOTHING


def _element(whole: str, token: object) -> str:
    key = key_of(token)
    return whole if key is None else f"{whole}[{key!r}]"
