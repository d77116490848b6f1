"""Settings of the process that runs change: every run has to find them as the first one did.

What is cheap to look at is compared after each run (`program.process_state`).  Other settings are
read when a run is first about to change one, and put back when the run has ended.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Keeper(NamedTuple):
    """How a setting is kept."""

    read: Callable[[], Any]
    write: Callable[[Any], object]
    """Puts back what was read."""


class OlderSettings:
    """What was found of the settings that the present run changes."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[Keeper, Any]] = {}

    def meet(self, setting: str, keeper: Keeper) -> None:
        """Keep a setting, which the running thread is about to change."""
        if setting not in self._found:
            self._found[setting] = keeper, keeper.read()

    def put_back(self) -> None:
        """Let the next run find what this one has found."""
        while self._found:
            _, (keeper, value) = self._found.popitem()
            keeper.write(value)


older_settings = OlderSettings()
