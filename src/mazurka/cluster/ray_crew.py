"""A cluster of Ray, and workers on it as actors: what the driver does.

Each worker is an actor with a processor of its own.  Large answers, such as batches of states, lie
in the shared memory of a machine's object store; Ray sends them to other machines where they are
asked for, and workers read them there without a copy.

Nothing is tried again: an actor that is restarted would have lost what it knew.
"""

from __future__ import annotations

import logging
import os
import pickle
import secrets
import socket
from collections.abc import Sequence
from typing import Any

from mazurka.cluster.crew import LOCAL, ClusterError, LostWorkerError
from mazurka.errors import InternalError, MazurkaError
from mazurka.extras import RAY

QUIET_SETTINGS = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
"""Ray is to send nothing anywhere, and not to warn of a change in how it treats devices."""
ANSWER_SECONDS = 5.0
LOOPBACK = "127.0.0.1"
TOKEN_BYTES = 32
"""Of the secret that a cluster of this machine asks for; only its own processes know it."""
QUIETLY: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}


NO_RAY = f"--cluster needs Ray: {RAY.advice}"


def import_ray() -> Any:
    for name, value in QUIET_SETTINGS.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError:
        raise ClusterError(NO_RAY) from None
    return ray


def start_cluster(room: int, folder: str) -> int:
    """Start a cluster on this machine with so many processors, which keeps its files in a folder,
    or where Ray does; how many it has."""
    places = {"_temp_dir": folder} if folder else {}
    os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(TOKEN_BYTES))
    stay_on_this_machine()
    return connect(
        LOCAL, num_cpus=room, include_dashboard=False, _node_ip_address=LOOPBACK, **places
    )


def stay_on_this_machine() -> None:
    """Let Ray listen on the loopback interface: it replaces that address by another one, unless
    the function that does so is replaced, and its servers listen where its address leads to."""
    import_ray()
    from ray._private import services

    services.resolve_ip_for_localhost = lambda host: LOOPBACK
    services.get_node_ip_address = lambda *_, **__: LOOPBACK


def join_cluster(address: str) -> int:
    """Connect to a cluster that is running; how many processors it has."""
    return connect(address)


def connect(address: str, **settings: Any) -> int:
    ray = import_ray()
    try:
        ray.init(address=address, **settings, **QUIETLY)
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
        raise ClusterError(f"--cluster {address}: there is no cluster: {reason}") from None
    return int(ray.cluster_resources().get("CPU", 0))


def leave_cluster() -> None:
    import_ray().shutdown()


def find_running() -> str:
    """The address of a cluster that `ray start` has started on this machine, and that answers;
    empty if there is none.

    A cluster that somebody has started for one program is none: it ends with that program.  The
    environment may name another one."""
    named = os.environ.get("RAY_ADDRESS", "")
    if named:
        return named
    import_ray()
    try:
        from ray._private.services import find_bootstrap_address

        address = str(find_bootstrap_address(None) or "")
    except (ImportError, TypeError, OSError):
        return ""
    host, _, port = address.rpartition(":")
    there = bool(host) and port.isdigit() and not find_obstacle(host, int(port))
    return address if there else ""


def find_obstacle(host: str, port: int) -> str:
    """Why nobody answers at an address; empty if somebody does."""
    try:
        socket.create_connection((host, port), timeout=ANSWER_SECONDS).close()
    except (OSError, OverflowError) as error:
        return str(error)
    return ""


class WorkerActor:
    """A worker, as an actor has it: an object that is made when the posts of all are known."""

    subject: Any

    def machine(self) -> str:
        """The machine on which it is."""
        return str(import_ray().get_runtime_context().get_node_id())

    def set_up(self, maker: bytes) -> None:
        """Make the object: a class and what it is given."""
        make, given = pickle.loads(maker)
        self.subject = make(*given)

    def call(self, method: str, *given: Any) -> Any:
        return getattr(self.subject, method)(*given)


class RayCrew:
    """Workers on a cluster, as Ray has them (`mazurka.cluster.crew`)."""

    def __init__(self, size: int) -> None:
        self.ray = import_ray()
        how = self.ray.remote(
            num_cpus=1, max_restarts=0, max_task_retries=0, scheduling_strategy="SPREAD"
        )
        self.actors = [how(WorkerActor).remote() for _ in range(size)]

    def find_machines(self) -> list[str]:
        return self.get([actor.machine.remote() for actor in self.actors])

    def set_up(self, makers: Sequence[bytes]) -> None:
        pairs = zip(self.actors, makers, strict=True)
        self.get([actor.set_up.remote(maker) for actor, maker in pairs])

    def ask(self, worker: int, method: str, given: Sequence[Any], answers: int) -> list[Any]:
        call = self.actors[worker].call.options(num_returns=answers)
        found = call.remote(method, *given)
        return [found] if answers == 1 else list(found)

    def get(self, asked: Sequence[Any]) -> list[Any]:
        errors = self.ray.exceptions
        try:
            return list(self.ray.get(list(asked)))
        except errors.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, errors.RayError):  # what it was given has been lost
                raise LostWorkerError(first_line(cause)) from None
            if isinstance(cause, MazurkaError):
                raise cause from None
            raise InternalError(f"a worker has failed: {cause!r}") from error
        except errors.RayError as error:
            raise LostWorkerError(first_line(error)) from None

    def find_ready(self, asked: Sequence[Any], seconds: float) -> list[Any]:
        ready, _ = self.ray.wait(list(asked), timeout=seconds)
        return list(ready)

    def dismiss(self) -> None:
        """Let all workers end."""
        for actor in self.actors:
            self.ray.kill(actor)


def first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
