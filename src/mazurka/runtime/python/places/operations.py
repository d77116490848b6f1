"""Operations on places that threads share and that no object of the program stands for."""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from mazurka.runtime.core.scheduler import session
from mazurka.runtime.python.containers import Part, PendingAccess, enter
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.places import PlaceAccess, SharedPlace, meet_place

PlacePart: TypeAlias = tuple[SharedPlace, How]
"""A place, and what happens to it: `How.READ_ALL` or `How.CHANGE`."""


def parts_at(places: Sequence[PlacePart]) -> list[Part]:
    """Describe accesses to places, as those to containers of unknown contents."""
    return [(meet_place(place), None, how, None) for place, how in places]


def stand_before(parts: Sequence[Part], site: int, words: str) -> list[PendingAccess]:
    """Stand before one operation on places, if it needs a scheduling point.

    To be called under control.  What is returned has to be settled after the operation.
    """
    pending = enter(parts, site)
    if pending:
        session.current.point(PlaceAccess([access.operation for access in pending], words))
        for access in pending:
            access.begin()
    return pending


def perform_at(
    places: Sequence[PlacePart],
    site: int,
    words: str,
    action: Callable[..., Any],
    *arguments: Any,
    **named: Any,
) -> Any:
    """Perform an action on places, as one access."""
    if session.current.ident != get_ident():
        return action(*arguments, **named)
    pending = stand_before(parts_at(places), site, words)
    try:
        return action(*arguments, **named)
    finally:
        for access in pending:
            access.settle()
