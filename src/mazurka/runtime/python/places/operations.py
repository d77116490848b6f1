"""Operations on places that threads share and that no object of the program stands for."""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from mazurka.runtime.core.scheduler import session
from mazurka.runtime.python.containers import Part, PendingAccess, enter
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.places import PlaceAccess, SharedPlace, meet_place

PlacePart: TypeAlias = tuple[SharedPlace, How]
"""A place, and what happens to it: `How.READ_ALL` or `How.CHANGE`."""


def parts_at(places: Sequence[PlacePart]) -> list[Part]:
    """Describe accesses to places, as those to containers of unknown contents."""
    return [(meet_place(place), None, how, None) for place, how in places]


class PlaceTurn(NamedTuple):
    """An operation on places that a thread performs; it has to be ended."""

    pending: Sequence[PendingAccess]
    access: PlaceAccess | None = None

    def end(self, ending: str = "") -> None:
        """Settle what was done, and say what has come of it."""
        if self.access is not None:
            self.access.ending = ending
        for access in self.pending:
            access.settle()


def stand_before(parts: Sequence[Part], site: int, words: str) -> PlaceTurn:
    """Stand before one operation on places, if it needs a scheduling point.

    To be called under control.
    """
    pending = enter(parts, site)
    if not pending:
        return PlaceTurn(pending)
    told = PlaceAccess([access.operation for access in pending], words)
    session.current.point(told)
    for access in pending:
        access.begin()
    return PlaceTurn(pending, told)


def perform_at(
    places: Sequence[PlacePart],
    site: int,
    words: str,
    action: Callable[..., Any],
    /,
    *arguments: Any,
    **named: Any,
) -> Any:
    """Perform an action on places, as one access."""
    if session.current.ident != get_ident():
        return action(*arguments, **named)
    turn = stand_before(parts_at(places), site, words)
    outcome = ""
    try:
        return action(*arguments, **named)
    except Exception as error:
        outcome = f": {type(error).__name__}"
        raise
    finally:
        turn.end(outcome)
