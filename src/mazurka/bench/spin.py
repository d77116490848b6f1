"""Runs SPIN on a Promela model and reads what it prints.

SPIN translates a model to a C program, `pan`, which gcc compiles.  All of that happens in a
directory that is removed afterwards.  Whatever goes wrong is a `SpinError` with one line of text.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import re
import signal
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from mazurka.bench.figures import Figures
from mazurka.processes import PIPE, STDOUT, Process, TimeoutExpired, find_program, start

COMPILE_FLAGS = ("-O2", "-DSAFETY", "-DNOREDUCE", "-DNOFAIR")
RUN_FLAGS = ("-E", "-c0", "-n")
"""Deadlocks are no errors, nothing stops the search, unreached statements are not listed."""
VERDICT_COMPILE_FLAGS = ("-O2", "-DSAFETY")
VERDICT_RUN_FLAGS = ("-m1000000", "-n")
"""To a verdict: with reduction, up to the first error, a deadlock being one."""
PARALLEL_FLAG = "-DBFS_PAR"
"""Breadth-first by several processes.  They keep hashes instead of states, and may miss some."""
VERIFIER = "pan"
"""The name of the program that SPIN makes of a model."""
COMPILE_SECONDS = 120.0
SEARCH_SECONDS = 1800.0
REMOVE_SEGMENT = 0
"""`IPC_RMID` of `shmctl`."""
MEGABYTE = 1 << 20
SPARE_DEPTH = 100


FAILURES = {"assertion violated": "assert", "invalid end state": "deadlock"}
"""What pan calls a violation, and what Mazurka does."""


class SpinError(Exception):
    """Why SPIN gave no measurement."""


def missing() -> str | None:
    """What has to be installed before SPIN can be run; None if nothing."""
    absent = [tool for tool in ("spin", "gcc") if find_program(tool) is None]
    if not absent:
        return None
    return f"{' and '.join(absent)} not found; the Debian packages are spin and gcc"


def version() -> str:
    """SPIN's own words, as in `Spin Version 6.5.2 -- 6 December 2019`."""
    return _run(["spin", "-V"], Path.cwd(), COMPILE_SECONDS).strip().splitlines()[0]


@dataclass(frozen=True)
class Verifier:
    """A compiled `pan` for one model."""

    directory: Path
    flags: tuple[str, ...]

    def search(self, like: Figures) -> Figures:
        """Search everything; the figures and the command line they belong to.

        `like` says how large the state space is expected to be, so that SPIN's hash table has
        between one and two slots for each state, and its stack is as high as it has to be.
        """
        states, depth = like.states or 1, like.depth or 0
        slots = max((states - 1).bit_length(), 1)
        height = min(2 * depth, states) + SPARE_DEPTH
        for limit in (height, states + SPARE_DEPTH):
            arguments = [*RUN_FLAGS, f"-m{limit}", f"-w{slots}"]
            output = _run([VERIFIER, *arguments], self.directory, SEARCH_SECONDS)
            if "max search depth too small" not in output:
                command = f"gcc {' '.join(self.flags)}; pan {' '.join(arguments)}"
                return replace(parse(output, limit), command=command)
        raise SpinError("SPIN's search is deeper than Mazurka has states: the models differ")

    def search_together(self, like: Figures, cores: int, seconds: float) -> Figures:
        """Search everything by so many processes; `like` is as for `search`.

        Such a search may never end, so it is stopped after some time."""
        slots = max((like.states or 1).bit_length() + 1, 1)
        arguments = [*RUN_FLAGS, f"-u{cores}", f"-w{slots}"]
        output = _run([VERIFIER, *arguments], self.directory, seconds)
        command = f"gcc {' '.join(self.flags)}; pan {' '.join(arguments)}"
        return replace(parse_together(output), command=command)


def build(
    model: Path,
    constants: Mapping[str, int],
    directory: Path,
    *,
    breadth_first: bool,
    together: bool = False,
) -> Verifier:
    """Translate and compile a model inside `directory`; `together`: for several processes."""
    defines = [f"-D{name}={value}" for name, value in constants.items()]
    _run(["spin", *defines, "-a", str(model)], directory, COMPILE_SECONDS)
    how = PARALLEL_FLAG if together else "-DBFS"
    flags = (*COMPILE_FLAGS, how) if breadth_first else COMPILE_FLAGS
    _run(["gcc", *flags, "-o", VERIFIER, "pan.c"], directory, COMPILE_SECONDS)
    return Verifier(directory, flags)


def parse(output: str, height: int) -> Figures:
    """Read pan's report; `height` is the limit of the depth it was given."""
    errors = _number(r"errors: (\d+)", output)
    if errors:
        raise SpinError("SPIN finds an error in the model")
    depth = int(_number(r"depth reached (\d+)", output))
    states_bytes = _megabytes("actual memory usage for states", output)
    hash_bytes = _megabytes("memory used for hash table", output)
    stack_bytes = _megabytes("memory used for DFS stack", output, default=0.0)
    total_bytes = _megabytes("total actual memory usage", output)
    unused_bytes = stack_bytes * (1 - min(depth / height, 1.0))
    return Figures(
        states=int(_number(r"(\d+) states, stored", output)),
        # SPIN counts the arrival at the initial state as a transition.
        transitions=int(_number(r"(\d+) transitions \(=", output)) - 1,
        depth=depth,
        seconds=_number(r"elapsed time ([\d.e+-]+) seconds", output),
        # In a breadth-first search SPIN's parts may exceed its total by a little.
        table_bytes=round(min(states_bytes + hash_bytes, total_bytes)),
        peak_bytes=round(total_bytes - unused_bytes),
    )


def parse_together(output: str) -> Figures:
    """Read pan's report on a search by several processes."""
    if _number(r"errors: (\d+)", output):
        raise SpinError("SPIN finds an error in the model")
    shared = _megabytes("total shared memory usage", output)
    return Figures(
        states=int(_number(r"(\d+) states, stored", output)),
        transitions=int(_number(r"(\d+) transitions \(=", output)) - 1,
        depth=int(_number(r"depth reached (\d+)", output)),
        seconds=_number(r"elapsed time ([\d.e+-]+) seconds", output),
        table_bytes=round(shared),
        peak_bytes=round(shared + _megabytes("total non-shared memory usage", output)),
    )


def find_verdict(model: Path, constants: Mapping[str, int], directory: Path) -> Figures:
    """Translate, compile and search a model as somebody would who wants an answer."""
    defines = [f"-D{name}={value}" for name, value in constants.items()]
    _run(["spin", *defines, "-a", str(model)], directory, COMPILE_SECONDS)
    _run(["gcc", *VERDICT_COMPILE_FLAGS, "-o", VERIFIER, "pan.c"], directory, COMPILE_SECONDS)
    output = _run([VERIFIER, *VERDICT_RUN_FLAGS], directory, SEARCH_SECONDS)
    command = f"spin -a; gcc {' '.join(VERDICT_COMPILE_FLAGS)}; pan {' '.join(VERDICT_RUN_FLAGS)}"
    return replace(parse_verdict(output), command=command)


def parse_verdict(output: str) -> Figures:
    """Read what pan has found; whatever is no verdict about the model is an error."""
    if "max search depth too small" in output:
        raise SpinError("SPIN's search is deeper than its stack")
    found = re.search(r"pan:\s?\d+: (.+?) \(at depth", output)
    kind = None
    if found is not None:
        kind = next((kind for text, kind in FAILURES.items() if text in found.group(1)), None)
        if kind is None:
            raise SpinError(found.group(1))
    elif _number(r"errors: (\d+)", output):
        raise SpinError("SPIN reports an error that cannot be read")
    return Figures(states=int(_number(r"(\d+) states, stored", output)), failure=kind)


def _number(pattern: str, output: str, default: float | None = None) -> float:
    found = re.search(pattern, output)
    if found is not None:
        return float(found.group(1))
    if default is None:
        raise SpinError(f"SPIN's report cannot be read: {_last_line(output)}")
    return default


def _megabytes(what: str, output: str, default: float | None = None) -> float:
    return _number(rf"([\d.]+)\t{what}", output, default) * MEGABYTE


def _run(command: list[str], directory: Path, seconds: float) -> str:
    """Run a tool and return all it prints; with it ends whatever it has started."""
    name, *arguments = command
    program = str(directory / name) if name == VERIFIER else find_program(name)
    try:
        if program is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        process = start(
            [program, *arguments],
            directory=directory,
            stdout=PIPE,
            stderr=STDOUT,
            text=True,
            own_session=True,
        )
    except OSError as error:
        raise SpinError(f"{command[0]} could not be started: {error.strerror}") from None
    output: str
    with process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except BaseException as error:
            _end_all(process)
            if isinstance(error, TimeoutExpired):
                raise SpinError(f"{command[0]} took longer than {seconds:.0f} s") from None
            raise
    if process.returncode != 0:
        raise SpinError(f"{command[0]} failed: {_last_line(output)}")
    return output


def _end_all(process: Process) -> None:
    """End a process with all that it has started, and remove the memory that these share.

    The system keeps such memory until somebody removes it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        for line in Path("/proc/sysvipc/shm").read_text("ascii").splitlines()[1:]:
            _, identifier, _, _, creator, *_ = line.split()
            if int(creator) == process.pid:
                library.shmctl(int(identifier), REMOVE_SEGMENT, None)


def _last_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else "it printed nothing"
