"""What all processes of an exploration must have in common: names, numbers and scheduling points.

States are compared between processes by their hashes, so an object must have one name, and a thread
one number, in all of them.  Objects that runs create are named by who creates them; what existed
before is named by where it is found.  Where nobody can name it, the search is not spread.

Where a run shows that more of the program is shared than was known (`RelearnError`), the schedule
of that run is a **lesson**.  Processes take the same lessons in the same order before they search,
and so come to the same scheduling points and names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeAlias

from mazurka.runtime.core.operations import Object
from mazurka.runtime.core.sites import sites
from mazurka.runtime.exploring.guard import check_deterministic
from mazurka.runtime.exploring.observed_program import ObservedProgram, RelearnError
from mazurka.runtime.exploring.schedules import Follow, UnfollowableError
from mazurka.runtime.exploring.workers.table import SharedTable
from mazurka.runtime.sharing.locations import learned
from mazurka.runtime.sharing.names import names
from mazurka.runtime.sharing.older_files import older_files
from mazurka.stateless.runs import Decider, Ended, Runnable

Lesson: TypeAlias = tuple[int, ...]
"""The schedule of a run that has shown something new."""


class UnshareableError(Exception):
    """The search cannot be spread over processes; the argument says why."""


class Common:
    """A program (`Runnable`) whose threads and objects are called the same in all processes."""

    def __init__(self, program: ObservedProgram, table: SharedTable) -> None:
        self.program: Runnable = program
        self._real = program.real
        self._table = table
        self._numbers: dict[str, tuple[int, list[str]]] = {}
        self._keep = self._real.keep
        self._why_not = ""
        self._real.number_of = self._number_of  # type: ignore[method-assign]
        self._real.keep = self._keep_named  # type: ignore[method-assign]

    def run(self, decider: Decider) -> Ended:
        ended = self.program.run(decider)
        self.require_names()
        return ended

    def note_files(self) -> None:
        """Note that the program changes files, if it does: all processes have the same ones."""
        if older_files.are_changed:
            self._why_not = "it changes files"

    def require_names(self) -> None:
        if self._why_not:
            raise UnshareableError(self._why_not)

    def _number_of(self, path: str) -> tuple[int, list[str]]:
        found = self._numbers.get(path)
        if found is None:
            number = self._table.number_of(path)
            if number is None:
                self._why_not = "it starts too many threads"
                number = len(self._numbers)
            found = self._numbers[path] = (number, [])
        return found

    def _keep_named(self, shared: Object) -> None:
        """Name an object; note where the name depends on which thread came first, since such runs
        must not be compared."""
        if shared.kept_by is not self._real and not shared.origin:
            self._why_not = "it uses something that existed before it began and has no name"
        self._keep(shared)


def take_lessons(program: ObservedProgram, lessons: Sequence[Lesson]) -> bool:
    """Run the lessons; return whether the last one has shown something new."""
    while True:
        try:
            check_deterministic(program)
            break
        except RelearnError:
            continue
    taught = True
    for lesson in lessons:
        taught = False
        try:
            program.run(Follow(lesson))
        except RelearnError:
            taught = True
        except UnfollowableError:
            continue
    return taught


def fingerprint() -> str:
    """Hash what has been learned; equal in all processes that have learned the same."""
    places = sorted(f"{sites[number]}:{sites[number].column}" for number in learned.points)
    pinned = sorted(name for _, name in names._pinned.values())
    known = (places, pinned, names.vague, sorted(learned.moving))
    return hashlib.sha256(repr(known).encode()).hexdigest()
