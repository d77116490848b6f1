"""Connections to a cluster, and the workers that are hired through them.

A connection can be given up at any moment: what it stands for are other processes
(`mazurka.cluster.line`).
"""

from __future__ import annotations

import importlib.util
import os
import pickle
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from mazurka.cluster.crew import AUTO, LOCAL, ClusterError, LostWorkerError, Post
from mazurka.cluster.line import DriverLine
from mazurka.cluster.orders import AnswerOf
from mazurka.cluster.ray_crew import NO_RAY, find_obstacle
from mazurka.errors import OptionError
from mazurka.search import Observer
from mazurka.search.resources import processors, refuse_many

LOOKING = "looking for a cluster"
STARTING = "starting a cluster on this machine"
CONNECTING = "connecting to the cluster"
SETTING_UP = "setting up the workers of the cluster"
SEARCHING = "searching on the cluster"
AUTHENTICATION = "RAY_AUTH_MODE"
FEW_ATTEMPTS = {"RAY_NUM_REDIS_GET_RETRIES": "3"}
"""How often Ray tries to connect, once a second, where somebody has answered already."""


class Connection:
    """A cluster, for as long as it is needed.  One that is open already stays open."""

    kept: ClassVar[Connection | None] = None
    """The connection that is open in this process."""
    line: DriverLine
    processors: int
    """How many there are on all machines together."""
    started: bool
    """Whether it is a cluster for this connection alone."""

    def __init__(self, address: str, workers: int | None, observer: Observer) -> None:
        """`workers`: how many a cluster that is started here must have processors for."""
        kept = Connection.kept
        self.ours = kept is None or kept.line.lost
        if kept is not None and not self.ours:
            self.line, self.processors, self.started = kept.line, kept.processors, kept.started
        else:
            self.open(address, workers, observer)

    def open(self, address: str, workers: int | None, observer: Observer) -> None:
        if importlib.util.find_spec("ray") is None:
            raise ClusterError(NO_RAY)
        if address == AUTO:
            observer.message(LOOKING)
            address = find_own_cluster() or self.look_for_cluster() or LOCAL
        self.started = address == LOCAL
        if self.started:
            observer.message(STARTING)
            self.line = DriverLine()
            room = max(workers or 0, processors())
            self.processors = self.have_done(STARTING, "start", room, self.line.folder)
        else:
            require_answer(address)
            observer.message(CONNECTING)
            self.join(address)
        Connection.kept = self

    def look_for_cluster(self) -> str:
        """The address of a cluster that runs on this machine; empty if there is none."""
        self.line = DriverLine()
        found = str(self.have_done(LOOKING, "find_running"))
        self.line.close()
        return found

    def join(self, address: str) -> None:
        """Connect to a cluster, with the token of this user.

        A cluster that asks for no token is refused, unless the environment says how to connect, or
        the program that uses Mazurka is connected to it itself."""
        asked = AUTHENTICATION in os.environ or address == find_own_cluster()
        ways: list[dict[str, str]] = [{}] if asked else [{}, {AUTHENTICATION: "token"}]
        errors: list[ClusterError] = []
        for way in ways:
            self.line = DriverLine(FEW_ATTEMPTS | way)
            try:
                self.processors = self.have_done(CONNECTING, "join", address)
            except ClusterError as error:
                errors.append(error)
            else:
                if asked or way:
                    return
                self.line.close()
                raise ClusterError(
                    f"--cluster {address}: the cluster asks for no token, so that anybody who"
                    " reaches it can run code on it; set RAY_AUTH_MODE=token when it is started, or"
                    f" {AUTHENTICATION}=disabled here to use it all the same"
                )
        raise errors[0]

    def have_done(self, phase: str, name: str, *given: object) -> Any:
        """Give the driver an order; if it fails, the driver ends."""
        try:
            return self.line.order(phase, name, *given)
        except BaseException as error:
            self.line.close()
            if isinstance(error, LostWorkerError):
                raise ClusterError(f"Ray has ended unexpectedly while {phase}") from None
            raise

    def close(self, *, politely: bool = True) -> None:
        """Leave the cluster; one that was started for this connection ends."""
        if self.ours and Connection.kept is self:
            Connection.kept = None
            self.line.close(politely=politely and not self.started)

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self.close(politely=kind is None)


def find_own_cluster() -> str:
    """The address of the cluster to which the program that uses Mazurka is connected itself; empty
    if it is to none."""
    ray = sys.modules.get("ray")
    if ray is None or not ray.is_initialized():
        return ""
    return str(ray.get_runtime_context().gcs_address)


def require_answer(address: str) -> None:
    """Refuse an address at which nobody answers: Ray would try it again for minutes."""
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdigit():
        raise OptionError(f"--cluster {address}: give auto, or HOST:PORT as ray start prints it")
    obstacle = find_obstacle(host, int(port))
    if obstacle:
        raise ClusterError(
            f"--cluster {address}: nobody answers there ({obstacle}); ray start --head starts a"
            " cluster and prints its address"
        )


class WorkerAnswer:
    """A handle of what a worker answers; the driver keeps that for as long as there is one."""

    def __init__(self, number: int, forgotten: list[int]) -> None:
        self.number = number
        self.forgotten = forgotten

    def __del__(self) -> None:
        self.forgotten.append(self.number)


class HiredCrew:
    """Workers on a cluster (`mazurka.cluster.crew`)."""

    def __init__(
        self,
        connection: Connection,
        workers: int | None,
        make: Callable[..., Any],
        given: Callable[[Post], Sequence[Any]],
        observer: Observer,
    ) -> None:
        """`workers`: None for as many as the cluster has processors.  `make` is a class that each
        worker calls with what is given for its post."""
        self.line = connection.line
        self.size = workers or connection.processors
        refuse_many("--workers", self.size)
        if self.size > connection.processors:
            raise OptionError(
                f"--workers {self.size}: the cluster has {connection.processors} processors, and"
                " every worker needs one"
            )
        observer.message(SETTING_UP)
        try:
            self.set_up(make, given)
        except BaseException:
            self.dismiss()
            raise

    def set_up(self, make: Callable[..., Any], given: Callable[[Post], Sequence[Any]]) -> None:
        machines = self.line.order(SETTING_UP, "hire", self.size)
        together = Counter(machines)
        self.machines = len(together)
        posts = [Post(number, self.size, together[each]) for number, each in enumerate(machines)]
        makers = [pickle.dumps((make, given(post))) for post in posts]
        self.line.order(SETTING_UP, "set_up", makers)

    @property
    def described(self) -> str:
        """`searched by 8 workers on 2 machines of a cluster`."""
        workers = "1 worker" if self.size == 1 else f"{self.size} workers"
        machines = "1 machine" if self.machines == 1 else f"{self.machines} machines"
        return f"searched by {workers} on {machines} of a cluster"

    def ask(self, worker: int, method: str, *given: Any, answers: int = 1) -> list[Any]:
        made = [WorkerAnswer(next(self.line.numbers), self.line.forgotten) for _ in range(answers)]
        known = tuple(
            AnswerOf(one.number) if isinstance(one, WorkerAnswer) else one for one in given
        )
        self.line.send("ask", made[0].number, worker, method, known, answers)
        return list(made)

    def get(self, handles: Sequence[Any]) -> list[Any]:
        asked = [AnswerOf(handle.number) for handle in handles]
        return list(self.line.order(SEARCHING, "get", asked))

    def find_ready(self, handles: Sequence[Any], seconds: float) -> list[Any]:
        asked = [AnswerOf(handle.number) for handle in handles]
        return [
            handles[place] for place in self.line.order(SEARCHING, "find_ready", asked, seconds)
        ]

    def dismiss(self) -> None:
        """Let all workers end."""
        self.line.send("dismiss")

    def __enter__(self) -> HiredCrew:
        return self

    def __exit__(self, *error: object) -> None:
        self.dismiss()
