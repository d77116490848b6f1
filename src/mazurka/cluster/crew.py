"""How the workers of a cluster are reached, whatever the cluster is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from mazurka.errors import MazurkaError


class LostWorkerError(Exception):
    """A worker has ended, or cannot be reached any more."""


class ClusterError(MazurkaError):
    """There is no cluster, or it cannot be used."""


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
