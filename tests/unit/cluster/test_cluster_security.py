"""A cluster of this machine listens on the loopback interface, and asks for a token."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.limits import ENOUGH

from mazurka.cluster import connection
from mazurka.cluster.connection import Connection
from mazurka.cluster.crew import ClusterError

LISTENING = """
import json, os
from pathlib import Path
from mazurka.cluster.ray_crew import leave_cluster, start_cluster

start_cluster(1, "")
parents = {}
for stat in Path("/proc").glob("[0-9]*/stat"):
    try:
        parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    except OSError:
        pass
ours = {os.getpid()}
while more := {child for child, parent in parents.items() if parent in ours} - ours:
    ours |= more
sockets = set()
for process in ours:
    for file in Path(f"/proc/{process}/fd").glob("*"):
        try:
            sockets.add(os.readlink(file))
        except OSError:
            pass
addresses = []
for table in ("tcp", "tcp6"):
    for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
        words = line.split()
        if words[3] == "0A" and f"socket:[{words[9]}]" in sockets:
            addresses.append(words[1].partition(":")[0])
print(json.dumps([addresses, os.environ["RAY_AUTH_MODE"], len(os.environ["RAY_AUTH_TOKEN"])]))
leave_cluster()
"""


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs /proc")
def test_a_cluster_of_this_machine_is_out_of_reach() -> None:
    pytest.importorskip("ray")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    run = subprocess.run(
        [sys.executable, "-c", LISTENING],
        env=kept,
        capture_output=True,
        text=True,
        timeout=ENOUGH,
        check=True,
    )
    addresses, mode, length = json.loads(run.stdout.splitlines()[-1])
    assert len(addresses) >= 3  # of the global store, and two of a node
    # 127.0.0.1, and the same as an address of IPv6, in the order of the machine's bytes
    assert set(addresses) <= {"0100007F", "0000000000000000FFFF00000100007F"}
    assert (mode, length) == ("token", 64)


class Line:
    """A driver that can connect to a cluster as it is."""

    environments: list[dict[str, str]]

    def __init__(self, environment: dict[str, str]) -> None:
        Line.environments.append(environment)

    def order(self, *_: object) -> int:
        return 1

    def close(self, **_: object) -> None:
        pass


@pytest.mark.parametrize("asked", [None, "disabled"])
def test_a_cluster_without_a_token_is_joined_only_where_that_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, asked: str | None
) -> None:
    Line.environments = []
    monkeypatch.setattr(connection, "DriverLine", Line)
    monkeypatch.setattr(connection, "find_own_cluster", lambda: "")
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    joins = object.__new__(Connection)
    if asked is None:
        with pytest.raises(ClusterError, match="RAY_AUTH_MODE=disabled"):
            joins.join("192.0.2.1:6379")
    else:
        monkeypatch.setenv("RAY_AUTH_MODE", asked)
        joins.join("192.0.2.1:6379")
    assert len(Line.environments) == 1
