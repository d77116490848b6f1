"""Start processes: every process that Mazurka starts is started by `start`.

    from mazurka.processes import PIPE, find_program, python, run, start

    start(python("mazurka.compiled.cache:build", "store"))          # a function of Mazurka
    run([find_program("cpp"), "--", path], stdout=PIPE)              # another program

`start` returns at once, `run` waits for the end.  Nothing else in the project imports `subprocess`,
or names `sys.executable`; a test reads all sources to see that.

A process must not execute files of the directory in which the user happens to be: `token.py` beside
a model is not Python's module `token`.  So:

- Python is isolated (`-I`): it looks for modules in its own library, in its site directory, and
  where this process has found Mazurka and the packages that it needs (`find_places`), in this
  order.  Neither the current directory nor `PYTHONPATH` counts.
- A process that runs the user's tests (`python(..., tests=True)`) has to find their modules, by
  `PYTHONPATH` or a directory that it adds itself.  It has `-P`: the current directory does not
  count unless `PYTHONPATH` names it.
- The name of another program is looked up in the absolute directories of `PATH` (`find_program`).
- The working directory is the root of the file system unless a `directory` is given, since
  libraries read settings in the working directory.  So paths for a process must be absolute.
- Native libraries can be looked for there, too: libclang asks the loader to look for the libraries
  that it needs in the current directory (an empty entry of its `RPATH`).  Such a library is loaded
  with the root of the file system as the current directory (`root_as_current_directory`).

The environment is that of this process, with these changes, which matter to what the process starts
in turn, as Ray and a C compiler do: `PYTHONSAFEPATH` is set, so that Python does not begin its
search for modules in the current directory, and `PATH` and `PYTHONPATH` lose their relative and
empty entries.  A process that runs the user's tests gets the environment as it is.  `environment`
adds variables.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT, CompletedProcess, TimeoutExpired
from typing import IO, Any, TypeAlias

__all__ = [
    "DEVNULL",
    "PIPE",
    "STDOUT",
    "CompletedProcess",
    "Process",
    "TimeoutExpired",
    "find_program",
    "python",
    "root_as_current_directory",
    "run",
    "start",
]

Process: TypeAlias = subprocess.Popen[Any]
Stream: TypeAlias = int | IO[Any] | None
"""What `subprocess.Popen` takes for a standard stream; None for that of this process."""

ISOLATED, FOR_TESTS = "-I", "-P"
HOME = Path(__file__).parents[1]
PACKAGES = ("numba", "llvmlite", "numpy", "pysat", "dd", "ray", "clang", "pcpp")
"""What a process of Mazurka imports apart from Mazurka and Python's library."""
CHILD = """\
import importlib.util, sys
from importlib.machinery import PathFinder
home, count = sys.argv[1], int(sys.argv[2])
places, (target, *arguments) = sys.argv[3 : 3 + count], sys.argv[3 + count :]
sys.path += [place for place in (home, *places) if place not in sys.path]
sys.argv[1:] = arguments
spec = PathFinder.find_spec("mazurka", [home])
sys.modules["mazurka"] = package = importlib.util.module_from_spec(spec)
spec.loader.exec_module(package)
module, _, function = target.partition(":")
getattr(importlib.import_module(module), function)(*arguments)
"""
"""What a process of Python runs.  Its arguments: where Mazurka is, the number of other places,
these, `module:function`, and what the function is given.  Mazurka is taken from its place whatever
the search path says: another version may be installed."""


def python(target: str, *arguments: str, tests: bool = False) -> list[str]:
    """Return a command that calls a function of Mazurka in another process.

    `target` is `module:function`, and the function is called with the texts `arguments`.  `tests`
    is for processes that run the user's tests."""
    command = [sys.executable, FOR_TESTS if tests else ISOLATED]
    if sys.dont_write_bytecode:
        command.append("-B")
    places = find_places()
    return [*command, "-c", CHILD, str(HOME), str(len(places)), *places, target, *arguments]


def find_places() -> list[str]:
    """Find the directories in which this process finds the packages that Mazurka needs.

    A process has to be given them where they are not in Python's site directory, but for example in
    a directory of `PYTHONPATH`.  The current directory is none of them."""
    found: dict[str, None] = {}
    for name in PACKAGES:
        module = sys.modules.get(name)
        try:
            spec = find_spec(name) if module is None else module.__spec__
        except (ImportError, AttributeError, ValueError):
            continue
        if spec is not None and spec.origin is not None and spec.submodule_search_locations:
            place = os.path.dirname(os.path.dirname(os.path.abspath(spec.origin)))
            if not is_current_directory(place):
                found[place] = None
    return list(found)


def is_current_directory(place: str) -> bool:
    try:
        return os.path.samefile(place, os.curdir)
    except OSError:
        return False


@contextmanager
def root_as_current_directory() -> Iterator[None]:
    """Let this process work in the root of the file system for a moment, on POSIX systems."""
    if os.name != "posix":
        yield
        return
    here = os.open(os.curdir, getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY)
    try:
        os.chdir(os.sep)
        yield
    finally:
        os.fchdir(here)
        os.close(here)


def find_program(name: str) -> str | None:
    """Find a program in the absolute directories of `PATH`; None if there is none.

    A relative directory, or an empty one, would be one of whoever wrote what is checked."""
    found = shutil.which(name, path=make_environment(as_it_is=False)["PATH"])
    # On Windows `which` looks in the current directory first.
    return found if found is not None and os.path.isabs(found) else None


def start(
    command: Sequence[str],
    *,
    directory: str | Path | None = None,
    environment: Mapping[str, str] | None = None,
    stdin: Stream = DEVNULL,
    stdout: Stream = DEVNULL,
    stderr: Stream = DEVNULL,
    text: bool = False,
    own_session: bool = False,
    pass_descriptors: Sequence[int] = (),
) -> Process:
    """Start a process; the module says in which surroundings.

    Streams lead nowhere unless something else is asked for.  `text` has them read as UTF-8; bytes
    that are none are replaced.  `own_session` is for a process that Ctrl-C must not reach, or that
    is ended with all that it starts.  Raises `OSError` if the process cannot be started."""
    if not os.path.isabs(command[0]):
        raise FileNotFoundError(f"not an absolute path of a program: {command[0]!r}")
    return subprocess.Popen(
        list(command),
        cwd=os.path.abspath(os.sep) if directory is None else directory,
        env={**make_environment(as_it_is=FOR_TESTS in command[1:2]), **(environment or {})},
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        encoding="utf-8" if text else None,
        errors="replace" if text else None,
        start_new_session=own_session,
        pass_fds=tuple(pass_descriptors),
    )


def make_environment(*, as_it_is: bool) -> dict[str, str]:
    """Make the environment of a process, as the module describes it."""
    found = dict(os.environ)
    if as_it_is:
        return found
    found["PYTHONSAFEPATH"] = "1"
    found["PATH"] = keep_absolute(found.get("PATH", "")) or os.defpath
    found["PYTHONPATH"] = keep_absolute(found.get("PYTHONPATH", ""))
    return found


def keep_absolute(places: str) -> str:
    """Leave out the relative and the empty directories of a list such as `PATH`."""
    return os.pathsep.join(filter(os.path.isabs, places.split(os.pathsep)))


def run(
    command: Sequence[str],
    *,
    given: bytes | str | None = None,
    seconds: float | None = None,
    **how: Any,
) -> CompletedProcess[Any]:
    """Run a process to its end, and return its status and what it wrote to pipes.

    `given` is written to its input; `how` is passed on to `start`.  After `seconds`, and where an
    exception such as `KeyboardInterrupt` ends the waiting, the process is killed; the first raises
    `TimeoutExpired`."""
    if given is not None:
        how["stdin"] = PIPE
    with start(command, **how) as process:
        try:
            printed, complaints = process.communicate(given, timeout=seconds)
        except BaseException:
            process.kill()
            raise
    return CompletedProcess(list(command), process.returncode, printed, complaints)
