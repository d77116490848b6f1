"""What threads share that no object of the program stands for: a file, the current directory.

Each is one location, represented by an object of its own, with a name that is the same in all runs.
An operation on it is told in words (`read data.json`), since no expression of the source leads to
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mazurka.runtime.sharing.accesses import DataAccess, Together
from mazurka.runtime.sharing.names import EVERYBODY, Seen, objects


class SharedPlace:
    """Something outside of the program's objects that threads share."""

    __slots__ = ("name", "text")

    def __init__(self, name: str, text: str | None = None) -> None:
        self.name = name
        """The same in all runs, and different from that of every other one."""
        self.text = name if text is None else text
        """What people call it."""


def meet_place(place: SharedPlace) -> Any:
    """Name a place in this run, if no thread has used it; return it."""
    if id(place) not in objects:
        seen = objects[id(place)] = Seen(place, EVERYBODY, place.name, 0)
        seen.origin = place.text
    return place


class PlaceAccess(Together):
    """One operation on places, told in words."""

    __slots__ = ("ending", "words")

    def __init__(self, parts: Sequence[DataAccess], words: str) -> None:
        super().__init__(parts)
        self.words = words
        self.ending = ""
        """What has come of it, when it has been performed: ` ➜ missing`, `: FileExistsError`."""
