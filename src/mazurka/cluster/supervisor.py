"""A process that starts the driver of a cluster, and ends whatever comes of it.

It imports next to nothing but Python's library: it has to be there at once.  Ray starts processes
that start others, some of which outlive those who have started them.  On Linux all of them become
children of this process at last (a *subreaper*), so none is missed.  It ends them when the other
end of a pipe is closed: by a command that is done or gives up, or by the system if the command has
been killed.

The driver gets this process's standard streams and directory, and none of the lifeline.
"""

from __future__ import annotations

import ctypes
import os
import select
import shutil
import signal
import sys
import time
from contextlib import suppress

from mazurka.processes import start

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
"""Of `prctl`, in `linux/prctl.h`."""
LOOK_EVERY = 0.5
"""Seconds after which it is asked whether the command and the driver are still there."""
PATIENCE = 10.0
"""Seconds to wait for processes that have been killed, and are in the hands of the system."""


def control_process(option: int, value: int) -> None:
    """Call `prctl`, on Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def die_with_parent() -> None:
    """Have the system kill this process when the one that has started it ends; on Linux."""
    control_process(PR_SET_PDEATHSIG, signal.SIGKILL)


def main(lifeline: str, parent: str, folder: str, *command: str) -> None:
    """Run a command until it ends, the other end of `lifeline` is closed, or `parent` has ended;
    then end whatever comes of it, and remove `folder`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    control_process(PR_SET_CHILD_SUBREAPER, 1)
    driver = start(command, directory=os.curdir, stdin=None, stdout=None, stderr=None)
    with open(os.devnull, "r+b") as nothing:
        os.dup2(nothing.fileno(), 0)
        os.dup2(nothing.fileno(), 1)
    try:
        while os.getppid() == int(parent) and not has_ended(driver.pid):
            if select.select([int(lifeline)], [], [], LOOK_EVERY)[0]:
                break
    finally:
        if has_processes_listed():
            end_descendants()
        shutil.rmtree(folder, ignore_errors=True)
        if not has_processes_listed():
            os.killpg(0, signal.SIGKILL)


def has_ended(driver: int) -> bool:
    """Whether the driver has ended; takes leave of all children that have."""
    with suppress(ChildProcessError):
        while True:
            ended, _ = os.waitpid(-1, os.WNOHANG)
            if ended in (0, driver):
                return ended == driver
    return True


def end_descendants() -> None:
    """Kill all processes that come from this one, until there are none."""
    until = time.monotonic() + PATIENCE
    with suppress(ChildProcessError):
        while time.monotonic() < until:
            for process in find_descendants(os.getpid()):
                with suppress(OSError):
                    os.kill(process, signal.SIGKILL)
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
            time.sleep(0.005)


def has_processes_listed() -> bool:
    """Whether the system tells who has started whom.  Elsewhere those are killed that have stayed
    in the group of this process, with itself."""
    return os.path.isdir("/proc/self")


def find_descendants(ancestor: int) -> list[int]:
    """The processes that come from one, those that have ended and are still listed included."""
    children: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
            parent = int(file.read().rpartition(b")")[2].split()[1])
            children.setdefault(parent, []).append(int(name))
    found = [ancestor]
    for process in found:
        found += children.get(process, [])
    return found[1:]
