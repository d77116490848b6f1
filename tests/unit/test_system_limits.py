"""Which errors are limits of the system, and what these are called."""

from __future__ import annotations

import errno
import pickle
import signal

import pytest

from mazurka import system_limits
from mazurka.errors import MazurkaError
from mazurka.system_limits import (
    SystemLimitError,
    explain_end,
    find_limit,
    find_limit_of_program,
)


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be limits, in the units of the system: bytes, seconds, and how many."""
    values = {"RLIMIT_AS": 1 << 20, "RLIMIT_NOFILE": 8, "RLIMIT_NPROC": 9, "RLIMIT_CPU": 5}
    values["RLIMIT_FSIZE"] = 2048
    monkeypatch.setattr(system_limits, "_value", values.get)


@pytest.mark.usefixtures("limited")
@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError(), "address space (ulimit -v 1024)"),
        (OSError(errno.ENOMEM, "mmap"), "address space (ulimit -v 1024)"),
        (ImportError("x.so: failed to map segment from shared object"), "address space"),
        (OSError(errno.EMFILE, "open"), "open files (ulimit -n 8)"),
        (ImportError("x.so: Too many open files"), "open files (ulimit -n 8)"),
        (BlockingIOError(errno.EAGAIN, "fork"), "processes and threads (ulimit -u 9)"),
        (RuntimeError("can't start new thread"), "processes and threads (ulimit -u 9)"),
        (OSError(errno.ENOSPC, "write"), "no space is left"),
        (OSError(errno.EFBIG, "write"), "file size (ulimit -f 2)"),
    ],
    ids=str,
)
def test_limits_have_the_names_that_users_know(error: Exception, message: str) -> None:
    found = find_limit(error)
    assert found is not None
    assert message in found.message


@pytest.mark.parametrize("error", [ValueError("x"), OSError(errno.ENOENT, "x"), ImportError("x")])
def test_other_errors_are_none(error: Exception) -> None:
    assert find_limit(error) is None


def test_a_limit_is_found_behind_the_error_that_was_made_of_it() -> None:
    def read() -> None:
        try:
            raise OSError(errno.EMFILE, "open")
        except OSError:
            raise MazurkaError("cannot be read") from None

    with pytest.raises(MazurkaError) as caught:
        read()
    assert find_limit(caught.value) is not None


def allocate() -> None:
    bytearray(10**15)


def pretend() -> None:
    raise MemoryError


@pytest.mark.usefixtures("limited")
def test_what_a_program_raises_itself_is_its_own_failure() -> None:
    with pytest.raises(MemoryError) as real:
        allocate()
    with pytest.raises(MemoryError) as own:
        pretend()
    assert find_limit_of_program(real.value) is not None
    assert find_limit_of_program(own.value) is None
    assert find_limit(own.value) is not None


def test_memory_that_is_not_limited_is_the_failure_of_a_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(system_limits, "_value", lambda name: None)
    with pytest.raises(MemoryError) as real:
        allocate()
    assert find_limit_of_program(real.value) is None


@pytest.mark.usefixtures("limited")
def test_the_end_of_a_process_tells_of_the_limit() -> None:
    def name(status: int, complaints: str = "") -> str | None:
        found = explain_end(status, complaints)
        return None if found is None else found.name

    assert name(0) is None
    assert name(-signal.SIGXCPU) == name(-signal.SIGKILL) == "processor time"
    assert name(-signal.SIGXFSZ) == "file size"
    assert name(-signal.SIGABRT) == "memory"
    assert name(1, "cc1: File size limit exceeded") == "file size"


def test_an_error_of_another_process_arrives_whole() -> None:
    limit = find_limit(MemoryError())
    assert limit is not None
    arrived = pickle.loads(pickle.dumps(SystemLimitError(limit)))
    assert find_limit(arrived) == limit
    assert str(arrived) == limit.message
