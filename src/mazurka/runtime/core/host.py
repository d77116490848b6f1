"""What a run needs to know of the program whose run it is.

The rooms above build that program (`program.program.RealProgram`); a run, and the primitives, see
it through this protocol only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from mazurka.runtime.core.failures import Skip, UnrunTestError
from mazurka.runtime.core.interruptions import InstructionHook
from mazurka.runtime.core.operations import Object
from mazurka.runtime.core.patches import Patches
from mazurka.runtime.core.tasks import Path, Pool


@dataclass(frozen=True, kw_only=True)
class ControlSettings:
    """How a program is kept under control."""

    patience: float = 5.0
    """Seconds after which a thread that has not reached a scheduling point is reported."""
    pin: bool = True
    """Keep the threads of the program on one processor core."""
    max_steps: int = 100_000
    """Operations after which a run is given up: it may never end."""
    deadline: float | None = None
    """When no run may go on any more, by `time.perf_counter`."""
    virtual_time: bool = True
    """`time.sleep` and the clocks follow the schedule instead of the world."""
    free_threaded: bool = False
    """Threads run without a global lock (`python.traversals`)."""
    skips: Callable[[], Mapping[type[BaseException], str]] = dict
    """Returns the exceptions by which an execution ends itself without failing, each with a verb
    for that."""
    ends: Callable[[], tuple[type[BaseException], ...]] = tuple
    """Returns the exceptions by which the test ends the whole session."""

    @property
    def propagate(self) -> tuple[type[BaseException], ...]:
        """Exceptions of the test that end the exploration, and reach the caller as they are."""
        return (KeyboardInterrupt, UnrunTestError, *self.ends())


class KeepsChanges(Protocol):
    """Something that is put back after each run."""

    def keep_changes(self) -> AbstractContextManager[None]:
        """Let what is changed meanwhile stay."""


class Host(Protocol):
    """A program whose runs go on in this process."""

    settings: ControlSettings
    pool: Pool
    undo: Patches
    """What is put back when the exploration ends."""
    lists: bool
    """Whether the program is known to look at the list of its threads."""
    leashed: bool
    """Whether daemons are known to go on for ever (`core.daemons`)."""
    first_skip: Skip | None
    """How the first execution that skips has said so."""
    interruption: InstructionHook | None
    """What is to happen in the middle of the code of some thread, if anything."""
    excepthook: Callable[..., object]
    """`threading.excepthook` as the exploration found it."""

    @property
    def state(self) -> KeepsChanges:
        """What the process has once, and each run finds as the first one did."""

    def number_of(self, path: Path) -> tuple[int, list[str]]:
        """Return the number of the thread with a path, and the names of what it creates."""

    def keep(self, shared: Object) -> None:
        """Name an object that existed before the run, for the whole exploration."""

    def label_of(self, owner: object) -> str | None:
        """Return where an object was found before the first run, if it was."""

    def built_on(self, shared: Object) -> list[Object]:
        """Copy the older objects of the library whose state is guarded by a lock that a run meets,
        to be put back after the run."""

    def take_over(self, space: dict[str, Any], prefix: str) -> None:
        """Put what one dictionary holds under control, as before the first run."""

    def out_of_reach(self) -> Sequence[tuple[str, Any]]:
        """Return the locks and queues that could not be replaced, each with where it is held."""

    def hold_daemons(self) -> None:
        """Keep daemons on a leash, and their list up to date, from the next run on."""

    def surrender(self, error: BaseException) -> None:
        """Let the caller go on: the test's own thread, which calls this, cannot be ended."""
