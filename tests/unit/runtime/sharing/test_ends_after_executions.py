"""Objects that an execution has made and that outlive it: their finalizers do no harm.

A registry that is older than the executions keeps such objects alive until it is put back; a cycle
lives until it is collected.  The finalizers then find the registry without the object.
"""

from __future__ import annotations

import sys
import threading
from typing import ClassVar

import pytest

import mazurka

LOCK = threading.Lock()


class Registered:
    """Is kept by a registry of its class."""

    objects: ClassVar[set[Registered]] = set()

    def __init__(self) -> None:
        self.objects.add(self)

    def __del__(self) -> None:
        self.objects.remove(self)


class Cyclic:
    """Refers to itself, and is registered by its identity."""

    numbers: ClassVar[dict[int, int]] = {}

    def __init__(self) -> None:
        self.itself = self
        self.numbers[id(self)] = 1

    def __del__(self) -> None:
        del self.numbers[id(self)]


class CyclicAndRegistered(Cyclic):
    """Refers to itself, and is kept by a registry."""

    objects: ClassVar[dict[int, object]] = {}

    def __init__(self) -> None:
        super().__init__()
        self.objects[id(self)] = self


class Ended:
    """Is changed by finalizers, and by nothing else."""

    count = 0


class Counted:
    """Is counted, under a lock, by a finalizer, too."""

    count = 0
    objects: ClassVar[list[object]] = []

    def __init__(self) -> None:
        with LOCK:
            Counted.count += 1
            self.objects.append(self)

    def __del__(self) -> None:
        Ended.count += 1
        with LOCK:
            Counted.count -= 1


@pytest.fixture
def unraisable(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect the exceptions of finalizers."""
    found: list[str] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda one: found.append(repr(one.exc_value)))
    return found


@pytest.mark.parametrize("kind", [Registered, Cyclic, CyclicAndRegistered, Counted])
def test_finalizers_find_and_leave_everything_as_it_was(
    kind: type[object], unraisable: list[str]
) -> None:
    def test() -> None:
        threads = [threading.Thread(target=kind) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert Ended.count == 0
        assert Counted.count == (2 if kind is Counted else 0)

    result = mazurka.explore(test, preemptions=1)
    assert result.verdict == "holds", result.report()
    assert unraisable == []
    assert (Ended.count, Counted.count) == (0, 0)
    assert not any((Registered.objects, Cyclic.numbers, CyclicAndRegistered.objects))


class Local(threading.local):
    """Is kept by a registry, to which each thread that uses it adds it under its identity."""

    objects: ClassVar[set[Local]] = set()

    def __init__(self) -> None:
        self.objects.add(self)

    def __del__(self) -> None:
        self.objects.remove(self)

    def __hash__(self) -> int:
        return id(self)


def test_another_thread_finds_objects_in_the_registry(unraisable: list[str]) -> None:
    def clear() -> None:
        for one in list(Local.objects):
            vars(one).clear()

    def test() -> None:
        threads = [threading.Thread(target=target) for target in (clear, Local)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    result = mazurka.explore(test, preemptions=1)
    assert result.verdict == "holds", result.report()
    assert (unraisable, Local.objects) == ([], set())
