"""Who is told how a search gets on."""

from __future__ import annotations

from typing import Protocol

from mazurka.search.result import Statistics


class Observer(Protocol):
    """Told how a search stands, a few times a second; may draw it.  It never decides anything."""

    def progress(self, statistics: Statistics) -> None: ...

    def message(self, text: str) -> None:
        """What goes on now; of interest only to somebody who watches."""

    def notice(self, text: str) -> None:
        """Why there is a pause that nobody would expect; told even where nobody watches."""


class Silent:
    """An observer that looks away."""

    def progress(self, statistics: Statistics) -> None:
        pass

    def message(self, text: str) -> None:
        pass

    def notice(self, text: str) -> None:
        pass
