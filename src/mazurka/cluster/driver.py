"""The process that is connected to a cluster, and passes on what the command asks of it.

Its standard input brings orders (`mazurka.cluster.orders`), each the name of a method of
`ClusterDriver`; its standard output takes answers.  It waits for Ray as long as that takes: who
does not want to wait has it killed (`mazurka.cluster.supervisor`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mazurka.cluster.crew import ClusterError, LostWorkerError
from mazurka.cluster.orders import AnswerOf, DriverAnswer, DriverOrder, pack_answer, read
from mazurka.cluster.ray_crew import (
    RayCrew,
    find_running,
    first_line,
    join_cluster,
    leave_cluster,
    start_cluster,
)
from mazurka.cluster.supervisor import die_with_parent
from mazurka.errors import MazurkaError


def main() -> None:
    """Carry out orders until there are no more."""
    die_with_parent()
    orders, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "r+b") as nothing:  # processes that Ray starts inherit these
        os.dup2(nothing.fileno(), 0)
        os.dup2(nothing.fileno(), 1)
    driver = ClusterDriver()
    try:
        while True:
            answer = driver.carry_out(read(orders))
            if answer is not None:
                answers.write(pack_answer(answer))
                answers.flush()
    except EOFError:
        leave_cluster()


@dataclass(frozen=True)
class UnaskedWorker:
    """Instead of an answer of a worker that could not even be asked."""

    reason: str


class ClusterDriver:
    """What the command asks for, by name."""

    def __init__(self) -> None:
        self._crew: RayCrew | None = None
        self._asked: dict[int, Any] = {}
        """What Ray has for the answers of workers, by number."""

    def carry_out(self, order: DriverOrder) -> DriverAnswer | None:
        for number in order.forgotten:
            self._asked.pop(number, None)
        value, error = None, None
        try:
            value = getattr(self, order.name)(*order.given)
        except (MazurkaError, LostWorkerError) as known:
            error = known
        except Exception as other:
            error = ClusterError(f"the cluster fails: {type(other).__name__}: {other}")
        return None if order.number is None else DriverAnswer(order.number, value, error)

    # --- the orders ---------------------------------------------------------------------------

    def find_running(self) -> str:
        return find_running()

    def start(self, room: int, folder: str) -> int:
        return start_cluster(room, folder)

    def join(self, address: str) -> int:
        return join_cluster(address)

    def hire(self, size: int) -> list[str]:
        """Have workers started; the machines on which they are."""
        self._crew = RayCrew(size)
        return self._crew.find_machines()

    def set_up(self, makers: Sequence[bytes]) -> None:
        """Let each worker have its object."""
        self.crew.set_up(makers)

    @property
    def crew(self) -> RayCrew:
        assert self._crew is not None
        return self._crew

    def ask(self, first: int, worker: int, method: str, given: Sequence[Any], answers: int) -> None:
        """Ask a worker; its answers get numbers from `first` on."""
        try:
            known = [self.find(one) if isinstance(one, AnswerOf) else one for one in given]
            asked = self.crew.ask(worker, method, known, answers)
        except Exception as error:
            asked = [UnaskedWorker(f"{type(error).__name__}: {first_line(error)}")] * answers
        self._asked.update(enumerate(asked, first))

    def find(self, handle: AnswerOf) -> Any:
        found = self._asked[handle.number]
        if isinstance(found, UnaskedWorker):
            raise LostWorkerError(found.reason)
        return found

    def get(self, handles: Sequence[AnswerOf]) -> list[Any]:
        return self.crew.get([self.find(one) for one in handles])

    def find_ready(self, handles: Sequence[AnswerOf], seconds: float) -> list[int]:
        """The places of the answers that are there."""
        asked = [self.find(one) for one in handles]
        ready = set(self.crew.find_ready(asked, seconds))
        return [place for place, one in enumerate(asked) if one in ready]

    def dismiss(self) -> None:
        """Let all workers end."""
        if self._crew is not None:
            self._crew.dismiss()
        self._crew = None
        self._asked.clear()
