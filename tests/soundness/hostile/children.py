"""One hostile input in a forked process with limits, and a judgement of how that ended.

The process that forks has loaded everything, so that a child begins at once.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random

from mazurka.cli import failures
from mazurka.cli.failures import guarded, run_guarded
from mazurka.cli.main import app
from mazurka.deadline import interruptible, time_limit
from mazurka.errors import InternalError, MazurkaError
from mazurka.ir.passes.flag_locks import own_flag_locks
from tests.limits import ENOUGH, SCALE
from tests.soundness.hostile.inputs import HostileInput
from tests.soundness.reductions import Agreement, compare, consult, searches

ACCEPTED, REFUSED, LIMITED = "accepted", "refused", "limited"
INTERNAL, WRONG, HANG, SIGNAL, MEMORY = "internal error", "wrong", "hang", "signal", "memory"
FINE = (ACCEPTED, REFUSED, LIMITED)
FINDINGS = (INTERNAL, WRONG, HANG, SIGNAL, MEMORY)
MEGABYTE = 1 << 20
MOST_MEMORY = 500 * MEGABYTE
"""What a process may take beside what it began with: 300 MB are asked for, and no search knows to
the byte what its parts take."""
MOST_ADDRESSES = 6000 * MEGABYTE
"""Beyond that no memory is given: the machine has other work."""
PROCESSOR_SECONDS = 40 * SCALE
"""What a process may compute.  Limits of 3 seconds hold inside."""
ALLOWED_SECONDS = 3.0
"""What reading may take, and a search behind it."""
MOST_STATES = 300
REFUSALS = ("MazurkaError", "UnsupportedError")
"""The process may not have that much memory, and a strategy may not take every program."""
STRATEGIES = ("full", "full", "stubborn", "cpc", "cartesian", "lock-patterns", "dpor")


@dataclass
class Ending:
    """How an input ended."""

    outcome: str
    message: str = ""
    signature: str = ""
    """Where in the code a finding is; the same for the same mistake."""
    seconds: float = 0.0
    megabytes: float = 0.0

    @property
    def is_finding(self) -> bool:
        return self.outcome in FINDINGS


class Disagreement(Exception):  # noqa: N818 - a verdict is wrong
    """A search and the interpreter disagree."""


# --- what a child does ----------------------------------------------------------------------------


def read(name: str, how: str) -> int:
    """Read and prepare a program."""
    from mazurka.checking import load_program
    from mazurka.search.reading import Reading

    reading = Reading(
        merge=how not in ("raw", "instruction"),
        granularity=how if how in ("instruction", "line") else None,
    )
    with time_limit(ALLOWED_SECONDS), interruptible():
        load_program(name, reading)
    return 0


def agree(name: str, how: str, choice: str) -> int:
    """Compare what a search finds in a small program with what the interpreter does."""
    from mazurka.checking import load_program
    from mazurka.search.reading import Reading
    from mazurka.search.registry import load_strategy

    reading = Reading(merge=how != "raw")
    with time_limit(ALLOWED_SECONDS), interruptible():
        program = load_program(name, reading)
        oracle = consult(own_flag_locks(program), MOST_STATES)  # classes are told by its locks
    if oracle is None:
        return 0
    rng = Random(choice)
    strategy = load_strategy(rng.choice(STRATEGIES))
    options = replace(rng.choice(list(searches(strategy))), limit_seconds=ALLOWED_SECONDS)
    found = compare(oracle, strategy, options)
    if found.message.startswith(REFUSALS):
        raise MazurkaError(found.message)
    if found.agreement is Agreement.DISAGREES:
        raise Disagreement(str(found))
    return 0


def read_formula(name: str, text: str) -> int:
    from mazurka.checking import load_program
    from mazurka.ltl.parsing import parse_formula
    from mazurka.ltl.propositions import ProgramNames
    from mazurka.search.reading import Reading

    with time_limit(ALLOWED_SECONDS), interruptible():
        parse_formula(text, ProgramNames(load_program(name, Reading())))
    return 0


def read_configuration(name: str) -> int:
    from mazurka.runtime.exploring.options import ExploreOptions, override_options
    from mazurka.runtime.testing.configuration import read_project

    override_options(ExploreOptions(), dict(read_project(name)))
    return 0


def use_cache(name: str, answer: str) -> int:
    """Explore a test whose code is in a damaged cache: the answer is what it was."""
    os.environ["MAZURKA_CACHE_DIR"] = str(Path("cache").resolve())
    found = explore_test(name)
    if found != answer:
        raise Disagreement(f"with a damaged cache: {found!r} instead of {answer!r}")
    return 0


def explore_test(name: str) -> str:
    """What `mazurka test` finds, without what depends on the time."""
    with Path("told").open("w", encoding="utf-8") as told, contextlib.redirect_stdout(told):
        status = run_guarded(app, ["test", name, "--json", "--strategy", "source-dpor"])
    found = json.loads(Path("told").read_text("utf-8"))
    return json.dumps([status, found["verdict"], found["scope"], found["stats"]["executions"]])


ACTIONS: dict[str, Callable[..., int]] = {
    "mazurka": lambda *words: run_guarded(app, words),
    "read": lambda *words: guarded(lambda: read(*words), as_json=False),
    "agree": lambda *words: guarded(lambda: agree(*words), as_json=False),
    "formula": lambda *words: guarded(lambda: read_formula(*words), as_json=False),
    "configuration": lambda *words: guarded(lambda: read_configuration(*words), as_json=False),
    "cached": lambda *words: guarded(lambda: use_cache(*words), as_json=False),
}


def act(asked: HostileInput) -> Ending:
    """Do what an input asks for, in this process, and say how that ended."""
    failed: list[tuple[failures.Failure, BaseException]] = []

    def note(error: Exception) -> failures.Failure:
        failure = failure_of(error)
        failed.append((failure, error))
        return failure

    failure_of, failures.failure_of = failures.failure_of, note
    try:
        status = ACTIONS[asked.action[0]](*asked.action[1:])
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        return Ending(INTERNAL, "".join(traceback.format_exception(error)), _place(error))
    finally:
        failures.failure_of = failure_of
    for failure, error in failed:
        if isinstance(error, Disagreement):
            return Ending(WRONG, str(error), f"{asked.action[0]} {str(error)[:60]}")
        if isinstance(error, InternalError) or "report this as a bug" in failure.error.message:
            return Ending(INTERNAL, "".join(traceback.format_exception(error)), _place(error))
    if status not in (0, 1, 2, 3):
        return Ending(WRONG, f"status {status}", f"status {status}")
    if failed:
        failure, error = failed[-1]
        told = LIMITED if failure.limit else REFUSED
        if status != (3 if failure.limit else 2):
            return Ending(WRONG, f"status {status} for {failure.error}", "status of a failure")
        return Ending(told, f"{type(error).__name__}: {str(failure.error)[:300]}")
    return Ending(LIMITED if status == 3 else ACCEPTED, f"status {status}")


def _place(error: BaseException) -> str:
    """The kind of an exception, and the line of Mazurka that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [each for each in frames if "/mazurka/" in each.filename] or list(frames)
    last = own[-1] if own else None
    where = f"{Path(last.filename).name}:{last.lineno}" if last else "?"
    return f"{type(error).__name__} {where}"


# --- processes ------------------------------------------------------------------------------------


@dataclass
class Child:
    """A process that reads an input."""

    asked: HostileInput
    pid: int
    descriptor: int
    folder: Path
    begun: float
    resident: int
    """Bytes that the process began with."""

    def fileno(self) -> int:
        return self.descriptor


def write_files(asked: HostileInput, folder: Path) -> None:
    for name, data in asked.files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


def start(asked: HostileInput, place: Path) -> Child:
    """Fork a process that reads an input."""
    folder = Path(tempfile.mkdtemp(dir=place))
    work = folder / "work"
    work.mkdir()
    write_files(asked, work)
    resident = _resident()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        _live(asked, folder)
    return Child(asked, pid, os.pidfd_open(pid), folder, time.monotonic(), resident)


def _live(asked: HostileInput, folder: Path) -> None:
    """The life of a child."""
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        for number, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
        spent = int(time.process_time() + PROCESSOR_SECONDS) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (spent, spent + 5))
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
        most = pages * resource.getpagesize() + MOST_ADDRESSES
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_ADDRESSES, MOST_ADDRESSES))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.chdir(folder / "work")
        ending = act(asked)
        (folder / "ending").write_text(json.dumps(asdict(ending)), "utf-8")
    except BaseException:
        with (folder / "failed").open("w", encoding="utf-8") as file:
            traceback.print_exc(file=file)
        os._exit(99)
    os._exit(0)


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * resource.getpagesize()


def finish(child: Child, *, killed: bool = False) -> Ending:
    """Say how a process ended that has ended."""
    _, status, usage = os.wait4(child.pid, 0)
    os.close(child.descriptor)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    grown = max(usage.ru_maxrss * 1024 - child.resident, 0)
    seconds = usage.ru_utime + usage.ru_stime
    ending = _judge(child, status, killed=killed)
    if not ending.is_finding and grown > MOST_MEMORY:
        words = " ".join(child.asked.action[:2])
        ending = Ending(MEMORY, f"{grown // MEGABYTE} MB; {ending.message}", words)
    ending.seconds, ending.megabytes = round(seconds, 2), round(grown / MEGABYTE, 1)
    return ending


def _judge(child: Child, status: int, *, killed: bool) -> Ending:
    words = " ".join(child.asked.action[:2])
    if killed or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU):
        return Ending(HANG, "it has taken too long", f"{child.asked.kind}: {words}")
    told = (child.folder / "err").read_text("utf-8", "replace")
    if os.WIFSIGNALED(status):
        return Ending(
            SIGNAL, f"signal {os.WTERMSIG(status)}\n{told}", f"{child.asked.kind}: {words}"
        )
    try:
        ending = Ending(**json.loads((child.folder / "ending").read_text("utf-8")))
    except (OSError, ValueError):
        failed = child.folder / "failed"
        why = failed.read_text("utf-8") if failed.exists() else told
        last = why.strip().splitlines()[-1:] or ["?"]
        return Ending(INTERNAL, f"exit status {status}\n{why}", f"exit {status} {last[0][:80]}")
    if not ending.is_finding and "Traceback (most recent call last)" in told:
        last = told.strip().splitlines()[-1]
        return Ending(INTERNAL, told, f"traceback on stderr: {last[:80]}")
    return ending


def run_all(
    inputs: Iterator[tuple[int, HostileInput]], place: Path, jobs: int
) -> Iterator[tuple[int, HostileInput, Ending, Path]]:
    """Read inputs in so many processes at a time; what a process has written is there until the
    next answer is asked for."""
    children: dict[int, tuple[int, Child]] = {}
    poll = select.poll()

    def begin() -> bool:
        found = next(inputs, None)
        if found is None:
            return False
        number, asked = found
        child = start(asked, place)
        children[child.descriptor] = number, child
        poll.register(child.descriptor, select.POLLIN)
        return True

    def end(descriptor: int, *, killed: bool = False) -> tuple[int, HostileInput, Ending, Path]:
        number, child = children.pop(descriptor)
        poll.unregister(descriptor)
        return number, child.asked, finish(child, killed=killed), child.folder

    try:
        while len(children) < jobs and begin():
            pass
        while children:
            ended = [(each, False) for each, _ in poll.poll(1000)]
            for descriptor, (_, child) in list(children.items()):
                if time.monotonic() - child.begun > ENOUGH:
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(child.pid, signal.SIGKILL)
                        os.kill(child.pid, signal.SIGKILL)
                    ended.append((descriptor, True))
            for descriptor, killed in ended:
                if descriptor in children:
                    found = end(descriptor, killed=killed)
                    yield found
                    shutil.rmtree(found[3], ignore_errors=True)
                    begin()
    finally:
        for _, child in children.values():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            with contextlib.suppress(ProcessLookupError):
                os.kill(child.pid, signal.SIGKILL)
            os.waitpid(child.pid, 0)
            os.close(child.descriptor)
            shutil.rmtree(child.folder, ignore_errors=True)
