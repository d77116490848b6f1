"""One number for a thread, in all processes that explore branches of one test.

A branch is a sequence of moves, which are numbers of threads.  A thread is known by its path: who
started it, and as how-manieth.  Numbers are given as threads turn up, so a process begins with the
paths that whoever leads has known.  What it finds itself it tells with its own list of paths.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mazurka.runtime.exploring.observed_program import ObservedProgram
from mazurka.stateless.runs import choice_of, move_of, thread_of


class ThreadNumbers:
    """The paths of threads, by number."""

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self._known = {path: (number, list[str]()) for number, path in enumerate(paths)}

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(self._known)

    def give(self, program: ObservedProgram) -> None:
        """Have a program use these numbers."""
        program.real.number_of = self.number_of  # type: ignore[method-assign]

    def number_of(self, path: str) -> tuple[int, list[str]]:
        """The number of the thread with a path, and the names of what it creates."""
        found = self._known.get(path)
        if found is None:
            found = self._known[path] = (len(self._known), [])
        return found

    def translate(self, schedule: Sequence[int], paths: Sequence[str]) -> tuple[int, ...]:
        """The schedule of a process whose threads have these paths, in the numbers used here."""
        return tuple(
            move_of(self.number_of(paths[thread_of(move)])[0], choice_of(move)) for move in schedule
        )
