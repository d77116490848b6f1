"""The workers of a cluster as actors of Ray.

Each worker is an actor with a processor of its own.  Large answers, such as batches of states, lie
in the shared memory of a machine's object store; Ray sends them to other machines where they are
asked for, and workers read them there without a copy.

Nothing is tried again: an actor that is restarted would have lost what it knew.
"""

from __future__ import annotations

import logging
import os
import pickle
import socket
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mazurka.cluster.crew import ClusterError, LostWorkerError
from mazurka.errors import InternalError, MazurkaError, OptionError
from mazurka.search import Observer
from mazurka.search.resources import processors, refuse_many

AUTO = "auto"
"""The address of a cluster that runs already; if none does, of one on this machine, for one run."""
LOCAL = "local"
"""The address of a cluster on this machine that is started for one run, in any case."""
QUIET_SETTINGS = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
"""Ray is to send nothing anywhere, and not to warn of a change in how it treats devices."""
ANSWER_SECONDS = 5.0
QUIETLY: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}


def import_ray() -> Any:
    for name, value in QUIET_SETTINGS.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError:
        raise ClusterError("--cluster needs Ray: pip install 'mazurka[ray]'") from None
    return ray


class Connection:
    """A cluster, for as long as it is needed.  One that was connected before stays connected."""

    def __init__(self, address: str, workers: int | None, observer: Observer) -> None:
        """`workers`: how many a cluster that is started here must have processors for."""
        self.ray = import_ray()
        self.ours = not self.ray.is_initialized()
        if self.ours:
            observer.message("connecting to the cluster")
            self.connect(address, workers, observer)

    def connect(self, address: str, workers: int | None, observer: Observer) -> None:
        try:
            if address != LOCAL and self.has_joined(address):
                return
            observer.message("starting a cluster on this machine")
            room = max(workers or 0, processors())
            self.ray.init(address=LOCAL, num_cpus=room, include_dashboard=False, **QUIETLY)
        except (ConnectionError, OSError, RuntimeError, ValueError) as error:
            reason = str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
            raise ClusterError(f"--cluster {address}: there is no cluster: {reason}") from None

    def has_joined(self, address: str) -> bool:
        """Connect to a cluster that is running; False where there is none, and none is named."""
        if address != AUTO:
            require_answer(address)
        try:
            self.ray.init(address=address, **QUIETLY)
        except ConnectionError:
            if address != AUTO:
                raise
            return False
        return True

    def processors(self) -> int:
        """How many there are on all machines together."""
        return int(self.ray.cluster_resources().get("CPU", 0))

    def close(self) -> None:
        if self.ours:
            self.ray.shutdown()

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def require_answer(address: str) -> None:
    """Refuse an address at which nobody answers: Ray would try it again for minutes."""
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdigit():
        raise OptionError(f"--cluster {address}: give auto, or HOST:PORT as ray start prints it")
    try:
        socket.create_connection((host, int(port)), timeout=ANSWER_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise ClusterError(
            f"--cluster {address}: nobody answers there ({error}); ray start --head starts a"
            " cluster and prints its address"
        ) from None


@dataclass(frozen=True)
class Post:
    """A worker's place among the others."""

    number: int
    size: int
    """How many workers there are."""
    neighbours: int
    """How many of them are on the same machine, this one included."""


class WorkerActor:
    """A worker, as an actor has it: an object that is made when the posts of all are known."""

    subject: Any

    def machine(self) -> str:
        """The machine on which it is."""
        return str(import_ray().get_runtime_context().get_node_id())

    def set_up(self, make: Callable[..., Any], given: bytes) -> None:
        self.subject = make(*pickle.loads(given))

    def call(self, method: str, *given: Any) -> Any:
        return getattr(self.subject, method)(*given)


class RayCrew:
    """Workers on a cluster (`mazurka.cluster.crew`)."""

    def __init__(
        self,
        connection: Connection,
        workers: int | None,
        make: Callable[..., Any],
        given: Callable[[Post], Sequence[Any]],
    ) -> None:
        """`workers`: None for as many as the cluster has processors.  `make` is a class that each
        worker calls with what is given for its post."""
        self.ray = connection.ray
        there = connection.processors()
        self.size = workers or there
        refuse_many("--workers", self.size)
        if self.size > there:
            raise OptionError(
                f"--workers {self.size}: the cluster has {there} processors, and every worker"
                " needs one"
            )
        how = self.ray.remote(
            num_cpus=1, max_restarts=0, max_task_retries=0, scheduling_strategy="SPREAD"
        )
        self.actors = [how(WorkerActor).remote() for _ in range(self.size)]
        try:
            self.set_up(make, given)
        except BaseException:
            self.dismiss()
            raise

    def set_up(self, make: Callable[..., Any], given: Callable[[Post], Sequence[Any]]) -> None:
        machines = self.get([actor.machine.remote() for actor in self.actors])
        together = Counter(machines)
        self.machines = len(together)
        made = []
        for number, (actor, machine) in enumerate(zip(self.actors, machines, strict=True)):
            post = Post(number, self.size, together[machine])
            made.append(actor.set_up.remote(make, pickle.dumps(given(post))))
        self.get(made)

    @property
    def described(self) -> str:
        """`searched by 8 workers on 2 machines of a cluster`."""
        workers = "1 worker" if self.size == 1 else f"{self.size} workers"
        machines = "1 machine" if self.machines == 1 else f"{self.machines} machines"
        return f"searched by {workers} on {machines} of a cluster"

    def ask(self, worker: int, method: str, *given: Any, answers: int = 1) -> list[Any]:
        call = self.actors[worker].call.options(num_returns=answers)
        found = call.remote(method, *given)
        return [found] if answers == 1 else list(found)

    def get(self, handles: Sequence[Any]) -> list[Any]:
        errors = self.ray.exceptions
        try:
            return list(self.ray.get(list(handles)))
        except errors.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, errors.RayError):  # what it was given has been lost
                raise LostWorkerError(first_line(cause)) from None
            if isinstance(cause, MazurkaError):
                raise cause from None
            raise InternalError(f"a worker has failed: {cause!r}") from error
        except errors.RayError as error:
            raise LostWorkerError(first_line(error)) from None

    def find_ready(self, handles: Sequence[Any], seconds: float) -> list[Any]:
        ready, _ = self.ray.wait(list(handles), timeout=seconds)
        return list(ready)

    def dismiss(self) -> None:
        """Let all workers end."""
        for actor in self.actors:
            self.ray.kill(actor)

    def __enter__(self) -> RayCrew:
        return self

    def __exit__(self, *error: object) -> None:
        self.dismiss()


def first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
