"""A step of an asynchronous generator or a coroutine that threads drive by hand enters it.

What C code gives for `generator.__anext__()` and its like is an object of its own; two of them are
steps of the same generator.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from tests.unit.runtime.observed_programs import module_of

import mazurka

SOURCE = """
import threading, types

@types.coroutine
def pause():
    yield 1

async def numbers():
    await pause()
    yield 5
    await pause()
    yield 6

def drive(step, errors):
    try:
        step.send(None)
    except StopIteration:
        pass
    except RuntimeError as error:
        errors.append(str(error))

def race(one, other):
    errors = []
    threads = [
        threading.Thread(target=drive, args=(one, errors)),
        threading.Thread(target=drive, args=(other, errors)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors

def begun():
    generator = numbers()
    step = generator.__anext__()
    step.send(None)
    return generator, step

def next_step():
    generator, step = begun()
    race(step, generator.__anext__())

def sent():
    generator, step = begun()
    race(step, generator.asend(None))

def closed():
    generator, step = begun()
    race(step, generator.aclose())

def with_default():
    generator = numbers()
    step = anext(generator, 9).__await__()
    step.send(None)
    race(step, generator.__anext__())

def running():
    generator, step = begun()
    thread = threading.Thread(target=drive, args=(step, []))
    thread.start()
    is_running = generator.ag_running
    thread.join()
    assert is_running

def apart():
    steps = [begun()[1] for _ in range(2)]
    race(*steps)
"""


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return module_of(tmp_path_factory.mktemp("steps"), SOURCE)


def explore(module: ModuleType, name: str) -> tuple[str, str]:
    def test() -> None:
        getattr(module, name)()

    test.__module__ = module.__name__
    result = mazurka.explore(test, preemptions=2)
    return result.verdict, result.scope


@pytest.mark.parametrize("name", ["next_step", "sent", "closed", "with_default", "running"])
def test_a_suspended_step_is_an_access_to_the_generator(name: str, steps: ModuleType) -> None:
    """The first order in which threads run succeeds; the search itself finds the other one."""
    verdict, scope = explore(steps, name)
    assert verdict == "violated"
    assert "found afterwards" not in scope


def test_steps_of_different_generators_are_independent(steps: ModuleType) -> None:
    verdict, scope = explore(steps, "apart")
    assert (verdict, scope) == ("holds", "all executions; 1 partial order, run once")


def test_the_mutant_that_sees_no_step_is_caught(
    steps: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from mazurka.runtime.python import opaque

    monkeypatch.setattr(opaque, "_entered_by", lambda step: None)
    verdict, scope = explore(steps, "next_step")
    assert verdict != "violated" or "found afterwards" in scope
