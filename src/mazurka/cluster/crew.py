"""How the workers of a cluster are reached, whatever the cluster is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from mazurka.errors import MazurkaError

AUTO = "auto"
"""The address of a cluster that runs already; if none does, of one on this machine, for one run."""
LOCAL = "local"
"""The address of a cluster on this machine that is started for one run, in any case."""


class LostWorkerError(Exception):
    """A worker has ended, or cannot be reached any more."""

    @property
    def note(self) -> str:
        """What a verdict says of it."""
        return f"a worker was lost: {self}"


class ClusterError(MazurkaError):
    """There is no cluster, or it cannot be used."""


@dataclass(frozen=True)
class Post:
    """A worker's place among the others."""

    number: int
    size: int
    """How many workers there are."""
    neighbours: int
    """How many of them are on the same machine, this one included."""


class ClusterCrew(Protocol):
    """The workers, each of which has an object and does what it is asked, in order."""

    size: int

    def ask(self, worker: int, method: str, *given: Any, answers: int = 1) -> list[Any]:
        """Have a worker call a method of its object; handles of the answers.

        Handles may be given to other workers, which get what they stand for.  With several
        `answers`, the method returns as many.  Does not wait."""

    def get(self, handles: Sequence[Any]) -> list[Any]:
        """Wait for answers.  Raises `LostWorkerError` if one will never come."""

    def find_ready(self, handles: Sequence[Any], seconds: float) -> list[Any]:
        """Wait for at least one of several answers, at most so long; the handles of those that are
        there."""
