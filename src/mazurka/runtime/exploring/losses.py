"""Failures that an earlier execution may have caused, by changing what cannot be put back.

Once an execution has changed such an object for good, later executions begin in another state.  A
failure in one of these shows nothing about the test: it is reported only if an execution that began
in the original state has failed in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from mazurka.runtime.exploring.minimize import fails_alike
from mazurka.runtime.sharing.monitoring import unobserved
from mazurka.stateless.runs import Ended, Failed


class Losses:
    """What one exploration has lost so far: one or several programs, in this process."""

    def __init__(self) -> None:
        self._original: list[list[Failed]] = []
        """The failures of executions that began in the original state.  The lists are those of the
        executions: a search for races adds to them."""
        self.can_confirm = False
        """Whether another process is in the original state, and replays a failure."""

    @contextmanager
    def of_one_exploration(self) -> Iterator[None]:
        """Forget other explorations, before and after this one."""
        self._clear()
        try:
            yield
        finally:
            self._clear()

    def _clear(self) -> None:
        self._original.clear()
        unobserved.lost.clear()

    def note(self, ended: Ended) -> None:
        """Note how an execution has ended that began in the original state."""
        if self._original and not self._original[-1]:
            self._original.pop()
        self._original.append(ended.failures)

    def may_explain(self, failed: Failed) -> bool:
        """Return whether a failure may be a consequence of a loss."""
        original = (one for failures in self._original for one in failures)
        return bool(unobserved.lost) and not any(fails_alike(failed, one) for one in original)


losses: Final = Losses()
