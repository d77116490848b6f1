"""Shared by all tests: the engine is there before anything is measured or compared, and the
modules of a program that is explored are its own, not those of all other tests."""

from __future__ import annotations

import gc
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

from mazurka.ir.native import step
from mazurka.runtime.core.patches import is_frozen
from mazurka.runtime.program import program
from mazurka.runtime.python.catalogue import CachedFunction
from mazurka.runtime.rewrite import live_functions
from mazurka.search import Silent
from mazurka.stateful.kernel_cache import kernel

TESTS = Path(__file__).parent
KERNELS = ("depth_first", "breadth_first", "store")
OTHER_KERNELS = ("cartesian", "persistent")
COLLECTED: dict[str, ModuleType] = {}


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Give each process tests that follow each other, as they share what they prepare; one that
    has nothing left takes some of another's."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


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
        if TESTS in _file(module).parents and not hasattr(module, "__path__"):
            COLLECTED[name] = sys.modules.pop(name)
    sys.meta_path.insert(0, CollectedFinder())
    FROZEN.freeze()


def _file(module: ModuleType) -> Path:
    return Path(getattr(module, "__file__", None) or "")


class FrozenObjects:
    """What was there before the first test: thousands of tests, and what they import.

    Explorations look at all objects of the process to find the functions of a program.  Here most
    objects are put aside, as `gc.freeze` allows a program to, and their functions are known."""

    def __init__(self) -> None:
        self._caches: list[object] = []
        self._functions: dict[int, list[FunctionType]] = {}
        """By the identities of their namespaces, which they keep alive."""

    def freeze(self) -> None:
        gc.collect()
        functions = defaultdict(list)
        for one in gc.get_objects():
            if type(one) is FunctionType:
                functions[id(one.__globals__)].append(one)
            elif type(one) is CachedFunction:
                self._caches.append(one)
        self._functions = dict(functions)
        gc.freeze()

    def unfreeze(self) -> None:
        self._caches.clear()
        self._functions.clear()
        gc.unfreeze()

    def find_functions(self, spaces: Sequence[dict[str, Any]]) -> list[FunctionType]:
        known = [one for space in spaces for one in self._functions.get(id(space), ())]
        return known + _find_functions(spaces)

    def find_cached_functions(self) -> set[int]:
        return _find_cached_functions() | {id(vars(one)["__wrapped__"]) for one in self._caches}


FROZEN = FrozenObjects()
_find_functions = live_functions.find_functions
_find_cached_functions = live_functions.find_cached_functions


@pytest.fixture(scope="module", autouse=True)
def frozen_objects() -> Iterator[None]:
    """Look for functions among the objects that tests have made, and add those known.

    What is frozen stays so; to count it would take as long as to look at it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(program, "is_frozen", lambda: True)
        patch.setattr(live_functions, "is_frozen", lambda: False)
        patch.setattr(live_functions, "find_functions", FROZEN.find_functions)
        patch.setattr(live_functions, "find_cached_functions", FROZEN.find_cached_functions)
        yield


@pytest.fixture
def nothing_frozen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Explorations have all objects before them, as in a program that has put none aside."""
    monkeypatch.setattr(program, "is_frozen", is_frozen)
    monkeypatch.setattr(live_functions, "is_frozen", is_frozen)
    monkeypatch.setattr(live_functions, "find_functions", _find_functions)
    monkeypatch.setattr(live_functions, "find_cached_functions", _find_cached_functions)
    FROZEN.unfreeze()
    yield
    FROZEN.freeze()


class CollectedFinder(MetaPathFinder, Loader):
    """Imports a module of the tests that is there already, and has only been taken out."""

    def find_spec(self, name: str, path: object, target: object = None) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name in COLLECTED else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        self._kept = COLLECTED[spec.name].__spec__
        return COLLECTED[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._kept


def _used_by(module: ModuleType) -> dict[str, ModuleType]:
    """The module and those of the tests that it has got names from, and they in turn."""
    found = {module.__name__: module}
    waiting = [module]
    while waiting:
        for value in list(vars(waiting.pop()).values()):
            name = _home(value)
            if name in COLLECTED and name not in found:
                found[name] = COLLECTED[name]
                waiting.append(COLLECTED[name])
    return found


def _home(value: object) -> str | None:
    """The name of the module that something is, or comes from.

    Some objects of tests fail when they are asked for anything, so only their types are."""
    kind = type(value)
    if kind is ModuleType:
        return value.__name__
    owner = value if kind is type or kind is FunctionType else kind
    return owner.__module__ if type(owner) is type or type(owner) is FunctionType else None


@pytest.fixture(scope="module", autouse=True)
def present_module(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """The module of the test that runs is there with those it uses, until the next one's; and so
    are modules that its fixtures have written and imported."""
    sys.modules.update(_used_by(request.module))
    yield
    _remove_written(tmp_path_factory, sys.modules.keys())
    for name in COLLECTED.keys() & sys.modules.keys():
        del sys.modules[name]


@pytest.fixture(autouse=True)
def present_programs(
    present_module: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Modules that a test has written and imported are there until the next one, which would
    search them for its own program."""
    before = set(sys.modules)
    yield
    _remove_written(tmp_path_factory, sys.modules.keys() - before)


def _remove_written(folders: pytest.TempPathFactory, names: Iterable[str]) -> None:
    written = folders.getbasetemp()
    for name in list(names):
        if written in _file(sys.modules[name]).parents:
            del sys.modules[name]


@pytest.fixture
def every_test_module(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    """All modules of tests, as if one large program consisted of them."""
    for name, module in COLLECTED.items():
        monkeypatch.setitem(sys.modules, name, module)
    return COLLECTED
