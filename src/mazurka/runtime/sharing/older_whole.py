"""Objects of the library that are older than a run: each is put back with all that it holds.

The state of a queue, a future, a barrier or a thread object is in attributes and containers that
code of the library changes.  That code is not observed, so nobody says what it has changed; the
whole object is copied when a run meets it, with the containers in it, and compared after the run.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from mazurka.runtime.core.insides import attributes
from mazurka.runtime.core.operations import Object
from mazurka.runtime.sharing.monitoring import unobserved
from mazurka.runtime.sharing.older_state import Holding


class OlderWhole(Object):
    """What an older object of a class of the library held when a run met it."""

    __slots__ = ("_parts",)

    def __init__(self, thing: Any) -> None:
        super().__init__("")
        space_of = attributes(type(thing))
        space = {} if space_of is None else space_of(thing)
        copies = [(part, Holding(part)) for part in (thing, *space.values())]
        self._parts = [
            (part, copy) for part, copy in copies if part is thing or copy.elements is not None
        ]

    def restore(self, state: Hashable) -> None:
        for part, holding in self._parts:
            if not holding.put_back(part, (), whole=True):
                unobserved.lose(part)
