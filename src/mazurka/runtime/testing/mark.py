"""What `mazurka.explore` leaves on a function that it decorates: how that is to be explored.

The pytest plugin looks for it in every session, so this imports nothing of the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

_MARK = "__mazurka_explore__"


@dataclass(frozen=True)
class DecoratedTest:
    """The user's own function, and how to explore it."""

    function: Callable[..., Any]
    given: Mapping[str, Any]
    """The options of the decorator, by name."""


def mark_decorated(wrapper: Callable[..., Any], test: DecoratedTest) -> None:
    """Note which test a wrapper stands for."""
    setattr(wrapper, _MARK, test)


def find_decorated(function: Callable[..., Any]) -> DecoratedTest | None:
    """Return the test that a decorated function stands for; None for other functions."""
    found = getattr(function, _MARK, None)
    return found if isinstance(found, DecoratedTest) else None
