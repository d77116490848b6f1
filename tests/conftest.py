"""Shared by all tests: the engine is there before anything is measured or compared, and the
modules of a program that is explored are its own, not those of all other tests."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from types import ModuleType

import pytest

from mazurka.ir.native import step
from mazurka.search.observer import Silent
from mazurka.stateful.kernel_cache import kernel

TESTS = Path(__file__).parent
KERNELS = ("depth_first", "breadth_first", "store")
OTHER_KERNELS = ("cartesian", "persistent")
COLLECTED: dict[str, ModuleType] = {}


@pytest.fixture(scope="session", autouse=True)
def prepared_engine() -> None:
    """Compile the kernels first, so that no test sees the message about it on stderr.

    What takes longest is divided among the processes that begin at the same time; each finds what
    the others have compiled when a test needs it."""
    number = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw")
    if number == "0":
        names = (*KERNELS, "transactions")
    elif number:
        names = (*OTHER_KERNELS, *KERNELS)
    else:
        names = KERNELS
    for name in names:
        kernel(name, Silent())


@lru_cache(maxsize=256)
def _compile_once(text: str, speed: int) -> step.NativeStep:
    return _compile_assembly(text, speed=speed)


_compile_assembly = step.compile_assembly


@pytest.fixture(scope="module", autouse=True)
def native_code(request: pytest.FixtureRequest) -> Iterator[None]:
    """Compile the step function of a program once for all tests, and do not optimize it.

    Optimizing takes longer than searching what tests search.  Tests that are about the code itself
    are marked `optimized`: they have it as users do."""
    optimized = request.node.get_closest_marker("optimized") is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            step,
            "compile_assembly",
            lambda text, speed: _compile_once(text, speed if optimized else 0),
        )
        yield


def pytest_collection_finish(session: pytest.Session) -> None:
    """Take the modules of tests out of `sys.modules`, where explorations look for the program.

    They would instrument and search all of them anew for each of the many small programs."""
    for name, module in list(sys.modules.items()):
        file = Path(getattr(module, "__file__", None) or "")
        if file.name.startswith("test_") and TESTS in file.parents:
            COLLECTED[name] = sys.modules.pop(name)


@pytest.fixture(scope="module", autouse=True)
def present_module(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """The module of the test that runs is there, until the next one's; and so are modules that
    its tests have written and imported."""
    name = request.module.__name__
    sys.modules[name] = request.module
    yield
    sys.modules.pop(name, None)
    written = tmp_path_factory.getbasetemp()
    for name, module in list(sys.modules.items()):
        if written in Path(getattr(module, "__file__", None) or "").parents:
            del sys.modules[name]


@pytest.fixture
def every_test_module(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    """All modules of tests, as if one large program consisted of them."""
    for name, module in COLLECTED.items():
        monkeypatch.setitem(sys.modules, name, module)
    return COLLECTED
