"""The observer of a search: it is told how the search goes, and never decides anything."""

from __future__ import annotations

from typing import Protocol

from mazurka.search.result import Statistics


class Observer(Protocol):
    """Told how a search goes; it may draw that, and never decides anything."""

    def progress(self, statistics: Statistics) -> None:
        """The counts so far, a few times a second."""

    def message(self, text: str) -> None:
        """What is being done now; worth showing on a terminal only."""

    def notice(self, text: str) -> None:
        """Why there is an unexpected pause; shown even where there is no terminal."""


class Silent:
    """An observer that ignores everything."""

    def progress(self, statistics: Statistics) -> None:
        pass

    def message(self, text: str) -> None:
        pass

    def notice(self, text: str) -> None:
        pass
